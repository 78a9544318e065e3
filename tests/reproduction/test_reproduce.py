"""Tables of papers computed again, from the command to the table."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.native_files import LAYOUTS

import coherencegym as cg
from coherencegym.__main__ import main
from coherencegym.errors import EvaluationError
from coherencegym.eval.tasks.probe import classifiers
from coherencegym.loaders.fetching import fetch
from coherencegym.papers.published import PublishedTable, TableRow, read_papers
from coherencegym.reproduction import run
from coherencegym.reproduction.command import reproduction_document
from coherencegym.reproduction.run import Reproduction, find_table, reproduce

TABLE = PublishedTable(
    title="Two rows",
    source="Table 1",
    task="probe",
    suite="toy",
    corpus="toy",
    rows={"BOTH": TableRow(configs=("one", "two")), "ONE": TableRow(configs=("one",))},
    systems=("A", "B"),
    values={"BOTH": (50.0, math.nan), "ONE": (60.0, 70.0)},
)


def scores(config: str, value: float, **more: Any) -> dict[str, Any]:
    """A row of scores, as a run has it."""
    about: dict[str, Any] = {
        "config": f"toy_{config}",
        "metric": "accuracy",
        "group": "",
        "level": "all",
    }
    ends = {"ci_low": value - 0.03, "ci_high": value + 0.04}
    about |= {"options": {}, "layer": None}
    return {**about, "system": "layer 2", "score": value, "n": 10, "split": "test", **ends, **more}


@pytest.fixture
def winograd(tmp_path: Path) -> Path:
    """A folder with a small file of the Winograd corpus."""
    LAYOUTS["winograd xml"].write(tmp_path / "corpora" / "winograd")
    return tmp_path / "corpora"


def write_shallow_model(folder: Path) -> str:
    """A random model of one narrow layer, which reads what the demo model does."""
    from transformers import GPT2Config, GPT2LMHeadModel

    tokenizer = cg.load_model("demo").tokenizer
    sizes: Any = {"n_embd": 8, "n_layer": 1, "n_head": 2, "n_positions": 128}
    GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), **sizes)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def test_a_mean_of_configs_has_the_interval_of_independent_ones() -> None:
    rows = [scores("one", 0.5), scores("two", 0.7), scores("one", 0.1, level="reference")]
    found = run._row(TABLE, "BOTH", [*rows, scores("one", 0.2, group="x"), scores("three", 0.9)])
    assert found.score == pytest.approx(0.6)
    assert (found.n, found.missing) == (20, ())
    assert found.low == pytest.approx(0.6 - math.sqrt(2 * 0.03**2) / 2)
    assert found.high == pytest.approx(0.6 + math.sqrt(2 * 0.04**2) / 2)
    assert found.published == {"A": 0.5}  # of the other it has none
    alone = run._row(TABLE, "ONE", rows)
    assert alone.low == pytest.approx(0.47)
    assert alone.high == pytest.approx(0.54)
    part = run._row(TABLE, "BOTH", rows[:1])
    assert (part.score, part.missing) == (0.5, ("two",))
    assert "BOTH: without two: not the paper's mean" in run._notes([part, alone], None, {"ONE": 12})
    without = run._row(TABLE, "BOTH", [scores("one", 0.5, ci_low=None), scores("two", 0.5)])
    assert (without.score, without.low) == (0.5, None)


def test_a_row_may_be_of_a_group_or_of_a_system() -> None:
    table = replace(TABLE, row_kind="group", rows={"s": TableRow(("one",), system="program")})
    rows = [scores("one", 0.3, group="a → b", level="detail"), scores("one", 0.5)]
    assert run._row(table, "a → b", rows).score == 0.3
    assert run._row(table, "c → d", rows).score is None
    rows.append(scores("one", 0.25, level="reference", system="program"))
    assert run._row(table, "s", rows).score == 0.25


def test_a_table_is_built_run_and_printed(
    winograd: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["reproduce", "beyer-2021", "--table", "winograd", "--model", "demo"]
    command += ["--data-dir", str(winograd), "--output", str(tmp_path / "out")]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "Beyer, Loáiciga and Schlangen (NAACL 2021), table winograd" in out
    assert "53.1" in out
    assert "in the mode syntaxgym-2021" in out
    assert (tmp_path / "out" / "results" / "winograd_full" / "report.html").is_file()
    assert main([*command, "--format", "json"]) == 0
    records = json.loads(capsys.readouterr().out)
    ours = [row for row in records if not row["is_published"]]
    assert [(row["row"], row["system"]) for row in ours] == [("full", "demo"), ("partial", "demo")]
    assert all(row["ci_low"] <= row["score"] <= row["ci_high"] for row in ours)
    published = {(row["row"], row["system"]): row["score"] for row in records if row not in ours}
    assert published["full", "GPT-2 small"] == 0.531
    assert main([*command, "--format", "csv", "--limit", "1"]) == 0
    captured = capsys.readouterr()
    assert {row["n"] for row in csv.DictReader(io.StringIO(captured.out))} == {"1", ""}
    assert "building" not in captured.err  # the suite was there


def test_a_suite_is_built_again_once_its_files_have_changed(winograd: Path, tmp_path: Path) -> None:
    said: list[str] = []
    model = write_shallow_model(tmp_path / "model")

    def run_it() -> list[int]:
        said.clear()
        how = {"data_dir": winograd, "output": tmp_path / "out"}
        found = reproduce("beyer-2021", "winograd", model, **how, say=said.append)  # type: ignore[arg-type]
        return [row.n for row in found.rows]

    before = run_it()
    assert said[0] == "building winograd from winograd"
    assert run_it() == before
    assert not any("building" in line for line in said)
    (file,) = (winograd / "winograd").iterdir()
    text = file.read_text(encoding="latin-1")
    schema = text[text.index("<schema>") : text.index("</schema>") + len("</schema>")]
    more = schema.replace("<txt1>", "<txt1>Today ").replace("<txt1> ", "<txt1>Today ")
    file.write_text(text.replace("</collection>", f"{more}</collection>"), encoding="latin-1")
    after = run_it()
    assert said[0].endswith("again, as its files, options or toolkit have changed")
    assert after[0] > before[0]
    cg.build("winograd", corpus="winograd", data_dir=winograd, output=tmp_path / "out" / "winograd",
             overwrite=True, seed=1)  # fmt: skip
    assert run_it() == after
    assert "again" in said[0]


def test_a_model_that_is_not_there_is_refused_before_anything_is_built(
    winograd: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["reproduce", "beyer-2021", "--table", "winograd", "--model", str(tmp_path / "none")]
    command += ["--data-dir", str(winograd), "--output", str(tmp_path / "out")]
    assert main(command) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "none" in line
    assert not (tmp_path / "out").exists()


def test_layers_and_options_of_rows_have_scores_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("INVERSE_PENALTIES", "WEIGHT_DECAYS"):
        monkeypatch.setattr(classifiers, name, getattr(classifiers, name)[:1])
    model = write_shallow_model(tmp_path / "model")
    folder, words = (
        tmp_path / "corpora" / "discoeval",
        ["the", "a", "red", "old", "cat", "dog", "sea"],
    )
    for split, size in (("train", 20), ("valid", 8), ("test", 8)):
        for task, sentences in (("SSP/abs", 1), ("DC/chat", 6)):
            lines = []
            for n in range(size):
                texts = [
                    f"{words[(n + k) % 7]} {words[(n * k) % 7]} {split} {n} ." for k in range(6)
                ]
                lines.append("\t".join([str(n % 2), *texts[:sentences]]) + "\n")
            file = folder / task / f"{split}.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("".join(lines))
    how: dict[str, Any] = {"data_dir": tmp_path / "corpora", "output": tmp_path / "out"}
    found = reproduce("chen-2019", "figure-8", model, **how)
    by_name = {row.name: row for row in found.rows}
    assert by_name["SSP"].score in [rows[3].score for rows in found.layers.values()]
    assert by_name["SSP"].published["BERT-Base, layer 5"] == pytest.approx(0.798)
    assert [*found.layers] == [*range(len(found.layers))]
    (said,) = [note for note in found.notes if note.startswith("best layer here")]
    best = max(found.layers, key=lambda number: found.layers[number][3].score or 0.0)
    assert f"SSP {best}; mean" in said
    assert said.endswith("of 2")  # DC and SSP
    document = reproduction_document(found)
    (shown,) = document.grids
    assert [row.cells[0] for row in shown.rows[1:3]] == ["model", "model, layer 0"]
    systems = {row["system"] for row in document.records}
    assert systems >= {"model", "model, layer 0", "ELMo, layer 0"}
    said_steps: list[str] = []
    found = reproduce("chen-2019", "4", model, **how, say=said_steps.append)
    assert [row.configs for row in found.rows] == [("replaced_discoeval_chat",)] * 2
    assert sum("probe mlp" in line for line in said_steps) == 1
    assert not any("SSP" in line or "section" in line for line in said_steps)
    kinds = {}
    for kind in ("linear", "mlp"):
        results = tmp_path / "out" / "results" / f"replaced_discoeval_chat-{kind}" / "results.json"
        kinds[kind] = json.loads(results.read_text())["settings"]["probe"]
    assert kinds == {"linear": "linear", "mlp": "mlp"}
    assert not found.layers


def test_suites_of_syntaxgym_are_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "corpora" / "syntaxgym"
    folder.mkdir(parents=True)
    texts = {"good": "the cat", "bad": "cat the"}
    conditions = [
        {"condition_name": name, "regions": [{"region_number": 1, "content": text}]}
        for name, text in texts.items()
    ]
    suite = {
        "meta": {"name": "toy_suite", "metric": "sum"},
        "region_meta": {"1": "text"},
        "predictions": [{"type": "formula", "formula": "(1;%bad%) > (1;%good%)"}],
        "items": [{"item_number": 1, "conditions": conditions}],
    }
    (folder / "toy_suite.json").write_text(json.dumps(suite))
    table = PublishedTable(
        title="Suites",
        source="Table 1",
        task="score",
        corpus="syntaxgym",
        compat="syntaxgym-2021",
        metric="CD score",
        systems=("GPT-2",),
        models={"GPT-2": "demo"},
        values={"toy_suite": (75.0,), "other": (10.0,)},
    )
    paper = replace(read_papers()["beyer-2021"], tables={"suites": table})
    monkeypatch.setattr(run, "read_papers", lambda: {"p": paper})
    found = reproduce("p", "suites", "demo", data_dir=tmp_path / "corpora", output=tmp_path / "o")
    ours, absent = found.rows
    assert (ours.configs, absent.score) == (("toy_suite",), None)
    assert "other: no score here" in found.notes
    (shown,) = reproduction_document(found).grids
    assert "minus GPT-2" in shown.headers
    assert ours.score is not None
    assert f"{100 * (ours.score - 0.75):+.1f}" in shown.rows[0].cells


def test_more_systems_than_rows_go_downwards() -> None:
    table = replace(TABLE, systems=("A", "B", "C"), values={"ONE": (1.0, 2.0, 3.0)})
    row = run._row(table, "ONE", [scores("one", 0.5)])
    found = Reproduction(
        read_papers()["chen-2019"], "1", table, "m", [row], ["a note"], Path("folder")
    )
    document = reproduction_document(found)
    (shown,) = document.grids
    assert [line.cells[0] for line in shown.rows] == ["n", "m", "A", "B", "C"]
    assert "a note" in document.lines


def test_scores_of_people_are_not_the_models() -> None:
    rows = {"m": TableRow(("one",)), "p": TableRow(("one",), system="people: majority vote")}
    table = replace(TABLE, systems=(), values={}, rows=rows)
    scored = [scores("one", 0.5), scores("one", 0.9, system="people: majority vote")]
    both = [run._row(table, name, scored[number:]) for number, name in enumerate(rows)]
    paper = read_papers()["shen-2021"]
    document = reproduction_document(Reproduction(paper, "1", table, "m260", both, [], Path("f")))
    assert document.grids[0].headers[-1] == "here"
    assert {row["row"]: row["system"] for row in document.records} == {
        "m": "m260", "p": "people: majority vote",
    }  # fmt: skip


def test_files_that_are_missing_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["reproduce", "beyer-2021", "--model", "demo", "--output", str(tmp_path / "out")]
    empty = tmp_path / "empty"
    empty.mkdir()
    for more, said in [
        (["--table", "connectives", "--data-dir", str(empty)], "to get the files: get https"),
        (["--table", "winograd", "--data-dir", str(empty)], "corpora fetch winograd"),
    ]:
        assert main([*command, *more]) == 2
        (line,) = capsys.readouterr().err.strip().splitlines()
        assert said in line
    assert not (tmp_path / "out").exists()
    # Without --data-dir what is open is fetched; what is not says how to get it.
    monkeypatch.setenv("COHERENCEGYM_DATA", str(empty))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COHERENCEGYM_MIRROR", "http://127.0.0.1:9")
    monkeypatch.setattr(fetch, "PAUSES", ())
    assert main([*command, "--table", "connectives"]) == 2
    assert "cannot be fetched, no public copy" in capsys.readouterr().err
    assert main([*command, "--table", "winograd"]) == 2
    captured = capsys.readouterr()
    assert "fetching winograd" in captured.err
    assert "127.0.0.1" in captured.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["beyer"], "no such paper; expected one of beyer-2021"),
        (["beyer-2021", "--table", "winogrand", "--model", "demo"], "did you mean 'winograd'?"),
        (["beyer-2021", "--table", "winograd"], "expected --model"),
        (["beyer-2021", "--model", "demo"], "expected PAPER and --table NAME"),
    ],
)
def test_what_is_not_there_is_said(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", *words]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert said in line


def test_papers_and_their_tables_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + sum(len(paper.tables) for paper in read_papers().values())
    assert main(["reproduce", "storks-2021"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    with pytest.raises(EvaluationError, match="no table '9'"):
        find_table("storks-2021", "9")

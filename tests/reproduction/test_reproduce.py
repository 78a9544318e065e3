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
from coherencegym import reproduction
from coherencegym.__main__ import main
from coherencegym.errors import EvaluationError
from coherencegym.eval.statistics.scores import Score
from coherencegym.eval.tasks.probe import classifiers
from coherencegym.loaders import fetch
from coherencegym.papers import PublishedTable, TableRow, read_papers
from coherencegym.reproduction import find_table, mean_record, published_records, reproduce

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


def of_config(config: str, value: float, **more: Any) -> Score:
    """A row of scores, as a run has it."""
    about: dict[str, Any] = {
        **{"config": f"toy_{config}", "split": "test", "group": "", "level": "all", "n": 10},
        **{"metric": "accuracy", "system": "layer 2", "score": value},
        **{"ci_low": value - 0.03, "ci_high": value + 0.04, **more},
    }
    return Score(**about)


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
    rows = [
        of_config("one", 0.5), of_config("two", 0.7), of_config("one", 0.1, level="reference"),
    ]  # fmt: skip
    others = [of_config("one", 0.2, group="x"), of_config("three", 0.9)]
    found, said = mean_record(TABLE, "BOTH", [*rows, *others], "m")
    assert found["score"] == pytest.approx(0.6)
    assert (found["n"], said) == (20, [])
    assert found["ci_low"] == pytest.approx(0.6 - math.sqrt(2 * 0.03**2) / 2)
    assert found["ci_high"] == pytest.approx(0.6 + math.sqrt(2 * 0.04**2) / 2)
    (published,) = published_records(TABLE, "BOTH")  # of the other system it has none
    assert (published["system"], published["score"]) == ("A", 0.5)
    alone, _ = mean_record(TABLE, "ONE", rows, "m")
    assert (alone["ci_low"], alone["ci_high"]) == pytest.approx((0.47, 0.54))
    part, said = mean_record(TABLE, "BOTH", rows[:1], "m")
    assert part["score"] == 0.5
    assert said == ["BOTH: without two: not the paper's mean"]
    sized = replace(TABLE, sizes={"ONE": 12})
    assert mean_record(sized, "ONE", rows, "m")[1] == ["ONE: 10 items here, 12 in the paper"]
    assert mean_record(sized, "ONE", rows, "m", limit=10)[1] == []
    rows = [of_config("one", 0.5, ci_low=None), of_config("two", 0.5)]
    without, _ = mean_record(TABLE, "BOTH", rows, "m")
    assert (without["score"], without["ci_low"]) == (0.5, None)


def test_a_row_may_be_of_a_group_or_of_a_system() -> None:
    table = replace(TABLE, row_kind="group", rows={"s": TableRow(("one",), system="program")})
    rows = [of_config("one", 0.3, group="a → b", level="detail"), of_config("one", 0.5)]
    assert mean_record(table, "a → b", rows, "m")[0]["score"] == 0.3
    none, said = mean_record(table, "c → d", rows, "m")
    assert (none["score"], said) == (None, ["c → d: no score here"])
    rows.append(of_config("one", 0.25, level="reference", system="program"))
    assert mean_record(table, "s", rows, "m")[0]["score"] == 0.25


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
        how: dict[str, Any] = {"data_dir": winograd, "output": tmp_path / "out"}
        found = reproduce("beyer-2021", "winograd", model, **how, say=said.append)
        return [row["n"] for row in found.records if not row["is_published"]]

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


def test_configs_without_a_row_are_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = classifiers.INVERSE_PENALTIES[:1]
    monkeypatch.setattr(classifiers, "INVERSE_PENALTIES", few)
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
    for kind in ("linear", "hidden"):
        said: list[str] = []
        found = reproduce("chen-2019", f"4-{kind}", model, **how, say=said.append)
        (ours,) = (row for row in found.records if not row["is_published"])
        assert ours["n"] == 8
        assert sum("probe" in line for line in said) == 1
        assert any("not the paper's mean" in line for line in found.lines)
        results = tmp_path / "out" / "results" / "replaced_discoeval_chat" / "results.json"
        settings = json.loads(results.read_text())["settings"]
        assert settings["compat"] == {"linear": "", "hidden": "discoeval-2019"}[kind]


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
        values={"toy_suite": (75.0,), "other": (10.0,)},
    )
    paper = replace(read_papers()["beyer-2021"], tables={"suites": table})
    monkeypatch.setattr(reproduction, "read_papers", lambda: {"p": paper})
    found = reproduce("p", "suites", "demo", data_dir=tmp_path / "corpora", output=tmp_path / "o")
    ours, absent = (row for row in found.records if not row["is_published"])
    assert ours["score"] is not None
    assert absent["score"] is None
    assert "other: no score here" in found.lines
    assert found.grids[0].rows[1].cells == ("other", "–", "–", "10.0")


def test_more_systems_than_rows_go_downwards() -> None:
    table = replace(TABLE, systems=("A", "B", "C"), values={"ONE": (1.0, 2.0, 3.0)})
    ours, _ = mean_record(table, "ONE", [of_config("one", 0.5)], "m")
    shown = reproduction._grid([ours, *published_records(table, "ONE")], "a title")
    assert [line.cells[0] for line in shown.rows] == ["n", "here", "A", "B", "C"]
    assert [line.bold for line in shown.rows] == [False, True, False, False, False]


def test_scores_of_people_are_not_the_models() -> None:
    rows = {"m": TableRow(("one",)), "p": TableRow(("one",), system="people: majority vote")}
    table = replace(TABLE, systems=(), values={}, rows=rows)
    of_both = [of_config("one", 0.5), of_config("one", 0.9, system="people: majority vote")]
    made = [mean_record(table, name, of_both[n:], "m260")[0] for n, name in enumerate(rows)]
    assert {row["row"]: row["system"] for row in made} == {
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

"""``coherencegym probe`` end to end, on a tiny random model; and what goes wrong."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import HfApi
from support.commands import compared, one_line
from support.datasets import orders, write_examples
from support.hub.server import HubServer

import coherencegym as cg
from coherencegym.eval.commands.cli import main
from coherencegym.eval.hub.push import push_results
from coherencegym.eval.outcomes.reading import read_outcome_tables
from coherencegym.eval.results.folder import read_results
from coherencegym.eval.statistics.bag_of_words import bag_of_words
from coherencegym.eval.tasks.probe import classifiers
from coherencegym.eval.views.plots import probe_curves
from coherencegym.files.parquet import parquet_rows

SIZES = {"train": 40, "validation": 15, "test": 25}


@pytest.fixture(scope="module", autouse=True)
def two_penalties() -> Iterator[None]:
    """Of the penalties that are tried, the two least: each is a fit of every layer and baseline."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(classifiers, "INVERSE_PENALTIES", classifiers.INVERSE_PENALTIES[-2:])
        yield


@pytest.fixture(scope="module")
def saved(
    tmp_path_factory: pytest.TempPathFactory,
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
) -> Path:
    """A folder with a model, and a dataset of examples."""
    folder = tmp_path_factory.mktemp("probe")
    tokenizer = make_tokenizer()
    make_model("gpt2", tokenizer).save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    splits = {split: orders(size, seed) for seed, (split, size) in enumerate(SIZES.items())}
    write_examples(folder / "data", splits, breakdowns=["genre"], task_defaults={"input": "order"})
    return folder


def arguments(saved: Path, output: Path, *more: str, data: str = "data") -> list[str]:
    return [
        *("probe", "--model", str(saved / "model"), "--dataset", str(saved / data)),
        *("--device", "cpu", "--no-cache", "--output", str(output), *more),
    ]


@pytest.fixture(scope="module")
def finished(saved: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run with everything in it."""
    output = tmp_path_factory.mktemp("results") / "run"
    assert main(arguments(saved, output, "--random-init", "2")) == 0
    return output


def results_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return found


def reached(results: dict[str, Any]) -> dict[str, Any]:
    """The accuracy of each system on all rows."""
    rows = [row for row in results["scores"] if not row["group"] and row["metric"] == "accuracy"]
    return {row["system"]: row["score"] for row in rows}


def test_what_a_run_says_of_each_config(finished: Path) -> None:
    results = results_of(finished)
    (own,) = results["probes"]
    assert (own["train"], own["validation"], own["test"]) == (80, 30, 50)
    assert own["labels"] == ["as it was", "exchanged"]
    assert own["layers"] == [0, 1, 2]
    accuracy = reached(results)
    assert accuracy["most frequent label"] == 0.5
    assert accuracy[""] > 0.8  # "Once" tells, in any layer of any weights
    assert accuracy["bag of words"] > 0.8
    assert 0 <= accuracy["random init"] <= 1
    assert results["headline"]["score"] == pytest.approx(accuracy[""])
    (whole,) = (s for s in results["scores"] if s["level"] == "all" and not s["system"])
    assert whole["metric"] == "accuracy"
    assert whole["score"] == pytest.approx(accuracy[""])
    assert whole["partial_input_score"] == pytest.approx(accuracy["bag of words"])
    assert whole["ci_low"] < whole["score"] <= whole["ci_high"]
    groups = {s["group"] for s in results["scores"] if s["level"] == "column"}
    assert groups == {"genre=bio", "genre=news"}
    uncertain = [note["text"] for note in results["notes"] if "choice of the layer" in note["text"]]
    assert uncertain[0].endswith("all other layers: order_toy (30 validation rows)")


def test_every_fit_and_every_row_is_there(finished: Path) -> None:
    fits = parquet_rows(finished / "layers.parquet")
    assert len(fits) == 3 * (1 + 2)
    own = results_of(finished)["probes"][0]
    chosen = max((f for f in fits if not f["draw"]), key=lambda f: f["validation"])
    assert chosen["layer"] == own["layer"]
    assert chosen["test"] == pytest.approx(reached(results_of(finished))[""])
    outcomes = read_outcome_tables(finished)
    systems = (system for *_, system in outcomes.series)
    assert {(one.role, one.label, one.layer) for one in systems} == {
        ("model", "", None),
        *(("model", f"layer {layer}", layer) for layer in range(3)),
        ("baseline", "bag of words", None),
        ("baseline", "most frequent label", None),
        ("baseline", "random init", None),
        ("baseline", "control task", None),
    }
    loaded: Any = cg.load_results(finished)
    assert cg.rows(loaded, "layers") == fits
    page = (finished / "report.html").read_text()
    assert "50 of 50 texts" in page
    assert "Accuracy of each layer" in page
    assert "<script" not in page


def test_people_who_judged_some_rows_stand_beside_the_probe(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    splits = {split: orders(size, seed) for seed, (split, size) in enumerate(SIZES.items())}
    said: list[bool | None] = [True, True, True, False, None]
    judged = {
        split: [
            replace(row, extra={**row.extra, "human_ok": ok})
            for row, ok in zip(rows, said * len(rows), strict=False)
        ]
        for split, rows in splits.items()
    }
    shutil.copytree(saved / "model", tmp_path / "model")
    about: Any = {"breakdowns": ["genre"], "task_defaults": {"input": "order"}}
    write_examples(tmp_path / "data", judged, **about)
    assert main(arguments(tmp_path, tmp_path / "run", "--random-init", "0", "--layers", "0")) == 0
    number = len(judged["test"]) * 4 // 5
    assert f"75.0 ({number})" in capsys.readouterr().out
    results = results_of(tmp_path / "run")
    by_group = {s["group"]: s for s in results["scores"] if s["level"] in ("all", "column")}
    assert (by_group[""]["human_score"], by_group[""]["human_n"]) == (0.75, number)
    assert by_group[""]["human_ci_low"] < 0.75 < by_group[""]["human_ci_high"]
    assert sum(s["human_n"] for group, s in by_group.items() if group) == number
    headline = results["headline"]
    assert (headline["human_score"], headline["human_n"]) == (0.75, number)
    assert headline["human_ci_low"] == by_group[""]["human_ci_low"]


def test_the_same_run_gives_the_same_bytes(saved: Path, finished: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    more = ("--random-init", "2")
    assert main(arguments(saved, again, *more)) == 0
    name = "layers.parquet"
    assert (again / name).read_bytes() == (finished / name).read_bytes()


def test_results_of_two_runs_are_compared_row_by_row(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = shutil.copytree(finished, tmp_path / "again")
    assert main(["compare", str(finished), str(again)]) == 0
    out = capsys.readouterr().out
    assert "order_toy" in out
    assert "layer 1" not in out
    assert main(["compare", str(finished), str(again), "--details"]) == 0
    assert "accuracy, layer 1 " in capsys.readouterr().out


def test_of_two_probes_rows_are_counted_and_layers_are_named(
    saved: Path, finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ("--layers", "0,2", "--random-init", "0", "--limit", "20")
    assert main(arguments(saved, tmp_path / "run", *more)) == 0
    assert main(["compare", str(finished), str(tmp_path / "run")]) == 2
    assert "layers: not set and [0, 2]; " in capsys.readouterr().err
    assert main(["compare", str(finished), str(tmp_path / "run"), "--anyway"]) == 0
    assert "30 rows are left out: only one of the two has them" in capsys.readouterr().out


def test_layers_of_one_run_are_compared_row_by_row(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ("--layers", "0", "1", "2")
    assert main(["compare", str(finished), *more]) == 0
    out = capsys.readouterr().out
    assert "model, layer 2 against model, layer 0 (reference)" in out
    # All rows, of two layers; and of two genres for who asks.
    assert "corrected for the 2 tests of all 2 comparisons printed; *" in out
    assert main(["compare", str(finished), *more, "--details"]) == 0
    assert "corrected for the 6 tests of all 2 comparisons" in capsys.readouterr().out
    own = [row for row in compared(capsys, finished, *more) if row["level"] == "all"]
    fits = {f["layer"]: f for f in parquet_rows(finished / "layers.parquet") if not f["draw"]}
    for layer, whole in zip((1, 2), own, strict=True):
        assert whole["baseline_score"] == pytest.approx(fits[0]["test"])
        assert whole["score"] == pytest.approx(fits[layer]["test"])
        assert whole["ci_low"] <= whole["difference"] <= whole["ci_high"]
        assert whole["p"] <= whole["p_holm"] <= 1
    assert main(["compare", str(finished), "--layers", "0", "7"]) == 2
    assert "order_toy: no layer 7; expected one of layer 0, layer 1" in one_line(
        capsys.readouterr().err
    )
    assert main(["compare", str(finished)]) == 2
    assert "expected two or more, or --layers of the one" in one_line(capsys.readouterr().err)


def test_curves_of_several_runs_are_in_one_figure(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    shutil.copytree(finished, other)
    assert main(["plot", str(finished), str(other), "--output", str(tmp_path / "plots")]) == 0
    assert "layers.png" in capsys.readouterr().out
    drawn = (tmp_path / "plots" / "layers.svg").read_text()
    assert "<!-- random init, model (other) -->" in drawn  # two runs of one model, by their folders
    curves = list(probe_curves([read_results(finished)]))
    chosen = [curve.chosen["layer"] for curve in curves]
    assert chosen == [results_of(finished)["probes"][0]["layer"]]
    assert list(curves[0].draws) == [0, 1, 2]
    assert len(curves[0].fits) > 1
    assert all(fit["low"] <= fit["test"] <= fit["high"] for fit in curves[0].fits)
    (other / "layers.parquet").unlink()
    assert main(["plot", str(other), "--output", str(tmp_path / "more")]) == 2
    assert "no layers.parquet; expected the whole folder" in one_line(capsys.readouterr().err)


def test_a_probe_of_the_published_protocol(saved: Path, tmp_path: Path) -> None:
    splits = {split: orders(size, seed) for seed, (split, size) in enumerate(SIZES.items())}
    defaults = {"input": "order", "protocol": "BSO"}
    folder = write_examples(tmp_path / "data", splits, task_defaults=defaults)
    more = ("--compat", "discoeval-2019", "--dataset", str(folder))
    assert main(arguments(saved, tmp_path / "run", *more)) == 0
    (own,) = results_of(tmp_path / "run")["probes"]
    assert own["layers"] == [-1]
    assert not {"control task", "random init"} & {*reached(results_of(tmp_path / "run"))}
    assert own["setting"] in (1e-5, 1e-4, 1e-3, 1e-2)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--split", "train"), "--split train: its rows train the probe; expected a split"),
        (("--split", "dev"), "no split 'dev' to test on; expected one"),
        (("--layers", "3"), "layer 3: expected 0 (embeddings) to 2"),
        (("--compat", "discoeval-2019"), "a config that is none of the paper's tasks"),
        (("--compat", "discoeval-2019", "--input", "pair"), "the mode sets --input itself; leave"),
        (
            ("--compat", "discoeval-2019", "--train-on", "order_toy"),
            "the mode sets --train-on itself",
        ),
        (("--train-on", "order_tou"), "expected one of order_toy; did you mean 'order_toy'?"),
        (("--config", "order_tou"), "no config 'order_tou'; expected one of order_toy"),
        (("--pool", "cls"), "the first token of this model sees nothing of the text"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    saved: Path,
    tmp_path: Path,
    more: tuple[str, ...],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(arguments(saved, tmp_path / "run", *more)) == 2
    assert message in one_line(capsys.readouterr().err)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: replace(row, label="x"), "all training rows have one label; expected two"),
        (
            lambda row: (
                replace(row, slots=row.slots[:1], places=(0,)) if row.label == "exchanged" else row
            ),
            "rows of 1 and of 2 slots; expected one number",
        ),
    ],
)
def test_tables_that_cannot_be_probed(
    saved: Path,
    tmp_path: Path,
    change: Any,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    splits = {s: [change(row) for row in orders(4, n)] for n, s in enumerate(SIZES)}
    folder = write_examples(tmp_path / "data", splits)
    more = ("--dataset", str(folder), "--random-init", "0", "--layers", "0")
    assert main(arguments(saved, tmp_path / "run", *more)) == 2
    assert message in one_line(capsys.readouterr().err)
    whole = {s: orders(4, n) for n, s in enumerate(SIZES)}
    write_examples(tmp_path / "data", whole, config="order_whole")
    assert main(arguments(saved, tmp_path / "run", *more)) == 0
    results = results_of(tmp_path / "run")
    assert [own["config"] for own in results["probes"]] == ["order_whole"]
    assert any(message in note["text"] for note in results["notes"])


def test_a_table_without_rows_to_learn_from(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_examples(tmp_path / "data", {"test": orders(4, 0)})
    assert main(arguments(saved, tmp_path / "run", "--dataset", str(folder))) == 2
    assert "no split 'train' to learn from" in one_line(capsys.readouterr().err)


def test_what_is_tested_on_chooses_nothing(
    saved: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes: list[dict[str, int]] = []

    def counted(texts: Any, labels: Any) -> Any:
        sizes.append({part: len(rows) for part, rows in texts.items()})
        return bag_of_words(texts, labels)

    monkeypatch.setattr("coherencegym.eval.tasks.probe.task.bag_of_words", counted)
    folder = write_examples(tmp_path / "data", {"train": orders(60, 0), "validation": orders(9, 1)})
    write_examples(tmp_path / "data", {"test": orders(9, 1)}, config="order_other")
    more = ("--dataset", str(folder), "--random-init", "0", "--layers", "0")
    assert main(arguments(saved, tmp_path / "run", *more, "--split", "validation")) == 0
    results = results_of(tmp_path / "run")
    (own,) = results["probes"]
    assert (own["split"], own["test"]) == ("validation", 18)
    assert own["train"] + own["validation"] == 120
    # Of the bag of words, too: its penalty is chosen on rows held out of train.
    assert sizes == [{"train": own["train"], "validation": own["validation"], "tested": 18}]
    said = [note["text"] for note in results["notes"] if note["kind"] == "caution"]
    assert any("order_toy: tested on validation; a tenth of train" in text for text in said)
    lack = "no split 'train' to learn from; expected one"
    assert f"left out: config 'order_other': {lack}" in said
    capsys.readouterr()
    named = ("--config", "order_toy")
    assert main(arguments(saved, tmp_path / "other", *more, *named)) == 2
    assert "(--split validation tests on that" in one_line(capsys.readouterr().err)


def test_a_probe_is_trained_on_one_language_and_tested_on_others(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of both languages only rows whose label both have."""
    nl = {split: orders(size, seed) for seed, (split, size) in enumerate(SIZES.items())}
    nl["train"].append(replace(nl["train"][0], item_id="only nl", label="nl"))
    rows = orders(12, 7)
    zh = {"test": [*rows, replace(rows[0], item_id="only zh", label="zh")]}
    for code, splits in {"nl": nl, "zh": zh}.items():
        about = {"corpus": {"language": code}, "task_defaults": {"input": "order"}}
        folder = write_examples(tmp_path / "data", splits, f"order_{code}", **about)
    more = (
        "--dataset",
        str(folder),
        "--random-init",
        "0",
        "--train-on",
        "order_nl",
    )
    assert main(arguments(saved, tmp_path / "run", *more, "--config", "order_zh")) == 0
    (own,) = results_of(tmp_path / "run")["probes"]
    assert (own["config"], own["train"], own["validation"], own["test"]) == ("order_zh", 80, 30, 24)
    assert own["labels"] == ["as it was", "exchanged"]
    assert reached(results_of(tmp_path / "run"))[""] > 0.8  # the same words tell
    output = capsys.readouterr().out
    assert "order_zh (test): 1 rows with labels that order_nl does not have are left out" in output
    assert "not shown: accuracy of each layer, %" in output
    # Trained on its own rows as without the option, but for the label that others do not have.
    assert main(arguments(saved, tmp_path / "both", *more)) == 0
    results = results_of(tmp_path / "both")
    assert [one["test"] for one in results["probes"]] == [50, 24]
    assert results["probes"][0]["labels"] == ["as it was", "exchanged", "nl"]
    assert [table["language"] for table in results["dataset"]["tables"]] == ["nl", "zh"]


def test_without_a_split_to_choose_by_a_tenth_of_the_rows_is_held_out(
    saved: Path, tmp_path: Path
) -> None:
    folder = write_examples(tmp_path / "data", {"train": orders(60, 0), "test": orders(10, 1)})
    more = ("--dataset", str(folder), "--random-init", "0", "--layers", "0")
    assert main(arguments(saved, tmp_path / "run", *more)) == 0
    results = results_of(tmp_path / "run")
    (own,) = results["probes"]
    assert own["train"] + own["validation"] == 120
    assert 2 <= own["validation"] <= 30
    assert own["validation"] % 2 == 0  # both orders of a pair are on one side
    assert any("a tenth of train was held out" in note["text"] for note in results["notes"])


def test_results_are_pushed_and_stand_in_overviews(
    hub: HubServer,
    hub_api: HfApi,
    finished: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    push_results(hub_api, [finished], "coherencegym/results")
    files = hub.files("coherencegym/results")
    names = {name.rpartition("/")[2]: name for name in files}
    kept = {"results.json", "layers.parquet"}
    kept |= {"units.parquet", "systems.parquet", "outcomes.parquet"}
    assert kept <= {*names}
    assert "report.html" not in names  # which has the texts
    for name in kept:
        assert b"there was a" not in files[names[name]]
        (tmp_path / name).write_bytes(files[names[name]])
    card = files["README.md"].decode()
    whole = results_of(finished)["headline"]
    assert f"probe, accuracy | 50 | [{100 * whole['score']:.1f} " in card
    # What was pushed is enough to compare and to draw it again.
    assert main(["compare", str(tmp_path), str(finished), "--layers", "1"]) == 0
    assert len(list(probe_curves([read_results(tmp_path)]))) == 1
    capsys.readouterr()
    assert main(["overview", str(finished)]) == 0
    out = capsys.readouterr().out
    assert "Overview: scores in per cent" in out
    assert "discourse_tasks 1.0.0, probe, accuracy" in out
    assert "probes (accuracy): partial input is a bag of words" in out

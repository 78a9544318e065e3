"""The folders that ``detect`` leaves are read by all that reads those of ``score``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from huggingface_hub import HfApi
from support.commands import compared
from support.datasets import about_families, with_intruders, write_documents
from support.hub.server import HubServer

from coherencegym.eval.commands.cli import main
from coherencegym.eval.hub.push import push_results
from coherencegym.eval.results.folder import read_results
from coherencegym.files.folders import CHECKSUMS


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of two detectors on the same documents."""
    folder = tmp_path_factory.mktemp("detected")
    splits = {
        split: with_intruders(about_families(size, seed=size), seed=size)
        for split, size in (("validation", 12), ("test", 20))
    }
    write_documents(folder / "data", splits, "detect_one")
    for detector in ("mutual", "context"):
        words = ["detect", "--model", "demo", "--dataset", str(folder / "data"), "--device", "cpu"]
        words += ["--detector", detector, "--no-cache", "--output", str(folder / detector)]
        assert main(words) == 0
    return folder


def test_scores_are_what_the_outcomes_add_up_to(results: Path) -> None:
    written = json.loads((results / "mutual" / "results.json").read_text())
    assert {"format", "task", "signature", "model", "dataset", "settings", "scores"} <= set(written)
    saved = read_results(results / "mutual", outcomes=True)
    assert saved.outcomes is not None
    series = {
        (saved.metrics[name].said, system.label): (name, places)
        for (_, _, name, system), places in saved.outcomes.series.items()
    }
    own = [score for score in written["scores"] if score["level"] == "all"]
    assert [s["metric"] for s in own[:5]] == [
        *("AUC", "place", "document accuracy", "exact accuracy", "F1")
    ]
    for score in own:
        name, places = series[score["metric"], score["system"]]
        cells = saved.outcomes.cells(places)
        assert len(cells)
        assert saved.metrics[name].value(cells) == pytest.approx(score["score"])
        assert 0 < score["chance"] < 1


def test_it_is_read_as_a_run_and_plotted(results: Path, tmp_path: Path) -> None:
    run = read_results(results / "mutual")
    assert (run.suite, len(run.digests)) == (read_results(results / "context").suite, 1)
    folders = [str(results / name) for name in ("mutual", "context")]
    assert main(["plot", *folders, "--output", str(tmp_path / "plots")]) == 0
    drawn = (tmp_path / "plots" / "scores.svg").read_text()
    for label in ("detect_one: AUC", "detect_one: F1, argmax", "chance"):
        assert label in drawn
    # What is no score of the model is no row.
    assert "majority" not in drawn


def test_two_detectors_are_compared_document_by_document(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [str(results / name) for name in ("mutual", "context")]
    assert main(["compare", *folders]) == 0
    printed = capsys.readouterr().out
    assert 'detector: "mutual" and "context"' in printed
    found = compared(capsys, *folders)
    rows = {(row["metric"], row["system"]): row for row in found if row["level"] == "all"}
    tests = {measure: row["test"] for (measure, _), row in rows.items()}
    assert tests["AUC"] == "DeLong"
    assert tests["F1"].startswith("approximate randomisation")
    assert tests["document accuracy"] == "mcnemar"
    sides = [
        {(s.metric, s.system): s.score for s in read_results(Path(folder)).rows if s.level == "all"}
        for folder in folders
    ]
    for key, row in rows.items():
        assert (row["baseline_score"], row["score"]) == pytest.approx(
            (sides[0][key], sides[1][key])
        )
        assert (row["p"] < 0.05) == (not row["ci_low"] <= 0 <= row["ci_high"])


def test_a_push_has_its_scores_and_no_text(hub: HubServer, hub_api: HfApi, results: Path) -> None:
    push_results(hub_api, [results / "mutual"], "coherencegym/found")
    files = hub.files("coherencegym/found")
    names = {path.rpartition("/")[2] for path in files}
    tables = {"units.parquet", "systems.parquet", "outcomes.parquet"}
    assert {"results.json", *tables} <= names
    assert "report.html" not in names
    assert CHECKSUMS not in names
    card = files["README.md"].decode()
    assert ", detect, " in card
    assert "majority" not in card


def test_the_page_shows_documents_and_runs_nothing(results: Path) -> None:
    page = (results / "mutual" / "report.html").read_text()
    assert page.count("<script") == 0
    assert "20 of 20 documents" in page
    assert page.count(">intruder<") + page.count(">intruder,") == 10
    assert "detect_one (test)" in page

"""Results as logs of Inspect, by its own reader where it is installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.commands import one_line

from coherencegym.eval.commands.cli import main
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.results.logs.read import logs_at, read_log
from coherencegym.eval.results.runs import read_run
from coherencegym.eval.results.saved import read_saved


def export(results: Path, folder: Path) -> int:
    words = ["--format", "inspect", "--output", str(folder)]
    return main(["export-results", str(results), *words])


def test_without_inspect_is_one_line(
    scored: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    assert export(scored, tmp_path / "logs") == 2
    assert r"pip install 'coherencegym[inspect]'" in one_line(capsys.readouterr().err)
    assert not (tmp_path / "logs").exists()


def test_a_log_has_a_sample_an_item_and_the_interval(
    scored: Path, pair_items: list[Item], tmp_path: Path
) -> None:
    inspect_log = pytest.importorskip("inspect_ai.log", reason="inspect-ai is not installed")
    assert export(scored, tmp_path / "logs") == 0
    (path,) = logs_at(tmp_path / "logs")
    log = inspect_log.read_eval_log(str(path))
    run = read_run(scored)
    score = next(one for one in run.scores if one.level == "all")
    (scorer,) = log.results.scores
    accuracy = scorer.metrics["accuracy"]
    assert accuracy.value == score.score
    assert (accuracy.metadata["ci_low"], accuracy.metadata["ci_high"]) == (
        score.ci_low,
        score.ci_high,
    )
    assert scorer.metrics["chance"].value == 0.5
    assert (log.eval.model, log.eval.metadata["signature"]) == (run.model, run.signature)
    assert [sample.id for sample in log.samples] == [item.item_id for item in pair_items]
    values = [sample.scores["cd_score"].value for sample in log.samples]
    assert sum(values) / len(values) == pytest.approx(score.score)
    text = pair_items[0].conditions[0].content
    assert f"original: {text}" in log.samples[0].input
    assert log.samples[0].metadata["cluster"] == pair_items[0].cluster
    # What is read of it without Inspect.
    again, left_out = read_log(path, "cluster")
    units = {unit.item: unit.cluster for unit in again.outcomes.unit_rows()}
    assert units == {item.item_id: item.cluster for item in pair_items}
    assert not left_out
    assert len(again.outcomes) == read_saved(scored).tables[0].items

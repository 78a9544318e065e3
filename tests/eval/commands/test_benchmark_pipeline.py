"""The benchmark of everything but the model runs the evaluator's own command."""

from __future__ import annotations

import cProfile
import json
from collections.abc import Callable
from pathlib import Path

from benchmarks.pipeline import evaluate
from coherencegym.eval.kinds.items import Item


def test_an_evaluation_without_its_model_writes_results_and_times_its_stages(
    tmp_path: Path, pair_items: list[Item], write_dataset: Callable[..., Path]
) -> None:
    folder = write_dataset(
        tmp_path / "data", pair_items, extra={"moved": "bool"}, breakdowns=["moved"]
    )
    profile = cProfile.Profile()
    seconds, stages = evaluate("demo", folder, "toy_context", tmp_path / "out", 4, profile)
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results["scores"][0]["n"] == 4
    # Every stage is where the command calls it: one that moved would take no time at all.
    assert all(taken > 0 for taken in stages.values())
    assert 0 < sum(stages.values()) <= seconds

"""The CD score in sixty lines is that of the evaluator, and so are its bits."""

from __future__ import annotations

import dataclasses
import re
import runpy
from pathlib import Path

import pytest
from support.suites import no_classifiers

import coherencegym as cg


# Predictions on the mean of a region, and on the sum and the mean of a whole text.
@pytest.mark.parametrize(
    ("suite", "config"), [("story_cloze", "sample"), ("winograd", "sample_full")]
)
def test_it_is_the_score_of_the_evaluator(
    examples: Path,
    repository: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    suite: str,
    config: str,
) -> None:
    no_classifiers(monkeypatch)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    script = runpy.run_path(str(examples / "cd_score.py"))
    built = cg.build(suite, corpus="sample", limit=6, output=tmp_path / "built")
    model = str(repository / "eval/models/demo_model")
    results = cg.score(model, built, config=config)
    assert isinstance(results, cg.Results)
    assert script["cd_score"](model, str(built), config) == results.rows[0].score
    loaded = cg.load_model(model)
    table, scored = results.details[0].shown
    compared = 0
    for item, answer in zip(table.items, scored.items, strict=True):
        for condition in item.conditions:
            row = dataclasses.asdict(condition)
            own = script["region_bits"](loaded.model, loaded.tokenizer, row)
            theirs = answer.conditions[condition.condition_name]
            for region in condition.regions:
                number = region.region_number
                if len(bits := theirs.region_bits(number)):  # where a prediction reads it
                    compared += 1
                    assert own[str(number)].tolist() == pytest.approx(bits.tolist(), abs=1e-4)
    assert compared >= 12


def test_it_is_sixty_lines_that_import_nothing_of_ours(examples: Path) -> None:
    text = (examples / "cd_score.py").read_text(encoding="utf-8")
    assert text.count("\n") <= 60
    assert "coherencegym" not in re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE)

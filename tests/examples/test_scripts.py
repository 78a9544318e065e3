"""The scripts of examples/ run as they stand there."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest
from support.suites import no_classifiers

import coherencegym as cg


def test_own_operator(examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = runpy.run_path(str(examples / "own_operator.py"))["main"]()
    assert [
        [word for word in text.split() if word in ("before", "after")] for text in pairs[0]
    ] == [
        ["before"],
        ["after"],
    ]
    shown = capsys.readouterr().out
    assert "{'no before and no after': 1}" in shown
    assert "2 items" in shown


def test_own_suite(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    no_classifiers(monkeypatch)
    monkeypatch.setattr(sys, "path", [*sys.path])
    built = cg.build(examples / "own_suite.py", corpus="sample")
    items = list(cg.load_items(built))
    assert len(items) >= 20
    for item in items:
        coherent, incoherent = (condition.content.split() for condition in item.conditions)
        differing = [pair for pair in zip(coherent, incoherent, strict=True) if pair[0] != pair[1]]
        assert len(differing) == 1
    results = cg.score("demo", built)
    assert isinstance(results, cg.Results)
    assert results.rows[0].n == len(items)


def test_score_while_training(examples: Path) -> None:
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    scores = runpy.run_path(str(examples / "score_while_training.py"))["main"]()
    assert [step for step, _ in scores] == [0, 3, 6]
    assert len({score for _, score in scores}) == 3

"""What a run writes: its results, and the tables of its outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coherencegym.eval.outcomes.files import outcomes_digest, write_tables
from coherencegym.eval.outcomes.metrics import described_metrics
from coherencegym.eval.results.folder import MARKER, RESULTS_FORMAT
from coherencegym.eval.tasks.results import Results
from coherencegym.files.strict_json import json_text


def write_results(results: Results, folder: Path) -> None:
    """Write ``results.json`` and the outcomes into a folder that is there."""
    digest = {}
    if len(results.outcomes.units):
        write_tables(results.outcomes, folder)
        digest["outcomes_sha256"] = outcomes_digest(folder)
    write_json({**results_json(results), **digest}, folder / MARKER)


def results_json(results: Results) -> dict[str, Any]:
    """The content of ``results.json``, but for the digest of the outcomes."""
    return {
        "format": RESULTS_FORMAT,
        # Those of the first task have always been without its name.
        **({"task": results.task} if results.task != "score" else {}),
        "signature": results.signature,
        "model": dict(results.model),
        "dataset": dict(results.dataset),
        "settings": dict(results.settings),
        "notes": [asdict(note) for note in results.notes],
        "headline": asdict(results.headline) if results.headline else None,
        "metrics": described_metrics(list(results.metrics.values())),
        "scores": [asdict(score) for score in results.rows],
        "differences": [asdict(difference) for difference in results.differences],
        **results.more,
    }


def write_json(content: Mapping[str, Any], path: Path) -> None:
    """Write JSON, with an end of line."""
    path.write_text(json_text(content), encoding="utf-8")

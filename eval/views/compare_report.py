"""The folder of files that a comparison leaves behind: ``comparison.json``, and the plot twice."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coherencegym.eval.results.comparison import ModelComparison
from coherencegym.eval.results.saved import Saved
from coherencegym.eval.statistics.intervals import INTERVALS
from coherencegym.eval.statistics.paired import FLIPS
from coherencegym.files.folders import written_beside

#: The file that every folder of a comparison has.
MARKER = "comparison.json"


def write(
    comparisons: Sequence[ModelComparison],
    names: Sequence[tuple[str, str]],
    folder: Path,
    *,
    seed: int,
    overwrite: bool = False,
) -> None:
    """Write a folder of comparisons, whole or not at all.

    Args:
        comparisons: at least one.
        names: what to call the model and the baseline of each.
        folder: where to.
        seed: with which they were made.
        overwrite: whether an earlier comparison there may be replaced.

    Raises:
        FileExistsError: the folder exists and overwriting was not asked for.
    """
    from coherencegym.eval.views.compare_plot import plot_comparisons

    with written_beside(folder, overwrite, MARKER) as work:
        content = as_json(comparisons, names, seed)
        text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
        (work / MARKER).write_text(text + "\n", encoding="utf-8")
        plot_comparisons(comparisons, names, [work / "comparison.png", work / "comparison.svg"])


def as_json(
    comparisons: Sequence[ModelComparison], names: Sequence[tuple[str, str]], seed: int
) -> dict[str, Any]:
    """The content of ``comparison.json``: all rows, also those that are not printed."""
    return {
        "format": 1,
        "settings": {"seed": seed, "intervals": INTERVALS, "flips": FLIPS},
        "comparisons": [
            {
                "baseline": _about(comparison.baseline, baseline),
                "model": _about(comparison.model, model),
                "obstacles": list(comparison.obstacles),
                "remarks": list(comparison.remarks),
                "unpaired_predictions": comparison.unpaired,
                "holm_tests": sum(row.p_holm is not None for row in comparison.rows),
                "rows": [asdict(row) for row in comparison.rows],
            }
            for comparison, (model, baseline) in zip(comparisons, names, strict=True)
        ],
    }


def _about(results: Saved, label: str) -> dict[str, Any]:
    return {
        "label": label,
        "folder": str(results.folder),
        "signature": results.signature,
        **asdict(results.model),
    }

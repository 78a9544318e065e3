"""The files that a probe leaves beside the tables of outcomes: every fit, and every prediction."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from coherencegym.eval.tasks.probe.probe import Probed
from coherencegym.eval.tasks.probe.results import right_of
from coherencegym.eval.tasks.probe.study import Curve
from coherencegym.files.parquet_writing import row_schema, write_rows

#: The file of all fits, and what its rows say of those of randomly initialised models.
LAYERS_FILE, RANDOM_INIT = "layers.parquet", "random init"


def layer_rows(details: Sequence[Probed]) -> Iterator[dict[str, Any]]:
    """Rows of ``layers.parquet``: fits of every layer, of the model and randomly initialised ones.

    ``what`` is ``task`` or ``random init``, ``draw`` which of the latter.
    """
    for own in details:
        curves: list[tuple[str, int, Curve]] = [("task", 0, own.curve)]
        curves += [(RANDOM_INIT, n, curve) for n, curve in enumerate(own.random, start=1)]
        for what, draw, curve in curves:
            for fit in curve.fits:
                yield {
                    "config": own.table.config,
                    "split": own.table.table.split,
                    "layer": fit.layer,
                    "what": what,
                    "draw": draw,
                    "setting": fit.setting,
                    "validation": fit.validation,
                    "test": fmean(right_of(own, fit)),
                    "n": len(own.tested),
                }


def layer_schema() -> Any:
    """The Arrow schema of ``layers.parquet``."""
    return row_schema(
        *("config string", "split string", "what string", "layer int32", "draw int32", "n int32"),
        *("setting double", "validation double", "test double"),
    )


def label_rows(details: Sequence[Probed]) -> Iterator[dict[str, Any]]:
    """Rows of ``predictions.parquet``: what the chosen layer's probe says of each test row.

    ``probability`` is that of the row's own label, null where it has no vectors.
    """
    for own in details:
        fit, labels = own.chosen, list(own.table.labels)
        given = iter(zip(own.predict(fit), fit.log_probabilities, strict=True))
        for row, reason in zip(own.table.table.rows, own.left_out_of_test, strict=True):
            label, log = (None, None) if reason else next(given)
            yield {
                "config": own.table.config,
                "split": own.table.table.split,
                "item_id": row.item_id,
                "layer": fit.layer,
                "label": row.label,
                "predicted": label,
                "probability": None if log is None else math.exp(log[labels.index(row.label)]),
                "reason": reason,
            }


def label_schema() -> Any:
    """The Arrow schema of ``predictions.parquet``."""
    return row_schema(
        *("config string", "split string", "item_id string", "label string", "predicted string"),
        *("reason string", "layer int32", "probability double"),
    )


#: The file of what the chosen layer's probe says of each row.
LABELS_FILE = "predictions.parquet"


def write_probe_files(details: Sequence[Probed], folder: Path) -> None:
    """Write every fit, and every prediction of the chosen layer, into a folder that is there."""
    write_rows(layer_rows(details), layer_schema(), folder / LAYERS_FILE)
    write_rows(label_rows(details), label_schema(), folder / LABELS_FILE)

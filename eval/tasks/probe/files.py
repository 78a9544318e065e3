"""The files that a probe leaves beside the tables of outcomes: every fit, and every prediction."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from coherencegym.eval.tasks.probe.results import ProbeDetail, fit_accuracy
from coherencegym.eval.tasks.probe.study import Curve

#: The file of all fits, and what its rows say of those of models with new weights.
LAYERS_FILE, NEW_WEIGHTS = "layers.parquet", "new weights"


def layer_rows(details: Sequence[ProbeDetail]) -> Iterator[dict[str, Any]]:
    """Rows of ``layers.parquet``: every fit of every layer, of the model and of its twins.

    ``what`` is ``task`` or ``new weights``, ``draw`` which of the latter.
    """
    for own in (one.probed for one in details):
        curves: list[tuple[str, int, Curve]] = [("task", 0, own.curve)]
        curves += [(NEW_WEIGHTS, n, curve) for n, curve in enumerate(own.random, start=1)]
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
                    "test": fit_accuracy(own, fit),
                    "n": len(own.tested),
                }


def layer_schema() -> Any:
    """The Arrow schema of ``layers.parquet``."""
    import pyarrow as pa

    texts = {name: pa.string() for name in ("config", "split", "what")}
    numbers = {name: pa.int32() for name in ("layer", "draw", "n")}
    shares = {name: pa.float64() for name in ("setting", "validation", "test")}
    return pa.schema({**texts, **numbers, **shares})


def label_rows(details: Sequence[ProbeDetail]) -> Iterator[dict[str, Any]]:
    """Rows of ``predictions.parquet``: what the chosen layer's probe says of each test row.

    ``probability`` is that of the row's own label, null where it has no vectors.
    """
    for own in (one.probed for one in details):
        fit, labels = own.chosen, list(own.table.labels)
        given = iter(zip(own.called(fit), fit.log_probabilities, strict=True))
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
    import pyarrow as pa

    texts = ("config", "split", "item_id", "label", "predicted", "reason")
    named = {name: pa.string() for name in texts}
    return pa.schema({**named, "layer": pa.int32(), "probability": pa.float64()})


#: The file of what the chosen layer's probe says of each row.
LABELS_FILE = "predictions.parquet"


def write_probe_files(details: Sequence[ProbeDetail], folder: Path) -> None:
    """Write both files into a folder that is there."""
    import pyarrow as pa
    from pyarrow import parquet

    for rows, schema, name in (
        (layer_rows(details), layer_schema(), LAYERS_FILE),
        (label_rows(details), label_schema(), LABELS_FILE),
    ):
        parquet.write_table(pa.Table.from_pylist(list(rows), schema=schema), folder / name)

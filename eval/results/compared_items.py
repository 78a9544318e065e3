"""Both models' values of every item that they are compared on, in one file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.outcomes.schema import FLAGS
from coherencegym.eval.results.comparison import ModelComparison
from coherencegym.eval.results.paired_scores import compared_outcomes
from coherencegym.files.folders import check_inputs

#: The endings of files that are written.
_ENDINGS = (".parquet", ".csv")


def check_items_file(path: Path, overwrite: bool, inputs: Sequence[Path] = ()) -> None:
    """Refuse a file that cannot be written, is among what is read, or may not be replaced."""
    if path.suffix not in _ENDINGS:
        raise EvaluationError(f"--items {path}: expected a name with {' or '.join(_ENDINGS)}")
    if path.is_dir() or not path.parent.is_dir():
        what = "is a folder" if path.is_dir() else f"no folder {path.parent}"
        raise EvaluationError(f"--items {path}: {what}; expected a file in a folder that is there")
    check_inputs([path], "--items", inputs=inputs)
    if path.exists() and not overwrite:
        raise EvaluationError(f"--items {path}: exists; expected --overwrite, or another file")


def write_items(
    comparisons: Sequence[ModelComparison], names: Sequence[tuple[str, str]], path: Path
) -> None:
    """Write a row for each unit, metric and system of each comparison: parquet, or CSV.

    Args:
        comparisons, names: the comparisons, and (model, reference) of each.
        path: the file, which is replaced where it is there.
    """
    import pyarrow as pa
    from pyarrow import csv, parquet

    named = zip(comparisons, names, strict=True)
    rows = pa.Table.from_pylist([row for one, pair in named for row in _rows(one, *pair)])
    beside = path.with_name(f"{path.name}.part")
    write = csv.write_csv if path.suffix == ".csv" else parquet.write_table
    try:
        write(rows, beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _rows(comparison: ModelComparison, model: str, reference: str) -> Iterator[dict[str, Any]]:
    sides = comparison.baseline, comparison.model
    about = {"suite": sides[0].suite, "reference": reference, "model": model}
    for one, there in compared_outcomes(*sides):
        pairs = zip(sides[0].outcomes.rows(one.places), sides[1].outcomes.rows(there), strict=True)
        for pair in pairs:
            unit = pair[0].unit
            place = {"config": unit.config, "split": unit.split, "item_id": unit.item}
            place |= {"unit": unit.unit, "formula": unit.formula}
            place |= {"aggregation": unit.aggregation, "cluster": unit.cluster}
            place |= {"metric": one.metric, "system": one.system.label}
            values = {
                f"{what}_{side}": value
                for side, outcome in zip(("reference", "model"), pair, strict=True)
                for what, value in (
                    ("value", outcome.value),
                    ("reason", outcome.reason),
                    ("flags", ", ".join(n for n, bit in FLAGS.items() if outcome.flags & bit)),
                )
            }
            yield about | place | values

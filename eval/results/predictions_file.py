"""``predictions.parquet``: what became of every prediction of every item of a run, one row each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.kinds.predictions import Outcome
from coherencegym.eval.tasks.score.metrics import Judgement
from coherencegym.eval.tasks.score.selections import column_labels
from coherencegym.files.parquet_rows import parquet_rows

#: Its name in the folder of results.
FILE = "predictions.parquet"

#: Columns that are null where the prediction is undefined or the item is too long.
_OUTCOME = ("met", "tie", "margin")


@dataclass(frozen=True, slots=True)
class SavedItem:
    """What a results folder has of an item.

    Attributes:
        item_id: unique within its table.
        discourse_id: where it is from.
        cluster: the family, or else the discourse: what of all items is drawn as one.
        columns: ``column=value`` for each column by which scores are reported.
    """

    item_id: str
    discourse_id: str
    cluster: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SavedJudgement:
    """What a results folder has of a :class:`eval.tasks.score.metrics.Judgement`."""

    item: SavedItem
    formula: str
    metric: str
    groups: tuple[str, ...]
    outcome: Outcome | None
    too_close: bool
    reason: str


def schema() -> Any:
    """The Arrow schema; ``margin`` is in bits, and null where the formula has none."""
    import pyarrow as pa

    def required(name: str, kind: Any) -> Any:
        return pa.field(name, kind, nullable=False)

    return pa.schema(
        [
            required("config", pa.string()),
            required("split", pa.string()),
            required("item_id", pa.string()),
            required("discourse_id", pa.string()),
            required("cluster", pa.string()),
            required("columns", pa.list_(pa.string())),
            required("formula", pa.string()),
            required("metric", pa.string()),
            required("groups", pa.list_(pa.string())),
            pa.field("met", pa.bool_()),
            pa.field("tie", pa.bool_()),
            pa.field("margin", pa.float64()),
            required("too_close", pa.bool_()),
            required("reason", pa.string()),
        ]
    )


def rows(table: ItemTable, judgements: Sequence[Judgement]) -> Iterator[dict[str, Any]]:
    """The rows of one table, in the order of its items and of their predictions."""
    for judgement in judgements:
        item, outcome = judgement.item, judgement.outcome
        yield {
            "config": table.config,
            "split": table.split,
            "item_id": item.item_id,
            "discourse_id": item.discourse_id,
            "cluster": item.cluster,
            "columns": list(column_labels(item, table.breakdowns)),
            "formula": judgement.formula,
            "metric": judgement.metric,
            "groups": list(judgement.groups),
            "met": outcome.met if outcome else None,
            "tie": outcome.tie if outcome else None,
            "margin": outcome.margin if outcome else None,
            "too_close": judgement.too_close,
            "reason": judgement.reason,
        }


def read(path: Path) -> dict[tuple[str, str], list[SavedJudgement]]:
    """The judgements by config and split, in the order of the file.

    Raises:
        EvaluationError: it cannot be read, has other columns, or a row contradicts itself.
    """
    found: dict[tuple[str, str], list[SavedJudgement]] = {}
    items: dict[tuple[str, str, str], SavedItem] = {}
    for number, row in enumerate(_checked(path)):
        where = f"{path}: row {number}"
        table = row["config"], row["split"]
        item = SavedItem(row["item_id"], row["discourse_id"], row["cluster"], tuple(row["columns"]))
        if items.setdefault((*table, item.item_id), item) != item:
            raise EvaluationError(f"{where}: the item's discourse or columns are other than before")
        found.setdefault(table, []).append(
            SavedJudgement(
                items[*table, item.item_id],
                row["formula"],
                row["metric"],
                tuple(row["groups"]),
                _outcome(row, where),
                row["too_close"],
                row["reason"],
            )
        )
    for judgements in found.values():
        if len({len(judgement.item.columns) for judgement in judgements}) > 1:
            raise EvaluationError(f"{path}: items of one table have different columns")
    return found


def _checked(path: Path) -> list[dict[str, Any]]:
    """The rows, with the types of :func:`schema` and without a null where none may be."""
    wanted = schema()
    listed = parquet_rows(path, wanted)
    required = [name for name in wanted.names if name not in _OUTCOME]
    for number, row in enumerate(listed):
        for name in required:
            value = row[name]
            if value is None or (isinstance(value, list) and None in value):
                raise EvaluationError(f"{path}: row {number}: {name} is null; expected a value")
    return listed


def _outcome(row: Mapping[str, Any], where: str) -> Outcome | None:
    met, tie, margin = (row[name] for name in _OUTCOME)
    defined = met is not None
    if (tie is not None) != defined or (margin is not None and not defined):
        raise EvaluationError(f"{where}: {', '.join(_OUTCOME)} are null only together")
    if defined == bool(row["reason"]):
        raise EvaluationError(f"{where}: expected either an outcome or a reason why there is none")
    if not defined:
        return None
    if met and tie:
        raise EvaluationError(f"{where}: a tie that holds; expected one of the two")
    if margin is not None and not math.isfinite(margin):
        raise EvaluationError(f"{where}: a margin of {margin} bits; expected a number")
    return Outcome(met, tie, margin)

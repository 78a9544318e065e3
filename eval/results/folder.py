"""The folder that a run leaves behind: the files that those of every task have.

``results.json`` has the signature, model, dataset, settings, notes and scores, and what else a task
has; ``outcomes.parquet`` what every unit came to under every measure. ``predictions.parquet`` has
what became of every prediction of every item of ``score``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.kinds.predictions import Outcome
from coherencegym.eval.metrics.estimates import described_metrics
from coherencegym.eval.outcomes.files import write_tables
from coherencegym.eval.tasks.results import TaskResults
from coherencegym.eval.tasks.score.columns import column_labels
from coherencegym.eval.tasks.score.metrics import Judgement
from coherencegym.files.folders import written_beside
from coherencegym.files.parquet_rows import stored_rows

#: The file that every folder of results has.
MARKER = "results.json"
#: The format of that file: what reads it later refuses another.
RESULTS_FORMAT = 1


def run_name(data: str, model: str, *how: str, revision: str | None = None) -> str:
    """The name of a run's folder, ``DATA--MODEL@REVISION`` and then the task and ways of reading.

    A folder has its own name; what the user did not ask for is in no name.
    """
    at = f"@{revision.replace('/', '__')}" if revision else ""
    asked = (each for each in how if each not in _UNASKED)
    return "--".join((_last_name(data), _last_name(model) + at, *asked))


#: The task without a name, and the ways to score and to mask that are taken without a word.
_UNASKED = ("", "auto", "within_word_l2r")


def _last_name(text: str) -> str:
    return Path(text).resolve().name if Path(text).is_dir() else text.replace("/", "__")


@contextmanager
def results_folder(
    results: TaskResults, folder: Path, *, overwrite: bool = False
) -> Iterator[Path]:
    """A folder of results, for more files: written whole or not at all.

    Raises:
        EvaluationError: the folder exists and overwriting was not asked for.
    """
    with written_beside(folder, overwrite) as work:
        write_common(results, work)
        yield work


def write_common(results: TaskResults, folder: Path) -> None:
    """Write the files of every task into a folder that is there."""
    write_json(results_json(results), folder / MARKER)
    if results.outcomes is not None:
        write_tables(results.outcomes, folder)


def results_json(results: TaskResults) -> dict[str, Any]:
    """The content of ``results.json``."""
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
        "metrics": described_metrics(results.metrics),
        "scores": [asdict(score) for score in results.rows],
        **results.more(),
    }


def write_json(content: Mapping[str, Any], path: Path) -> None:
    """Write JSON, with an end of line."""
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def write_rows(rows: Iterable[Mapping[str, Any]], schema: Any, path: Path) -> None:
    """Write a table of parquet."""
    with RowWriter(path, schema) as writer:
        writer.add(rows)


#: Rows of a row group, and those that are plain Python values at a time.
_ROW_GROUP, _AT_A_TIME = 1 << 15, 1 << 13


class RowWriter:
    """Writes a table of parquet as its rows come; its end is the end of the ``with``."""

    def __init__(self, path: Path, schema: Any) -> None:
        from pyarrow import parquet

        self._schema = schema
        self._batches: list[Any] = []
        self._writer = parquet.ParquetWriter(path, schema)

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add rows."""
        import pyarrow

        left = iter(rows)
        while part := list(islice(left, _AT_A_TIME)):
            self._batches.append(pyarrow.RecordBatch.from_pylist(part, schema=self._schema))
            if sum(map(len, self._batches)) >= _ROW_GROUP:
                self._write()

    def _write(self) -> None:
        import pyarrow

        whole = pyarrow.Table.from_batches(self._batches, schema=self._schema)
        # In one piece, or the bytes would depend on how the rows came.
        self._writer.write_table(whole.combine_chunks(), row_group_size=_ROW_GROUP * 2)
        self._batches = []

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        with self._writer:
            if kind is None and self._batches:
                self._write()


#: Its name in the folder of results.
PREDICTIONS_FILE = "predictions.parquet"
#: That of every token, which is there where it was asked for.
TOKENS_FILE = "tokens.parquet"
#: Columns of predictions that are null where one is undefined or its item is too long.
_OUTCOME = ("met", "tie", "margin")

#: A config and a split.
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class SavedItem:
    """An item as a results folder has it.

    Attributes:
        item_id: unique within its table.
        discourse_id: the discourse that it is from.
        cluster: the items that are drawn as one: the family, or else the discourse.
        columns: ``column=value`` for each column by which scores are reported.
    """

    item_id: str
    discourse_id: str
    cluster: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SavedJudgement:
    """A :class:`eval.tasks.score.metrics.Judgement` as a results folder has it."""

    item: SavedItem
    formula: str
    metric: str
    groups: tuple[str, ...]
    outcome: Outcome | None
    too_close: bool
    reason: str


def predictions_schema() -> Any:
    """The Arrow schema of predictions; ``margin`` is in bits, and null where there is none."""
    about = ("config", "split", "item_id", "discourse_id", "cluster", "columns", "formula")
    return _schema(
        (*about, "metric", "groups", *_OUTCOME, "too_close", "reason"), nullable=_OUTCOME
    )


def _schema(names: Sequence[str] | Mapping[str, Any], nullable: Sequence[str]) -> Any:
    """The columns of these names, of texts where nothing else is known."""
    import pyarrow as pa

    texts, truth, number = pa.list_(pa.string()), pa.bool_(), pa.float64()
    kinds = {
        **{"columns": texts, "groups": texts},
        **{"met": truth, "tie": truth, "too_close": truth, "margin": number},
    }
    return pa.schema(
        [pa.field(name, kinds.get(name, pa.string()), name in nullable) for name in names]
    )


def judgement_rows(table: ItemTable, judgements: Sequence[Judgement]) -> Iterator[dict[str, Any]]:
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
            **{name: getattr(outcome, name) if outcome else None for name in _OUTCOME},
            "too_close": judgement.too_close,
            "reason": judgement.reason,
        }


def read_judgements(path: Path) -> dict[Key, list[SavedJudgement]]:
    """The judgements by config and split, in the order of the file.

    Raises:
        EvaluationError: it cannot be read, has other columns, or a row contradicts itself.
    """
    found: dict[Key, list[SavedJudgement]] = {}
    items: dict[Key, dict[str, SavedItem]] = {}
    # Of names that are in many rows one copy is enough.
    once: dict[Any, Any] = {}
    for where, row in _checked(path, predictions_schema()):
        table = row["config"], row["split"]
        named = [row["formula"], row["metric"], tuple(row["groups"]), row["reason"]]
        formula, metric, groups, reason = (once.setdefault(name, name) for name in named)
        columns = tuple(row["columns"])
        discourse, cluster = row["discourse_id"], row["cluster"]
        cluster = discourse if cluster == discourse else cluster
        item = SavedItem(row["item_id"], discourse, cluster, once.setdefault(columns, columns))
        known = items.setdefault(table, {}).setdefault(item.item_id, item)
        if known != item:
            raise EvaluationError(f"{where}: the item's discourse or columns are other than before")
        outcome, too_close = _outcome(row, where), row["too_close"]
        found.setdefault(table, []).append(
            SavedJudgement(known, formula, metric, groups, outcome, too_close, reason)
        )
    for judgements in found.values():
        if len({len(judgement.item.columns) for judgement in judgements}) > 1:
            raise EvaluationError(f"{path}: items of one table have different columns")
    return found


def _checked(path: Path, schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows and where each is, of the types of a schema, without a null where none may be."""
    required = [field.name for field in schema if not field.nullable]
    for number, row in enumerate(stored_rows(path, schema)):
        where = f"{path}: row {number}"
        for name in required:
            value = row[name]
            if value is None or (isinstance(value, list) and None in value):
                raise EvaluationError(f"{where}: {name} is null; expected a value")
        yield where, row


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

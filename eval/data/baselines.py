"""The decisions of baselines on the items of a table, which its build wrote beside the rows.

``baselines/<config>/<split>-00000-of-00001.parquet`` has a row for each baseline and item:
``values`` are the decisions on the predictions of the item in their order, 1 right, 0 wrong, one
half a tie; the last predictions of an item, which combine others, may have none. A baseline may
have left items out, as a classifier learns from a sample of many.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.kinds.table_kind import IDENTITY, row_hash, rows_digest
from coherencegym.files.parquet_rows import rows_among, stored_rows

#: A classifier that sees a part of the input, without the contrast in its context (Poliak et al.
#: 2018; Feng et al. 2019).
PARTIAL_INPUT = "partial_input"
#: The version is right that repeats more content words of the text before it.
LEXICAL_OVERLAP = "lexical_overlap"
#: A classifier that sees context and target, but only their surface: n-grams, what they repeat,
#: lengths, pronouns, tense, typing habits (:mod:`eval.statistics.surface`).
SURFACE = "surface"
#: The baselines of pairs, as files and manifests name them.
BASELINES = (PARTIAL_INPUT, LEXICAL_OVERLAP, SURFACE)
#: The fields of their scores, with the words of tables, and with those of sentences and legends.
BASELINE_WORDS = {f"{name}_score": name.replace("_", " ") for name in BASELINES}
BASELINE_TITLES = {f"{name}_score": f"{name.replace('_', '-')} baseline" for name in BASELINES}
#: The same fields, with what each baseline is.
BASELINE_MEANINGS = {
    "partial_input_score": "a classifier that sees only part of each text",
    "lexical_overlap_score": "picks the version that repeats more words of the preceding text",
    "surface_score": "a classifier of words, lengths and spelling of context and target",
}
#: The words for the score of people, which stands beside those of baselines.
HUMAN_PERFORMANCE = "human performance"


def baselines_path(config: str, split: str) -> str:
    """The path of the decisions on a split inside a release."""
    return f"baselines/{config}/{split}-00000-of-00001.parquet"


def baseline_schema() -> Any:
    """The Arrow schema of the file."""
    import pyarrow as pa

    values = pa.list_(pa.field("element", pa.float32(), nullable=False))
    columns = ((IDENTITY, pa.string()), ("baseline", pa.string()), ("values", values))
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns])


class PairBaselines(Protocol):
    """The decisions of baselines on a table; ``folds`` are those of each that was trained."""

    @property
    def folds(self) -> Mapping[str, int]:
        """Folds of the cross-validation of each baseline that was trained."""

    def check(self) -> None:
        """Hold the decisions to what was published."""

    def decisions(self, items: Iterable[Item]) -> Mapping[str, Mapping[str, Sequence[float]]]:
        """The decisions on the predictions of some items: baseline -> item id -> values."""


@dataclass(frozen=True, slots=True)
class StoredBaselines:
    """The decisions of baselines on a table, in a file that is read where they are asked for.

    Attributes:
        path: the file.
        content_hash: the digest (hex) over the hashes of its rows, as the manifest has it.
        folds: those of the cross-validation of each baseline that was trained.
        where: the table, as errors name it.
    """

    path: Path
    content_hash: str
    folds: Mapping[str, int]
    where: str

    def check(self) -> None:
        """Hold the file to its digest."""
        if not self.path.is_file():
            raise EvaluationError(
                f"{self.where}: no {self._name}, which the manifest lists; fetch or build the "
                "dataset again"
            )
        rows = stored_rows(self.path, baseline_schema())
        if rows_digest(map(row_hash, rows)) != self.content_hash:
            raise EvaluationError(
                f"{self.where}: {self._name}: not the decisions that were published (their digest "
                "differs); fetch or build the dataset again"
            )

    def decisions(self, items: Iterable[Item]) -> dict[str, dict[str, list[float]]]:
        """The decisions on the predictions of some items: baseline -> item id -> values."""
        expected = {item.item_id: len(item.predictions) for item in items}
        found: dict[str, dict[str, list[float]]] = {name: {} for name in BASELINES}
        for row in rows_among(self.path, baseline_schema(), IDENTITY, expected):
            item, name, values = row[IDENTITY], row["baseline"], row["values"]
            if name not in found:
                continue
            if len(values) > expected[item]:
                raise EvaluationError(
                    f"{self.where}: {self._name}: item {item!r}: {len(values)} decisions; expected "
                    f"at most {expected[item]}, one for each prediction"
                )
            found[name][item] = values
        return found

    @property
    def _name(self) -> str:
        return "/".join(self.path.parts[-3:])

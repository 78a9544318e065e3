"""The items of a dataset, verified against the row hashes that its build wrote.

``baselines/<config>/<split>-00000-of-00001.parquet`` has a row for each baseline and item:
``values`` are the decisions on the predictions of the item in their order, 1 right, 0 wrong, one
half a tie; the last predictions of an item, which combine others, may have none. A baseline may
have left items out, as a classifier learns from a sample of many. Where a config can be balanced,
each of its items that count has its weight beside them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.notes import Note, caution, table_name
from coherencegym.eval.data.source import Source
from coherencegym.eval.data.stored_items import StoredItems, _stored
from coherencegym.eval.data.table_rows import TableRows, table_rows
from coherencegym.eval.kinds.items import ITEMS, Item
from coherencegym.eval.kinds.table_kind import (
    IDENTITY,
    row_hash,
    rows_digest,
    to_row,
    with_families,
)
from coherencegym.files.parquet import rows_among, stored_rows

#: A classifier that sees a part of the input, without the contrast in its context (Poliak et al.
#: 2018; Feng et al. 2019).
PARTIAL_INPUT = "partial_input"
#: The version is right that repeats more content words of the text before it.
LEXICAL_OVERLAP = "lexical_overlap"
#: Of the rules and classifiers that see context and target, but only their surface, the one that
#: comes furthest under the balance weights (:mod:`eval.statistics.control`).
SURFACE = "surface"
#: The name, beside those of baselines, of the balance weights of items: their mean is 1.
BALANCE_WEIGHT = "balance_weight"
#: The baselines of pairs whose plain scores a build measures, and all that its files have.
MEASURED_BASELINES = (PARTIAL_INPUT, LEXICAL_OVERLAP)
BASELINES = (*MEASURED_BASELINES, SURFACE)
#: The fields of their scores, with the words of tables, and with those of sentences and legends.
BASELINE_WORDS = {f"{name}_score": name.replace("_", " ") for name in BASELINES}
#: The fields of those that stand beside a plain score; the others are beside a controlled one.
PLAIN_BASELINES = tuple(f"{name}_score" for name in MEASURED_BASELINES)
BASELINE_TITLES = {f"{name}_score": f"{name.replace('_', '-')} baseline" for name in BASELINES}
#: Lines on what stands beside a plain score and first, by the fields of scores that have it.
SCORE_MEANINGS = {
    "controlled_score": "CD, controlled: items are weighted so that surface features (repeated "
    "words, lengths, ...; one for twelve items) do not tell the coherent side; effective: the "
    "equal items that they are worth",
    "partial_input_score": "partial input: a classifier that sees only part of each text",
    "lexical_overlap_score": "lexical overlap: picks the version that repeats more words of the "
    "preceding text",
    "surface_score": "surface: the rule or classifier of words, lengths and spelling that comes "
    "furthest in the controlled score",
}
#: The words for the score of people, which stands beside those of baselines.
HUMAN_PERFORMANCE = "human performance"


def baselines_path(config: str, split: str) -> str:
    """The path of the decisions on a split inside a release."""
    return f"baselines/{config}/{split}-00000-of-00001.parquet"


def baseline_schema() -> Any:
    """The Arrow schema of the file."""
    import pyarrow as pa

    values = pa.list_(pa.field("element", pa.float64(), nullable=False))
    columns = ((IDENTITY, pa.string()), ("baseline", pa.string()), ("values", values))
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns])


class PairBaselines(Protocol):
    """The decisions of baselines on a table."""

    def check(self) -> None:
        """Hold the decisions to what was published."""

    def decisions(self, items: Iterable[Item]) -> Mapping[str, Mapping[str, Sequence[float]]]:
        """The decisions on the predictions of some items: baseline -> item id -> values."""

    def weights(self, items: Iterable[Item]) -> Mapping[str, float]:
        """The balance weights of some items by their ids; empty where they cannot be balanced."""


@dataclass(frozen=True, slots=True)
class StoredBaselines:
    """The decisions of baselines on a table, in a file that is read where they are asked for.

    Attributes:
        path: the file.
        content_hash: the digest (hex) over the hashes of its rows, as the manifest has it.
        where: the table, as errors name it.
    """

    path: Path
    content_hash: str
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

    def weights(self, items: Iterable[Item]) -> dict[str, float]:
        """The balance weights of some items by their ids; empty where they cannot be balanced."""
        asked = {item.item_id for item in items}
        rows = rows_among(self.path, baseline_schema(), IDENTITY, asked)
        return {
            row[IDENTITY]: row["values"][0] for row in rows if row["baseline"] == BALANCE_WEIGHT
        }

    @property
    def _name(self) -> str:
        return "/".join(self.path.parts[-3:])


#: The column that names the model with which a row was chosen, as ``name`` or ``name@commit``.
FILTER_MODEL = "filter_model"
#: Items of a dataset that are in memory at once, where it is read in parts; also those of a part.
PART = 4_000


@dataclass(frozen=True)
class ItemTable:
    """The items of one config and split.

    Attributes:
        items: those in memory, or such as are read in parts.
        rows_sha256: digest (hex) over the row hashes of the whole table, in order.
        verified: the row hashes were compared with those that the build wrote.
        separator: ``[SEP]`` in a text is a change of speaker; None: nobody says.
        breakdowns: columns by whose values scores are also reported.
        baselines: the decisions of baselines on the items; None where the dataset has none.
        headline: the group of predictions that the table's own score is over; empty: all.
        controls: the configs that are its controls.
        length_confound: the suite says that conditions differ in length.
        humans: findings of people, where the build has them.
        in_headline: it counts in the suite's one number.
        control: what is said of what its surface gives away; empty where nobody looked.
        is_part: the items are not all that the table has.
    """

    config: str
    split: str
    items: Collection[Item]
    rows_sha256: str
    verified: bool
    separator: bool | None
    breakdowns: tuple[str, ...] = ()
    baselines: PairBaselines | None = None
    headline: str = ""
    controls: tuple[str, ...] = ()
    length_confound: bool = False
    humans: tuple[Mapping[str, Any], ...] = ()
    in_headline: bool = True
    control: Mapping[str, Any] = field(default_factory=dict)
    is_part: bool = False

    @property
    def rows(self) -> Collection[Item]:
        """The items."""
        return self.items

    @property
    def name(self) -> str:
        """Config and split, for people."""
        return table_name(self.config, self.split)

    @property
    def corpora(self) -> frozenset[str]:
        """The corpora that its items are from."""
        if isinstance(self.items, StoredItems):
            return self.items.corpora
        return frozenset(item.corpus for item in self.items)

    @property
    def n_parts(self) -> int:
        """The number of :meth:`parts`."""
        return math.ceil(len(self.items) / PART) if isinstance(self.items, StoredItems) else 1

    def parts(self) -> Iterator[Sequence[Item]]:
        """The items, all of those in memory at once, and of others so many as can be."""
        if not isinstance(self.items, StoredItems):
            yield tuple(self.items)
            return
        left = iter(self.items)
        # None of them is held here while the next is read.
        yield from iter(lambda: tuple(islice(left, PART)), ())


def tables(
    source: Source,
    configs: Sequence[str] = (),
    split: str | None = None,
    max_items: int | None = None,
    *,
    in_parts: bool = False,
) -> Iterator[ItemTable]:
    """The items tables of a dataset, and ``max_items`` of each from its start.

    The splits are all, if none is named or ``all``: nothing is trained on items.
    Where many are read ``in_parts``, no more than :data:`PART` of all tables are in memory.
    """
    splits = None if split in (None, "all") else (split,)
    # Items that may still come into memory.
    room: float = PART if in_parts else math.inf
    how: dict[str, Any] = {"kind": ITEMS, "in_memory": lambda number: number <= room}
    for read in table_rows(source, configs, splits, **how):
        number = len(read.rows) if max_items is None else min(max_items, len(read.rows))
        if number <= room:
            room -= number
            items: Collection[Item] = read.read(max_items)
            separator = read.separated(items)
        else:
            items, separator = _stored(read, number)
        about = read.about
        quality = about.get("quality", {}).get(read.split, {})
        yield ItemTable(
            config=read.config,
            split=read.split,
            items=items,
            rows_sha256=read.rows_sha256,
            verified=read.verified,
            separator=separator,
            breakdowns=read.breakdowns,
            baselines=_baselines(source, read),
            humans=tuple(quality.get("human", {}).get("scores", ())),
            headline=str(about.get("headline", "")),
            controls=tuple(about.get("controls", ())),
            length_confound=bool(about.get("length_confound", False)),
            in_headline=bool(about.get("in_headline", True)),
            control=quality.get("control") or {},
            is_part=number < len(read.rows),
        )


def _baselines(source: Source, read: TableRows[Item]) -> StoredBaselines | None:
    listed = read.about.get("splits", {}).get(read.split, {}).get("baselines")
    if listed is None:
        return None
    path = source.folder / baselines_path(read.config, read.split)
    return StoredBaselines(path, listed["content_hash"], read.where)


def unverified_table(
    config: str, split: str, items: Sequence[Item], most: int | None = None
) -> ItemTable:
    """A table of items that no build has written; it keeps ``most`` of them, from the start."""
    return ItemTable(
        config=config,
        split=split,
        items=tuple(with_families(items[:most], ITEMS.texts)),
        rows_sha256=rows_digest(row_hash(to_row(item)) for item in items),
        verified=False,
        separator=None,
    )


def filter_notes(config: str, chosen: Iterable[Any], model: Mapping[str, Any]) -> Iterator[Note]:
    """A caution where rows were chosen with this model: the values of :data:`FILTER_MODEL`."""
    name, commit = str(model["name"]), str(model["commit"])
    for text in {str(one) for one in chosen if one}:
        of, at, at_commit = text.rpartition("@")
        if not at:
            of, at_commit = text, text
        # The same name may be another commit; the same commit, a folder of another name.
        if (of == name and not at) or (at_commit and commit.startswith(at_commit)):
            yield caution(
                f"{config}: the intruders were chosen so that {name} does not find them; this "
                "model's score is low by construction"
            )
            return

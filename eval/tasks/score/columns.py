"""Judgements in columns: some dozens of bytes for each, of which all statistics are computed.

Numbers stand for names, and names of clusters are numbered in their order, so that what is added up
by cluster is added up in one order, however large a table is and in however many parts it came.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from operator import attrgetter, is_
from typing import Any

from coherencegym.eval.kinds.items import Item
from coherencegym.eval.statistics.scores import text_of

#: The number that stands for none where a difference in length is not known.
UNKNOWN = -(2**31)


@dataclass(frozen=True, eq=False, slots=True)
class Columns:
    """The judgements of a table, or of a part of it: numpy arrays, and names.

    Attributes:
        item: the number of the item of each prediction, from 0, in their order.
        kind, group: the numbers of its formula and metric, and of its groups.
        reason: the number of why it has no outcome; 0: it has one.
        met, tie, first_left_out, too_close: see :class:`eval.tasks.score.metrics.Judgement`.
        margin: bits; NaN where there is none.
        longer: tokens by which the region that it calls more surprising is longer than the other
            (:func:`eval.tasks.score.lengths.length_difference`), or :data:`UNKNOWN`.
        discourse, cluster: the numbers of the discourse and the cluster of each item.
        labels: the number of each item's value, by columns by which scores are reported.
        kinds, groups, reasons, label_names: the names that these numbers stand for.
        clusters: the names of clusters, an Arrow array in their order.
    """

    item: Any
    kind: Any
    group: Any
    reason: Any
    met: Any
    tie: Any
    first_left_out: Any
    too_close: Any
    margin: Any
    longer: Any
    discourse: Any
    cluster: Any
    labels: tuple[Any, ...]
    kinds: tuple[tuple[str, str], ...]
    groups: tuple[tuple[str, ...], ...]
    reasons: tuple[str, ...]
    label_names: tuple[tuple[str, ...], ...]
    clusters: Any

    def __len__(self) -> int:
        return len(self.item)

    def inside(self, group: str = "") -> Any:
        """The places of the predictions that are in a group; empty: of all."""
        import numpy as np

        there = [not group or group in own for own in self.groups]
        return places_where(np.array(there, bool)[self.group])

    def label(self, column: int, places: Any) -> Any:
        """The numbers of the values that the items of some predictions have in a column."""
        return self.labels[column][self.item[places]]

    def take(self, places: Any, **changed: Any) -> Columns:
        """The predictions at some places alone, with other columns where they are given."""
        names = ("item", "kind", "group", "reason", "met", "tie", "first_left_out", "too_close")
        own = {name: getattr(self, name)[places] for name in (*names, "margin", "longer")}
        return replace(self, **{**own, **changed})


@dataclass(frozen=True, eq=False, slots=True)
class ItemValues:
    """Items that have a defined prediction among some: arrays of a number for each.

    Attributes:
        item, discourse, cluster: numbers of them, of their discourses and clusters.
        share: the share of its predictions that hold.
        predictions: their number.
        margin: their mean margin (bits); NaN where one of them has none.
    """

    item: Any
    discourse: Any
    cluster: Any
    share: Any
    predictions: Any
    margin: Any

    def __len__(self) -> int:
        return len(self.item)

    @property
    def has_margins(self) -> bool:
        """Every item has a margin."""
        import numpy as np

        return not np.isnan(self.margin).any()


def item_values(columns: Columns, places: Any) -> ItemValues:
    """The value of each item that has a defined prediction at these places."""
    import numpy as np

    defined = places[columns.reason[places] == 0]
    items = columns.item[defined]
    if (items[1:] < items[:-1]).any():
        order = np.argsort(items, kind="stable")
        defined, items = defined[order], items[order]
    starts = places_where(np.diff(items, prepend=np.int32(-1)))
    counts = np.diff(starts, append=np.int32(len(items)))
    met, margins = columns.met[defined], columns.margin[defined]
    if len(starts) < len(items):
        met = np.add.reduceat(met, starts, dtype=np.int64)
        means = margins[starts]
        for place in np.flatnonzero(counts > 1):
            own = margins[starts[place] : starts[place] + counts[place]]
            means[place] = math.fsum(own) / len(own)
        margins = means
    items = items[starts]
    return ItemValues(
        items, columns.discourse[items], columns.cluster[items], met / counts, counts, margins
    )


def places_where(truths: Any) -> Any:
    """The places of what is true, in half of the memory that numpy takes for them."""
    return truths.nonzero()[0].astype("i")


def by_first_place(numbers: Any) -> list[int]:
    """The numbers (none negative) that there are, by their first places."""
    import numpy as np

    if not len(numbers):
        return []
    first = np.full(int(numbers.max()) + 1, -1)
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    there = np.flatnonzero(first >= 0)
    return [int(number) for number in there[np.argsort(first[there])]]


def count_distinct(numbers: Any) -> int:
    """The count of different numbers (none negative)."""
    import numpy as np

    return int(np.count_nonzero(np.bincount(numbers))) if len(numbers) else 0


#: Types of the columns that have an entry for each prediction, as :mod:`array` calls them.
_TYPES = {
    **dict.fromkeys(("item", "kind", "group", "longer"), "i"),
    **dict.fromkeys(("reason", "met", "tie", "first_left_out", "too_close"), "b"),
    "margin": "d",
}


def _exact(column: array[Any]) -> Any:
    """An array without room to grow."""
    import numpy as np

    return np.array(np.frombuffer(column, column.typecode))


class ColumnsBuilder:
    """Puts judgements into columns, some items at a time.

    Args:
        labels: gives the :func:`column_labels` of an item.
    """

    def __init__(self, labels: Callable[[Any], Sequence[str]]) -> None:
        self._labels_of = labels
        # Parts of each column as they came: what grows in one place leaves holes in memory.
        self._columns: dict[str, list[Any]] = {name: [] for name in _TYPES}
        self._labels: list[list[Any]] = []
        self._label_names: list[dict[str, int]] = []
        self._names: dict[str, dict[Any, int]] = {"kind": {}, "group": {}, "reason": {"": 0}}
        self._clusters: list[Any] = []
        self._discourses: list[Any] = []
        self._items = 0

    def add(self, judgements: Iterable[Any], longer: Iterable[int | None] | None = None) -> None:
        """Add judgements, all those of an item at once; ``longer`` as :class:`Columns` has it.

        They are :class:`eval.tasks.score.metrics.Judgement` or such as a results folder has.
        """
        items: list[Any] = []
        number_of: dict[str, int] = {}
        lengths = repeat(None) if longer is None else longer
        columns: dict[str, array[Any]] = {name: array(kind) for name, kind in _TYPES.items()}
        for judgement, tokens in zip(judgements, lengths, strict=longer is not None):
            item, outcome = judgement.item, judgement.outcome
            number = number_of.setdefault(item.item_id, self._items + len(items))
            if number == self._items + len(items):
                items.append(item)
            columns["item"].append(number)
            columns["kind"].append(self._number("kind", (judgement.formula, judgement.metric)))
            columns["group"].append(self._number("group", judgement.groups))
            columns["reason"].append(self._number("reason", judgement.reason))
            columns["met"].append(outcome is not None and outcome.met)
            columns["tie"].append(outcome is not None and outcome.tie)
            columns["first_left_out"].append(getattr(judgement, "first_left_out", False))
            columns["too_close"].append(judgement.too_close)
            margin = outcome.margin if outcome is not None else None
            columns["margin"].append(math.nan if margin is None else margin)
            columns["longer"].append(UNKNOWN if tokens is None else tokens)
        for name, column in columns.items():
            self._columns[name].append(_exact(column))
        self._items += len(items)
        self._add_items(items)

    def _number(self, column: str, name: Hashable) -> int:
        names = self._names[column]
        return names.setdefault(name, len(names))

    def _add_items(self, items: Sequence[Any]) -> None:
        clusters, discourses = ([getattr(i, n) for i in items] for n in ("cluster", "discourse_id"))
        self._clusters.append(_encoded(clusters))
        # They are the same names but where families are clusters.
        same = clusters == discourses
        self._discourses.append(self._clusters[-1] if same else _encoded(discourses))
        for place, labels in enumerate(zip(*map(self._labels_of, items), strict=True)):
            if place == len(self._labels):
                self._labels.append([])
                self._label_names.append({})
            names = self._label_names[place]
            numbers = array("i", (names.setdefault(label, len(names)) for label in labels))
            self._labels[place].append(_exact(numbers))

    def done(self) -> Columns:
        """The columns of all that was added, which is not kept here any longer."""
        import numpy as np

        if not self._columns["item"]:
            self.add(())
        shared = all(map(is_, self._clusters, self._discourses))
        clusters, cluster = _numbered(self._clusters)
        discourse = cluster if shared else _numbered(self._discourses)[1]
        self._clusters, self._discourses = [], []
        own = {name: np.concatenate(self._columns.pop(name)) for name in _TYPES}
        for name in ("met", "tie", "first_left_out", "too_close"):
            own[name] = own[name].view(bool)
        labels = tuple(np.concatenate(parts) for parts in self._labels)
        self._labels = []
        return Columns(
            **own,
            discourse=discourse,
            cluster=cluster,
            labels=labels,
            kinds=tuple(self._names["kind"]),
            groups=tuple(self._names["group"]),
            reasons=tuple(self._names["reason"]),
            label_names=tuple(map(tuple, self._label_names)),
            clusters=clusters,
        )


def column_labels(item: Item, columns: Sequence[str]) -> tuple[str, ...]:
    """``column=value`` for each of some columns of an item, as rows by column are called."""
    return tuple(f"{column}={text_of(item.extra[column])}" for column in columns)


def in_columns(judged: Columns | Iterable[Any], breakdowns: Sequence[str] = ()) -> Columns:
    """The columns of judgements, or those that they are in already."""
    if isinstance(judged, Columns):
        return judged
    builder = ColumnsBuilder(lambda item: column_labels(item, breakdowns))
    builder.add(judged)
    return builder.done()


def judgement_columns(judged: Iterable[Any]) -> Columns:
    """The columns of judgements whose items know their labels, as a results folder has them."""
    builder = ColumnsBuilder(attrgetter("columns"))
    builder.add(judged)
    return builder.done()


def common_clusters(tables: Sequence[Columns]) -> list[Any]:
    """The cluster of each item of each table, by numbers that mean the same in all of them."""
    import numpy as np

    if len(tables) == 1:
        return [tables[0].cluster]
    import pyarrow as pa

    own = [(np.arange(len(table.clusters), dtype=np.int32), table.clusters) for table in tables]
    _, numbers = _numbered([pa.DictionaryArray.from_arrays(*each) for each in own])
    ends = np.cumsum([len(table.clusters) for table in tables])
    both = zip(tables, np.split(numbers, ends[:-1]), strict=True)
    return [common[table.cluster] for table, common in both]


def _encoded(names: Sequence[str]) -> Any:
    """Names as an Arrow dictionary; half a character (a lone surrogate) may be in them."""
    import pyarrow as pa

    coded = [name.encode("utf-8", "surrogatepass") for name in names]
    return pa.array(coded, pa.binary()).dictionary_encode()


def _numbered(parts: Sequence[Any]) -> tuple[Any, Any]:
    """The names of some Arrow dictionaries in their order, and the number of each entry's."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import compute

    empty = [] if parts else [_encoded([])]
    whole = pa.chunked_array([*parts, *empty]).unify_dictionaries().combine_chunks()
    whole = whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole
    order = compute.sort_indices(whole.dictionary).to_numpy()
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    numbers = rank[whole.indices.to_numpy()]
    names = whole.dictionary.take(pa.array(order))
    del whole, order
    pa.default_memory_pool().release_unused()
    return names, numbers

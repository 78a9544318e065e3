"""The data of a run: names, folders, files and values in memory, read as what a task asks about."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import options_in
from coherencegym.errors import EvaluationError, shown_value
from coherencegym.eval.data.dataset import ItemTable, tables, unverified_table
from coherencegym.eval.data.notes import detail
from coherencegym.eval.data.pairs import AS_FOUND, PairChoices, are_pairs, table_of_pairs
from coherencegym.eval.data.source import Source, find_dataset
from coherencegym.eval.data.stored_items import StoredItems
from coherencegym.eval.data.syntaxgym import suites
from coherencegym.eval.kinds.items import ITEMS, Item, SuiteError, contrasted
from coherencegym.eval.run.options import DataOptions, ItemOptions, distinct
from coherencegym.files.tables import FRAME_SUFFIXES

if TYPE_CHECKING:
    from coherencegym.eval.tasks.task import Task

#: The name of items that came from no file.
IN_MEMORY = "items"
#: The file by which a folder is known as a build.
_MANIFEST = "manifest.json"
_EXPECTED = "expected a dataset's name or folder, items, pairs of texts, or a list of these"


@dataclass(frozen=True, repr=False)
class Items:
    """Items that were read, and where they are from; iterating gives those of all tables.

    Attributes:
        source: the dataset or the suites.
        tables: the items of each config and split; ``tables[0].items`` are
            :class:`eval.kinds.items.Item`.
        chosen: the choice that was asked for: ``configs``, ``split``, ``max_items``.
    """

    source: Source
    tables: tuple[ItemTable, ...]
    chosen: Mapping[str, Any] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Item]:
        return (item for table in self.tables for item in table.items)

    def __len__(self) -> int:
        return sum(len(table.items) for table in self.tables)

    def __repr__(self) -> str:
        parts = ", ".join(f"{t.name} {len(t.items):,}" for t in self.tables)
        name = " ".join(filter(None, (self.source.suite, self.source.version)))
        return f"<Items of {name}: {parts}>"


@dataclass(frozen=True)
class DatasetInputs:
    """The inputs of a task that a dataset has.

    Attributes:
        source: the dataset.
        inputs: see :class:`eval.tasks.task.Task`.
        chosen: the part that was asked for, as results record it.
    """

    source: Source
    inputs: Sequence[Any]
    chosen: Mapping[str, Any]


def items_of_pairs(
    pairs: Any, choices: PairChoices = AS_FOUND, max_items: int | None = None
) -> Items:
    """Pairs of texts as items with their baselines.

    Args:
        pairs: what :func:`eval.data.pairs.table_of_pairs` takes.
        choices: columns, clusters, groups and aggregation.
        max_items: no more pairs than this, from the start.
    """
    source, table = table_of_pairs(pairs, choices, max_items)
    return Items(source, (_with_baselines(table),))


def _with_baselines(table: ItemTable) -> ItemTable:
    # A build stores them, but of all items of a table; of many items, read in parts, none are
    # computed.
    from coherencegym.eval.statistics.computed_baselines import ComputedBaselines

    is_known = table.baselines is None if table.verified else table.baselines is not None
    if is_known or (table.verified and not table.is_part) or isinstance(table.items, StoredItems):
        return table
    items = [made for item in table.items if (made := contrasted(item)).contrasts]
    return replace(table, baselines=ComputedBaselines(items, table.headline, table.baselines))


def read_items(options: ItemOptions, *, in_parts: bool = False) -> Items:
    """The items of a dataset, of files of suites or pairs, or of a value; at least one.

    ``in_parts``: of many items not all are in memory; see :func:`eval.data.dataset.tables`.
    """
    given, limit = options.dataset, options.limit
    of_pairs = list(options_in(PairChoices))
    of_dataset = ("config", "split", "revision")
    if isinstance(given, Items):
        read = given
    elif is_file(given):
        options.refuse(of_dataset, f"{given} has none; expected a dataset with it")
        if Path(given).suffix.lower() in FRAME_SUFFIXES:
            return items_of_pairs(given, options, limit)
        options.refuse(of_pairs, "only for a file of pairs")
        try:
            source, tables_ = suites(Path(given), limit)
            read = Items(source, tuple(map(_with_baselines, tables_)))
        except OSError as error:
            raise EvaluationError(f"{given}: {error.strerror}; expected a suite's file") from None
    elif isinstance(given, str | Path):
        options.refuse(of_pairs, "only for a file of pairs")
        source = find_dataset(str(given), options.revision, list(options.config))
        found = tables(source, options.config, options.split, limit, in_parts=in_parts)
        read = Items(source, tuple(map(_with_baselines, found)), options.record())
    else:
        options.refuse((*of_dataset, "limit"), "chooses from a dataset by name; expected no items")
        if isinstance(given, Iterator):
            given = list(given)
        read = items_of_pairs(given, options) if are_pairs(given) else _in_memory(given)
    if not len(read):
        raise EvaluationError("no items; expected at least one")
    return read


def is_file(dataset: Any) -> bool:
    """Say that a dataset is named that is a file, or a folder of SyntaxGym's."""
    if not isinstance(dataset, str | Path):
        return False
    path = Path(dataset)
    if path.is_dir():
        inside = {one.suffix for one in path.iterdir()}
        return (
            ".json" in inside and not (path / _MANIFEST).exists() and not (path / "data").exists()
        )
    return path.suffix.lower() in (".json", *FRAME_SUFFIXES)


def read_dataset(
    task: Task[Any, Any, Any],
    options: DataOptions,
    own: Any,
    *,
    in_parts: bool = False,
) -> DatasetInputs:
    """The inputs of a task that a dataset has, or rows in memory."""
    if isinstance(options, ItemOptions):
        items = read_items(options, in_parts=in_parts)
        return DatasetInputs(items.source, items.tables, {**options.record(), **items.chosen})
    given, chosen = options.dataset, options.record()
    if isinstance(given, Mapping) and task.given is not None:
        read = task.given(given, options.split or "test", own)
        return DatasetInputs(read.source, [read], chosen)
    if not isinstance(given, str | Path):
        rows = ", or rows by split" if task.given else ""
        what = f"{shown_value(given)}; expected a dataset's name or folder{rows}"
        raise EvaluationError(f"{task.command.name}: {what}")
    configs = list(task.names(options.config, own))
    source = find_dataset(str(given), options.revision, configs)
    part = list(options.config), options.split or "test", options.limit
    inputs, notes = task.read(source, *part, own)
    return DatasetInputs(source.noted(notes), inputs, chosen)


def each_dataset(options: DataOptions) -> tuple[list[DataOptions], list[str]]:
    """The options of each dataset, in place of a folder of builds those in it.

    Returns:
        The options, and the names of datasets that have no items beside others that have.
    """
    given = options.dataset
    named = (str, Path, Items)
    are_several = isinstance(given, list | tuple) and all(isinstance(one, named) for one in given)
    several = list(given) if are_several else [given]
    if not isinstance(options, ItemOptions):
        return [options], []
    if not several:
        raise EvaluationError(f"no dataset; {_EXPECTED}")
    found = [one for each in several for one in _builds(each) or [each]]
    with_items = [one for one in found if not isinstance(one, str | Path) or _has_items(one)]
    # Of a folder of builds only some may have pairs; if none has, reading says what there is.
    left_out = [str(one) for one in found if one not in with_items] if with_items else []
    kept = with_items or found
    return [replace(options, dataset=one) for one in distinct(kept)], left_out


def _builds(folder: Any) -> list[str]:
    # Those with items; of a folder that is a build itself none.
    if not isinstance(folder, str | Path):
        return []
    path = Path(folder)
    if not path.is_dir() or (path / _MANIFEST).is_file():
        return []
    return sorted(
        str(build.parent) for build in path.glob(f"[!.]*/{_MANIFEST}") if _has_items(build.parent)
    )


def _has_items(folder: str | Path) -> bool:
    # Of a manifest that is wrong others say what is.
    try:
        content = (Path(folder) / _MANIFEST).read_text(encoding="utf-8")
        configs = json.loads(content)["configs"]
        return bool(ITEMS.configs(configs)) or not configs
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return True


def _in_memory(given: Any) -> Items:
    # It came from no file.
    if not isinstance(given, Iterable) or isinstance(given, Mapping):
        raise EvaluationError(f"score: {shown_value(given)}; {_EXPECTED}")
    items: dict[str, Item] = {}
    for number, each in enumerate(given, start=1):
        if not isinstance(each, Item | Mapping):
            raise EvaluationError(
                f"item {number} is a {type(each).__name__}; expected an Item, or a row of a dataset"
            )
        item = ITEMS.from_row(each)
        if item.item_id in items:
            raise SuiteError(f"{item.item_id}: there more than once; expected an id for each item")
        items[item.item_id] = item
    table = unverified_table(IN_MEMORY, "", list(items.values()))
    note = detail("items from memory: their rows are not verified")
    source = Source(IN_MEMORY, Path(), notes=(note,))
    return Items(source, (_with_baselines(table),) if items else ())

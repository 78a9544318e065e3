"""Test suites in SyntaxGym's JSON, as they are published (Gauthier et al. 2020, section 3).

A suite has ``meta`` (with a ``metric``), ``region_meta``, ``predictions`` (formulas, for every
item) and ``items`` (``item_number``, ``conditions``, ``regions``). The text of a condition is its
regions joined by one space, whatever they begin with. Files come from strangers: whatever is wrong
with one is an error that names the item, the condition and the region.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.data.source import Source
from coherencegym.eval.kinds.formula import FormulaError
from coherencegym.eval.kinds.items import (
    METRICS,
    SEPARATOR,
    Condition,
    Item,
    Prediction,
    Region,
    item_to_row,
    join_regions,
    validate_item,
)
from coherencegym.eval.kinds.predictions import check, check_predictions
from coherencegym.eval.kinds.table_kind import row_hash
from coherencegym.files.strict_json import Some, kind, read


@dataclass(frozen=True, slots=True)
class _Condition:
    condition_name: str
    regions: Some[Region]


@dataclass(frozen=True, slots=True)
class _Item:
    item_number: int
    conditions: Some[_Condition]


@dataclass(frozen=True, slots=True)
class _Formula:
    formula: str
    type: Literal["formula"] = "formula"


@dataclass(frozen=True, slots=True)
class _Meta:
    metric: Any


@dataclass(frozen=True, slots=True)
class _Suite:
    """The schema of a suite."""

    meta: _Meta
    predictions: Some[_Formula]
    items: Some[_Item]
    region_meta: dict[str, Any] | None = None


#: What stands for every metric in ``meta.metric``.
ALL_METRICS = "all"
#: The split of a suite, which has none.
SPLIT = "suite"
#: What a reader of the scores should know.
NOTE = "SyntaxGym suites: regions are joined by one space; there is no artefact score"


def suites(
    paths: Sequence[Path], max_items: int | None = None
) -> tuple[Source, tuple[ItemTable, ...]]:
    """The tables of some suites, one for each file.

    Args:
        paths: files, and folders whose ``*.json`` are suites; at least one.
        max_items: no more items than this of each, from its start.

    Raises:
        EvaluationError: a file is no valid suite, a folder has none, or two files have one name.
        OSError: a file is not there or cannot be read.
    """
    files = list(_files(paths))
    by_name: dict[str, Path] = {}
    for file in files:
        if file.stem in by_name:
            raise EvaluationError(
                f"{by_name[file.stem]} and {file}: two suites of one name; expected files of "
                "different names"
            )
        by_name[file.stem] = file
    tables = tuple(read_suite(file, max_items) for file in files)
    about = {"suite": ",".join(by_name)}
    source = Source(",".join(map(str, paths)), files[0].parent, manifest=about, notes=(NOTE,))
    return source, tables


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        inside = sorted(file for file in path.glob("*.json") if file.is_file())
        if not inside:
            raise EvaluationError(f"{path}: no *.json in it; expected a folder of SyntaxGym suites")
        yield from inside


def read_suite(path: Path, max_items: int | None = None) -> ItemTable:
    """The items of one suite; its config is the file's name without the ending.

    Raises:
        EvaluationError: it is no valid suite.
        OSError: it is not there or cannot be read.
    """
    try:
        path.stem.encode()  # it becomes the name of the config
    except UnicodeEncodeError:
        raise EvaluationError(f"{path}: its name is not UTF-8; expected a name of text") from None
    suite = read(path, _Suite)
    formulas = [prediction.formula.strip() for prediction in suite.predictions]
    metrics = _metrics(suite.meta.metric, path)
    items = list(_items(suite, _predictions(formulas, metrics), path))
    _check_formulas(formulas, items[0], path)
    _check_region_names(suite, items[0], path)
    for item in items:
        validate_item(item)
        try:
            check_predictions(item)
        except EvaluationError as error:
            detail = str(error).removeprefix(f"{item.item_id}: ")
            raise EvaluationError(f"{path}: item {item.item_number}: {detail}") from None
    hashes = "\n".join(row_hash(item_to_row(item)) for item in items)
    return ItemTable(
        config=path.stem,
        split=SPLIT,
        items=tuple(items[:max_items]),
        rows_sha256=hashlib.sha256(hashes.encode()).hexdigest(),
        verified=False,
        separator=any(SEPARATOR in c.content for item in items for c in item.conditions),
    )


def _metrics(value: Any, path: Path) -> list[str]:
    """The metrics of ``meta.metric``: one, an array of several, or ``all``."""
    if value == ALL_METRICS:
        return list(METRICS)
    names = value if isinstance(value, list) and value else [value]
    for name in names:
        if not isinstance(name, str) or name not in METRICS:
            raise EvaluationError(
                f"{path}: meta.metric: {kind(name)}; expected one of {', '.join(METRICS)}"
            )
    return list(dict.fromkeys(names))


def _predictions(formulas: Sequence[str], metrics: Sequence[str]) -> tuple[Prediction, ...]:
    """Each formula under each metric; each is a group, unless there is only one."""
    predictions = []
    for number, formula in enumerate(formulas, start=1):
        for metric in metrics:
            group = f"prediction {number}" if len(formulas) > 1 else ""
            if len(metrics) > 1:
                group = f"{group} {metric}".strip()
            predictions.append(Prediction(formula, metric, (group,) if group else ()))
    return tuple(predictions)


def _items(suite: _Suite, predictions: tuple[Prediction, ...], path: Path) -> Iterator[Item]:
    """The items, each with the conditions and the number of regions of the first."""
    numbers: set[int] = set()
    first: Item | None = None
    for entry in suite.items:
        number = entry.item_number
        where = f"{path}: item {number}"
        if number in numbers:
            raise EvaluationError(f"{where}: two items have this item_number; expected one")
        numbers.add(number)
        conditions = tuple(_conditions(entry, where))
        identifier = f"{path.stem}/{number}"
        item = Item(identifier, number, conditions, predictions, identifier, path.stem)
        first = first or item
        _check_alike(item, first, where)
        yield item


def _conditions(item: _Item, where: str) -> Iterator[Condition]:
    names: set[str] = set()
    for condition in item.conditions:
        name = condition.condition_name
        at = f"{where}, condition {name!r}"
        if name in names:
            raise EvaluationError(f"{at}: two conditions have this name; expected one")
        names.add(name)
        regions = tuple(_regions(condition, at))
        content = join_regions(region.content for region in regions)
        if not content:
            raise EvaluationError(f"{at}: all its regions are empty; expected some text")
        yield Condition(name, content, regions)


def _regions(condition: _Condition, where: str) -> Iterator[Region]:
    for place, region in enumerate(condition.regions, start=1):
        number = region.region_number
        if number != place:
            raise EvaluationError(
                f"{where}, region {place}: region_number {number}; expected 1, 2, ... in order"
            )
        yield Region(number, region.content.strip())


def _check_formulas(formulas: Sequence[str], item: Item, path: Path) -> None:
    """Hold the formulas to one item: the others have the same conditions and regions."""
    numbers = [region.region_number for region in item.conditions[0].regions]
    names = [condition.condition_name for condition in item.conditions]
    for number, formula in enumerate(formulas, start=1):
        try:
            check(formula, numbers, names)
        except FormulaError as error:
            raise EvaluationError(f"{path}: prediction {number}: {error}") from None


def _check_alike(item: Item, first: Item, where: str) -> None:
    """Hold an item to the conditions and the number of regions of the first."""
    own = {condition.condition_name: condition for condition in item.conditions}
    known = {condition.condition_name for condition in first.conditions}
    expected = len(first.conditions[0].regions)
    if missing := sorted(known - set(own)):
        raise EvaluationError(
            f"{where}: no condition {missing[0]!r}, which item {first.item_number} has; expected "
            "the same conditions in every item"
        )
    if more := sorted(set(own) - known):
        raise EvaluationError(
            f"{where}: condition {more[0]!r}, which item {first.item_number} has not; expected "
            "the same conditions in every item"
        )
    for name, condition in own.items():
        if len(condition.regions) != expected:
            raise EvaluationError(
                f"{where}, condition {name!r}: {len(condition.regions)} regions; expected "
                f"{expected}, as in item {first.item_number}"
            )


def _check_region_names(suite: _Suite, item: Item, path: Path) -> None:
    """Hold ``region_meta``, where it is there, to the regions."""
    expected = [str(region.region_number) for region in item.conditions[0].regions]
    names = suite.region_meta
    if names is not None and set(names) != set(expected):
        raise EvaluationError(
            f"{path}: region_meta has {len(names)} names; expected one for each of the "
            f'{len(expected)} regions, under "1" to "{len(expected)}"'
        )

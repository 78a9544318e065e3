"""Test suites in SyntaxGym's JSON, as they are published (Gauthier et al. 2020, section 3).

The text of a condition is its regions joined by one space, whatever they begin with. Files come
from strangers: whatever is wrong with one is an error that names the item, condition and region.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.dataset import ItemTable, unverified_table
from coherencegym.eval.data.notes import detail
from coherencegym.eval.data.source import Source
from coherencegym.eval.kinds.formula import FormulaError, check_names
from coherencegym.eval.kinds.items import (
    METRICS,
    Condition,
    Item,
    Prediction,
    Region,
    formula_problems,
    joined_condition,
)
from coherencegym.files.strict_json import Some, kind, read_json


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
    meta: _Meta
    predictions: Some[_Formula]
    items: Some[_Item]
    region_meta: dict[str, Any] | None = None


#: The name of the split of a suite, which has none.
SPLIT = "suite"
#: A note for the reader of the scores.
_NOTE = detail(
    "SyntaxGym suites: regions are joined by one space; there is no partial-input baseline"
)


def suites(path: Path, max_items: int | None = None) -> tuple[Source, tuple[ItemTable, ...]]:
    """The tables of a suite's file, or of a folder of ``*.json``; ``max_items`` of each."""
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.glob("*.json") if file.is_file())
        if not files:
            raise EvaluationError(f"{path}: no *.json in it; expected a folder of SyntaxGym suites")
    tables = tuple(read_suite(file, max_items) for file in files)
    names = ",".join(file.stem for file in files)
    return Source(str(path), files[0].parent, manifest={"suite": names}, notes=(_NOTE,)), tables


def read_suite(path: Path, max_items: int | None = None) -> ItemTable:
    """The items of one suite; its config is the file's name without the ending."""
    try:
        path.stem.encode()  # it becomes the name of the config
    except UnicodeEncodeError:
        raise EvaluationError(f"{path}: its name is not UTF-8; expected a name of text") from None
    suite = read_json(path, _Suite)
    formulas = [prediction.formula.strip() for prediction in suite.predictions]
    predictions = _predictions(formulas, _metrics(suite.meta.metric, path))
    items: dict[int, Item] = {}
    for entry in suite.items:
        where = f"{path}: item {entry.item_number}"
        if entry.item_number in items:
            raise EvaluationError(f"{where}: two items have this item_number; expected one")
        conditions = tuple(_conditions(entry, where))
        identifier = f"{path.stem}/{entry.item_number}"
        item = Item(identifier, entry.item_number, conditions, predictions, identifier, path.stem)
        items[entry.item_number] = item
        _check_alike(item, next(iter(items.values())), where)
    _check_whole_suite(suite, formulas, next(iter(items.values())), path)
    for number, item in items.items():
        for problem in formula_problems(item):
            raise EvaluationError(f"{path}: item {number}: {problem}")
    return unverified_table(path.stem, SPLIT, list(items.values()), max_items)


def _metrics(value: Any, path: Path) -> list[str]:
    if value == "all":
        return list(METRICS)
    names = value if isinstance(value, list) and value else [value]
    for name in names:
        if not isinstance(name, str) or name not in METRICS:
            raise EvaluationError(
                f"{path}: meta.metric: {kind(name)}; expected one of {', '.join(METRICS)}"
            )
    return list(dict.fromkeys(names))


def _predictions(formulas: Sequence[str], metrics: Sequence[str]) -> tuple[Prediction, ...]:
    # Each formula under each metric; each is a group, unless there is only one.
    predictions = []
    for (number, formula), metric in product(enumerate(formulas, start=1), metrics):
        names = [f"prediction {number}"] * (len(formulas) > 1) + [metric] * (len(metrics) > 1)
        predictions.append(Prediction(formula, metric, (" ".join(names),) if names else ()))
    return tuple(predictions)


def _conditions(item: _Item, where: str) -> Iterator[Condition]:
    names: set[str] = set()
    for entry in item.conditions:
        name = entry.condition_name
        at = f"{where}, condition {name!r}"
        if name in names:
            raise EvaluationError(f"{at}: two conditions have this name; expected one")
        names.add(name)
        for place, region in enumerate(entry.regions, start=1):
            if region.region_number != place:
                raise EvaluationError(
                    f"{at}, region {place}: region_number {region.region_number}; "
                    "expected 1, 2, ... in order"
                )
        condition = joined_condition(name, entry.regions)
        if not condition.content:
            raise EvaluationError(f"{at}: all its regions are empty; expected some text")
        yield condition


def _check_alike(item: Item, first: Item, where: str) -> None:
    own, known = ({c.condition_name for c in one.conditions} for one in (item, first))
    has = f"which item {first.item_number} has"
    expected = "expected the same conditions in every item"
    if missing := sorted(known - own):
        raise EvaluationError(f"{where}: no condition {missing[0]!r}, {has}; {expected}")
    if more := sorted(own - known):
        raise EvaluationError(f"{where}: condition {more[0]!r}, {has} not; {expected}")
    number = len(first.conditions[0].regions)
    for condition in item.conditions:
        if len(condition.regions) != number:
            raise EvaluationError(
                f"{where}, condition {condition.condition_name!r}: {len(condition.regions)} "
                f"regions; expected {number}, as in item {first.item_number}"
            )


def _check_whole_suite(suite: _Suite, formulas: Sequence[str], item: Item, path: Path) -> None:
    # One item is enough: the others have its conditions and regions.
    numbers = [region.region_number for region in item.conditions[0].regions]
    names = [condition.condition_name for condition in item.conditions]
    for number, formula in enumerate(formulas, start=1):
        try:
            check_names(formula, numbers, names)
        except FormulaError as error:
            raise EvaluationError(f"{path}: prediction {number}: {error}") from None
    if suite.region_meta is not None and set(suite.region_meta) != set(map(str, numbers)):
        raise EvaluationError(
            f"{path}: region_meta has {len(suite.region_meta)} names; expected one for each of the "
            f'{len(numbers)} regions, under "1" to "{len(numbers)}"'
        )

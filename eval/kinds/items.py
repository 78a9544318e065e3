"""The one definition of a test suite: items, conditions, regions, predictions.

The names and the meaning are SyntaxGym's (Gauthier et al. 2020, section 3), so that existing tools
and readers know them. An item is one row of the table kind ``items``; beside its columns a suite
may have typed columns of its own (``permutation``, ``sense``, ...), kept in ``extra``.

Numbers are bits. ``=`` holds within SyntaxGym's tolerance and has no part in ``>`` and ``<``: of
two values so close, ``=`` and one of these may both hold.

A contrast is what a prediction says between two conditions, as builds and baselines take it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any

from coherencegym.eval.kinds.formula import (
    WHOLE,
    Arithmetic,
    Comparison,
    FormulaError,
    Junction,
    Number,
    Quantity,
    RegionRef,
    Truth,
    Value,
    check_names,
    coefficients_of,
    formula_error,
    parse_formula,
    read_of,
    values_of,
)
from coherencegym.eval.kinds.table_kind import FAMILY as FAMILY
from coherencegym.eval.kinds.table_kind import (
    FROM_CORPUS,
    FROM_DISCOURSE,
    Clustered,
    TableKind,
    column,
)
from coherencegym.eval.kinds.table_kind import SEPARATOR as SEPARATOR
from coherencegym.eval.kinds.table_kind import SuiteError as SuiteError

#: The bits by which two sides must differ, or they tie: it is the accuracy that the scorer keeps in
#: float32, so below it the sign of a difference says nothing about the model.
TIE_BITS = 1e-4

#: SyntaxGym's tolerances of ``=``: of the right side, and beside that (bits).
_EQUAL_RTOL, _EQUAL_ATOL = 1e-5, 1e-3

#: The value (bits) of a region, or of the whole text, in a condition.
_Lookup = Callable[[RegionRef, str], float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A prediction and what became of it.

    Attributes:
        met: it holds. A tie does not hold.
        tie: it does not hold, and would if every comparison that ties were counted as holding.
        margin: bits by which it holds (negative: fails). Of one comparison, left minus right in the
            direction predicted; of ``&`` the smallest part, of ``|`` the largest. None where an
            equality takes part, which has no direction.
    """

    met: bool
    tie: bool
    margin: float | None


def evaluate(node: Truth, lookup: _Lookup, tie_bits: float = TIE_BITS) -> Outcome:
    """Say whether a formula holds, and by how many bits.

    Two sides that are no further apart than ``tie_bits`` tie.
    """
    match node:
        case Comparison():
            return _compare(node, lookup, tie_bits)
        case Junction():
            return _join(node.operator, [evaluate(p, lookup, tie_bits) for p in node.parts])


def margin_of(node: Comparison, lookup: _Lookup) -> float:
    """Bits by which a comparison holds (negative: fails); for ``=`` what its tolerance leaves."""
    left, right = _amount(node.left, lookup), _amount(node.right, lookup)
    if node.operator == "=":
        return _EQUAL_ATOL + _EQUAL_RTOL * abs(right) - abs(left - right)
    return left - right if node.operator == ">" else right - left


def _compare(node: Comparison, lookup: _Lookup, tie_bits: float) -> Outcome:
    margin = margin_of(node, lookup)
    if node.operator == "=":
        return Outcome(margin >= 0, False, None)
    tie = abs(margin) <= tie_bits
    return Outcome(margin > 0 and not tie, tie, margin)


def _join(operator: str, parts: list[Outcome]) -> Outcome:
    every_or_any = all if operator == "&" else any
    smallest_or_largest = min if operator == "&" else max
    met = every_or_any(part.met for part in parts)
    would_be_met = every_or_any(part.met or part.tie for part in parts)
    margins = [part.margin for part in parts if part.margin is not None]
    margin = smallest_or_largest(margins) if len(margins) == len(parts) else None
    return Outcome(met, would_be_met and not met, margin)


def _amount(node: Quantity, lookup: _Lookup) -> float:
    match node:
        case Number():
            return node.value
        case Value():
            value = lookup(node.region, node.condition)
            if not math.isfinite(value):
                raise ValueError(f"({node.region};%{node.condition}%) is {value}, not a number")
            return value
        case Arithmetic():
            left, right = _amount(node.left, lookup), _amount(node.right, lookup)
            return left + right if node.operator == "+" else left - right


#: Ways in which the token surprisals (bits) of a region become its value.
METRICS = ("mean", "sum", "median", "range", "max", "min")


@dataclass(frozen=True, slots=True)
class Region:
    """A numbered stretch of a condition's text."""

    region_number: int
    content: str


@dataclass(frozen=True)
class Condition:
    """One version of an item's text: ``content`` is exact, the regions stand in it in order."""

    condition_name: str
    content: str
    regions: tuple[Region, ...]

    @cached_property
    def region_offsets(self) -> tuple[tuple[int, int], ...]:
        """Start and end (characters in ``content``) of each region, in order."""
        # Once: what is read is checked, checked again when it is scored, and then encoded.
        offsets, position = [], 0
        for region in self.regions:
            start = position
            while self.content[start : start + 1].isspace() and not self.content.startswith(
                region.content, start
            ):
                start += 1
            if not self.content.startswith(region.content, start):
                raise SuiteError(
                    f"condition {self.condition_name!r}: region {region.region_number} "
                    f"({region.content[:40]!r}) is not in the content where region "
                    f"{region.region_number - 1} ends; expected only white space between regions"
                )
            position = start + len(region.content)
            offsets.append((start, position))
        if self.content[position:].strip():
            raise SuiteError(
                f"condition {self.condition_name!r}: text after the last region: "
                f"{self.content[position:][:40]!r}; expected the regions to cover the content"
            )
        return tuple(offsets)


@dataclass(frozen=True, slots=True)
class Prediction:
    """A formula over region values that a coherence-sensitive model meets.

    ``groups`` are what scores are broken down by, the first being the row of the suite's table.
    """

    formula: str
    metric: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemEdit:
    """A change of an operator to make one condition, for cards and readers (see the builders)."""

    condition_name: str
    operator: str
    unit: int
    start: int
    before: str
    after: str
    source_discourse: str | None = None
    source_unit: int | None = None


_REGION = {"region_number": "int32", "content": "string"}
_CONDITION = {"condition_name": "string", "content": "string", "regions": [_REGION]}
_NUMBERS = ("unit", "start", "source_unit")
_EDIT = {f.name: "int32" if f.name in _NUMBERS else "string" for f in fields(ItemEdit)}


@dataclass(frozen=True)
class Item(Clustered):
    """One row of kind ``items``: a minimal pair, or a set of more than two conditions."""

    item_id: str = field(
        metadata=column("string", "`<discourse id>/<variant>`, unique in its config and split")
    )
    item_number: int = field(metadata=column("int32", "the number of the item, from 1"))
    conditions: tuple[Condition, ...] = field(
        metadata=column(
            [_CONDITION],
            "`condition_name`, `content` (the exact text), `regions` (`region_number`, `content`)",
        )
    )
    predictions: tuple[Prediction, ...] = field(
        metadata=column(
            [{"formula": "string", "metric": "string", "groups": ["string"]}],
            "`formula` (SyntaxGym's language), `metric`, `groups`",
        )
    )
    discourse_id: str = field(metadata=FROM_DISCOURSE)
    corpus: str = field(metadata=FROM_CORPUS)
    edits: tuple[ItemEdit, ...] = field(
        default=(),
        metadata=column(
            [_EDIT], "what was changed, in which condition, and the text before the change"
        ),
    )
    extra: Mapping[str, Any] = field(default_factory=dict)

    def condition(self, name: str) -> Condition:
        """The condition of that name."""
        return {condition.condition_name: condition for condition in self.conditions}[name]

    @property
    def reads(self) -> dict[str, set[RegionRef]]:
        """The regions that its predictions, which are checked, read of each condition."""
        read: dict[str, set[RegionRef]] = {}
        for prediction in self.predictions:
            for region, name in read_of(prediction.formula):
                read.setdefault(name, set()).add(region)
        return read


def _problems(item: Item) -> Iterator[str]:
    # What does not depend on a formula: names, numbers, metrics, regions in content.
    if not item.item_id:
        yield "the item_id is empty"
    names = [condition.condition_name for condition in item.conditions]
    if not names or len(set(names)) != len(names):
        yield f"condition names {names}; expected at least one, each once"
    if not item.predictions:
        yield "no prediction; expected at least one"
    numbers = {tuple(r.region_number for r in c.regions) for c in item.conditions}
    if len(numbers) != 1:
        yield "conditions have different region numbers; expected the same in each"
    (numbering,) = numbers
    if numbering != tuple(range(1, len(numbering) + 1)) or not numbering:
        yield f"region numbers {list(numbering)}; expected 1, 2, ... in order"
    for prediction in item.predictions:
        if prediction.metric not in METRICS:
            yield f"metric {prediction.metric!r}; expected one of {', '.join(METRICS)}"
    for condition in item.conditions:
        try:
            _ = condition.region_offsets
        except SuiteError as error:
            yield str(error)


def join_regions(contents: Iterable[str]) -> str:
    """A text from region contents, as SyntaxGym joins them: one space, none for an empty region.

    White space around them is stripped. Punctuation gets the space too: ``book , the``.
    """
    return " ".join(filter(None, (content.strip() for content in contents)))


def joined_condition(name: str, regions: Iterable[Region]) -> Condition:
    """A condition whose text is its regions, joined as SyntaxGym joins them."""
    stripped = tuple(Region(r.region_number, r.content.strip()) for r in regions)
    return Condition(name, join_regions(region.content for region in stripped), stripped)


def formula_problems(item: Item) -> Iterator[str]:
    """What is wrong with an item's formulas beside its conditions and regions."""
    numbers = [region.region_number for region in item.conditions[0].regions]
    names = [condition.condition_name for condition in item.conditions]
    full: set[tuple[RegionRef, str]] = {
        (reference, condition.condition_name)
        for condition in item.conditions
        for region in condition.regions
        if region.content.strip()
        for reference in (region.region_number, WHOLE)
    }
    for prediction in item.predictions:
        try:
            check_names(prediction.formula, numbers, names)
        except FormulaError as error:
            yield str(error)
            return
        for value in values_of(prediction.formula):
            if prediction.metric != "sum" and (value.region, value.condition) not in full:
                what = (
                    f"region {value.region} of condition {value.condition!r} is empty and has "
                    f"no {prediction.metric}; expected a region with text, or the metric sum"
                )
                yield str(formula_error(prediction.formula, value.position, what))


ITEMS = TableKind(
    name="items",
    row="an item: two or more versions of one text (conditions), cut into numbered regions, with "
    "predictions: a formula says in which condition a region is more surprising to a model. The CD "
    "score (Beyer et al. 2021) is the share of items whose prediction is met; chance is 50 %.",
    schema=Item,
    mark="predictions",
    texts=lambda item: (condition.content for condition in item.conditions),
    problems=lambda item: chain(_problems(item), formula_problems(item)),
    length=lambda row: max(len(each["content"]) for each in row["conditions"]),
    longest=450,
    task="score",
    command="coherencegym score",
    ask="Score a causal language model on it",
)


@dataclass(frozen=True, slots=True)
class Contrast:
    """A prediction between two conditions: the incoherent one is the more surprising.

    Several conditions on a side are added up: with two contexts and two targets, the targets in
    each other's contexts are together more surprising than in their own, which is an interaction.
    ``region`` is a region number or ``*`` for the whole text; with ``last`` it is the sum of the
    regions from one number to the other that is compared.
    """

    incoherent: str | tuple[str, ...]
    coherent: str | tuple[str, ...]
    region: int | str
    metric: str = "mean"
    groups: tuple[str, ...] = ()
    last: int = 0

    @property
    def formula(self) -> str:
        """The prediction in SyntaxGym's formula language."""
        return f"{self._value(self.worse)} > {self._value(self.better)}"

    @property
    def worse(self) -> tuple[str, ...]:
        """The conditions predicted to be the more surprising."""
        return (self.incoherent,) if isinstance(self.incoherent, str) else self.incoherent

    @property
    def better(self) -> tuple[str, ...]:
        """The conditions predicted to be the less surprising."""
        return (self.coherent,) if isinstance(self.coherent, str) else self.coherent

    @property
    def regions(self) -> Sequence[int | str]:
        """The regions that are compared."""
        return range(int(self.region), self.last + 1) if self.last else [self.region]

    def _value(self, conditions: Sequence[str]) -> str:
        return " + ".join(f"({r};%{name}%)" for name in conditions for r in self.regions)

    @property
    def prediction(self) -> Prediction:
        """The prediction as a row carries it."""
        return Prediction(self.formula, self.metric, self.groups)


@dataclass(frozen=True)
class GeneratedItem:
    """An item, the contrasts behind its predictions, and what a partial-input classifier may see.

    ``views`` maps a condition to the texts that the classifier gets of it, one bag of words each;
    ``language`` (ISO 639-1) is that of the texts, and ``words`` are those of its corpus, where its
    script has no spaces.
    """

    item: Item
    contrasts: tuple[Contrast, ...]
    views: Mapping[str, tuple[str, ...]]
    language: str = "en"
    words: frozenset[str] = frozenset()


def contrasts_of(item: Item) -> tuple[Contrast, ...]:
    """The contrasts that the predictions of an item stand for, in their order.

    Empty where a formula is none: an equality, a conjunction, or sides of different regions.
    """
    contrasts = [(one, contrast_of(one.formula)) for one in item.predictions]
    found = [replace(own, metric=one.metric, groups=one.groups) for one, own in contrasts if own]
    return tuple(found) if len(found) == len(contrasts) else ()


@lru_cache(maxsize=4096)
def contrast_of(formula: str) -> Contrast | None:
    """The contrast that a formula stands for; none where it is an equality, a conjunction, ..."""
    tree = parse_formula(formula)
    if not isinstance(tree, Comparison) or tree.operator == "=":
        return None
    sign = 1 if tree.operator == ">" else -1
    regions: dict[int, dict[str, list[RegionRef]]] = {1: {}, -1: {}}
    for (region, condition), times in coefficients_of(tree).items():
        if abs(times) != 1:
            return None
        regions[times * sign].setdefault(condition, []).append(region)
    kinds = {tuple(sorted(own, key=str)) for side in regions.values() for own in side.values()}
    if len(kinds) != 1 or not all(regions.values()):
        return None
    first, *_, last = (*(kind := kinds.pop()), *kind)
    if len(kind) > 1 and (WHOLE in kind or int(last) - int(first) != len(kind) - 1):
        return None
    until = int(last) if len(kind) > 1 else 0
    return Contrast(tuple(regions[1]), tuple(regions[-1]), first, last=until)


def contrasted(item: Item) -> GeneratedItem:
    """An item with its contrasts; a bag of words sees of each condition what is compared last."""
    views = {
        condition.condition_name: (condition.regions[-1].content,) for condition in item.conditions
    }
    return GeneratedItem(item, contrasts_of(item), views)


#: Says how incoherent a condition (its name) looks where a contrast compares it.
Incoherence = Callable[[str, Contrast], float]

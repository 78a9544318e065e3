"""The formula language of predictions: SyntaxGym's, with a parser of its own.

A prediction compares surprisals (bits) of regions in conditions, for example::

    (2;%shuffled%) > (2;%original%)
    [(*;%a%) - (*;%b%)] > 1 & (3;%a%) < (3;%b%)

``(2;%name%)`` is the value of region 2 in condition ``name`` and ``(*;%name%)`` that of the whole
condition. Numbers are bits. ``+ -`` bind tighter than ``< > =``, and those tighter than ``& |``;
parentheses and square brackets mean the same. ``=`` holds within rtol 1e-5 of its right side plus
atol 1e-3, and has no part in ``>`` and ``<``: of two values so close, ``=`` and one of these may
both hold. Refused, with the place named: ``a > b > c``, ``&`` mixed with ``|`` without parentheses,
a formula that compares nothing, a region or condition that is not there, a mean (or any metric but
a sum) of a region without text.

Source: Gauthier et al. 2020, "SyntaxGym", section 3. Formulas come from datasets that strangers
publish, so they are parsed (:mod:`eval.kinds.formula`) and never handed to Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.formula import (
    WHOLE,
    Arithmetic,
    Comparison,
    FormulaError,
    Junction,
    Node,
    Number,
    Quantity,
    RegionRef,
    Truth,
    Value,
    formula_error,
    parse,
)
from coherencegym.eval.kinds.items import Item

#: Two sides closer than this (bits) tie: it is the accuracy that the scorer keeps in float32, so
#: below it the sign of a difference says nothing about the model.
TIE_BITS = 1e-4

#: SyntaxGym's tolerances of ``=``.
EQUAL_RTOL, EQUAL_ATOL = 1e-5, 1e-3

#: The value (bits) of a region, or of the whole text, in a condition.
Lookup = Callable[[RegionRef, str], float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a prediction.

    Attributes:
        met: it holds. A tie does not hold.
        tie: it does not hold, and would if every comparison that ties were counted as holding.
        margin: by how many bits it holds (negative: by how many it fails). Of one comparison, left
            minus right in the direction predicted; of ``&`` the smallest part, of ``|`` the
            largest. None where an equality takes part, which has no direction.
    """

    met: bool
    tie: bool
    margin: float | None


def values(node: Node) -> Iterator[Value]:
    """The region values that a formula reads, from left to right, repeats included."""
    match node:
        case Value():
            yield node
        case Arithmetic() | Comparison():
            yield from values(node.left)
            yield from values(node.right)
        case Junction():
            for part in node.parts:
                yield from values(part)


def references(node: Node) -> set[tuple[RegionRef, str]]:
    """The (region number or ``"*"``, condition) pairs that a formula reads."""
    return {(value.region, value.condition) for value in values(node)}


@lru_cache(maxsize=4096)
def values_of(formula: str) -> tuple[Value, ...]:
    """The region values that a formula reads; a suite has few formulas, and many items.

    Raises:
        FormulaError: it cannot be read.
    """
    return tuple(values(parse(formula)))


@lru_cache(maxsize=4096)
def read_of(formula: str) -> frozenset[tuple[RegionRef, str]]:
    """The (region number or ``"*"``, condition) pairs that a formula reads.

    Raises:
        FormulaError: it cannot be read.
    """
    return frozenset((value.region, value.condition) for value in values_of(formula))


def check(formula: str, regions: Collection[int], conditions: Collection[str]) -> Truth:
    """Parse a formula and hold its names to those of an item.

    Raises:
        FormulaError: unreadable, or a region or condition that the item does not have.
    """
    for value in values_of(formula):
        if value.condition not in conditions:
            raise formula_error(
                formula,
                value.position,
                f"no condition {value.condition!r}; expected one of {', '.join(conditions)}",
            )
        if value.region != WHOLE and value.region not in regions:
            raise formula_error(
                formula,
                value.position,
                f"no region {value.region}; expected one of {', '.join(map(str, regions))} or *",
            )
    return parse(formula)


def read_by(item: Item) -> dict[str, set[RegionRef]]:
    """The regions that an item's predictions read, by condition.

    The item has what they name: :func:`check_predictions`, where it was read, saw to that.
    """
    read: dict[str, set[RegionRef]] = {}
    for prediction in item.predictions:
        for region, name in read_of(prediction.formula):
            read.setdefault(name, set()).add(region)
    return read


def check_predictions(item: Item) -> None:
    """Hold an item's formulas to its conditions and regions.

    Raises:
        EvaluationError: a formula cannot be read, names what the item does not have, or takes the
            mean, median, range, maximum or minimum of a region without text.
    """
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
            check(prediction.formula, numbers, names)
            for value in values_of(prediction.formula):
                if prediction.metric != "sum" and (value.region, value.condition) not in full:
                    raise formula_error(
                        prediction.formula,
                        value.position,
                        f"region {value.region} of condition {value.condition!r} is empty and has "
                        f"no {prediction.metric}; expected a region with text, or the metric sum",
                    )
        except FormulaError as error:
            raise EvaluationError(f"{item.item_id}: {error}") from None


def evaluate(node: Truth, lookup: Lookup, tie_bits: float = TIE_BITS) -> Outcome:
    """Whether a formula holds, and by how many bits.

    Args:
        node: a parsed formula.
        lookup: gives the value (bits, finite) of a region in a condition.
        tie_bits: two sides no further apart than this (bits) tie.
    """
    match node:
        case Comparison():
            return _compare(node, lookup, tie_bits)
        case Junction():
            return _join(node.operator, [evaluate(p, lookup, tie_bits) for p in node.parts])


def _compare(node: Comparison, lookup: Lookup, tie_bits: float) -> Outcome:
    left, right = _amount(node.left, lookup), _amount(node.right, lookup)
    if node.operator == "=":
        return Outcome(abs(left - right) <= EQUAL_ATOL + EQUAL_RTOL * abs(right), False, None)
    margin = left - right if node.operator == ">" else right - left
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


def _amount(node: Quantity, lookup: Lookup) -> float:
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


__all__ = [
    "EQUAL_ATOL",
    "EQUAL_RTOL",
    "TIE_BITS",
    "WHOLE",
    "Arithmetic",
    "Comparison",
    "FormulaError",
    "Junction",
    "Lookup",
    "Node",
    "Number",
    "Outcome",
    "Quantity",
    "RegionRef",
    "Truth",
    "Value",
    "check",
    "check_predictions",
    "evaluate",
    "parse",
    "read_by",
    "references",
    "values",
]

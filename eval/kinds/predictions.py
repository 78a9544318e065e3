"""Meaning of formulas: what becomes of a prediction once surprisals are known.

Numbers are bits. ``=`` holds within SyntaxGym's tolerance and has no part in ``>`` and ``<``: of
two values so close, ``=`` and one of these may both hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from coherencegym.eval.kinds.formula import (
    Arithmetic,
    Comparison,
    Junction,
    Number,
    Quantity,
    RegionRef,
    Truth,
    Value,
)

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


def is_settled(node: Truth, lookup: _Lookup, error: Callable[[Comparison], float]) -> bool:
    """Tell whether a formula's truth is the same however far values are off, within an error.

    Args:
        node, lookup: those of :func:`evaluate`.
        error: bits by which the two sides of a comparison may be further apart, or less far.
    """
    return _settled(node, lookup, error) is not None


def _settled(node: Truth, lookup: _Lookup, error: Callable[[Comparison], float]) -> bool | None:
    # None: it may be either (Kleene's third value).
    match node:
        case Comparison():
            margin = margin_of(node, lookup)
            return None if abs(margin) <= error(node) else margin > 0
        case Junction():
            parts = [_settled(part, lookup, error) for part in node.parts]
            deciding = node.operator == "|"
            if deciding in parts:
                return deciding
            return None if None in parts else not deciding


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

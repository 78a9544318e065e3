"""Formulas of predictions: SyntaxGym's language, as trees, and the parser that makes them.

The grammar, loosest first (``x*`` is any number of ``x``)::

    formula     = comparison ("&" comparison)* | comparison ("|" comparison)*
    comparison  = sum ("<" | ">" | "=") sum
    sum         = atom (("+" | "-") atom)*
    atom        = "(" region ";%" condition "%)" | number | "(" formula ")" | "[" formula "]"

``(2;%name%)`` is the value (bits) of region 2 in condition ``name``, ``(*;%name%)`` that of the
whole condition. Parentheses and square brackets mean the same. Refused, with the place named:
``a > b > c``, ``&`` mixed with ``|`` without parentheses, a formula that compares nothing, a region
or condition that is not there. What formulas mean is in :mod:`eval.kinds.items`.

Formulas come from datasets that strangers publish, so they are parsed here and never handed to
Python, and one that no person wrote (very long, very deep) is refused.
Source: Gauthier et al. 2020, "SyntaxGym", section 3.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from coherencegym.command_line import did_you_mean
from coherencegym.errors import EvaluationError

#: The whole condition, in place of a region number.
WHOLE: Literal["*"] = "*"
RegionRef = int | Literal["*"]

#: Beyond these a formula is refused: so trees stay shallow enough for recursion, and a sum finite.
MOST_CHARACTERS, MOST_TERMS, MOST_LEVELS, LARGEST_NUMBER = 10_000, 250, 50, 1e15


class FormulaError(EvaluationError):
    """A formula that cannot be read, with the character where it went wrong."""


@dataclass(frozen=True, slots=True)
class Value:
    """``(2;%original%)``: a region's value (bits) in a condition."""

    region: RegionRef
    condition: str
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Number:
    """A constant, in bits."""

    value: float


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``left + right`` or ``left - right``."""

    operator: str
    left: Quantity
    right: Quantity


@dataclass(frozen=True, slots=True)
class Comparison:
    """``left > right``, ``left < right`` or ``left = right``."""

    operator: str
    left: Quantity
    right: Quantity


@dataclass(frozen=True, slots=True)
class Junction:
    """Two or more comparisons joined by ``&`` (all hold) or by ``|`` (at least one holds)."""

    operator: str
    parts: tuple[Truth, ...]


Quantity = Value | Number | Arithmetic
Truth = Comparison | Junction
Node = Quantity | Truth

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<value>\(\s*(?P<region>\*|\d{1,9})\s*;\s*%(?P<condition>[^%]+)%\s*\))
      | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)
      | (?P<symbol>[-+<>=&|()\[\]])
      | (?P<end>$)
    )""",
    re.VERBOSE,
)
_CLOSING = {"(": ")", "[": "]"}
_REGION = "a region such as (2;%original%)"


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    position: int
    node: Value | Number | None = None


def _tokens(formula: str) -> Iterator[_Token]:
    position = 0
    while True:
        match = _TOKEN.match(formula, position)
        if match is None:
            start = position + len(formula[position:]) - len(formula[position:].lstrip())
            what = f"cannot read {formula[start : start + 20]!r}; expected {_REGION}, a number, or "
            raise formula_error(formula, start, what + "one of + - < > = & | ( ) [ ]")
        kind = match.lastgroup or ""
        start, text = match.start(kind), match[kind]
        node: Value | Number | None = None
        if kind == "value":
            region: RegionRef = WHOLE if match["region"] == WHOLE else int(match["region"])
            node = Value(region, match["condition"], start)
        elif kind == "number":
            node = Number(float(text))
            if not math.fabs(node.value) <= LARGEST_NUMBER:
                raise formula_error(formula, start, f"expected no number beyond {LARGEST_NUMBER:g}")
        yield _Token(kind, text, start, node)
        if kind == "end":
            return
        position = match.end()


def formula_error(formula: str, position: int, what: str) -> FormulaError:
    """The error that names a character (counted from 0 here, from 1 in the message)."""
    shown = formula if len(formula) <= 300 else formula[:300] + "..."
    return FormulaError(f"formula {shown!r}, character {position + 1}: {what}")


class _Parser:
    # Recursive descent: one method per level of precedence, loosest first.
    def __init__(self, formula: str) -> None:
        self.formula = formula
        self.tokens = list(_tokens(formula))
        self.at = 0
        self.level = 0
        terms = [token for token in self.tokens if token.node is not None]
        if len(terms) > MOST_TERMS:
            raise self.fail(
                f"{len(terms)} regions and numbers; expected at most {MOST_TERMS}",
                terms[MOST_TERMS].position,
            )

    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    def take(self, *symbols: str) -> _Token | None:
        token = self.token
        if token.text not in symbols:
            return None
        self.at += 1
        return token

    def fail(self, what: str, position: int | None = None) -> FormulaError:
        place = self.token.position if position is None else position
        return formula_error(self.formula, place, what)

    def whole(self) -> Truth:
        start = self.token.position
        node = self.junction()
        if self.token.kind != "end":
            raise self.fail(f"{self.token.text!r} is one too many; expected the end")
        return self.truth(node, start)

    def truth(self, node: Node, position: int) -> Truth:
        if isinstance(node, Comparison | Junction):
            return node
        raise self.fail("nothing is compared here; expected <, > or =", position)

    def quantity(self, node: Node, position: int) -> Quantity:
        if isinstance(node, Comparison | Junction):
            raise self.fail("a comparison stands where a value in bits is expected", position)
        return node

    def junction(self) -> Node:
        start = self.token.position
        first = self.comparison()
        operator = following = self.take("&", "|")
        if operator is None:
            return first
        parts = [self.truth(first, start)]
        while following is not None:
            if following.text != operator.text:
                raise self.fail(
                    "& and | side by side; expected parentheses that say which comes first",
                    following.position,
                )
            start = self.token.position
            parts.append(self.truth(self.comparison(), start))
            following = self.take("&", "|")
        return Junction(operator.text, tuple(parts))

    def comparison(self) -> Node:
        start = self.token.position
        left = self.sum()
        operator = self.take("<", ">", "=")
        if operator is None:
            return left
        left, start = self.quantity(left, start), self.token.position
        right = self.quantity(self.sum(), start)
        if again := self.take("<", ">", "="):
            raise self.fail(
                "a chain of comparisons; expected two comparisons joined by &", again.position
            )
        return Comparison(operator.text, left, right)

    def sum(self) -> Node:
        start = self.token.position
        node = self.atom()
        while operator := self.take("+", "-"):
            left, right_start = self.quantity(node, start), self.token.position
            node = Arithmetic(operator.text, left, self.quantity(self.atom(), right_start))
        return node

    def atom(self) -> Node:
        token = self.token
        if token.node is not None:
            self.at += 1
            return token.node
        if sign := self.take("-", "+"):
            number, minus = self.token.node, sign.text == "-"
            if not isinstance(number, Number):
                name = "minus" if minus else "plus"
                raise self.fail(f"expected a number after a leading {name}")
            self.at += 1
            return Number(-number.value if minus else number.value)
        if opening := self.take("(", "["):
            self.level += 1
            if self.level > MOST_LEVELS:
                raise self.fail(
                    f"nested too deeply; expected at most {MOST_LEVELS} levels", opening.position
                )
            node = self.junction()
            self.level -= 1
            if not self.take(_CLOSING[opening.text]):
                raise self.fail(f"expected {_CLOSING[opening.text]!r}")
            return node
        found = "the end" if token.kind == "end" else repr(token.text)
        raise self.fail(f"found {found}; expected {_REGION} or a number")


def parse_formula(formula: str) -> Truth:
    """The tree of a formula."""
    if not isinstance(formula, str):
        # Somebody's own table can hold anything.
        raise FormulaError(f"formula {formula!r}; expected a text")
    return _parse(formula)


@lru_cache(maxsize=4096)
def _parse(formula: str) -> Truth:
    if len(formula) > MOST_CHARACTERS:
        what = f"{len(formula):,} characters; expected at most {MOST_CHARACTERS:,}"
        raise formula_error(formula, MOST_CHARACTERS, what)
    return _Parser(formula).whole()


def _values(node: Node) -> Iterator[Value]:
    match node:
        case Value():
            yield node
        case Arithmetic() | Comparison():
            yield from _values(node.left)
            yield from _values(node.right)
        case Junction():
            for part in node.parts:
                yield from _values(part)


@lru_cache(maxsize=4096)
def comparisons_of(node: Truth) -> tuple[Comparison, ...]:
    """The comparisons of a formula's tree, from left to right."""
    match node:
        case Comparison():
            return (node,)
        case Junction():
            return tuple(one for part in node.parts for one in comparisons_of(part))


@lru_cache(maxsize=4096)
def coefficients_of(node: Quantity | Comparison) -> Mapping[tuple[RegionRef, str], int]:
    """Count how often each region value is added on the left (negative: subtracted)."""
    match node:
        case Value():
            return {(node.region, node.condition): 1}
        case Number():
            return {}
        case Arithmetic() | Comparison():
            found = Counter(coefficients_of(node.left))
            sign = 1 if isinstance(node, Arithmetic) and node.operator == "+" else -1
            for value, times in coefficients_of(node.right).items():
                found[value] += sign * times
            return {value: times for value, times in found.items() if times}


# Both are kept: a suite has few formulas, and many items.
@lru_cache(maxsize=4096)
def values_of(formula: str) -> tuple[Value, ...]:
    """The region values that a formula reads, from left to right, repeats included."""
    return tuple(_values(parse_formula(formula)))


@lru_cache(maxsize=4096)
def read_of(formula: str) -> tuple[tuple[RegionRef, str], ...]:
    """The (region number or ``"*"``, condition) pairs of :func:`values_of`, each once."""
    return tuple(dict.fromkeys((value.region, value.condition) for value in values_of(formula)))


def check_names(formula: str, regions: Collection[int], conditions: Collection[str]) -> None:
    """Hold the names in a formula to those of an item."""
    for value in values_of(formula):
        if value.condition not in conditions:
            meant = did_you_mean(value.condition, conditions)
            known = f"expected one of {', '.join(conditions)}{meant}"
            what = f"no condition {value.condition!r}; {known}"
        elif value.region not in (WHOLE, *regions):
            numbers = ", ".join(map(str, regions))
            what = f"no region {value.region}; expected one of {numbers} or *"
        else:
            continue
        raise formula_error(formula, value.position, what)

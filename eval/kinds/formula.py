"""Reading formulas: the tree of a prediction, and the parser that makes it.

The grammar, loosest first (``x*`` is any number of ``x``)::

    formula     = comparison ("&" comparison)* | comparison ("|" comparison)*
    comparison  = sum ("<" | ">" | "=") sum
    sum         = atom (("+" | "-") atom)*
    atom        = "(" region ";%" condition "%)" | number | "(" formula ")" | "[" formula "]"

What the formulas mean is in :mod:`eval.kinds.predictions`. Formulas come from datasets that
strangers publish, so they are parsed here and never handed to Python, and one that no person wrote
(very long, very deep) is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from coherencegym.errors import EvaluationError

#: What stands for the whole condition in place of a region number.
WHOLE: Literal["*"] = "*"

#: A region number, or the whole.
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


# ---------------------------------------------------------------- reading

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
#: Characters of a formula that an error repeats.
_SHOWN = 300


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
            raise formula_error(
                formula,
                start,
                f"cannot read {formula[start : start + 20]!r}; expected a region such as "
                "(2;%original%), a number, or one of + - < > = & | ( ) [ ]",
            )
        kind = match.lastgroup if match.lastgroup in ("number", "symbol", "end") else "value"
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
    shown = formula if len(formula) <= _SHOWN else formula[:_SHOWN] + "..."
    return FormulaError(f"formula {shown!r}, character {position + 1}: {what}")


class _Parser:
    """Recursive descent: one method per level of precedence, loosest first."""

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
        """The current token if it is one of the symbols, stepping over it."""
        token = self.token
        if token.kind == "symbol" and token.text in symbols:
            self.at += 1
            return token
        return None

    def fail(self, what: str, position: int | None = None) -> FormulaError:
        return formula_error(
            self.formula, self.token.position if position is None else position, what
        )

    def formula_whole(self) -> Truth:
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
        operator = self.take("&", "|")
        if operator is None:
            return first
        parts = [self.truth(first, start)]
        while True:
            start = self.token.position
            parts.append(self.truth(self.comparison(), start))
            following = self.take("&", "|")
            if following is None:
                return Junction(operator.text, tuple(parts))
            if following.text != operator.text:
                raise self.fail(
                    "& and | side by side; expected parentheses that say which comes first",
                    following.position,
                )

    def comparison(self) -> Node:
        start = self.token.position
        left = self.sum()
        operator = self.take("<", ">", "=")
        if operator is None:
            return left
        left = self.quantity(left, start)
        start = self.token.position
        right = self.quantity(self.sum(), start)
        again = self.take("<", ">", "=")
        if again is not None:
            raise self.fail(
                "a chain of comparisons; expected two comparisons joined by &", again.position
            )
        return Comparison(operator.text, left, right)

    def sum(self) -> Node:
        start = self.token.position
        node = self.atom()
        while operator := self.take("+", "-"):
            left = self.quantity(node, start)
            right_start = self.token.position
            node = Arithmetic(operator.text, left, self.quantity(self.atom(), right_start))
        return node

    def atom(self) -> Node:
        token = self.token
        if token.node is not None:
            self.at += 1
            return token.node
        if sign := self.take("-", "+"):
            number = self.token.node
            if not isinstance(number, Number):
                name = "minus" if sign.text == "-" else "plus"
                raise self.fail(f"expected a number after a leading {name}")
            self.at += 1
            return Number(-number.value if sign.text == "-" else number.value)
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
        raise self.fail(f"found {found}; expected a region such as (2;%original%) or a number")


def parse(formula: str) -> Truth:
    """The tree of a formula.

    Raises:
        FormulaError: it cannot be read; the message names the character.
    """
    if not isinstance(formula, str):
        # Somebody's own table can hold anything.
        raise FormulaError(f"formula {formula!r}; expected a text")
    return _parse(formula)


@lru_cache(maxsize=4096)
def _parse(formula: str) -> Truth:
    if len(formula) > MOST_CHARACTERS:
        raise formula_error(
            formula,
            MOST_CHARACTERS,
            f"{len(formula):,} characters; expected at most {MOST_CHARACTERS:,}",
        )
    return _Parser(formula).formula_whole()

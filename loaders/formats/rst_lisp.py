"""Rhetorical trees as s-expressions: the ``.dis`` files of the RST Discourse Treebank and of GUM.

Carlson, Marcu and Okurowski 2001. A file is one tree: ``( Root (span 1 3) child child )``. A child
is ``( Nucleus (span 1 2) (rel2par elaboration) child child )`` or a leaf, ``( Satellite (leaf 3)
(rel2par attribution) (text _!he said ._!) )``. What stands between ``_!`` and ``_!)`` is text,
brackets included. Trees are binary here: a node with more nuclei is a chain of nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from coherencegym.loaders.corpus import CorpusFile
from coherencegym.loaders.discourse import RhetoricalNode
from coherencegym.loaders.formats.lines import LineError, numbered_lines, shown, text_problem, tidy

_TEXT_END = "_!)"
#: A list ``text`` as a whole, or up to the end of the source; a bracket; a word.
_TOKEN = re.compile(
    rf"\(\s*text\s+_!(?P<text>.*?)(?P<end>{re.escape(_TEXT_END)}|\Z)|[()]|[^\s()]+", re.DOTALL
)
_NUMBER = re.compile(r"[1-9]\d{0,5}")
#: The number of numbers that each kind of list has.
_NUMBERS = {"span": 2, "leaf": 1}
_ROLES = {"Nucleus": "N", "Satellite": "S"}
#: The relation that a nucleus has to its satellite's parent: none of its own.
_SPAN = "span"


@dataclass(frozen=True, slots=True)
class LispTree:
    """A tree as its file has it.

    Attributes:
        units: the texts of the elementary units: words with single spaces between them.
        nodes: its inner nodes, each before those below it, the left one first.
    """

    units: tuple[str, ...]
    nodes: tuple[RhetoricalNode, ...]


@dataclass
class _List:
    """A list that is being read: its words, and what the lists in it said."""

    line: int
    words: list[str] = field(default_factory=list)
    text: str | None = None
    numbers: dict[str, tuple[int, ...]] = field(default_factory=dict)
    relation: str = ""
    children: list[_Subtree] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Subtree:
    """A node that was read: whether it is a nucleus, how it relates, and its units, from 1."""

    role: str
    relation: str
    first: int
    last: int


def read_tree(path: Path, split: str) -> LispTree:
    """Read a file.

    Raises:
        LineError: it is no such tree; says in which line, and what was expected.
        CorpusError: it is empty, or UTF-16.
        OSError: it cannot be read.
    """
    lines = []
    for number, line in numbered_lines(CorpusFile(path, split)):
        if (problem := text_problem(line)) is not None:
            raise LineError(number, *problem)
        lines.append(line)
    return parse_tree("\n".join(lines))


def parse_tree(source: str) -> LispTree:
    """The tree that an s-expression is; nothing recurses, so that trees may be deep.

    Raises:
        LineError: it is none.
    """
    units: list[str] = []
    nodes: list[RhetoricalNode] = []
    above, root, line = list[_List](), False, 1
    for line, token, text in _tokens(source):
        if root:
            raise _fault(line, f"{shown(text or token)} after the tree", "the end of the file")
        if token == "(":
            above.append(_List(line))
        elif not above:
            raise _fault(line, shown(text or token), "'( Root ...'")
        elif token == "text":
            above[-1].text = text
        elif token == ")":
            closed = above.pop()
            _close(closed, above[-1] if above else None, units, nodes)
            root = not above
        else:
            above[-1].words.append(token)
    if not root:
        raise _fault(line, "the file ends inside of the tree", "a bracket for each that is open")
    nodes.sort(key=lambda node: (node.first, -node.last))
    return LispTree(tuple(units), tuple(nodes))


def _fault(line: int, found: str, expected: str) -> LineError:
    return LineError(line, f"{found}, expected {expected}", "malformed tree")


def _tokens(source: str) -> Iterator[tuple[int, str, str]]:
    """Line, token and, of a token ``text``, what the unit says."""
    place, line = 0, 1
    for match in _TOKEN.finditer(source):
        line += source.count("\n", place, match.start())
        place = match.start()
        if (text := match["text"]) is None:
            yield line, match[0], ""
        elif match["end"]:
            yield line, "text", tidy(text)
        else:
            raise _fault(line, "a text that does not end", f"'{_TEXT_END}' behind it")


def _close(
    closed: _List, parent: _List | None, units: list[str], nodes: list[RhetoricalNode]
) -> None:
    """Hand what a list says to the list around it."""
    kind, *rest = closed.words or [""]
    if parent is None:
        if kind != "Root":
            raise _fault(closed.line, shown(kind), "'Root'")
        _subtree(closed, "", units, nodes)
    elif kind in _ROLES:
        parent.children.append(_subtree(closed, _ROLES[kind], units, nodes))
    elif kind in _NUMBERS:
        if len(rest) != _NUMBERS[kind] or not all(map(_NUMBER.fullmatch, rest)):
            expected = f"{_NUMBERS[kind]} of 1 or more"
            raise _fault(closed.line, f"{kind} with {shown(' '.join(rest))}", expected)
        parent.numbers[kind] = tuple(map(int, rest))
    elif kind == "rel2par" and len(rest) == 1:
        parent.relation = rest[0]
    else:
        expected = "Nucleus, Satellite, span, leaf, rel2par with a relation, or a text in _! _!"
        raise _fault(closed.line, f"({shown(' '.join(closed.words))})", expected)


def _subtree(made: _List, role: str, units: list[str], nodes: list[RhetoricalNode]) -> _Subtree:
    """A node of which all lists were read; a leaf is noted in ``units``, others in ``nodes``."""
    if made.text is not None:
        expected = (len(units) + 1,)
        if made.numbers.get("leaf") != expected or made.children:
            raise _fault(made.line, "a text", f"it in a leaf with the number {expected[0]}")
        if not made.text:
            raise _fault(made.line, f"leaf {expected[0]} without a word", "a text")
        units.append(made.text)
        return _Subtree(role, made.relation, len(units), len(units))
    if len(made.children) != 2:
        expected_here = "2, or a text (a binary tree)"
        raise _fault(made.line, f"a node with {len(made.children)} children", expected_here)
    left, right = made.children
    found = made.numbers.get("span", ())
    if found != (left.first, right.last):
        problem = f"span {' '.join(map(str, found))}"
        raise _fault(made.line, problem, f"{left.first} {right.last} as the units below it are")
    nuclearity = left.role + right.role
    relations = [child.relation for child in made.children if child.role == "S"]
    if nuclearity == "SS":
        raise _fault(made.line, "two satellites", "at least one nucleus")
    if nuclearity == "NN":
        relations = list({left.relation, right.relation})
    if len(relations) != 1 or relations[0] in ("", _SPAN):
        shown_here = (
            f"nuclei that are {left.relation or 'nothing'} and {right.relation or 'nothing'}"
        )
        raise _fault(made.line, shown_here, "one relation")
    nodes.append(RhetoricalNode(left.first - 1, left.last, right.last, nuclearity, relations[0]))
    return _Subtree(role, made.relation, left.first, right.last)

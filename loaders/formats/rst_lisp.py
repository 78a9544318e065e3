"""Rhetorical trees as s-expressions: the ``.dis`` files of the RST Discourse Treebank and of GUM.

Carlson, Marcu and Okurowski 2001. A file is one tree: ``( Root (span 1 3) child child )``. A child
is ``( Nucleus (span 1 2) (rel2par elaboration) child child )`` or a leaf, ``( Satellite (leaf 3)
(rel2par attribution) (text _!he said ._!) )``. What stands between ``_!`` and ``_!)`` is text,
brackets included. Trees are binary here: a node with more nuclei is a chain of nodes.

The span of a node says again what its leaves say: where the two differ (a document of GENTLE has
such a node), the leaves are believed, and the node is counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from coherencegym.loaders.corpus import CorpusFile
from coherencegym.loaders.discourse import RhetoricalNode
from coherencegym.loaders.formats.lines import LineError, check_text, numbered_lines, shown, tidy

_TEXT_END = "_!)"
#: A list ``text`` as a whole, or up to the end of the source; a list of words; a bracket; a word.
_TOKEN = re.compile(
    rf"\(\s*text\s+_!(?P<text>.*?)(?P<end>{re.escape(_TEXT_END)}|\Z)"
    r"|\((?P<words>[^()]*)\)|[()]|[^\s()]+",
    re.DOTALL,
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
        wrong_spans: the number of nodes whose span in the file is not that of their leaves.
    """

    units: tuple[str, ...]
    nodes: tuple[RhetoricalNode, ...]
    wrong_spans: int = 0


@dataclass
class _List:
    offset: int
    words: list[str] = field(default_factory=list)
    text: str | None = None
    numbers: dict[str, tuple[int, ...]] = field(default_factory=dict)
    relation: str = ""
    children: list[_Subtree] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Subtree:
    # Units count from 1.
    role: str
    relation: str
    first: int
    last: int


def read_tree(path: Path, split: str) -> LispTree:
    """Read a file."""
    lines = []
    for number, line in numbered_lines(CorpusFile(path, split)):
        check_text(line, number)
        lines.append(line)
    return parse_tree("\n".join(lines))


def parse_tree(source: str) -> LispTree:
    """The tree that an s-expression is; nothing recurses, so that trees may be deep."""
    return _Parser(source).read()


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        self.units: list[str] = []
        self.nodes: list[RhetoricalNode] = []
        self.wrong_spans = 0

    def read(self) -> LispTree:
        above, root = list[_List](), False
        for match in _TOKEN.finditer(self.source):
            token, offset = match[0], match.start()
            if root:
                raise self.fault(offset, f"{shown(token)} after the tree", "the end of the file")
            if token == "(":
                above.append(_List(offset))
            elif match["words"] is not None:
                self._close(_List(offset, match["words"].split()), above[-1] if above else None)
                root = not above
            elif not above:
                raise self.fault(offset, shown(token), "'( Root ...'")
            elif match["text"] is not None:
                if not match["end"]:
                    raise self.fault(offset, "a text that does not end", f"'{_TEXT_END}' behind it")
                above[-1].text = tidy(match["text"])
            elif token == ")":
                closed = above.pop()
                self._close(closed, above[-1] if above else None)
                root = not above
            else:
                above[-1].words.append(token)
        if not root:
            end = "a bracket for each that is open"
            raise self.fault(len(self.source.rstrip()), "the file ends inside of the tree", end)
        self.nodes.sort(key=lambda node: (node.first, -node.last))
        return LispTree(tuple(self.units), tuple(self.nodes), self.wrong_spans)

    def fault(self, offset: int, found: str, expected: str) -> LineError:
        line = self.source.count("\n", 0, offset) + 1
        return LineError(line, f"{found}, expected {expected}", "malformed tree")

    def _close(self, closed: _List, parent: _List | None) -> None:
        kind, *rest = closed.words or [""]
        if parent is None:
            if kind != "Root":
                raise self.fault(closed.offset, shown(kind), "'Root'")
            self._subtree(closed, "")
        elif kind in _ROLES:
            parent.children.append(self._subtree(closed, _ROLES[kind]))
        elif kind in _NUMBERS:
            if len(rest) != _NUMBERS[kind] or not all(map(_NUMBER.fullmatch, rest)):
                expected = f"{_NUMBERS[kind]} of 1 or more"
                raise self.fault(closed.offset, f"{kind} with {shown(' '.join(rest))}", expected)
            parent.numbers[kind] = tuple(map(int, rest))
        elif kind == "rel2par" and len(rest) == 1:
            parent.relation = rest[0]
        else:
            expected = "Nucleus, Satellite, span, leaf, rel2par with a relation, or a text in _! _!"
            raise self.fault(closed.offset, f"({shown(' '.join(closed.words))})", expected)

    def _subtree(self, made: _List, role: str) -> _Subtree:
        if made.text is not None:
            return self._leaf(made, made.text, role)
        if len(made.children) != 2:
            expected = "2, or a text (a binary tree)"
            raise self.fault(made.offset, f"a node with {len(made.children)} children", expected)
        left, right = made.children
        self.wrong_spans += made.numbers.get("span") != (left.first, right.last)
        nuclearity = left.role + right.role
        relations = [child.relation for child in made.children if child.role == "S"]
        if nuclearity == "SS":
            raise self.fault(made.offset, "two satellites", "at least one nucleus")
        if nuclearity == "NN":
            relations = list({left.relation, right.relation})
        if len(relations) != 1 or relations[0] in ("", _SPAN):
            names = f"{left.relation or 'nothing'} and {right.relation or 'nothing'}"
            raise self.fault(made.offset, f"nuclei that are {names}", "one relation")
        first, middle, last = left.first - 1, left.last, right.last
        self.nodes.append(RhetoricalNode(first, middle, last, nuclearity, relations[0]))
        return _Subtree(role, made.relation, left.first, right.last)

    def _leaf(self, made: _List, text: str, role: str) -> _Subtree:
        number = len(self.units) + 1
        if made.numbers.get("leaf") != (number,) or made.children:
            raise self.fault(made.offset, "a text", f"it in a leaf with the number {number}")
        if not text:
            raise self.fault(made.offset, f"leaf {number} without a word", "a text")
        self.units.append(text)
        return _Subtree(role, made.relation, number, number)

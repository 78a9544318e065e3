"""Discourse relations as files have them: standoff, and trees.

Standoff relations: the pipe format of the Penn Discourse Treebank, and the raw text under it.

A relation stands on a line, columns parted by ``|``. Two layouts are read, told apart by the number
of columns: that of the third release and of the corpora that follow it (34 columns or a few more;
Webber et al. 2019, Prasad et al. 2019), and that of the second (48 columns; Prasad et al. 2008).
Spans are character offsets into the raw text, ``832..839``; ``;`` joins the parts of a
discontinuous one.

Annotation counts characters of a file; a discourse counts them within the text of a unit, in which
runs of white space are one space. A :class:`Placed` text knows where each character went.

Rhetorical trees as s-expressions: the ``.dis`` files of the RST Discourse Treebank and of GUM.

Carlson, Marcu and Okurowski 2001. A file is one tree: ``( Root (span 1 3) child child )``. A child
is ``( Nucleus (span 1 2) (rel2par elaboration) child child )`` or a leaf, ``( Satellite (leaf 3)
(rel2par attribution) (text _!he said ._!) )``. What stands between ``_!`` and ``_!)`` is text,
brackets included. Trees are binary here: a node with more nuclei is a chain of nodes.

The span of a node says again what its leaves say: where the two differ (a document of GENTLE has
such a node), the leaves are believed, and the node is counted.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from coherencegym.loaders.corpus import CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.discourse import Relation, RhetoricalNode, Span
from coherencegym.loaders.formats.lines import (
    LineError,
    check_text,
    numbered_lines,
    reporting,
    shown,
    tidy,
)
from coherencegym.loaders.senses import UnknownSenseError, meaning_of

#: Parts (start, end) of a span in the raw text, in order.
Offsets = tuple[tuple[int, int], ...]

#: Characters that a raw text may have.
LONGEST_TEXT = 5_000_000
_TYPES = ("AltLex", "AltLexC", "EntRel", "Explicit", "Hypophora", "Implicit", "NoRel")
_PART = re.compile(r"(\d{1,9})\.\.(\d{1,9})")
_RUN = re.compile(r"[^\s\x01-\x1f\x7f-\x9f]+")


@dataclass(frozen=True, slots=True)
class _Layout:
    # Columns of a line count from 0.
    scheme: str
    connective: int
    words: tuple[int, ...]
    senses: tuple[int, ...]
    arg1: int
    arg2: int


_PDTB3 = _Layout("pdtb3", 1, (7,), (8, 9, 11, 12), 14, 20)
_PDTB2 = _Layout("pdtb2", 3, (5,), (11, 12, 13, 14), 22, 32)
_COLUMNS_OF_PDTB2 = 48
_FEWEST_COLUMNS = 21


def united(parts: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in their order, with those made one that overlap or touch."""
    whole: list[tuple[int, int]] = []
    for first, last in sorted(parts):
        if whole and first <= whole[-1][1]:
            first, last = whole[-1][0], max(whole.pop()[1], last)
        whole.append((first, last))
    return whole


def span_of(runs: Iterable[Iterable[int]], places: Mapping[int, tuple[int, int, int]]) -> Span:
    """Runs of words as parts of units; a run over several units becomes one part for each.

    Args:
        runs: the numbers of the words of each run.
        places: the unit, first character and one after the last of each word that has a place.
    """
    parts: list[tuple[int, int, int]] = []
    for run in runs:
        for number, (unit, start, end) in enumerate(places[one] for one in run if one in places):
            if number and parts[-1][0] == unit:
                parts[-1] = (unit, parts[-1][1], end)
            else:
                parts.append((unit, start, end))
    return tuple(parts)


def _columns(number: int, line: str) -> list[str]:
    check_text(line, number)
    columns = [column.strip() for column in line.split("|")]
    if len(columns) < _FEWEST_COLUMNS:
        message = (
            f"{len(columns)} columns parted by '|', expected at least {_FEWEST_COLUMNS} as in the "
            "pipe format of the Penn Discourse Treebank"
        )
        raise LineError(number, message, "too few columns")
    if columns[0] not in _TYPES:
        expected = ", ".join(_TYPES)
        message = f"{shown(columns[0])} is no type of relation, expected one of {expected}"
        raise LineError(number, message, "unknown type of relation")
    return columns


def _offsets(number: int, text: str, name: str) -> Offsets:
    parts = set()
    for part in filter(None, text.split(";")):
        match = _PART.fullmatch(part.strip())
        if match is None or int(match[1]) >= int(match[2]):
            expected = "expected <start>..<end> with numbers of characters"
            raise LineError(number, f"{name} has the span {shown(part)}, {expected}", "bad span")
        parts.add((int(match[1]), int(match[2])))
    return tuple(sorted(parts))


def read_raw(path: Path) -> str:
    """A raw text, line ends and byte order mark included: annotations count them."""
    with path.open("rb") as file:
        data = file.read(4 * LONGEST_TEXT + 1)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise CorpusError(f"{path}:{line}: byte {error.start} is no UTF-8, expected text") from None
    if len(text) > LONGEST_TEXT:
        raise CorpusError(f"{path}:1: over {LONGEST_TEXT:,} characters, expected one document")
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise CorpusError(f"{path}:{line}: a NUL byte, expected text")
    return text


class PlacedRun(NamedTuple):
    """Characters of a raw text that follow one another in a unit, too.

    Attributes:
        start, end: offsets in the raw text.
        unit, first: the unit, and the place of the first character in it.
        last: the place of the last one, and of those before it for which there is no room.
    """

    start: int
    end: int
    unit: int
    first: int
    last: int


@dataclass
class Placed:
    """The places of a raw text's characters in the units made of it.

    Attributes:
        raw: the raw text.
        texts: the texts of the units.
        runs: the parts of the raw text that are in a unit, in their order; the rest is nowhere.
    """

    raw: str
    texts: list[str] = field(default_factory=list)
    runs: list[PlacedRun] = field(default_factory=list)

    def add(self, pieces: Sequence[tuple[int, int]]) -> None:
        """Add a unit: these pieces of the raw text, each run of white space one space.

        Control characters are white space.
        """
        text, space = "", False
        for start, end in pieces:
            for run in _RUN.finditer(self.raw, start, end):
                text += " " if text and (space or run.start() > start) else ""
                last = len(text) + len(run[0]) - 1
                self.runs.append(PlacedRun(*run.span(), len(self.texts), len(text), last))
                text += run[0]
                space = False
            space = space or not tidy(self.raw[start:end][-1:])
        if text:
            self.texts.append(text)

    def span(self, offsets: Offsets) -> Span:
        """Offsets as parts of units; a part over several units becomes one for each."""
        parts: list[tuple[int, int, int]] = []
        for start, end in offsets:
            at = bisect_right(self.runs, start, key=attrgetter("end"))
            behind = bisect_left(self.runs, end, lo=at, key=attrgetter("start"))
            if end > len(self.raw) or at == behind:
                raise LookupError(f"{start}..{end}")
            while at < behind:
                one = self.runs[at]
                at = bisect_right(self.runs, one.unit, lo=at, hi=behind, key=attrgetter("unit"))
                other = self.runs[at - 1]  # the last run of the unit that is in the part
                first = min(one.first + max(start - one.start, 0), one.last)
                last = min(other.first + min(end, other.end) - 1 - other.start, other.last)
                parts.append((one.unit, first, last + 1))
        return tuple(parts)


def placed_relations(
    paths: Sequence[Path], split: str, text: Placed, options: ReadOptions
) -> tuple[tuple[Relation, ...], set[str]]:
    """The relations of files of annotation, each once, and the schemes of their senses.

    Those without a place, or rejected, are counted as skipped.
    """
    relations: dict[Relation, None] = {}
    schemes = set()
    for path in paths:
        file = CorpusFile(path, split)
        for number, line in numbered_lines(file):
            if not line.strip():
                continue
            with reporting(file, options):
                columns = _columns(number, line)
                if "Rejected" in columns[_FEWEST_COLUMNS:]:
                    options.skipped["relations that their annotators rejected"] += 1
                    continue
                layout = _PDTB2 if len(columns) >= _COLUMNS_OF_PDTB2 else _PDTB3
                if relation := _relation(number, columns, layout, text):
                    schemes.add(layout.scheme)
                    relations[relation] = None
                else:
                    # GUM has some, where several relations share a word that one of them got.
                    options.skipped["explicit relations whose connective is not in the text"] += 1
    return tuple(relations), schemes


def _relation(
    number: int, columns: Sequence[str], layout: _Layout, text: Placed
) -> Relation | None:
    # None: an explicit relation whose connective stands nowhere.
    kind = columns[0]
    word = next((columns[place] for place in layout.words if columns[place]), "")
    senses = tuple(columns[place] for place in layout.senses if columns[place])
    named = {"connective": layout.connective, "Arg1": layout.arg1, "Arg2": layout.arg2}
    offsets = [_offsets(number, columns[place], name) for name, place in named.items()]
    if kind != "Explicit":
        # Of other types that column says where an implicit connective would stand, or an AltLex.
        offsets[0] = ()
    elif not offsets[0]:
        return None
    try:
        connective, arg1, arg2 = map(text.span, offsets)
    except LookupError as error:
        length = f"which has {len(text.raw):,} characters"
        problem = f"the span {error.args[0]} lies outside the text, {length}"
        raise LineError(number, problem, "span outside the text") from None
    if kind == "Explicit":
        found = " ".join(text.texts[unit][start:end] for unit, start, end in connective)
        _check_explicit(number, layout.scheme, word, senses, found)
    return Relation(kind, connective or None, arg1, arg2, senses)


def _check_explicit(number: int, scheme: str, word: str, senses: Sequence[str], found: str) -> None:
    if word and _letters(found) != _letters(word):
        problem = f"the connective is {shown(word)}, but {shown(found)} stands at its span"
        raise LineError(number, problem, "connective elsewhere")
    for sense in senses:
        try:
            meaning_of(scheme, sense)
        except UnknownSenseError as error:
            raise LineError(number, str(error), "unknown sense") from None
    if not senses:
        raise LineError(number, "an explicit relation without a sense", "no sense")


def _letters(text: str) -> str:
    # Annotations differ in dots and in how they join parts.
    return "".join(filter(str.isalnum, text.lower()))


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

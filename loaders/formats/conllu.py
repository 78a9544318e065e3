"""CoNLL-U: sentences of words with their grammar, and where each word stands in the natural text.

The reader is strict: ten columns, ids that count up, text that agrees with ``# text``. It knows
nothing of any corpus: comments and the MISC column are handed on as they are. What is wrong with a
line is a :class:`LineError`, so that a loader can say which document it spoils and go on with the
next one.

Source: https://universaldependencies.org/format.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate, groupby, pairwise
from typing import NamedTuple

from coherencegym.loaders.corpus import CorpusFile
from coherencegym.loaders.formats.lines import (
    Line,
    LineError,
    numbered_lines,
    shown,
    text_problem,
    tidy,
)

#: ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC.
_COLUMNS = 10
#: ``3`` a word, ``3-4`` a multiword token, ``3.1`` an empty node.
_ID = re.compile(r"(\d{1,6})(?:([-.])(\d{1,6}))?")


@dataclass(frozen=True, slots=True)
class Token:
    """A word or an empty node.

    Attributes:
        id: the id in the file: ``3`` or ``3.1``.
        form, lemma, upos, xpos, deprel: the columns of the file; ``_`` where it says nothing.
        head: id of the word that it depends on, 0 for the root; none where the file has ``_``.
        misc: the last column; a part without ``=`` has an empty value.
        start, end: characters in the sentence's text; equal for what has no place in it.
    """

    id: str
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: Mapping[str, str]
    head: int | None
    deprel: str
    misc: Mapping[str, str]
    start: int
    end: int
    line: int

    @property
    def number(self) -> int:
        """The id of a word as a number."""
        return int(self.id)

    @property
    def empty(self) -> bool:
        """True where it has no place in the text: an empty node, or a word that was cut out."""
        return self.start == self.end


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence.

    Attributes:
        text: its text, as ``# text`` has it: one line, single spaces.
        words: the words; ``words[i]`` has the id ``i + 1``.
        tokens: words and empty nodes in the order of the file.
        comments: ``key = value`` as key and value; a comment without ``=`` has an empty value.
        line, last_line: numbers of its first and last line, comments included.
    """

    text: str
    words: tuple[Token, ...]
    tokens: tuple[Token, ...]
    comments: Mapping[str, str]
    line: int
    last_line: int


@dataclass(frozen=True)
class Block:
    """The lines of one sentence, as they are, without the empty line at their end."""

    lines: tuple[Line, ...]

    @cached_property
    def comments(self) -> Mapping[str, str]:
        """Its comments, the first of each key."""
        comments: dict[str, str] = {}
        for _, line in self.lines:
            if line.startswith("#"):
                key, _, value = line[1:].partition("=")
                comments.setdefault(key.strip(), value.strip())
        return comments

    @cached_property
    def rows(self) -> tuple[Line, ...]:
        """The lines that are no comments."""
        return tuple(line for line in self.lines if not line[1].startswith("#"))

    @property
    def begins_document(self) -> bool:
        """True where it has a ``# newdoc`` comment."""
        return any(comment.split()[:1] == ["newdoc"] for comment in self.comments)


def blocks(file: CorpusFile) -> Iterator[Block]:
    """Split a file at its empty lines; nothing is checked but that it is text (``CorpusError``)."""
    for blank, lines in groupby(numbered_lines(file), lambda line: not line[1].strip()):
        if not blank:
            yield Block(tuple(lines))


def conllu_documents(file: CorpusFile) -> Iterator[tuple[Block, ...]]:
    """The blocks of a file by document: each begins with one that has ``# newdoc``."""
    document: list[Block] = []
    for block in blocks(file):
        if document and block.begins_document:
            yield tuple(document)
            document = []
        document.append(block)
    if document:
        yield tuple(document)


def parse(block: Block) -> Sentence:
    """Read a sentence; ``LineError`` where a line is bad or the words do not give ``# text``."""
    if text_problem("\n".join(line for _, line in block.lines)) is not None:
        for number, line in block.lines:
            if (unusable := text_problem(line)) is not None:
                raise LineError(number, *unusable)
    rows = [_Row.read(number, line) for number, line in block.rows]
    first, last = block.lines[0][0], block.lines[-1][0]
    _check_ids(rows, last)
    comments = block.comments
    text, places = _lay_out(rows)
    if not text:
        raise LineError(first, "a sentence without words, expected some", "sentence without words")
    _check_text(text, tidy(comments.get("text", text)), first)
    words = sum(row.kind == "" for row in rows)
    found = [row.token(place, words) for row, place in zip(rows, places, strict=True)]
    tokens = tuple(token for token in found if "-" not in token.id)
    return Sentence(text, tuple(t for t in tokens if not t.empty), tokens, comments, first, last)


def cut_out(sentence: Sentence, stretches: Sequence[tuple[int, int]]) -> Sentence:
    """The sentence without stretches of characters; the words in them have no place any more."""

    def moved(place: int) -> int:
        return place - sum(min(place, end) - start for start, end in stretches if start < place)

    text, done = "", 0
    for start, end in stretches:
        text, done = text + sentence.text[done:start], end
    tokens = tuple(
        replace(token, start=moved(token.start), end=moved(token.end)) for token in sentence.tokens
    )
    words = tuple(token for token in tokens if "." not in token.id)
    return replace(sentence, text=text + sentence.text[done:], words=words, tokens=tokens)


class _Row(NamedTuple):
    # ``kind`` is the separator in an id, ``last`` the last word of a multiword token.
    line: int
    columns: Sequence[str]
    kind: str
    number: int
    last: int
    form: str

    @classmethod
    def read(cls, number: int, line: str) -> _Row:
        columns = line.split("\t")
        if len(columns) != _COLUMNS:
            problem = f"{len(columns)} columns, expected {_COLUMNS} with tabs between them"
            raise LineError(number, problem, "wrong number of columns")
        match = _ID.fullmatch(columns[0])
        if match is None:
            problem = f"id {shown(columns[0])}, expected a number such as 3, 3-4 or 3.1"
            raise LineError(number, problem, "bad id")
        form = tidy(columns[1])
        if not form:
            raise LineError(number, "an empty form, expected a word", "empty form")
        return cls(number, columns, match[2] or "", int(match[1]), int(match[3] or 0), form)

    def token(self, place: tuple[int, int], words: int) -> Token:
        identifier, _, lemma, upos, xpos, feats, head, deprel, _, misc = self.columns
        if head != "_" and not (head.isascii() and head.isdigit() and len(head) < 7):
            problem = f"head {shown(head)}, expected the id of a word, 0 or _"
            raise LineError(self.line, problem, "bad head")
        if head != "_" and int(head) > words:
            problem = f"head {int(head)} of {shown(self.form)}, expected at most {words}"
            raise LineError(self.line, problem, "head outside the sentence")
        return Token(
            id=identifier,
            form=self.form,
            lemma=lemma,
            upos=upos,
            xpos=xpos,
            feats=_features(feats),
            head=None if head == "_" else int(head),
            deprel=deprel,
            misc=_pairs(misc),
            start=place[0],
            end=place[1],
            line=self.line,
        )


def _pairs(column: str) -> dict[str, str]:
    if column == "_":
        return {}
    pairs = {}
    for part in column.split("|"):
        key, _, pairs[key] = part.partition("=")
    return pairs


#: Words have few different features, and many the same.
_features = lru_cache(maxsize=4096)(_pairs)


def _check_ids(rows: Sequence[_Row], last_line: int) -> None:
    # Words count from 1; a multiword token stands before its words, an empty node after one.
    word = empty = reach = 0
    for row in rows:
        if row.kind == "":
            fits, expected = row.number == word + 1, str(word + 1)
            word, empty = word + 1, 0
        elif row.kind == "-":
            fits = row.number == word + 1 and row.number > reach and row.last > row.number
            expected = f"a range of words from {max(word, reach) + 1} on"
            reach = row.last
        else:
            fits, expected = (row.number, row.last) == (word, empty + 1), f"{word}.{empty + 1}"
            empty += 1
        if not fits:
            problem = f"id {shown(row.columns[0])}, expected {expected}"
            raise LineError(row.line, problem, "ids out of order")
    if reach > word:
        problem = f"the sentence ends after word {word}, expected words up to {reach}"
        raise LineError(last_line, problem, "sentence cut off")


def _check_text(text: str, natural: str, line: int) -> None:
    if text == natural:
        return
    both = enumerate(zip(text, natural, strict=False))
    at = next((i for i, (a, b) in both if a != b), min(len(text), len(natural)))
    problem = (
        f"the words give {shown(text[max(0, at - 10) :])} where # text "
        f"has {shown(natural[max(0, at - 10) :])}, expected the same"
    )
    raise LineError(line, problem, "words do not give # text")


def _lay_out(rows: Sequence[_Row]) -> tuple[str, list[tuple[int, int]]]:
    forms = {row.number: row.form for row in rows if not row.kind}
    inside: dict[int, tuple[int, int]] = {}
    text, space = "", ""
    places: list[tuple[int, int]] = []
    for row in rows:
        if row.kind == ".":
            place = (len(text), len(text))
        elif row.kind == "" and row.number in inside:
            place = inside[row.number]
        else:
            text += space
            place = (len(text), len(text) + len(row.form))
            text += row.form
            space = "" if "SpaceAfter=No" in row.columns[9].split("|") else " "
            if row.kind == "-":
                inside |= _inside(row, forms, place)
        places.append(place)
    return text, places


def _inside(
    token: _Row, forms: Mapping[int, str], place: tuple[int, int]
) -> dict[int, tuple[int, int]]:
    # Parts of the token where the forms make it up (``do``, ``n't``), and all of it where they do
    # not (French ``du`` for ``de``, ``le``).
    numbers = range(token.number, token.last + 1)
    if "".join(forms[number] for number in numbers) != token.form:
        return dict.fromkeys(numbers, place)
    starts = accumulate((len(forms[number]) for number in numbers), initial=place[0])
    return dict(zip(numbers, pairwise(starts), strict=True))

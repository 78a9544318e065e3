"""CoNLL-U: sentences of words with their grammar, and where each word stands in the natural text.

The reader is strict: ten columns, ids that count up, text that agrees with ``# text``. It knows
nothing of any corpus: comments and the MISC column are handed on as they are. What is wrong with a
line is a :class:`LineError`, so that a loader can say which document it spoils and go on with the
next one. Three faults of public releases are repaired and counted: missing columns at the end of a
row, words without a form, and multiword tokens that overlap or do not stand before their words.

Source: https://universaldependencies.org/format.html
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate, groupby, pairwise
from typing import NamedTuple

from coherencegym.loaders.corpus import CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.discourse import ParsedWord
from coherencegym.loaders.formats.lines import (
    Line,
    LineError,
    check_text,
    numbered_lines,
    shown,
    text_problem,
    tidy,
)
from coherencegym.loaders.languages.language import Language, Layout

#: ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC.
_COLUMNS = 10
#: ``3`` a word, ``3-4`` a multiword token, ``3.1`` an empty node.
_ID = re.compile(r"(\d{1,6})(?:([-.])(\d{1,6}))?")
#: A row that ends after DEPREL, or after DEPS: as many columns, with a head in its place.
_SHORT = re.compile(r"(?:[^\t]*\t){6}(?:\d+|_)\t[^\t=]*(?:\t(?:_|\d+(?:\.\d+)?:[^\t]*))?")
#: A form that is nothing but underscores, and the parts of speech of a line to be filled in.
_MASK, _MARKS = re.compile("_+"), ("PUNCT", "SYM", "X")

#: The first word of the comment that begins a document; DISRPT's has an underscore.
_DOCUMENT = (["newdoc"], ["newdoc_id"])


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
        """True where it has no place in the text: an empty node, a word cut out or without form."""
        return self.start == self.end


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence.

    Attributes:
        text: its text, as ``# text`` has it: one line, single spaces; empty where no word has a
            form.
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
    def is_withheld(self) -> bool:
        """True where most of its words are underscores: their owner does not give the text away."""
        rows = [line.split("\t", 4) for _, line in self.rows]
        words = [row for row in rows if len(row) == 5 and not (row[3] in _MARKS or "." in row[0])]
        masked = sum(_MASK.fullmatch(word[1]) is not None for word in words)
        return 2 * masked > len(words)

    @property
    def begins_document(self) -> bool:
        """True where it has a ``# newdoc`` comment."""
        return any(comment.split()[:1] in _DOCUMENT for comment in self.comments)


def blocks(file: CorpusFile) -> Iterator[Block]:
    """Split a file at its empty lines; nothing is checked but that it is text (``CorpusError``)."""
    for blank, lines in groupby(numbered_lines(file), lambda line: not line[1].strip()):
        if not blank:
            yield Block(tuple(lines))


def conllu_documents(
    file: CorpusFile, options: ReadOptions
) -> Iterator[tuple[str, tuple[Block, ...]]]:
    """The name and the blocks of each document of a file: it begins with a block of ``# newdoc``.

    Documents without a name are called after their files: ``a``, ``a-2``, ``a-3``.
    """
    unnamed = options.memory.setdefault("unnamed documents", Counter())
    number = 0

    def document(block: Block) -> int:
        nonlocal number
        number += block.begins_document
        return number

    for _, of_document in groupby(blocks(file), document):
        whole = tuple(of_document)
        comments = whole[0].comments
        names = (tidy(comments.get(key, "")) for key in ("newdoc id", "newdoc_id"))
        if not (name := next(filter(None, names), "")):
            name = tidy(file.path.stem) or file.path.stem
            unnamed[name] += 1
            name += f"-{unnamed[name]}" if unnamed[name] > 1 else ""
        yield name, whole


def readable_documents(
    file: CorpusFile, options: ReadOptions
) -> Iterator[tuple[str, tuple[Block, ...]]]:
    """The same without documents of withheld text, which are counted."""
    found = False
    for name, document in conllu_documents(file, options):
        found = True
        if any(block.is_withheld for block in document):
            options.skipped["withheld text"] += 1
        else:
            yield name, document
    if not found:
        raise CorpusError(f"{file.path}:1: no sentence, expected CoNLL-U")


def parsed_sentences(
    document: Sequence[Block],
    language: Language,
    options: ReadOptions,
    notes: Container[str] | None = None,
) -> Iterator[Sentence]:
    """The sentences of a document without marks of footnotes (:func:`without_notes`).

    Where the document says of no word that there is no space behind it, the language does.

    Args:
        document, language, options: its blocks, its language; counts what is repaired.
        notes: the relations to its head that the number of a mark has; none: any.
    """
    tells_spaces = any("SpaceAfter=No" in line for block in document for _, line in block.rows)
    for block in document:
        sentence = parse(block, None if tells_spaces else language.lay_out, options)
        loose = {word.deprel for word in sentence.words} if notes is None else notes
        yield without_notes(sentence, loose)


def parse(
    block: Block, lay_out: Layout | None = None, options: ReadOptions | None = None
) -> Sentence:
    """Read a sentence; ``LineError`` where a line is bad or the words do not give ``# text``.

    Args:
        block: its lines.
        lay_out: puts spaces between the words of a file that does not tell where there are any;
            those of ``# text`` are not looked at. Such files may have trees of more than one block:
            heads outside a block are none.
        options: count what is repaired.
    """
    if text_problem("\n".join(line for _, line in block.lines)) is not None:
        for number, line in block.lines:
            check_text(line, number)
    options = options or ReadOptions()
    first, last = block.lines[0][0], block.lines[-1][0]
    rows = _in_order([_Row.read(*line, options) for line in block.rows], last, options)
    comments = block.comments
    text, places = _lay_out(rows, lay_out)
    words = sum(row.kind == "" for row in rows)
    if not words:
        raise LineError(first, "a sentence without words, expected some", "sentence without words")
    if lay_out is None:
        _check_text(text, tidy(comments.get("text", text)), first)
    found = [
        row.token(place, words, lay_out is None) for row, place in zip(rows, places, strict=True)
    ]
    tokens = tuple(token for token in found if "-" not in token.id)
    own = tuple(token for token in tokens if "." not in token.id)
    return Sentence(text, own, tokens, comments, first, last)


#: Marks of footnotes in a row, with the space before them and brackets that hold nothing else.
_NOTES = re.compile(r" ?(\()?\[(?P<number>\d+)\](?:(?:,? ?|[–-])\[\d+\])*(?(1)\))")


def without_notes(sentence: Sentence, relations: Container[str]) -> Sentence:
    """The sentence without marks of footnotes, unless it is nothing but one.

    Args:
        sentence: a sentence.
        relations: those to its head that the number of a mark has, and one that the sentence needs
            (``measured by [24]``) has not.
    """
    loose = {word.start for word in sentence.words if word.deprel in relations}
    stretches = [
        match.span()
        for match in _NOTES.finditer(sentence.text)
        if match.start() > 0 and match.start("number") in loose
    ]
    return cut_out(sentence, stretches) if stretches else sentence


def parsed_words(sentence: Sentence) -> Iterator[ParsedWord]:
    """The words that have a place in the text, with their grammar."""
    # No other word depends on those that are left out.
    placed = [word for word in sentence.words if not word.empty]
    numbers = {word.number: number for number, word in enumerate(placed)}
    for word in placed:
        yield ParsedWord(
            start=word.start,
            end=word.end,
            lemma=word.lemma,
            pos=sys.intern(word.upos),
            features=sys.intern("|".join(f"{key}={value}" for key, value in word.feats.items())),
            relation=sys.intern(word.deprel),
            head=None if word.head is None else numbers.get(word.head),
        )


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
    def read(cls, number: int, line: str, options: ReadOptions) -> _Row:
        line = line.rstrip("\t")
        columns = line.split("\t")
        if len(columns) < _COLUMNS and _SHORT.fullmatch(line):
            columns += ["_"] * (_COLUMNS - len(columns))
            options.put_right("rows without their last columns")
        if len(columns) != _COLUMNS:
            problem = f"{len(columns)} columns, expected {_COLUMNS} with tabs between them"
            raise LineError(number, problem, "wrong number of columns")
        match = _ID.fullmatch(columns[0])
        if match is None or (match[2] == "-" and not 0 < int(match[1]) <= int(match[3])):
            problem = f"id {shown(columns[0])}, expected a number such as 3, 3-4 or 3.1"
            raise LineError(number, problem, "bad id")
        form = tidy(columns[1])
        if not form and match[2] != ".":
            options.put_right("words without a form")
        return cls(number, columns, match[2] or "", int(match[1]), int(match[3] or 0), form)

    def token(self, place: tuple[int, int], words: int, is_tree: bool) -> Token:
        identifier, _, lemma, upos, xpos, feats, head, deprel, _, misc = self.columns
        if head != "_" and not (head.isascii() and head.isdigit() and len(head) < 7):
            problem = f"head {shown(head)}, expected the id of a word, 0 or _"
            raise LineError(self.line, problem, "bad head")
        if head != "_" and int(head) > words and is_tree:
            problem = f"head {int(head)} of {shown(self.form)}, expected at most {words}"
            raise LineError(self.line, problem, "head outside the sentence")
        return Token(
            id=identifier,
            form=self.form,
            lemma=lemma,
            upos=upos,
            xpos=xpos,
            feats=_features(feats),
            head=None if head == "_" or int(head) > words else int(head),
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


def _in_order(rows: Sequence[_Row], last_line: int, options: ReadOptions) -> list[_Row]:
    # Words count from 1; a multiword token stands before its words, an empty node after one.
    tokens: dict[int, _Row] = {}
    forms = [row.form for row in rows if not row.kind]
    for row in sorted((row for row in rows if row.kind == "-"), key=lambda row: row.number):
        if row.last > len(forms):
            problem = f"the sentence ends after word {len(forms)}, expected words up to {row.last}"
            raise LineError(last_line, problem, "sentence cut off")
        before = next(reversed(tokens.values()), None)
        if before is not None and row.number <= before.last:
            tokens[before.number] = _united(before, row, forms)
            options.put_right("multiword tokens that overlap")
        elif row.form:
            tokens[row.number] = row
    ordered: list[_Row] = []
    word = empty = 0
    for row in rows:
        if row.kind == "-":
            if row.number != word + 1:
                options.put_right("multiword tokens that do not stand before their words")
            continue
        if row.kind == "":
            fits, expected = row.number == word + 1, str(word + 1)
            word, empty = word + 1, 0
            ordered += [tokens[word]] if word in tokens else []
        else:
            fits, expected = (row.number, row.last) == (word, empty + 1), f"{word}.{empty + 1}"
            empty += 1
        if not fits:
            problem = f"id {shown(row.columns[0])}, expected {expected}"
            raise LineError(row.line, problem, "ids out of order")
        ordered.append(row)
    return ordered


def _united(one: _Row, other: _Row, forms: Sequence[str]) -> _Row:
    # Of ``I'd`` and ``'d've`` ``I'd've``.
    if other.last <= one.last:
        return one
    shared, behind = forms[other.number - 1 : one.last], forms[one.last : other.last]
    rest = other.form.removeprefix("".join(shared))
    form = one.form + (rest if rest != other.form else "".join(behind))
    return one._replace(columns=other.columns, last=other.last, form=form)


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


def _lay_out(rows: Sequence[_Row], lay_out: Layout | None) -> tuple[str, list[tuple[int, int]]]:
    forms = {row.number: row.form for row in rows if not row.kind}
    written = [row for row in _written(rows) if row.form or lay_out is None]
    how = _spaced(written) if lay_out is None else lay_out([row.form for row in written])
    place_of = dict(zip((row.line for row in written), how[1], strict=True))
    places: list[tuple[int, int]] = []
    inside: dict[int, tuple[int, int]] = {}
    for row in rows:
        if row.line in place_of:
            places.append(place_of[row.line])
            if row.kind == "-":
                inside |= _inside(row, forms, places[-1])
        else:
            last = places[-1][1] if places else 0
            places.append((last, last) if row.kind == "." else inside.get(row.number, (last, last)))
    return how[0], places


def _spaced(rows: Sequence[_Row]) -> tuple[str, list[tuple[int, int]]]:
    # The text of a file that says where there is no space.
    text, space = "", ""
    places: list[tuple[int, int]] = []
    for row in rows:
        text += space if row.form else ""
        places.append((len(text), len(text) + len(row.form)))
        text += row.form
        spaced = "SpaceAfter=No" not in row.columns[9].split("|")
        space = " " if text and (spaced or (space and not row.form)) else ""
    return text, places


def _written(rows: Sequence[_Row]) -> Iterator[_Row]:
    # Multiword tokens stand in the text for the words in them.
    reach = 0
    for row in rows:
        if row.kind == "-":
            reach = row.last
            yield row
        elif not row.kind and row.number > reach:
            yield row


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

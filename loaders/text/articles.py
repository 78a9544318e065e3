"""Short documents made of articles: excerpt, sentences, filters, near-duplicates.

The documents of Shen et al. 2021 (*Evaluating Document Coherence Modeling*, TACL 9, section 3) have
3 to 8 sentences; they are the opening sections of Wikipedia articles and the beginnings of CNN
stories. What does not make such a document is left out and counted by reason.

Blocks are what empty lines part. A heading is a block whose lines are short and do not end as
sentences do, or have the marks of one (``== History ==``, ``# History``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from typing import Any

from coherencegym.loaders.corpus import CorpusError, ReadOptions
from coherencegym.loaders.discourse import Discourse, SourceSpan, Unit
from coherencegym.loaders.formats.lines import (
    LONGEST_FIELD,
    RecordError,
    check_text,
    shown,
    shown_names,
    tidy,
)
from coherencegym.loaders.text.prose import sentences_drop, text_drop
from coherencegym.loaders.text.sentences import split_sentences

#: Columns that hold an article, the first that is there: sentences, or plain text.
COLUMNS = ("sentences", "text", "article")
#: Columns beside it: the id, the title and the domain.
COLUMNS_BESIDE = ("id", "title", "domain")
#: Characters that a sentence of a document may have on average.
_LONGEST_SENTENCE = 1000
#: The reason under which a row without a word, or without a value, is left out.
EMPTY_TEXT = "no text"

#: Marks that lines of lists and tables begin with.
_BULLETS = "*•‣◦▪·-–—|"
#: Words that a line of a heading may have.
_LONGEST_HEADING = 12

_WIKI_HEADING = re.compile(r"(={1,6})([^=\n]+)\1")
_HASH_HEADING = re.compile(r"#{1,6}\s+")
_ENDS = re.compile(r"[.!?…。！？।:;,][\"'”’»)\]]*$")
#: The origin of a story, before its first word: ``ATLANTA, Georgia (CNN) -- ``, ``(CNN)``,
#: ``PARIS (Reuters) - ``, ``LONDON -- ``.
_AGENCY = r"\((?:CNN|Reuters|AP|AFP|Bloomberg|UPI|Xinhua)\b[^()\n]{0,40}\)"
_CITY = r"[A-Z][\w.,’'/ -]{0,60}?"
_CAPITALS = r"[A-Z]{3}[A-Z. ]{0,60}(?:,\s[A-Z][\w. ]{1,25})?"
_DATELINE = re.compile(
    rf"\s*(?:(?:{_CITY}\s*)?{_AGENCY}\s*(?:--|[—–:-])?\s*"
    rf"|(?:{_CAPITALS}\s*)?\([A-Z][^()\n]{{1,40}}\)\s*(?:--|[—–])\s*"
    rf"|{_CAPITALS}\s*(?:--|[—–])\s+)"
)
#: The marks before the summaries of stories in the Cornell and CNN collections.
_HIGHLIGHTS = re.compile(r"^[^\S\n]*@highlight\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a document that is made of a text.

    Attributes:
        fewest, most: sentences that it has.
        language: ISO 639-1, for splitting into sentences.
        pipeline: spaCy pipeline to split with; none: rules.
    """

    fewest: int = 3
    most: int = 8
    language: str = "en"
    pipeline: str | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.fewest <= self.most:
            raise CorpusError(
                f"documents of {self.fewest} to {self.most} sentences, "
                "expected two numbers in order, the first at least 1"
            )

    def split(self, text: str, options: ReadOptions) -> Iterator[str]:
        """The sentences of a text."""
        return split_sentences(text, self.language, self.pipeline, options)


#: The shape of documents where nobody says another.
USUAL_SHAPE = Shape()


@dataclass(frozen=True, slots=True)
class Origin:
    """The corpus of a text, its id in it, its place and its split."""

    corpus: str
    identifier: str
    source: SourceSpan
    split: str

    def discourse(self, texts: Iterable[str], **meta: str) -> Discourse:
        """The discourse of these units, and what is known of it."""
        return Discourse(
            self.identifier,
            self.corpus,
            tuple(Unit(text, source=self.source) for text in texts),
            meta={"split": self.split} | {name: value for name, value in meta.items() if value},
        )


class DroppedError(Exception):
    """An article makes no document; the message is the reason under which it is counted."""


def first_column(row: Mapping[str, Any], names: Sequence[str]) -> str:
    """The first of these columns that a row has; ``RecordError`` where it has none."""
    if (found := next((name for name in names if name in row), None)) is None:
        expected = " or ".join(map(repr, names))
        there = f"no column {expected}; the columns are {shown_names(row)}"
        raise RecordError(there, "column missing")
    return found


def excerpt(article: str) -> tuple[str, str, bool]:
    """The title of an article, if it has one, and the part that is taken from it.

    That is what stands before the second heading, or before the first one where the article does
    not begin with one (its title): all of it has to be the document. Where there is a dateline, or
    no heading but the title, it is the article from its beginning, without dateline and headings,
    of which the document is as many first sentences as there may be: then the last value is false.
    """
    article = article.replace("\r\n", "\n").replace("\r", "\n")
    if summaries := _HIGHLIGHTS.search(article):
        article = article[: summaries.start()]
    blocks = _blocks(article)
    # A text of one block has no title.
    title = (heading(blocks[0]) if len(blocks) > 1 else None) or ""
    blocks = blocks[1:] if title else blocks
    opening = "\n\n".join(takewhile(_is_prose, blocks))
    text = "\n\n".join(blocks)
    story = without_dateline(text)
    if story == text and summaries is None and opening != text:
        return title, opening, True
    return title, "\n\n".join(filter(_is_prose, story.split("\n\n"))), False


def _is_prose(block: str) -> bool:
    return heading(block) is None


def without_dateline(story: str) -> str:
    """A story without the place and agency that it opens with; unchanged where it has none."""
    match = _DATELINE.match(story)
    return story[match.end() :] if match else story


def heading(block: str) -> str | None:
    """The heading that a block is, its last line where it is several; none where it is none."""
    found = ""
    for line in filter(str.strip, block.split("\n")):
        marked = _marked(line)
        plain = len(line.split()) <= _LONGEST_HEADING and not _ENDS.search(line.rstrip())
        if marked is None and (not plain or line.lstrip()[0] in _BULLETS):
            return None
        found = tidy(line) if marked is None else marked
    return found or None


def _marked(line: str) -> str | None:
    line = line.strip()
    if wiki := _WIKI_HEADING.fullmatch(line):
        return tidy(wiki[2])
    marks = _HASH_HEADING.match(line)
    return None if marks is None else tidy(line[marks.end() :].rstrip("#"))


def _blocks(article: str) -> list[str]:
    lines = [
        f"\n{line}\n" if _marked(line) is not None else line
        for block in re.split(r"\n[^\S\n]*\n\s*", article)
        for line in (*block.split("\n"), "")
    ]
    return [block.strip() for block in re.split(r"\n\n+", "\n".join(lines)) if block.strip()]


def document(
    text: str | Sequence[str], shape: Shape, options: ReadOptions
) -> tuple[str, tuple[str, ...]]:
    """The title and the sentences of the document that a text, or its sentences, make."""
    if not any(map(tidy, [text] if isinstance(text, str) else text)):
        raise DroppedError(EMPTY_TEXT)
    title, whole = "", True
    too_many = f"more than {shape.most} sentences"
    if isinstance(text, str):
        title, taken, whole = excerpt(text)
        if reason := text_drop(taken):
            raise DroppedError(reason)
        # So many characters hold at least one sentence more than there may be.
        reach = (shape.most + 1) * _LONGEST_SENTENCE
        if whole and len(taken) > reach:
            raise DroppedError(too_many)
        sentences = tuple(islice(shape.split(taken[:reach], options), shape.most + 1))
    else:
        sentences = tuple(filter(None, map(tidy, text)))
    if whole and len(sentences) > shape.most:
        raise DroppedError(too_many)
    sentences = sentences[: shape.most]
    if len(sentences) < shape.fewest:
        raise DroppedError(f"fewer than {shape.fewest} sentences")
    if reason := sentences_drop(sentences):
        raise DroppedError(reason)
    return title, sentences


def article_discourse(
    row: Mapping[str, Any], column: str, origin: Origin, options: ReadOptions, shape: Shape
) -> Discourse | None:
    """The discourse of a row with an article: plain text, or sentences that are not split again.

    What makes none is counted. Its id is what the row has under ``id``, or else that of its origin.
    """
    text = "" if row[column] is None else row[column]
    if isinstance(text, str):
        # The beginning of a very long article is enough, and bounds the memory.
        text = text[:LONGEST_FIELD]
    elif not isinstance(text, list) or not all(isinstance(each, str) for each in text):
        raise RecordError(
            f"{column} has {shown(repr(text))}, expected text or a list of sentences", "wrong type"
        )
    identifier, title, domain = (
        "" if row.get(name) is None else tidy(str(row[name])) for name in COLUMNS_BESIDE
    )
    for each in (identifier, title, domain, *([text] if isinstance(text, str) else text)):
        check_text(each)
    try:
        heading_of_text, sentences = document(text, shape, options)
    except DroppedError as dropped:
        options.skipped[str(dropped)] += 1
        return None
    origin = replace(origin, identifier=identifier or origin.identifier)
    return origin.discourse(sentences, title=title or heading_of_text, domain=domain)

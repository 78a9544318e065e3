"""Short documents made of articles: excerpt, sentences, filters, near-duplicates.

The documents of Shen et al. 2021 (*Evaluating Document Coherence Modeling*, TACL 9, section 3) have
3 to 8 sentences; they are the opening sections of Wikipedia articles and the beginnings of CNN
stories. What does not make such a document is left out and counted by reason.

Blocks are what empty lines part. A heading is a block whose lines are short and do not end as
sentences do, or have the marks of one (``== History ==``, ``# History``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from typing import Any

from coherencegym.loaders.corpus import Corpus, CorpusError, ReadOptions
from coherencegym.loaders.discourse import Discourse, SourceSpan, Unit
from coherencegym.loaders.formats.lines import (
    LONGEST_FIELD,
    RecordError,
    shown,
    shown_names,
    text_problem,
    tidy,
)
from coherencegym.loaders.text.prose import sentences_drop, text_drop
from coherencegym.loaders.text.sentences import split_sentences

#: Columns that hold an article, the first that is there: sentences, or plain text.
COLUMNS = ("sentences", "text", "article")
#: Columns beside it.
COLUMNS_BESIDE = ("id", "title", "domain")
#: Characters that a sentence of a document may have on average.
_LONGEST_SENTENCE = 1000
#: The reason under which a row without a word, or without a value, is left out.
EMPTY_TEXT = "no text"

EXCERPTS = ("auto", "opening", "first")

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
    """The shape of a document.

    Attributes:
        excerpt: the part of an article that it is, one of :data:`EXCERPTS`.
        fewest, most: sentences that it has.
        language: ISO 639-1, for splitting into sentences.
        pipeline: spaCy pipeline to split with; none: rules.
    """

    excerpt: str = "auto"
    fewest: int = 3
    most: int = 8
    language: str = "en"
    pipeline: str | None = None

    def __post_init__(self) -> None:
        if self.excerpt not in EXCERPTS:
            expected = ", ".join(EXCERPTS)
            raise CorpusError(f"excerpt is {self.excerpt!r}, expected one of {expected}")
        if not 1 <= self.fewest <= self.most:
            raise CorpusError(
                f"documents of {self.fewest} to {self.most} sentences, "
                "expected two numbers in order, the first at least 1"
            )


@dataclass(frozen=True, slots=True)
class Origin:
    """The id of a text, its place and its split."""

    identifier: str
    source: SourceSpan
    split: str


@dataclass(frozen=True, slots=True)
class Article:
    """An article as it was found; ``text`` is plain text, or sentences that are not split again."""

    origin: Origin
    text: str | Sequence[str]
    title: str = ""
    domain: str = ""


class DroppedError(Exception):
    """An article makes no document; the message is the reason under which it is counted."""


def article_of_row(row: Mapping[str, Any], column: str, origin: Origin) -> Article:
    """The article of a row of named values: its text under ``column``, ``title`` and ``domain``.

    Its id is what the row has under ``id``, or else that of its origin.
    """

    def named(name: str) -> str:
        value = row.get(name)
        return "" if value is None else tidy(str(value))

    text = "" if row[column] is None else row[column]
    if isinstance(text, str):
        # The beginning of a very long article is enough, and bounds the memory.
        text = text[:LONGEST_FIELD]
    elif not isinstance(text, list) or not all(isinstance(each, str) for each in text):
        raise RecordError(
            f"{column} has {shown(repr(text))}, expected text or a list of sentences", "wrong type"
        )
    if identifier := named("id"):
        origin = replace(origin, identifier=identifier)
    return Article(origin, text, named("title"), named("domain"))


def first_column(row: Mapping[str, Any], names: Sequence[str]) -> str:
    """The first of these columns that a row has; ``RecordError`` where it has none."""
    if (found := next((name for name in names if name in row), None)) is None:
        expected = " or ".join(map(repr, names))
        there = f"no column {expected}; the columns are {shown_names(row)}"
        raise RecordError(there, "column missing")
    return found


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part that is taken from an article, and the heading that the article began with, if any.

    Where ``whole``, all of it has to be the document, else as many first sentences as there may be.
    """

    text: str
    whole: bool
    title: str = ""


def excerpt(article: str, how: str = "auto") -> Excerpt:
    """Cut an article.

    ``opening`` is what stands before the second heading, or before the first one where the article
    does not begin with one (its title); ``first`` the article from its beginning, without dateline
    and headings; ``auto`` is ``first`` where there is a dateline, or no heading but the title.
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
    has_story = story != text or summaries is not None or opening == text
    if how == "opening" or (how == "auto" and not has_story):
        return Excerpt(opening, whole=True, title=title)
    return Excerpt("\n\n".join(filter(_is_prose, story.split("\n\n"))), False, title)


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


def document(article: Article, shape: Shape, options: ReadOptions) -> tuple[str, tuple[str, ...]]:
    """The title and the sentences of the document that an article makes."""
    if not any(map(tidy, [article.text] if isinstance(article.text, str) else article.text)):
        raise DroppedError(EMPTY_TEXT)
    title, whole = article.title, shape.excerpt != "first"
    too_many = f"more than {shape.most} sentences"
    if isinstance(article.text, str):
        taken = excerpt(article.text, shape.excerpt)
        title, whole = title or taken.title, taken.whole
        if reason := text_drop(taken.text):
            raise DroppedError(reason)
        # So many characters hold at least one sentence more than there may be.
        reach = (shape.most + 1) * _LONGEST_SENTENCE
        if whole and len(taken.text) > reach:
            raise DroppedError(too_many)
        found = split_sentences(taken.text[:reach], shape.language, shape.pipeline, options)
        sentences = tuple(islice(found, shape.most + 1))
    else:
        sentences = tuple(filter(None, map(tidy, article.text)))
    if whole and len(sentences) > shape.most:
        raise DroppedError(too_many)
    sentences = sentences[: shape.most]
    if len(sentences) < shape.fewest:
        raise DroppedError(f"fewer than {shape.fewest} sentences")
    if reason := sentences_drop(sentences):
        raise DroppedError(reason)
    return title, sentences


def discourse_of(
    corpus: Corpus, article: Article, shape: Shape, options: ReadOptions
) -> Discourse | None:
    """The discourse of an article; none is counted. ``RecordError``: it is no Unicode text."""
    texts = [article.text] if isinstance(article.text, str) else article.text
    for text in (article.origin.identifier, article.title, article.domain, *texts):
        if problem := text_problem(text):
            raise RecordError(*problem)
    try:
        title, sentences = document(article, shape, options)
    except DroppedError as dropped:
        options.skipped[str(dropped)] += 1
        return None
    named = {"title": title, "domain": article.domain}
    return Discourse(
        id=article.origin.identifier,
        corpus=corpus.name,
        units=tuple(Unit(sentence, source=article.origin.source) for sentence in sentences),
        meta={"split": article.origin.split}
        | {name: value for name, value in named.items() if value},
    )

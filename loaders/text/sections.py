"""Documents with headings and paragraphs: Markdown, marked-up text, and rows with sections.

A heading is a unit like any sentence. ``meta["sections"]`` has the number of each that is one, with
its level (``0:1 7:2``; 1 is the document's title), ``meta["paragraphs"]`` the numbers of the units
that headings and paragraphs begin with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.loaders.corpus import Corpus, ReadOptions
from coherencegym.loaders.discourse import Discourse, Unit
from coherencegym.loaders.formats.lines import RecordError, shown, text_problem, tidy
from coherencegym.loaders.text.articles import Origin
from coherencegym.loaders.text.sentences import split_sentences

#: The key of ``meta`` with the headings of a document and their levels.
SECTIONS = "sections"
#: Columns that hold a document, the first that is there.
SECTION_COLUMNS = ("sections", "text", "article", "content")
#: Names of a section's parts in a row, the first that is there; titles are also a document's.
TITLES = ("title", "heading", "header", "name")
_LEVELS = ("level", "depth")
_TEXTS = ("paragraphs", "text", "content", "sentences", "value")
_BELOW = ("sections", "subsections", "has_parts")
#: The level of sections that say none: those below the title.
_FIRST = 2

_WIKI_HEADING = re.compile(r"^(={1,6})[^\S\n]*([^=\n]+?)[^\S\n]*\1[^\S\n]*$", re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SectionBlock:
    """A heading of a level from 1, or, of level 0, a paragraph: as text, or as sentences."""

    text: str | Sequence[str]
    level: int = 0


def marked_blocks(text: str) -> Iterator[SectionBlock]:
    """Headings and paragraphs of Markdown; ``== History ==`` is a heading of level 2, too.

    Lists, tables, quotations, code and HTML are no prose, and are left out, as are images; of links
    and emphasis the words stay.
    """
    from markdown_it import MarkdownIt

    text = _FRONT_MATTER.sub("", text.replace("\r\n", "\n"))
    text = _WIKI_HEADING.sub(lambda found: f"\n{'#' * len(found[1])} {found[2]}\n", text)
    level = None
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.level == 0 and token.type in ("heading_open", "paragraph_open"):
            level = int(token.tag[1:]) if token.type == "heading_open" else 0
        elif token.type == "inline" and level is not None:
            if words := tidy("".join(map(_words, token.children or ()))):
                yield SectionBlock(words, level)
            level = None


def _words(token: Any) -> str:
    return " " if token.type in ("softbreak", "hardbreak") else _shown(token)


def _shown(token: Any) -> str:
    return str(token.content) if token.type in ("text", "code_inline") else ""


def section_blocks(value: Any, level: int = _FIRST) -> Iterator[SectionBlock]:
    """Headings and paragraphs of a row's value.

    Args:
        value: marked-up text; or a list of sections, each a dictionary with a heading, perhaps a
            level, its text (a string whose empty lines part paragraphs, paragraphs, or lists of
            sentences), and perhaps the sections below it.
        level: that of a section that says none.
    """
    if isinstance(value, str):
        yield from marked_blocks(value)
        return
    if isinstance(value, Mapping):  # as some versions of datasets give a list of dictionaries
        value = [dict(zip(value, own, strict=True)) for own in zip(*value.values(), strict=True)]
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        raise ValueError(f"{shown(repr(value))}, expected text or a list of sections")
    for section in value:
        own = _first(section, _LEVELS)
        own = own if isinstance(own, int) and own > 0 else level
        if title := tidy(str(_first(section, TITLES) or "")):
            yield SectionBlock(title, own)
        yield from _section_paragraphs(_first(section, _TEXTS))
        if below := _first(section, _BELOW):
            yield from section_blocks(below, own + 1)


def _first(section: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((section[name] for name in names if section.get(name) is not None), None)


def _section_paragraphs(value: Any) -> Iterator[SectionBlock]:
    if value is None:
        return
    paragraphs = re.split(r"\n\s*\n", value) if isinstance(value, str) else value
    for one in paragraphs if isinstance(paragraphs, list) else [None]:
        sentences = [one] if isinstance(one, str) else one
        if not isinstance(sentences, list) or not all(isinstance(each, str) for each in sentences):
            raise ValueError(f"{shown(repr(one))}, expected paragraphs as text or as sentences")
        if any(map(tidy, sentences)):
            yield SectionBlock(one if isinstance(one, str) else sentences)


def sectioned_discourse(
    corpus: Corpus,
    origin: Origin,
    blocks: Iterable[SectionBlock],
    options: ReadOptions,
    language: str = "en",
    pipeline: str | None = None,
    title: str = "",
) -> Discourse | None:
    """The discourse of headings and paragraphs; none, and a count, where there is no sentence.

    Args:
        corpus, origin: its corpus, and where it stands there.
        blocks: its headings and paragraphs in order.
        options: counts what is repaired.
        language, pipeline: those that paragraphs are split into sentences with.
        title: its title.
    """
    texts: list[str] = []
    sections, paragraphs = [], []
    for block in blocks:
        given = [block.text] if isinstance(block.text, str) else block.text
        for text in (title, *given):
            if unusable := text_problem(text):
                raise RecordError(*unusable)
        found: Iterable[str] = given
        if isinstance(block.text, str) and not block.level:
            found = split_sentences(block.text, language, pipeline, options)
        if block.level:
            sections.append(f"{len(texts)}:{block.level}")
        paragraphs.append(str(len(texts)))
        texts += filter(None, map(tidy, found))
    if len(texts) == len(sections):
        options.skipped["no sentence"] += 1
        return None
    meta = {SECTIONS: " ".join(sections), "paragraphs": " ".join(paragraphs), "title": title}
    return Discourse(
        origin.identifier,
        corpus.name,
        tuple(Unit(text, source=origin.source) for text in texts),
        meta={"split": origin.split} | {key: value for key, value in meta.items() if value},
    )


def section_row_discourse(
    corpus: Corpus,
    row: Mapping[str, Any],
    column: str,
    origin: Origin,
    options: ReadOptions,
    *,
    language: str,
    pipeline: str | None,
) -> Discourse | None:
    """The discourse of a row, whose column is as :func:`section_blocks` takes it."""
    title = tidy(str(_first(row, TITLES) or ""))
    try:
        blocks = list(section_blocks(row[column] or ""))
    except ValueError as error:
        raise RecordError(f"{column} has {error}", "wrong type") from None
    return sectioned_discourse(corpus, origin, blocks, options, language, pipeline, title)

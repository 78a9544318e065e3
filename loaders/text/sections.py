"""Documents with headings and paragraphs: Markdown, marked-up text, and rows with sections.

A heading is a unit like any sentence. ``meta["sections"]`` has the number of each that is one, with
its level (``0:1 7:2``; 1 is the document's title), ``meta["paragraphs"]`` the numbers of the units
that headings and paragraphs begin with.

Papers with an abstract and a body, as sentences of both.

A discourse has the sentences of the abstract, then those of the middle third of the body: neither
introduction nor conclusion, which say what an abstract says. ``meta["abstract"]`` is the number of
the first. Of both is kept what is prose: left out are sentences with markup, few letters, equations
or signs that stand for them (``@xmath0``), too few or too many words, or no end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from coherencegym.loaders.corpus import ReadOptions
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.formats.lines import LONGEST_FIELD, RecordError, check_text, shown, tidy
from coherencegym.loaders.text.articles import Origin, Shape
from coherencegym.loaders.text.prose import sentences_drop

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


#: A heading and its level from 1, or, of level 0, a paragraph: as text, or as sentences.
SectionBlock = tuple[str | Sequence[str], int]


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
                yield words, level
            level = None


def _words(token: Any) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return " "
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
    value = as_dictionaries(value)
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        raise ValueError(f"{shown(repr(value))}, expected text or a list of sections")
    for section in value:
        own = first_value(section, _LEVELS)
        own = own if isinstance(own, int) and own > 0 else level
        if title := tidy(str(first_value(section, TITLES) or "")):
            yield title, own
        yield from _section_paragraphs(first_value(section, _TEXTS))
        if below := first_value(section, _BELOW):
            yield from section_blocks(below, own + 1)


def as_dictionaries(value: Any) -> Any:
    """A list of dictionaries where datasets give it by name: ``{"text": [a, b], ...}``."""
    if not isinstance(value, Mapping):
        return value
    lists = {name: column for name, column in value.items() if isinstance(column, list)}
    return [dict(zip(lists, items, strict=True)) for items in zip(*lists.values(), strict=False)]


def first_value(item: Mapping[str, Any], names: Iterable[str]) -> Any:
    """The first value that a dictionary has under one of these names; none where it has none."""
    return next((item[name] for name in names if item.get(name) is not None), None)


def _section_paragraphs(value: Any) -> Iterator[SectionBlock]:
    if value is None:
        return
    paragraphs = re.split(r"\n\s*\n", value) if isinstance(value, str) else value
    for one in paragraphs if isinstance(paragraphs, list) else [None]:
        sentences = [one] if isinstance(one, str) else one
        if not isinstance(sentences, list) or not all(isinstance(each, str) for each in sentences):
            raise ValueError(f"{shown(repr(one))}, expected paragraphs as text or as sentences")
        if any(map(tidy, sentences)):
            yield (one if isinstance(one, str) else sentences), 0


def sectioned_discourse(
    origin: Origin,
    blocks: Iterable[SectionBlock],
    options: ReadOptions,
    shape: Shape,
    title: str = "",
) -> Discourse | None:
    """The discourse of headings and paragraphs; none, and a count, where there is no sentence.

    ``shape`` says how paragraphs are split into sentences; no document is cut.
    """
    texts: list[str] = []
    sections, paragraphs = [], []
    for block, level in blocks:
        given = [block] if isinstance(block, str) else block
        for text in (title, *given):
            check_text(text)
        found: Iterable[str] = given
        if isinstance(block, str) and not level:
            found = shape.split(block, options)
        if level:
            sections.append(f"{len(texts)}:{level}")
        paragraphs.append(str(len(texts)))
        texts += filter(None, map(tidy, found))
    if len(texts) == len(sections):
        options.skipped["no sentence"] += 1
        return None
    meta = {SECTIONS: " ".join(sections), "paragraphs": " ".join(paragraphs), "title": title}
    return origin.discourse(texts, **meta)


def section_row_discourse(
    row: Mapping[str, Any], column: str, origin: Origin, options: ReadOptions, shape: Shape
) -> Discourse | None:
    """The discourse of a row, whose column is as :func:`section_blocks` takes it."""
    title = tidy(str(first_value(row, TITLES) or ""))
    try:
        blocks = list(section_blocks(row[column] or ""))
    except ValueError as error:
        raise RecordError(f"{column} has {error}", "wrong type") from None
    return sectioned_discourse(origin, blocks, options, shape, title)


#: The column of abstracts, and those of bodies, the first that is there.
ABSTRACT_COLUMN = "abstract"
BODY_COLUMNS = ("article", "body", "full_text", "text", "sections")
#: The key of ``meta`` with the number of sentences of the abstract.
ABSTRACT_SENTENCES = "abstract"

#: Equations, citations and figures that were taken out, as datasets mark them; TeX; marks of XML.
_PLACEHOLDER = re.compile(
    r"@x(?:math|cite)\w*|\[[A-Z]\]|<\s*/?\s*[A-Za-z]+\s*>|[\\$^{}]|\b(?:inline|display)_form\b"
)


def paper_discourse(
    row: Mapping[str, Any], column: str, origin: Origin, options: ReadOptions, shape: Shape
) -> Discourse | None:
    """The discourse of a row; none, and a count, where abstract or body has no prose.

    The column is that of the body: text, or a list of paragraphs.
    """
    abstract, body = (
        [
            sentence
            for paragraph in _paper_paragraphs(name, row[name] or "")
            for sentence in shape.split(paragraph, options)
            if not _PLACEHOLDER.search(sentence) and sentences_drop([sentence]) is None
        ]
        for name in (ABSTRACT_COLUMN, column)
    )
    third = len(body) // 3
    middle = body[third : len(body) - third]
    if not abstract or not middle:
        options.skipped["no sentence of prose in abstract or body"] += 1
        return None
    return origin.discourse((*abstract, *middle), **{ABSTRACT_SENTENCES: str(len(abstract))})


def _paper_paragraphs(column: str, value: Any) -> list[str]:
    if isinstance(value, str):
        check_text(value[:LONGEST_FIELD])
        return [block for block in value[:LONGEST_FIELD].split("\n\n") if block.strip()]
    if isinstance(value, list):
        return [paragraph for each in value for paragraph in _paper_paragraphs(column, each)]
    problem = f"{column} has {shown(repr(value))}, expected text or a list of paragraphs"
    raise RecordError(problem, "wrong type")

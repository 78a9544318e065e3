"""The part of an article that is a short document: its opening section, or its first sentences.

After Shen et al. 2021 (*Evaluating Document Coherence Modeling*, TACL 9, section 3), whose
documents are the opening sections of Wikipedia articles and the beginnings of CNN stories. Blocks
are what empty lines part. A heading is a block whose lines are short and do not end as sentences
do, or have the marks of one (``== History ==``, ``# History``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from coherencegym.loaders.formats.lines import tidy

EXCERPTS = ("auto", "opening", "first")

#: Marks that lines of lists and tables begin with.
_BULLETS = "*•‣◦▪·-–—|"
#: Words that a line of a heading may have.
_LONGEST_HEADING = 12

_MARKED = re.compile(r"\s*(?:(={1,6})\s*(?P<wiki>[^=\n]+?)\s*\1|#{1,6}\s+(?P<hash>.+?)\s*#*)\s*")
_ENDS = re.compile(r"[.!?…。！？।:;,][\"'”’»)\]]*$")
#: The origin of a story, before its first word: ``ATLANTA, Georgia (CNN) -- ``, ``(CNN)``,
#: ``PARIS (Reuters) - ``, ``LONDON -- ``.
_AGENCY = r"\((?:CNN|Reuters|AP|AFP|Bloomberg|UPI|Xinhua)\b[^()\n]{0,40}\)"
_CITY = r"[A-Z][\w.,’'/ -]{0,60}?"
_CAPITALS = r"[A-Z]{3,}[A-Z. ]*(?:,\s[A-Z][\w. ]{1,25})?"
_DATELINE = re.compile(
    rf"\s*(?:(?:{_CITY}\s*)?{_AGENCY}\s*(?:--|[—–:-])?\s*"
    rf"|(?:{_CAPITALS}\s*)?\([A-Z][^()\n]{{1,40}}\)\s*(?:--|[—–])\s*"
    rf"|{_CAPITALS}\s*(?:--|[—–])\s+)"
)
#: The marks before the summaries of stories in the Cornell and CNN collections.
_HIGHLIGHTS = re.compile(r"^\s*@highlight\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part that is taken from an article.

    Attributes:
        text: its text, blocks with an empty line between them.
        whole: true where all of it has to be the document; otherwise the document is as many of its
            first sentences as there may be.
        title: a heading that the article began with; empty where there is none.
    """

    text: str
    whole: bool
    title: str = ""


def excerpt(article: str, how: str = "auto") -> Excerpt:
    """Cut an article.

    Args:
        article: its text.
        how: ``opening``: what stands before the second heading, or before the first one where the
            article does not begin with one (its title). ``first``: the article from its beginning,
            without dateline and headings. ``auto``: ``first`` where there is a dateline, or no
            heading but the title; ``opening`` elsewhere.

    Raises:
        ValueError: ``how`` is none of :data:`EXCERPTS`.
    """
    if how not in EXCERPTS:
        raise ValueError(f"excerpt {how!r}, expected one of {', '.join(EXCERPTS)}")
    article = article.replace("\r\n", "\n").replace("\r", "\n")
    if summaries := _HIGHLIGHTS.search(article):
        article = article[: summaries.start()]
    title, blocks = _without_title(_blocks(article))
    headings = [place for place, block in enumerate(blocks) if heading(block) is not None]
    story = without_dateline("\n\n".join(blocks)) if blocks else ""
    if how == "auto":
        from_agency = bool(blocks) and story != "\n\n".join(blocks)
        how = "opening" if headings and not from_agency and summaries is None else "first"
    if how == "opening":
        opening = blocks[: headings[0]] if headings else blocks
        return Excerpt("\n\n".join(opening), whole=True, title=title)
    prose = [block for block in story.split("\n\n") if heading(block) is None]
    return Excerpt("\n\n".join(prose), whole=False, title=title)


def without_dateline(story: str) -> str:
    """A story without the place and agency that it opens with; unchanged where it has none."""
    match = _DATELINE.match(story)
    return story[match.end() :] if match else story


def heading(block: str) -> str | None:
    """The heading that a block is, its last line where it is several; none where it is none."""
    lines = [line for line in block.split("\n") if line.strip()]
    found = ""
    for line in lines:
        marked = _MARKED.fullmatch(line)
        plain = len(line.split()) <= _LONGEST_HEADING and not _ENDS.search(line.rstrip())
        if marked is None and (not plain or line.lstrip()[0] in _BULLETS):
            return None
        found = tidy(marked["wiki"] or marked["hash"]) if marked is not None else tidy(line)
    return found or None


def _blocks(article: str) -> list[str]:
    """The blocks; a line with the marks of a heading is one by itself."""
    blocks: list[str] = []
    for block in re.split(r"\n[^\S\n]*\n\s*", article):
        lines: list[str] = []
        for line in block.split("\n"):
            if _MARKED.fullmatch(line):
                blocks += ["\n".join(lines), line]
                lines = []
            else:
                lines.append(line)
        blocks.append("\n".join(lines))
    return [block.strip() for block in blocks if block.strip()]


def _without_title(blocks: Sequence[str]) -> tuple[str, list[str]]:
    """A title that comes first, and the other blocks; a text of one block has no title."""
    title = heading(blocks[0]) if len(blocks) > 1 else None
    if title is None:
        return "", list(blocks)
    return title, list(blocks[1:])

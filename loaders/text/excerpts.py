"""The part of an article that is a short document: its opening section, or its first sentences.

After Shen et al. 2021 (*Evaluating Document Coherence Modeling*, TACL 9, section 3), whose
documents are the opening sections of Wikipedia articles and the beginnings of CNN stories. Blocks
are what empty lines part. A heading is a block whose lines are short and do not end as sentences
do, or have the marks of one (``== History ==``, ``# History``).
"""

from __future__ import annotations

import re
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

    Raises:
        ValueError: ``how`` is none of :data:`EXCERPTS`.
    """
    if how not in EXCERPTS:
        raise ValueError(f"excerpt {how!r}, expected one of {', '.join(EXCERPTS)}")
    article = article.replace("\r\n", "\n").replace("\r", "\n")
    if summaries := _HIGHLIGHTS.search(article):
        article = article[: summaries.start()]
    blocks = _blocks(article)
    # A text of one block has no title.
    title = (heading(blocks[0]) if len(blocks) > 1 else None) or ""
    blocks = blocks[1:] if title else blocks
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
    found = ""
    for line in filter(str.strip, block.split("\n")):
        marked = _MARKED.fullmatch(line)
        plain = len(line.split()) <= _LONGEST_HEADING and not _ENDS.search(line.rstrip())
        if marked is None and (not plain or line.lstrip()[0] in _BULLETS):
            return None
        found = tidy(marked["wiki"] or marked["hash"]) if marked is not None else tidy(line)
    return found or None


def _blocks(article: str) -> list[str]:
    """The blocks; a line with the marks of a heading is one by itself."""
    lines = [
        f"\n{line}\n" if _MARKED.fullmatch(line) else line
        for block in re.split(r"\n[^\S\n]*\n\s*", article)
        for line in (*block.split("\n"), "")
    ]
    return [block.strip() for block in re.split(r"\n\n+", "\n".join(lines)) if block.strip()]

"""Papers with an abstract and a body, as sentences of both.

A discourse has the sentences of the abstract, then those of the middle third of the body: neither
introduction nor conclusion, which say what an abstract says. ``meta["abstract"]`` is the number of
the first. Of both is kept what is prose: left out are sentences with markup, few letters, equations
or signs that stand for them (``@xmath0``), too few or too many words, or no end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from coherencegym.loaders.corpus import ReadOptions
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.formats.lines import LONGEST_FIELD, RecordError, check_text, shown
from coherencegym.loaders.text.articles import Origin, Shape
from coherencegym.loaders.text.prose import sentences_drop

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

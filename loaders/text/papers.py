"""Papers with an abstract and a body, as sentences of both.

A discourse has the sentences of the abstract, then those of the middle third of the body: neither
introduction nor conclusion, which say what an abstract says. ``meta["abstract"]`` is the number of
the first. Of both is kept what is prose: left out are sentences with markup, few letters, equations
or signs that stand for them (``@xmath0``), too few or too many words, or no end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.discourse import Discourse, SourceSpan, Unit
from coherencegym.loaders.formats.lines import (
    LONGEST_FIELD,
    LineError,
    shown,
    shown_names,
    text_problem,
    tidy,
)
from coherencegym.loaders.text.prose import sentences_drop
from coherencegym.loaders.text.sentences import TooLongError, split_sentences

#: The column of abstracts, and those of bodies, the first that is there.
ABSTRACT_COLUMN = "abstract"
BODY_COLUMNS = ("article", "body", "full_text", "text", "sections")
#: The key of ``meta`` with the number of sentences of the abstract.
ABSTRACT_SENTENCES = "abstract"

#: Equations, citations and figures that were taken out, as datasets mark them; TeX; marks of XML.
_PLACEHOLDER = re.compile(
    r"@x(?:math|cite)\w*|\[[A-Z]\]|<\s*/?\s*[A-Za-z]+\s*>|[\\$^{}]|\b(?:inline|display)_form\b"
)


def read_paper_row(
    corpus: Corpus,
    file: CorpusFile,
    number: int,
    row: Mapping[str, Any],
    options: ReadOptions,
    *,
    column: str | None = None,
    id_column: str | None = None,
    language: str = "en",
    pipeline: str | None = None,
) -> Discourse | None:
    """The discourse of a row of a dataset; none where abstract or body has no prose.

    Args:
        number: the row in its split, from 1.
        column: the column of the body: text, or a list of paragraphs; none: the first of
            :data:`BODY_COLUMNS` that is there.

    Raises:
        CorpusError: the row has no such column, or is bad.
    """
    if column is None:
        column = next((name for name in BODY_COLUMNS if name in row), BODY_COLUMNS[0])
    for wanted in filter(None, (ABSTRACT_COLUMN, column, id_column)):
        if wanted not in row:
            problem = f"no column {wanted!r}; the columns are {shown_names(row)}"
            raise CorpusError(f"{file.path}:{number}: {problem}")
    identifier = tidy(str(row[id_column])) if id_column else f"{file.split}-{number:06d}"
    try:
        abstract = list(_prose(number, ABSTRACT_COLUMN, row, language, pipeline, options))
        body = list(_prose(number, column, row, language, pipeline, options))
        if (unusable := text_problem(identifier)) is not None:
            raise LineError(number, *unusable)
    except LineError as error:
        error.report(file, options)
        return None
    third = len(body) // 3
    middle = body[third : len(body) - third]
    if not abstract or not middle:
        options.skipped["no sentence of prose in abstract or body"] += 1
        return None
    source = SourceSpan(file.path.name, number, number)
    return Discourse(
        identifier,
        corpus.name,
        tuple(Unit(text, source=source) for text in (*abstract, *middle)),
        meta={"split": file.split, ABSTRACT_SENTENCES: str(len(abstract))},
    )


def _prose(
    number: int,
    column: str,
    row: Mapping[str, Any],
    language: str,
    pipeline: str | None,
    options: ReadOptions,
) -> Iterator[str]:
    for paragraph in _paragraphs(number, column, row[column] or ""):
        if (unusable := text_problem(paragraph)) is not None:
            raise LineError(number, *unusable)
        try:
            for sentence in split_sentences(paragraph, language, pipeline, options):
                if not _PLACEHOLDER.search(sentence) and sentences_drop([sentence]) is None:
                    yield sentence
        except TooLongError as error:
            raise LineError(number, str(error), "overlong field") from None


def _paragraphs(number: int, column: str, value: Any) -> Sequence[str]:
    if isinstance(value, str):
        return [block for block in value[:LONGEST_FIELD].split("\n\n") if block.strip()]
    if isinstance(value, list):
        return [paragraph for each in value for paragraph in _paragraphs(number, column, each)]
    problem = f"{column} has {shown(repr(value))}, expected text or a list of paragraphs"
    raise LineError(number, problem, "wrong type")

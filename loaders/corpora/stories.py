"""Common parts of the formats of five-sentence stories."""

from __future__ import annotations

from collections.abc import Sequence

from coherencegym.loaders.corpus import CorpusFile, ReadOptions
from coherencegym.loaders.discourse import SourceSpan, Unit
from coherencegym.loaders.formats.lines import tidy
from coherencegym.loaders.formats.table import Row

#: The Story Cloze Test and ROCStories come from one group, behind one form.
HOMEPAGE = "https://cs.rochester.edu/nlp/rocstories/"

OBTAIN = f"fill in the form at {HOMEPAGE} (free of charge), the links come by e-mail"


def sentences(
    file: CorpusFile, row: Row, columns: Sequence[str], options: ReadOptions
) -> tuple[str, ...] | None:
    """The texts of the columns; none where one is empty, which is reported as a bad row."""
    texts = tuple(tidy(row.values[column]) for column in columns)
    for column, text in zip(columns, texts, strict=True):
        if not text:
            message = f"{file.path}:{row.line}: {column} is empty, expected a sentence"
            options.bad(message, "empty sentence")
            return None
    return texts


def story_id(file: CorpusFile, row: Row, column: str, options: ReadOptions) -> str | None:
    """The id of a story; none where it is empty, which is reported as a bad row."""
    identifier = tidy(row.values[column])
    if not identifier:
        options.bad(f"{file.path}:{row.line}: {column} is empty, expected an id", "empty id")
        return None
    return identifier


def units(file: CorpusFile, row: Row, texts: Sequence[str]) -> tuple[Unit, ...]:
    """One unit a sentence; their source is the line of the row."""
    source = SourceSpan(file.path.name, row.line, row.line)
    return tuple(Unit(text, source=source) for text in texts)

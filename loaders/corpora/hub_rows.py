"""Rows of somebody else's dataset as discourses.

A column may hold a list of sentences (strings), a list of turns, or plain text. Turns are strings,
whose speakers are then ``A`` and ``B`` by turns, or dictionaries with the text under one of
:data:`TEXT_FIELDS` and the speaker under one of :data:`SPEAKER_FIELDS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.discourse import Discourse, SourceSpan, Unit
from coherencegym.loaders.formats.lines import shown, shown_names, text_problem, tidy
from coherencegym.loaders.text.sentences import TooLongError, split_sentences

KINDS = ("auto", "sentences", "turns", "text")
TEXT_FIELDS = ("text", "content", "value")
SPEAKER_FIELDS = ("speaker", "role", "from")


@dataclass(frozen=True, slots=True)
class RowFormat:
    """The columns of a row that hold the discourse, and what it is read as.

    Attributes:
        column: the column with the discourse.
        id_column: the column with the id; none: ids are made from split and row.
        kind: one of :data:`KINDS`.
        language: ISO 639-1, for the sentencizer.
        pipeline: spaCy pipeline to split text with; none: the sentencizer.
    """

    column: str
    id_column: str | None
    kind: str
    language: str
    pipeline: str | None


def read_row(
    corpus: Corpus,
    file: CorpusFile,
    number: int,
    row: Mapping[str, Any],
    options: ReadOptions,
    *,
    row_format: RowFormat,
) -> Discourse | None:
    """The discourse of one row; none where the row is bad and bad rows are skipped.

    Args:
        number: the row in its split, from 1.

    Raises:
        CorpusError: the row has no such column, or is bad.
    """
    where = f"{file.path}:{number}"
    for column in (row_format.column, row_format.id_column):
        if column is not None and column not in row:
            there = shown_names(row)
            raise CorpusError(f"{where}: no column {column!r}; the columns are {there}")
    identifier = f"{file.split}-{number:06d}"
    if row_format.id_column is not None:
        value = row[row_format.id_column]
        identifier = "" if value is None else tidy(str(value))
    source = SourceSpan(file.path.name, number, number)
    try:
        if not identifier:
            raise _BadRowError(f"{row_format.id_column} is empty, expected an id", "empty id")
        units = tuple(_units(row[row_format.column], row_format, source))
        if not units:
            raise _BadRowError(f"{row_format.column} is empty, expected some text", "empty text")
        for text in (identifier, *(unit.text for unit in units)):
            if problem := text_problem(text):
                raise _BadRowError(*problem)
    except _BadRowError as bad:
        options.bad(f"{where}: {bad.problem}", bad.reason)
        return None
    return Discourse(identifier, corpus.name, units, meta={"split": file.split})


class _BadRowError(Exception):
    """A fault of a row, and the reason under which it is counted."""

    def __init__(self, problem: str, reason: str) -> None:
        super().__init__(problem)
        self.problem, self.reason = problem, reason


def _units(value: Any, row_format: RowFormat, source: SourceSpan) -> Iterator[Unit]:
    if isinstance(value, Mapping):  # how older versions of datasets give a list of dictionaries
        value = _by_item(value)
    kind = row_format.kind if row_format.kind != "auto" else _kind(value)
    if kind == "text":
        if not isinstance(value, str):
            raise _wrong_type(row_format, value, "text")
        for sentence in _sentences(value, row_format):
            yield Unit(sentence, source=source)
        return
    if not isinstance(value, list):
        raise _wrong_type(row_format, value, f"a list of {kind}")
    for place, item in enumerate(value):
        text, speaker = item, "AB"[place % 2] if kind == "turns" else None
        if kind == "turns" and isinstance(item, Mapping):
            text, speaker = _field(item, TEXT_FIELDS), _field(item, SPEAKER_FIELDS)
        if not isinstance(text, str):
            raise _wrong_type(row_format, item, f"text in a list of {kind}")
        if not tidy(text):
            problem = f"text {place + 1} of {row_format.column} is empty, expected some"
            raise _BadRowError(problem, "empty sentence")
        yield Unit(tidy(text), None if speaker is None else str(speaker), source)


def _kind(value: Any) -> str:
    """Guess the kind that a value is read as."""
    if isinstance(value, str):
        return "text"
    dictionaries = isinstance(value, list) and value and isinstance(value[0], Mapping)
    return "turns" if dictionaries else "sentences"


def _by_item(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """``{"text": [a, b], ...}`` to ``[{"text": a, ...}, {"text": b, ...}]``."""
    lists = {name: column for name, column in value.items() if isinstance(column, list)}
    return [dict(zip(lists, items, strict=True)) for items in zip(*lists.values(), strict=False)]


def _field(item: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """The value of the first of these fields that is there and not null."""
    return next((item[name] for name in names if item.get(name) is not None), None)


def _wrong_type(row_format: RowFormat, value: Any, expected: str) -> _BadRowError:
    found = shown(value if isinstance(value, str) else repr(value))
    return _BadRowError(f"{row_format.column} has {found}, expected {expected}", "wrong type")


def _sentences(text: str, row_format: RowFormat) -> Iterator[str]:
    """Split plain text; an empty line always ends a sentence, as after a heading."""
    try:
        yield from split_sentences(text, row_format.language, row_format.pipeline)
    except TooLongError as error:
        raise _BadRowError(str(error), "overlong field") from None

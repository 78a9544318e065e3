"""CoNLL-2012 before it is understood: the parts of a file, their sentences, their words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coherencegym.loaders.corpus import CorpusFile, ReadOptions
from coherencegym.loaders.formats.lines import Line, LineError, numbered_lines

#: Columns of a line at least: ten, any number of predicates' arguments, coreference.
_FEWEST = 12
_BEGIN = re.compile(r"#begin document \((?P<name>[^()\s]+)\);(?: part (?P<part>\d{1,6}))?\s*")
END = "#end document"


@dataclass(frozen=True, slots=True)
class Word:
    """A line of a sentence."""

    line: int
    form: str
    tag: str
    speaker: str
    coreference: str


@dataclass(frozen=True, slots=True)
class Part:
    """The lines between a beginning and an end."""

    name: str
    number: int
    line: int
    lines: tuple[Line, ...]
    last_line: int
    whole: bool


def read_parts(file: CorpusFile, options: ReadOptions) -> Iterator[Part]:
    """Split a file into its parts; lines outside of them are reported."""
    begun: tuple[str, int, int] | None = None
    lines: list[Line] = []
    outside = False
    number = 0
    for number, line in numbered_lines(file):
        if line.startswith("#begin"):
            if begun is not None:
                yield Part(*begun, tuple(lines), number - 1, whole=False)
            match = _BEGIN.fullmatch(line)
            begun = (match["name"], int(match["part"] or 0), number) if match else ("", 0, number)
            lines, outside = [], False
        elif line.rstrip() == END and begun is not None:
            yield Part(*begun, tuple(lines), number, whole=True)
            begun = None
        elif begun is not None:
            lines.append((number, line))
        elif line.strip() and not outside:
            outside = True
            message = f"{file.path}:{number}: a line outside a document, expected '#begin document'"
            options.bad(message, "line outside a document")
    if begun is not None:
        yield Part(*begun, tuple(lines), number, whole=False)


def read_sentences(lines: Sequence[Line]) -> Iterator[list[Word]]:
    """The words of each sentence of a part; empty lines stand between sentences.

    Raises:
        LineError: a line has too few columns.
    """
    words: list[Word] = []
    for number, line in lines:
        columns = line.split()
        if columns and not line.startswith("#"):
            if len(columns) < _FEWEST:
                problem = f"{len(columns)} columns, expected {_FEWEST} or more with spaces between"
                raise LineError(number, problem, "wrong number of columns")
            words.append(Word(number, columns[3], columns[4], columns[9], columns[-1]))
        elif not columns and words:
            yield words
            words = []
    if words:
        yield words

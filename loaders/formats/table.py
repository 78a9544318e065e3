"""Tables with a header line: CSV or TSV, quoted or not, columns in any order."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from coherencegym.loaders.corpus import CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.formats.lines import (
    LONGEST_FIELD,
    Record,
    RecordError,
    bounded_lines,
    check_text,
    open_text,
    reporting,
    shown,
    text_problem,
)

#: Characters of one line.
_LONGEST_LINE = 10 * LONGEST_FIELD


@dataclass(frozen=True, slots=True)
class _Header:
    delimiter: str
    literal: bool
    names: tuple[str, ...]


def numbered_rows(
    file: CorpusFile,
    columns: Sequence[str],
    options: ReadOptions,
    advice: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Record]:
    """Read the rows of a table, with the values of the columns that are wanted.

    The header decides between comma and tab. A table with tabs whose header is not quoted is read
    without quoting, because there a leading quotation mark belongs to the text
    (``"Run!" he said.``); a field that writes its inner quotation marks twice is unquoted.

    Args:
        file: the table; its first line names the columns (case does not matter).
        columns: the columns wanted; others are passed over.
        options: the treatment of bad rows.
        advice: the words for a column, where it is the only one that is missing.
    """
    with open_text(file) as text:
        lines = bounded_lines(text, _LONGEST_LINE)
        header = _header(file, next(lines, ""), columns, advice)
        place = {name: header.names.index(name.lower()) for name in columns}
        number = 0
        for number, (line, fields) in enumerate(_records(file, lines, header, options), 1):
            where = f"{file.path}:{line}"
            with reporting(where, options):
                _check(fields, header)
                values = {name: fields[index].strip() for name, index in place.items()}
                yield Record(number, line, where, values)
        if not number:
            raise CorpusError(f"{file.path}:2: no row after the header, expected at least one")


def _header(
    file: CorpusFile, line: str, columns: Sequence[str], advice: Mapping[str, str]
) -> _Header:
    if problem := text_problem(line):
        raise CorpusError(f"{file.path}:1: {problem[0]}")
    header = _split_header(line, columns)
    missing = [name for name in columns if name.lower() not in header.names]
    if len(missing) == 1 and missing[0] in advice:
        raise CorpusError(f"{file.path}:1: no column {missing[0]}, {advice[missing[0]]}")
    if missing:
        more = f" and {len(missing) - 1} more" * (len(missing) > 1)
        raise CorpusError(
            f"{file.path}:1: no column {missing[0]}{more}; expected a header line with "
            f"{', '.join(columns)}, separated by commas or tabs, found {shown(line.strip())}"
        )
    twice = [name for name in columns if header.names.count(name.lower()) > 1]
    if twice:
        raise CorpusError(f"{file.path}:1: column {twice[0]} stands twice, expected it once")
    return header


def _split_header(line: str, columns: Sequence[str]) -> _Header:
    wanted = {name.lower() for name in columns}
    headers = []
    for delimiter in ",\t":
        names = line.strip("\r\n").lower().split(delimiter)
        plain = tuple(name.strip().strip('"').strip() for name in names)
        literal = delimiter == "\t" and not line.lstrip().startswith('"')
        headers.append(_Header(delimiter, literal, plain))
    return max(headers, key=lambda header: (len(wanted & set(header.names)), len(header.names)))


def _records(
    file: CorpusFile, lines: Iterator[str], header: _Header, options: ReadOptions
) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(
        _short_lines(file, lines, options),
        delimiter=header.delimiter,
        quoting=csv.QUOTE_NONE if header.literal else csv.QUOTE_MINIMAL,
        strict=True,
    )
    while True:
        line = reader.line_num + 2  # one for the header, one because lines count from 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            message = f"{file.path}:{line}: {error}, expected fields quoted as in CSV"
            options.bad(message, "malformed quoting")
            continue
        if fields and any(map(str.strip, fields)):
            yield line, [_unquoted(f) for f in fields] if header.literal else fields


def _short_lines(file: CorpusFile, lines: Iterator[str], options: ReadOptions) -> Iterator[str]:
    for number, line in enumerate(lines, start=2):
        if len(line.rstrip("\r\n")) <= _LONGEST_LINE:
            yield line
            continue
        message = f"{file.path}:{number}: a line of more than {_LONGEST_LINE:,} characters"
        options.bad(f"{message}, expected one row a line", "overlong line")
        yield "\n"


def _unquoted(field: str) -> str:
    # Only where it is beyond doubt: inner quotation marks are all written twice.
    inner = field[1:-1]
    around = len(field) > 2 and field[0] == field[-1] == '"'
    twice = '""' in inner and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if around and twice else field


def _check(fields: list[str], header: _Header) -> None:
    for field in fields:
        check_text(field)
    counts = f"{len(fields)} fields, expected {len(header.names)} as in the header"
    if len(fields) < len(header.names):
        raise RecordError(f"{counts} (is the line cut off?)", "truncated line")
    if len(fields) > len(header.names):
        raise RecordError(counts, "too many fields")
    if any("\n" in value.strip() or "\r" in value.strip() for value in fields):
        problem = "a line break inside a field, expected one row a line"
        hint = "(is a quotation mark never closed?)"
        raise RecordError(f"{problem} {hint}", "line break in a field")

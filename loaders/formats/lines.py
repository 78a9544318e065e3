"""Text files that other people made: decode them, and say in one line what is wrong with a row.

Files are UTF-8, with or without a byte order mark. Bytes that are not become lone surrogates while
the file is split into rows, so that a bad byte spoils its own row and no other.

Tables with a header line: CSV or TSV, quoted or not, columns in any order.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, BinaryIO, TextIO, cast

from coherencegym.errors import EvaluationError
from coherencegym.files.parquet import stored_rows
from coherencegym.files.tables import is_blank
from coherencegym.loaders.corpus import CorpusError, CorpusFile, ReadOptions

#: Characters that one sentence, utterance or line may have. Longer ones are a quote that is never
#: closed or a file of another kind. (Python's csv module stops at 131,072 by itself.)
LONGEST_FIELD = 100_000

#: A control character (Unicode's category Cc) but for NUL, which is in no text file.
CONTROL = re.compile(r"[\x01-\x1f\x7f-\x9f]")

_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)

#: A numbered line of a file.
Line = tuple[int, str]


class RecordError(Exception):
    """A fault of a record: the problem with what was expected, and the short reason."""

    def __init__(self, problem: str, reason: str) -> None:
        super().__init__(problem)
        self.reason = reason


class LineError(RecordError):
    """A fault of a line with this number."""

    def __init__(self, line: int, problem: str, reason: str) -> None:
        super().__init__(problem, reason)
        self.line = line


@contextmanager
def reporting(place: CorpusFile | str, options: ReadOptions) -> Iterator[None]:
    """Report a fault of what is read in this context as a bad row.

    Args:
        place: the file that has the line of a ``LineError``, or the place of a ``RecordError``.
        options: raise it as a ``CorpusError``, or count it where bad rows are skipped.
    """
    try:
        yield
    except LineError as error:
        assert isinstance(place, CorpusFile)
        options.bad(f"{place.path}:{error.line}: {error}", error.reason)
    except RecordError as error:
        options.bad(f"{place}: {error}", error.reason)


def check_text(text: str, line: int = 0) -> None:
    """Refuse a text that is unusable: a ``LineError``, or without a line a ``RecordError``."""
    if problem := text_problem(text):
        raise LineError(line, *problem) if line else RecordError(*problem)


@contextmanager
def open_text(file: CorpusFile) -> Iterator[io.TextIOWrapper]:
    """Open a file as UTF-8 text, line ends as they are, undecodable bytes as lone surrogates.

    A file whose name ends in ``.gz`` is decompressed while it is read.
    """
    with file.path.open("rb") as stream:
        if file.path.suffix.lower() != ".gz":
            with _text(file, stream) as text:
                yield text
            return
        try:
            with gzip.open(stream) as unpacked, _text(file, cast(BinaryIO, unpacked)) as text:
                yield text
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise CorpusError(
                f"{file.path}:1: cannot be decompressed ({error}), expected a whole gzip file"
            ) from error


@contextmanager
def _text(file: CorpusFile, binary: BinaryIO) -> Iterator[io.TextIOWrapper]:
    start = binary.read(4)
    if not start:
        raise CorpusError(f"{file.path}:1: the file is empty, expected text in UTF-8")
    if start.startswith(_WIDE_MARKS):
        raise CorpusError(f"{file.path}:1: the file is UTF-16 or UTF-32, expected UTF-8")
    binary.seek(0)
    with io.TextIOWrapper(
        binary, encoding="utf-8-sig", errors="surrogateescape", newline=""
    ) as text:
        yield text


def bounded_lines(text: TextIO, longest: int) -> Iterator[str]:
    """The lines of a text with their line ends.

    Of a line of more than ``longest`` characters only the beginning comes back, which is longer
    than that. So nobody holds a line of a gigabyte, and whoever refuses it has not read it.
    """
    most = longest + 2  # a line end may have two characters
    while line := text.readline(most):
        yield line
        while len(line) == most and not line.endswith("\n"):
            line = text.readline(most)


def numbered_lines(file: CorpusFile) -> Iterator[Line]:
    """The lines of a file, without their line ends, counted from 1.

    Of an overlong one the beginning comes back, just long enough for :func:`text_problem` to say
    so. Errors are those of :func:`open_text`.
    """
    with open_text(file) as text:
        for number, line in enumerate(bounded_lines(text, LONGEST_FIELD), start=1):
            yield number, line.rstrip("\r\n")


def text_problem(text: str) -> tuple[str, str] | None:
    """The problem that makes a text unusable with what was expected, and the short reason."""
    if "\0" in text:
        return "a NUL byte, expected text", "NUL byte"
    if len(text) > LONGEST_FIELD:
        return (
            f"a field of more than {LONGEST_FIELD:,} characters, expected fewer "
            "(is a quotation mark never closed?)",
            "overlong field",
        )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return _encoding_problem(text, error.start), "not UTF-8"
    return None


def _encoding_problem(text: str, position: int) -> str:
    character = text[position]
    if not "\udc80" <= character <= "\udcff":  # no byte: half a character, out of a JSON escape
        return f"half of a surrogate pair (U+{ord(character):04X}), expected a whole character"
    byte = ord(character) - 0xDC00
    problem = f"byte 0x{byte:02x} is not UTF-8, expected UTF-8 (with or without a byte order mark)"
    if character := bytes([byte]).decode("cp1252", "ignore"):
        problem += f"; in Windows-1252 it is {character!r}: "
        problem += "if that fits, convert the file with `iconv -f CP1252 -t UTF-8`"
    return problem


def tidy(text: str) -> str:
    """The text without white space at its ends and with single spaces inside.

    Control characters, which nobody reads, are white space.
    """
    return " ".join((text if text.isprintable() else CONTROL.sub(" ", text)).split())


def shown_names(names: Iterable[str], most: int = 10) -> str:
    """Names for a message: quoted, on one line; of many the first ones and how many more."""
    quoted = [shown(name) for name in names]
    more = [f"{len(quoted) - most} more"] if len(quoted) > most else []
    return ", ".join([*quoted[:most], *more])


def shown(text: str, width: int = 40) -> str:
    """A text for a message: quoted, on one line, cut."""
    return repr(text if len(text) <= width else text[: width - 1] + "…")


@dataclass(frozen=True, slots=True)
class Record:
    """Named values, and where they stand.

    Attributes:
        number: its number in the file, from 1; bad ones count.
        line: the line at which it begins, from 1; of a parquet file, which has none, its number.
        place: ``file:line``, and in a JSON array (often a single line) its number.
        values: the values by name.
    """

    number: int
    line: int
    place: str
    values: dict[str, Any]


def parquet_records(file: CorpusFile) -> Iterator[Record]:
    """The rows of a parquet file as plain values; ``CorpusError`` if it is none or too large."""
    try:
        for number, row in enumerate(stored_rows(file.path), 1):
            yield Record(number, number, f"{file.path}:{number}", row)
    except EvaluationError as error:
        problem = f"{error}; expected a whole parquet file"
        if is_blank(file.path):
            problem = f"{file.path}:1: the file is empty, expected a parquet file"
        raise CorpusError(problem) from None


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

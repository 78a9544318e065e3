"""Files of JSON objects: one array of them, one object a line (JSON lines), or one of objects.

What files called ``.jsonl`` really hold differs, so the first character decides. Memory does not
grow with the file, only with its longest record, and that is bounded (:data:`LONGEST_RECORD`). The
reading is strict: an object that has a name twice and ``NaN`` are refused; in one object of
objects ``NaN`` is a number, which schemas refuse where they do not ask for it.

A pickle is a program: loading one may run anything. Its instructions are looked at first, and any
but those that make lists, tuples and text is refused, so that no class is ever asked for.
"""

from __future__ import annotations

import io
import json
import math
import pickle
import pickletools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NoReturn, TextIO, TypeVar

from pydantic import AfterValidator, Field, PlainValidator

from coherencegym.errors import EvaluationError
from coherencegym.files.strict_json import held, kind
from coherencegym.loaders.corpus import CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.formats.lines import (
    LONGEST_FIELD,
    Record,
    RecordError,
    bounded_lines,
    open_text,
    reporting,
    shown,
    text_problem,
    tidy,
)

_T = TypeVar("_T")


def _usable(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text")
    if problem := text_problem(value):
        raise ValueError(f"usable text: {problem[0]}")
    return value


def _filled(value: Any) -> str:
    if not _usable(value).strip():
        raise ValueError("a text that is not empty")
    return str(value)


def _identifier(value: Any) -> str:
    return tidy(_filled(str(value) if type(value) is int else value))


#: A text as it stands, which may be empty; one that may not; that with single spaces.
AnyText = Annotated[str, PlainValidator(_usable)]
RawText = Annotated[str, PlainValidator(_filled)]
TidyText = Annotated[RawText, AfterValidator(tidy)]
#: A text, or a number that stands for one.
Identifier = Annotated[str, PlainValidator(_identifier)]
#: A whole number.
WholeNumber = Annotated[int, Field(strict=True, ge=-(10**9), le=10**9)]


def held_records(
    records: Iterable[Record], schema: type[_T], options: ReadOptions
) -> Iterator[tuple[Record, _T]]:
    """The records with their values as a schema has them; what does not fit it is a bad row."""
    for record in records:
        try:
            value = held(record.values, schema)
        except EvaluationError as error:
            options.bad(f"{record.place}: {error}", "malformed record")
        else:
            yield record, value


#: Bytes that a file may have.
LARGEST = 100_000_000
#: Instructions that make lists, tuples and text, and those that note and find what was made.
_MADE = "EMPTY_LIST LIST APPEND APPENDS EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 MARK"
_TEXT = "BINUNICODE SHORT_BINUNICODE UNICODE BINSTRING SHORT_BINSTRING STRING"
_NOTES = "PUT BINPUT LONG_BINPUT MEMOIZE GET BINGET LONG_BINGET"
_PLAIN = frozenset(f"PROTO FRAME STOP {_MADE} {_TEXT} {_NOTES}".split())
_PUTS = frozenset({"PUT", "BINPUT", "LONG_BINPUT"})


class _Plain(pickle.Unpickler):
    # The second bar: an unpickler that knows no class.
    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"the class {module}.{name}")


def read_plain_pickle(path: Path) -> Any:
    """The lists, tuples and text of a pickle."""
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    if not data:
        raise CorpusError(f"{path}:1: the file is empty, expected a pickle")
    if len(data) > LARGEST:
        raise CorpusError(f"{path}:1: over {LARGEST:,} bytes, expected fewer")
    expected = "expected a pickle of lists, tuples and text"
    try:
        for number, (operation, argument, place) in enumerate(pickletools.genops(data)):
            if operation.name not in _PLAIN:
                raise CorpusError(
                    f"{path}: byte {place}: the instruction {operation.name}, {expected} alone; "
                    "anything else could run a program, so nothing was loaded"
                )
            if operation.name in _PUTS and int(argument or 0) > number:
                # Notes are numbered from 0 on; a large number would take as much memory.
                raise CorpusError(f"{path}: byte {place}: note {argument}, {expected}")
        return _Plain(io.BytesIO(data), encoding="utf-8").load()
    except (pickle.UnpicklingError, ValueError, LookupError, EOFError, TypeError) as error:
        said = " ".join(str(error).split())[:80]
        raise CorpusError(f"{path}:1: no pickle ({said}), {expected}") from None
    except (AttributeError, OverflowError, MemoryError) as error:
        raise CorpusError(f"{path}:1: no pickle ({type(error).__name__}), {expected}") from None


#: Characters that one record may have. A longer one is a quotation mark that is never closed, or a
#: file of another kind.
LONGEST_RECORD = 4 * LONGEST_FIELD

#: Characters that are read at once.
_PIECE = 1 << 16
#: Characters of an escape or number that a piece may cut in two.
_LONGEST_TOKEN = 12

_BAD = "malformed JSON"
_SPACE = re.compile(r"[ \t\r\n]*")
#: The end of Python's messages before a place in the text, which nobody could look up.
_POINTER = re.compile(r"( starting)? at\Z")


def json_records(file: CorpusFile, options: ReadOptions) -> Iterator[Record]:
    """Read the objects of a file: of an array up to the first that is no JSON."""
    with open_text(file) as text:
        window = _Window(text)
        first = window.after_space()
        if not first:
            raise CorpusError(f"{file.path}:1: nothing but white space, expected JSON")
        if first == "[":
            yield from _elements(file, window, options, "record")
            return
        if first != "{" and not options.skip_bad_rows:
            raise CorpusError(
                f"{file.path}:{window.line}: the file begins with {shown(first)}, "
                "expected a JSON array of objects or one JSON object a line"
            )
        text.seek(0)
        yield from _lines(file, text, options)


def json_members(file: CorpusFile, options: ReadOptions) -> Iterator[Record]:
    """Read the objects that are the members of one object, whatever their names."""
    with open_text(file) as text:
        window = _Window(text, _DECODER_OF_NAN)
        if (mark := window.after_space()) != "{":
            found = shown(mark) if mark else "nothing but white space"
            raise CorpusError(
                f"{file.path}:{window.line}: the file begins with {found}, expected a JSON object "
                "of objects"
            )
        yield from _elements(file, window, options, "member")


def _elements(
    file: CorpusFile, window: _Window, options: ReadOptions, part: str
) -> Iterator[Record]:
    # What is no JSON ends the reading: nothing says where the next record begins.
    whole, end = ("array", "]") if part == "record" else ("object", "}")
    window.move(window.place + 1)
    if window.after_space() == end:
        raise CorpusError(f"{file.path}:{window.line}: the {whole} is empty, expected objects")
    number, mark = 0, ","
    while mark != end:
        number += 1
        window.after_space()
        place = f"{file.path}:{window.line}: {part} {number}"
        try:
            if part == "member":
                window.name()
            line, value = window.line, window.value()
            if _is_record(value, place, options):
                yield Record(number, line, place, value)
            mark = window.after_space()
            if mark not in (",", end):
                raise _no_comma(mark)
        except RecordError as malformed:
            options.bad(f"{place}: {malformed}", f"{malformed.reason}, and what follows it")
            return
        window.move(window.place + 1)
    if after := window.after_space():
        message = f"{file.path}:{window.line}: {shown(after)} after the {whole}, expected the end"
        options.bad(message, f"text after the {whole}")


def _lines(file: CorpusFile, text: TextIO, options: ReadOptions) -> Iterator[Record]:
    number = 0
    for line, content in enumerate(bounded_lines(text, LONGEST_RECORD), start=1):
        content = content.rstrip("\r\n")
        if not content.strip(" \t"):
            continue
        number += 1
        place = f"{file.path}:{line}"
        with reporting(place, options):
            if len(content) > LONGEST_RECORD:
                raise _overlong()
            try:
                value = _DECODER.decode(content)
            except (ValueError, RecursionError) as error:
                raise _malformed(error, _may_go_on(error, content)) from None
            if _is_record(value, place, options):
                yield Record(number, line, place, value)


def _is_record(value: Any, place: str, options: ReadOptions) -> bool:
    if not isinstance(value, dict):
        problem = f"{kind(value)}, expected an object with named fields"
        options.bad(f"{place}: {problem}", "no JSON object")
    return isinstance(value, dict)


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            problem = f"the name {shown(name)} stands twice in an object, expected it once"
            raise RecordError(problem, _BAD)
        values[name] = value
    return values


def _no_constant(name: str) -> NoReturn:
    raise RecordError(f"{name}, expected a value that JSON has", _BAD)


def _nan_alone(name: str) -> float:
    return math.nan if name == "NaN" else _no_constant(name)


_DECODER = json.JSONDecoder(object_pairs_hook=_named_once, parse_constant=_no_constant)
_DECODER_OF_NAN = json.JSONDecoder(object_pairs_hook=_named_once, parse_constant=_nan_alone)


@dataclass
class _Window:
    text: TextIO
    decoder: json.JSONDecoder = _DECODER
    held: str = ""
    place: int = 0
    line: int = 1

    def more(self) -> bool:
        piece = self.text.read(_PIECE)
        self.held = self.held[self.place :] + piece
        self.place = 0
        return bool(piece)

    def move(self, place: int) -> None:
        self.line += self.held.count("\n", self.place, place)
        self.place = place

    def after_space(self) -> str:
        while True:
            space = _SPACE.match(self.held, self.place)
            assert space is not None
            self.move(space.end())
            if self.place < len(self.held):
                return self.held[self.place]
            if not self.more():
                return ""

    def value(self) -> Any:
        while True:
            try:
                value, end = self.decoder.raw_decode(self.held, self.place)
            except (ValueError, RecursionError) as error:
                unfinished = _may_go_on(error, self.held)
                if unfinished and len(self.held) - self.place > LONGEST_RECORD:
                    raise _overlong() from None
                if not unfinished or not self.more():
                    raise _malformed(error, unfinished) from None
                continue
            if end == len(self.held) and self.more():
                continue  # a number may go on in the next piece
            if end - self.place > LONGEST_RECORD:
                raise _overlong()
            self.move(end)
            return value

    def name(self) -> None:
        if self.after_space() != '"':
            raise RecordError("no name in quotation marks, expected that of a member", _BAD)
        self.value()
        if self.after_space() != ":":
            raise RecordError("no colon after the name of a member, expected one", _BAD)
        self.move(self.place + 1)
        self.after_space()


def _may_go_on(error: Exception, held: str) -> bool:
    return isinstance(error, json.JSONDecodeError) and (
        error.msg.startswith("Unterminated string") or error.pos >= len(held) - _LONGEST_TOKEN
    )


def _malformed(error: Exception, unfinished: bool) -> RecordError:
    if isinstance(error, json.JSONDecodeError):
        what = _POINTER.sub("", error.msg[0].lower() + error.msg[1:])
    else:
        what = "nested too deep" if isinstance(error, RecursionError) else "a number too long"
    hint = " (is it cut off?)" if unfinished else ""
    return RecordError(f"no JSON ({what}), expected an object{hint}", _BAD)


def _overlong() -> RecordError:
    return RecordError(
        f"a record of more than {LONGEST_RECORD:,} characters, expected fewer "
        "(is a quotation mark never closed?)",
        "overlong record",
    )


def _no_comma(mark: str) -> RecordError:
    if mark:
        return RecordError(f"{shown(mark)} after it, expected a comma or a closing bracket", _BAD)
    return RecordError(
        "the file ends after it, expected a closing bracket (is it cut off?)", "array cut off"
    )

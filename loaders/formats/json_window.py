"""A text of JSON values that is read in pieces: the part of it that is in memory.

Memory does not grow with the text, only with its longest value, and that is bounded
(:data:`LONGEST_RECORD`).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, TextIO

from coherencegym.loaders.formats.lines import LONGEST_FIELD, shown

#: Characters that one record may have. A longer one is a quotation mark that is never closed, or a
#: file of another kind.
LONGEST_RECORD = 4 * LONGEST_FIELD

#: Characters that are read at once.
_PIECE = 1 << 16
#: Characters of an escape or number that a piece may cut in two.
_LONGEST_TOKEN = 12

_SPACE = re.compile(r"[ \t\r\n]*")
#: The end of Python's messages before a place in the text, which nobody could look up.
_POINTER = re.compile(r"( starting)? at\Z")
#: The place where, after something that could not be read, the next record seems to begin.
_NEXT_RECORD = re.compile(r"\}\s*,\s*(?=\{)")
#: The beginning of such a place, at the end of what is in memory.
_CUT_NEXT_RECORD = re.compile(r"\}[\s,]*\Z")


class MalformedError(Exception):
    """A fault in the text of a record, with what was expected, and the short reason."""

    def __init__(self, problem: str, reason: str) -> None:
        super().__init__(problem)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Refused:
    """Stands in a value for what Python would read and JSON does not have; says what it is."""

    problem: str


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any] | Refused:
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            return Refused(f"the name {shown(name)} stands twice in an object, expected it once")
        values[name] = value
    return values


def _no_constant(name: str) -> Refused:
    return Refused(f"{name}, expected a value that JSON has")


DECODER = json.JSONDecoder(object_pairs_hook=_named_once, parse_constant=_no_constant)


@dataclass
class Window:
    """The part of a text that is in memory, and the place and line that reading has come to."""

    text: TextIO
    held: str = ""
    place: int = 0
    line: int = 1

    def more(self) -> bool:
        """Read another piece, dropping what was passed; false at the end of the text."""
        piece = self.text.read(_PIECE)
        self.held = self.held[self.place :] + piece
        self.place = 0
        return bool(piece)

    def move(self, place: int) -> None:
        """Go to a place in what is held."""
        self.line += self.held.count("\n", self.place, place)
        self.place = place

    def after_space(self) -> str:
        """Pass white space; the character that stands there then, empty at the end."""
        while True:
            space = _SPACE.match(self.held, self.place)
            assert space is not None
            self.move(space.end())
            if self.place < len(self.held):
                return self.held[self.place]
            if not self.more():
                return ""

    def value(self) -> Any:
        """Read a JSON value and pass it.

        Raises:
            MalformedError: there is none; the place stays.
        """
        while True:
            try:
                value, end = DECODER.raw_decode(self.held, self.place)
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

    def line_value(self) -> Any:
        """Read the rest of the line, which is a JSON value, and pass it.

        Raises:
            MalformedError: it is none, or too long; the place is somewhere in the line.
        """
        while (end := self.held.find("\n", self.place)) < 0:
            if len(self.held) - self.place > LONGEST_RECORD:
                raise _overlong()
            if not self.more():
                end = len(self.held)
                break
        content = self.held[self.place : end]
        if len(content) > LONGEST_RECORD:
            raise _overlong()
        self.move(end)
        try:
            return DECODER.decode(content)
        except (ValueError, RecursionError) as error:
            raise _malformed(error, _may_go_on(error, content)) from None

    def pass_line(self) -> None:
        """Go to the end of the line."""
        while (end := self.held.find("\n", self.place)) < 0:
            self.move(len(self.held))
            if not self.more():
                return
        self.move(end)

    def seek_record(self) -> bool:
        """Go to where the next record of an array seems to begin; false at the end."""
        while True:
            found = _NEXT_RECORD.search(self.held, self.place)
            if found is not None:
                self.move(found.end())
                return True
            cut = _CUT_NEXT_RECORD.search(self.held, self.place)
            near = cut is not None and len(self.held) - cut.start() < LONGEST_RECORD
            self.move(cut.start() if cut is not None and near else len(self.held))
            if not self.more():
                return False


def _may_go_on(error: Exception, held: str) -> bool:
    """Tell whether the text may only have ended too early."""
    return isinstance(error, json.JSONDecodeError) and (
        error.msg.startswith("Unterminated string") or error.pos >= len(held) - _LONGEST_TOKEN
    )


def _malformed(error: Exception, unfinished: bool) -> MalformedError:
    if isinstance(error, json.JSONDecodeError):
        what = _POINTER.sub("", error.msg[0].lower() + error.msg[1:])
    else:
        what = "nested too deep" if isinstance(error, RecursionError) else "a number too long"
    hint = " (is it cut off?)" if unfinished else ""
    return MalformedError(f"no JSON ({what}), expected an object{hint}", "malformed JSON")


def _overlong() -> MalformedError:
    return MalformedError(
        f"a record of more than {LONGEST_RECORD:,} characters, expected fewer "
        "(is a quotation mark never closed?)",
        "overlong record",
    )

"""Files of JSON objects: one array of them, or one object a line (JSON lines).

What files called ``.jsonl`` really hold differs, so the first character decides. Either way the
file is read in pieces and one object at a time (:mod:`loaders.formats.json_window`). The reading is
strict: an object that has a name twice, ``NaN``, and values nested more than 50 deep are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from coherencegym.loaders.corpus import CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.formats.json_window import MalformedError, Refused, Window
from coherencegym.loaders.formats.lines import open_text, shown
from coherencegym.loaders.formats.records import Record

#: Values inside one another; no corpus format comes near.
_DEEPEST = 50


def json_records(file: CorpusFile, options: ReadOptions) -> Iterator[Record]:
    """Read the objects of a file.

    After a bad record, and where bad ones are skipped, reading goes on at the next line, or in an
    array at the next ``{`` after ``},``.

    Raises:
        CorpusError: the file is empty, or neither an array nor objects; or a bad record.
    """
    with open_text(file) as text:
        window = Window(text)
        first = window.after_space()
        if not first:
            raise CorpusError(f"{file.path}:1: nothing but white space, expected JSON")
        if first == "[":
            yield from _array(file, window, options)
            return
        if first != "{" and not options.skip_bad_rows:
            raise CorpusError(
                f"{file.path}:{window.line}: the file begins with {shown(first)}, "
                "expected a JSON array of objects or one JSON object a line"
            )
        yield from _lines(file, window, options)


def _array(file: CorpusFile, window: Window, options: ReadOptions) -> Iterator[Record]:
    """The objects of an array at whose opening bracket the window stands."""
    window.move(window.place + 1)
    if window.after_space() == "]":
        raise CorpusError(f"{file.path}:{window.line}: the array is empty, expected objects")
    number, mark = 0, ","
    while mark != "]":
        number += 1
        window.after_space()
        line = window.line
        place = f"{file.path}:{line}: record {number}"
        try:
            value = window.value()
            if (problem := _problem(value)) is None:
                yield Record(number, line, place, value)
            else:
                options.bad(f"{place}: {problem[0]}", problem[1])
            mark = window.after_space()
            if mark not in (",", "]"):
                raise _no_comma(mark)
            window.move(window.place + 1)
        except MalformedError as malformed:
            options.bad(f"{place}: {malformed}", malformed.reason)
            if mark != "{" and not window.seek_record():
                return
            mark = ","
    if after := window.after_space():
        message = f"{file.path}:{window.line}: {shown(after)} after the array, expected the end"
        options.bad(message, "text after the array")


def _lines(file: CorpusFile, window: Window, options: ReadOptions) -> Iterator[Record]:
    """The objects of a file that has one a line."""
    number = 0
    while window.after_space():
        number += 1
        line = window.line
        place = f"{file.path}:{line}"
        try:
            value = window.line_value()
        except MalformedError as malformed:
            options.bad(f"{place}: {malformed}", malformed.reason)
            window.pass_line()
            continue
        if (problem := _problem(value)) is None:
            yield Record(number, line, place, value)
        else:
            options.bad(f"{place}: {problem[0]}", problem[1])


def _problem(value: Any) -> tuple[str, str] | None:
    """Say why a value is no record, and the short reason; none where it is one."""
    if not isinstance(value, dict | Refused):
        return f"{kind(value)}, expected an object with named fields", "no JSON object"
    inside = [value]
    for _ in range(_DEEPEST):
        for part in inside:
            if isinstance(part, Refused):
                return part.problem, "malformed JSON"
        inside = [part for whole in inside for part in _parts(whole)]
        if not inside:
            return None
    return f"values nested more than {_DEEPEST} deep, expected fewer", "malformed JSON"


def _parts(value: Any) -> list[Any]:
    """The values directly in a value."""
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def kind(value: Any) -> str:
    """Name the kind of a JSON value, for messages."""
    if isinstance(value, bool):
        return "true or false"
    names = {dict: "an object", list: "an array", str: "a text", int: "a number", float: "a number"}
    return names.get(type(value), "null")


def _no_comma(mark: str) -> MalformedError:
    if not mark:
        return MalformedError(
            "the file ends after it, expected a closing bracket (is it cut off?)", "array cut off"
        )
    problem = f"{shown(mark)} after it, expected a comma or a closing bracket"
    return MalformedError(problem, "malformed JSON")

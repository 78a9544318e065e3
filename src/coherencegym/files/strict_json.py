"""JSON that strangers wrote, held to a schema: whatever is wrong is one line with the place.

A schema is a type that pydantic knows, our dataclasses among them, held to the letter: a number is
no string, and what a schema does not name is passed over. Beyond that a name that an object has
twice (Python's reader takes the last one) and ``NaN`` are errors.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar, cast

from pydantic import BeforeValidator, FailFast, Field, TypeAdapter, ValidationError

from coherencegym.errors import EvaluationError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

#: A file larger than this (bytes) is refused.
MOST_BYTES = 100_000_000
#: Characters of a value that an error repeats.
_SHOWN = 40
#: Name of an error of pydantic's -> what it expects, in the words of JSON.
_EXPECTED = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dataclass_type": "an object",
    "dict_type": "an object",
    "finite_number": "a number",
    "float_parsing": "a number",
    "float_type": "a number",
    "greater_than_equal": "at least {ge:g}",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "less_than_equal": "at most {le:g}",
    "path_type": "a path as text",
    "string_pattern_mismatch": "a name of letters, digits, _, . and -",
    "string_type": "a string",
    "too_short": "at least one element",
    "tuple_type": "an array",
    "unexpected_keyword_argument": "no field of this name",
}

_T = TypeVar("_T")
#: Any number of values, of which the first that is wrong is looked for, and no other.
Many = Annotated[tuple[_T, ...], FailFast()]
#: The same, and at least one of them.
Some = Annotated[tuple[_T, ...], Field(min_length=1), FailFast()]
#: A name of a suite, a version, a config, a split or a corpus, which becomes part of paths, tables
#: and commands. Joiners, which nobody sees, are no letters here.
Name = Annotated[str, Field(pattern=r"^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.-]*$")]
#: The same, or nothing.
MaybeName = Annotated[str, Field(pattern=r"^([\p{L}\p{N}_][\p{L}\p{M}\p{N}_.-]*)?$")]
#: A repository of the Hub, or nothing.
MaybeRepository = Annotated[
    str, Field(pattern=r"^([A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)?)?$")
]
#: Names, of which one may stand alone.
SomeNames = Annotated[
    tuple[str, ...], BeforeValidator(lambda given: (given,) if isinstance(given, str) else given)
]
#: A number from 0 to 1.
Share = Annotated[float, Field(ge=0, le=1)]
#: The same, or a correlation.
SignedShare = Annotated[float, Field(ge=-1, le=1)]


class _Object(dict[str, Any]):
    # A name that was there twice, so that the place can be named.
    repeated: str | None = None


def read_json(path: Path, schema: type[_T]) -> _T:
    """The value of a file, held to a schema (``dict[str, Any]`` is any object)."""
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise EvaluationError(f"{path}: over {MOST_BYTES:,} bytes; expected a smaller file")
    content = content.removeprefix(b"\xef\xbb\xbf")
    if not content.strip():
        raise EvaluationError(f"{path}: the file is empty; expected JSON")
    _refuse_what_pydantic_reads(content, path)
    try:
        found: _T = _adapter(cast(Hashable, schema)).validate_json(content, strict=True)
        return found
    except ValidationError as error:
        raise EvaluationError(f"{path}: {problem(error)}") from None


def held(value: Any, schema: type[_T]) -> _T:
    """A value of Python's types as a schema has it (lists become tuples); ``EvaluationError``."""
    try:
        found: _T = _adapter(cast(Hashable, schema)).validate_python(value)
        return found
    except ValidationError as error:
        raise EvaluationError(problem(error)) from None


@cache
def _adapter(schema: Any) -> TypeAdapter[Any]:
    return TypeAdapter(schema)


def _refuse_what_pydantic_reads(content: bytes, path: Path) -> None:
    # Python's reader names the line, and a name twice.
    repeated = False

    def constant(name: str) -> NoReturn:
        raise EvaluationError(f"{path}: {name} stands in it, which is no JSON; expected a number")

    def number(text: str) -> float:
        if math.isinf(value := float(text)):
            raise EvaluationError(f"{path}: {text[:_SHOWN]}...; expected a number that is smaller")
        return value

    def as_object(pairs: list[tuple[str, Any]]) -> _Object:
        nonlocal repeated
        made = _Object(pairs)
        if len(made) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            made.repeated = next(name for name, count in counts.items() if count > 1)
            repeated = True
        return made

    try:
        value = json.loads(
            content.decode("utf-8"),
            object_pairs_hook=as_object,
            parse_constant=constant,
            parse_float=number,
            parse_int=number,
        )
        if repeated:
            place, name = next(_repeated(value, ()))
            message = f"{path}: {_at(place)}{kind(name)} is there twice; expected it once"
            raise EvaluationError(message)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise EvaluationError(
            f"{path}:{line}: byte {error.start} of the file is not UTF-8; expected JSON in UTF-8"
        ) from None
    except json.JSONDecodeError as error:
        raise EvaluationError(
            f"{path}:{error.lineno}: not JSON at character {error.colno} of the line ({error.msg})"
        ) from None
    except RecursionError:
        raise EvaluationError(f"{path}: {_DEEP}") from None


_DEEP = "nested too deeply; expected a few levels"


def _repeated(value: Any, place: tuple[str | int, ...]) -> Iterator[tuple[Any, str]]:
    if isinstance(value, _Object) and value.repeated is not None:
        yield place, value.repeated
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in inside:
        if isinstance(part, dict | list):
            yield from _repeated(part, (*place, key))


def problem(error: ValidationError) -> str:
    """The first that is wrong: place, what was found, what was expected."""
    first: ErrorDetails = error.errors(include_url=False)[0]
    name, place = first["type"], [part for part in first["loc"] if part != "[key]"]
    if name == "json_invalid":
        reason = str(first["ctx"]["error"])
        # Python's reader has let it through: it minds neither depth nor halves of characters.
        if "recursion" in reason:
            return _DEEP
        return f"half a character{reason[reason.rfind(' at line') :]}; expected both halves"
    if name == "missing":
        return f"{_at(place[:-1])}no {place[-1]!r}; expected an object with it"
    said = first["msg"].removeprefix("Input should be ").removeprefix("String should ")
    said = said.removeprefix("Value error, ")
    expected = _EXPECTED[name].format(**first.get("ctx", {})) if name in _EXPECTED else said
    found = kind(first["input"])
    if name == "too_short":
        found = found.replace("an ", "an empty ")
    return f"{_at(place)}{found}; expected {expected}"


def _at(place: Sequence[str | int]) -> str:
    # Such as ``items[0].regions[2]: ``; empty: all.
    names = (f".{part}" if str(part).isidentifier() else f"[{json.dumps(part)}]" for part in place)
    text = "".join(names).removeprefix(".")
    return f"{text}: " if text else ""


def json_text(value: Any) -> str:
    """JSON as this program writes it, with an end of line."""
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def kind(value: Any) -> str:
    """A value, short enough for an error; of an array or an object that it is one."""
    if isinstance(value, str | bool | int | float) or value is None:
        text = json.dumps(value[: _SHOWN + 1] if isinstance(value, str) else value)
        return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
    return "an array" if isinstance(value, list | tuple) else "an object"

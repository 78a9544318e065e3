"""JSON that strangers wrote, read so that whatever is wrong with it is one line with the place.

Python's reader takes the last of two equal keys and accepts ``NaN``; here both are errors. The
functions that take ``where`` are for the reader of a format: they hold a value to a kind.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NoReturn

from eval.errors import EvaluationError

#: A file larger than this (bytes) is refused.
MOST_BYTES = 100_000_000
_LARGEST = sys.float_info.max
#: Characters of a value that an error repeats.
_SHOWN = 40


class Object(dict[str, Any]):
    """A JSON object that remembers a key that was there twice, so that the place can be named."""

    repeated: str | None = None

    @classmethod
    def of(cls, pairs: list[tuple[str, Any]]) -> Object:
        """From the pairs as they stand in the file."""
        made = cls()
        for key, value in pairs:
            if key in made:
                made.repeated = key
            made[key] = value
        return made


def load(path: Path) -> Any:
    """The JSON of a file; its objects are :class:`Object`.

    Raises:
        EvaluationError: it is too large, not UTF-8, or not JSON.
        OSError: it is not there or cannot be read.
    """

    def constant(name: str) -> NoReturn:
        raise EvaluationError(f"{path}: {name} stands in it, which is no JSON; expected a number")

    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise EvaluationError(f"{path}: over {MOST_BYTES:,} bytes; expected a smaller file")
    try:
        text = content.decode("utf-8-sig")
        return json.loads(text, object_pairs_hook=Object.of, parse_constant=constant)
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
        raise EvaluationError(f"{path}: nested too deeply; expected a few levels") from None
    except EvaluationError:
        raise
    except ValueError:
        # Python refuses to read an integer of thousands of digits.
        raise EvaluationError(f"{path}: a number of thousands of digits") from None


def kind(value: Any) -> str:
    """What a value is, short enough for an error."""
    if isinstance(value, str | bool | int | float) or value is None:
        text = json.dumps(value)
        return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
    return "an array" if isinstance(value, list) else "an object"


def as_object(value: Any, where: str, *required: str) -> Object:
    """The value, if it is an object with these keys and each of its keys once.

    Raises:
        EvaluationError: it is not.
    """
    if not isinstance(value, Object):
        raise EvaluationError(f"{where}: {kind(value)}; expected an object")
    if value.repeated is not None:
        raise EvaluationError(f"{where}: {kind(value.repeated)} is there twice; expected it once")
    for key in required:
        if key not in value:
            raise EvaluationError(f"{where}: no {key!r}; expected an object with it")
    return value


def as_array(value: Any, where: str, of: str) -> list[Any]:
    """The value, if it is an array of at least one element.

    Raises:
        EvaluationError: it is not.
    """
    if not isinstance(value, list):
        raise EvaluationError(f"{where}: {kind(value)}; expected an array of {of}")
    if not value:
        raise EvaluationError(f"{where}: an empty array; expected {of} in it")
    return value


def as_text(value: Any, where: str) -> str:
    """The value, if it is a string that UTF-8 can hold (JSON has half characters, ``\\ud800``).

    Raises:
        EvaluationError: it is not.
    """
    if not isinstance(value, str):
        raise EvaluationError(f"{where}: {kind(value)}; expected a string")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise EvaluationError(
            f"{where}: {kind(value[error.start])} is half a character; expected both halves"
        ) from None
    return value


def as_integer(value: Any, where: str) -> int:
    """The value, if it is a whole number.

    Raises:
        EvaluationError: it is not.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise EvaluationError(f"{where}: {kind(value)}; expected a whole number")
    return value


def as_boolean(value: Any, where: str) -> bool:
    """The value, if it is true or false.

    Raises:
        EvaluationError: it is not.
    """
    if not isinstance(value, bool):
        raise EvaluationError(f"{where}: {kind(value)}; expected true or false")
    return value


def as_number(value: Any, where: str) -> float:
    """The value, if it is a number that a float holds (``1e999`` is none).

    Raises:
        EvaluationError: it is not.
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST:
        return float(value)
    raise EvaluationError(f"{where}: {kind(value)}; expected a number")

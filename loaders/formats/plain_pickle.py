"""Pickles that hold lists, tuples and text, and nothing else.

A pickle is a program: loading one may run anything. Its instructions are looked at first, and any
but those that make lists, tuples and text is refused, so that no class is ever asked for.
"""

from __future__ import annotations

import io
import pickle
import pickletools
from pathlib import Path
from typing import Any

from coherencegym.loaders.corpus import CorpusError

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

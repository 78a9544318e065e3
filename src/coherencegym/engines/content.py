"""Digests of what a result depends on: values, functions, and the program's own text."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from functools import cache, partial
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

#: Files of the program that decide what it makes.
_DECIDING = (".py", ".txt", ".tsv", ".json")


def described(value: Any) -> str:
    """A value in words that are the same in every process: no addresses, no order of sets.

    Functions and classes are named, with what a function holds from around it; dataclasses and
    other objects are their fields.
    """
    if isinstance(value, partial):
        return f"partial({described([value.func, value.args, value.keywords])})"
    if isinstance(value, MethodType):
        return f"{described(value.__self__)}.{value.__name__}"
    if isinstance(value, FunctionType | BuiltinFunctionType | type):
        line = value.__code__.co_firstlineno if isinstance(value, FunctionType) else ""
        held = getattr(value, "__closure__", None) or ()
        around = described([cell.cell_contents for cell in held]) if held else ""
        return f"{value.__module__}.{value.__qualname__}:{line}{around}"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{described(k)}: {described(v)}' for k, v in value.items())}}}"
    if isinstance(value, Set):
        return f"<{', '.join(sorted(map(described, value)))}>"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(described, value))}]"
    if is_dataclass(value) and not isinstance(value, type):
        named = {each.name: getattr(value, each.name) for each in fields(value)}
        return f"{described(type(value))}{described(named)}"
    if value is None or isinstance(value, str | bytes | int | float | os.PathLike):
        return repr(value)
    return f"{described(type(value))}{described(getattr(value, '__dict__', {}))}"


def modules_of(value: Any) -> set[str]:
    """The names of the modules whose functions and classes a value holds, at any depth."""
    found: set[str] = set()
    waiting, seen = [value], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen or one is None or isinstance(one, str | bytes | int | float):
            continue
        seen.add(id(one))
        if isinstance(one, partial):
            waiting += [one.func, *one.args, *one.keywords.values()]
        elif isinstance(one, FunctionType | type):
            found.add(one.__module__)
            waiting += [cell.cell_contents for cell in getattr(one, "__closure__", None) or ()]
        elif isinstance(one, Mapping):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple | Set):
            waiting += one
        else:
            waiting += [type(one), *getattr(one, "__dict__", {}).values()]
            if is_dataclass(one):
                waiting += [getattr(one, each.name) for each in fields(one)]
    return found


def digest_of(*values: Any) -> str:
    """The digest of values, of the program, and of what else it imports to make something of them.

    A block that was kept is of no use to another version of either.
    """
    digest = hashlib.sha256(program().encode())
    for name in sorted(modules_of(values)):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is not None and name.partition(".")[0] not in _STANDS:
            digest.update(Path(file).read_bytes())
    for value in values:
        digest.update(described(value).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


_STANDS = {*sys.stdlib_module_names, "coherencegym"}


@cache
def program() -> str:
    """The digest of all files of this package that decide what it makes."""
    digest = hashlib.sha256()
    top = Path(__file__).parents[1]
    for folder, _, names in sorted(os.walk(top, followlinks=True)):
        for name in sorted(names):
            if name.endswith(_DECIDING):
                digest.update(name.encode())
                digest.update((Path(folder) / name).read_bytes())
    return digest.hexdigest()

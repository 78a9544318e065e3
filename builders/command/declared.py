"""Suites and corpora that a Python file of the user's declares."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TypeVar

from coherencegym.builders.registry import all_suites, load_suite
from coherencegym.builders.suite import Suite
from coherencegym.command_line import did_you_mean
from coherencegym.errors import EvaluationError

_T = TypeVar("_T")


def suite_named(name: str) -> Suite:
    """The suite of a name, or of the Python file that declares it."""
    if name.endswith(".py"):
        return load_declared(Path(name), "SUITE", Suite)
    if name in (known := all_suites()):
        return load_suite(name)
    raise EvaluationError(
        f"no suite {name!r}; expected one of {', '.join(known)}, or a Python file that declares "
        f"SUITE{did_you_mean(name, known)}"
    )


def load_declared(path: Path, name: str, expected: type[_T]) -> _T:
    """Run a Python file, and give the value that it declares under a name.

    Files beside it can be imported from it.
    """
    if not path.is_file():
        raise EvaluationError(f"{path}: no such file; expected a Python file that declares {name}")
    path = path.resolve()
    # Under a name that other processes can import: rows may be made in several.
    module_name = path.stem
    there = sys.modules.get(module_name)
    if there is not None and getattr(there, "__file__", None) != str(path):
        raise EvaluationError(
            f"{path}: a module called {module_name} is loaded already; expected another file name"
        )
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # whatever a file of the user's does
        del sys.modules[module_name]
        raise EvaluationError(f"{path}: cannot be run ({type(error).__name__}: {error})") from error
    value = getattr(module, name, None)
    if not isinstance(value, expected):
        found = "nothing of that name" if value is None else f"a {type(value).__name__}"
        raise EvaluationError(f"{path}: expected {name} = {expected.__name__}(...), found {found}")
    return value

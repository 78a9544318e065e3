"""The modules of suites, by name; a new one has a line in :mod:`coherencegym.licence`.

Those of other packages come by their entry points (:mod:`coherencegym.extensions`), those of a user
by the Python file that declares them.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import TypeVar

from coherencegym.builders.suite import Suite
from coherencegym.command_line import did_you_mean
from coherencegym.errors import EvaluationError, one_line
from coherencegym.extensions import added, load_extension, package_of
from coherencegym.licence import SUITES as SUITES

_T = TypeVar("_T")


def all_suites() -> tuple[str, ...]:
    """The names of all suites, those of other packages last; none is imported."""
    return (*SUITES, *added("suites", SUITES))


def describe_suite(name: str) -> str:
    """One line on a suite: of another package what the suite says, or why it cannot be had."""
    if name in SUITES:
        return SUITES[name]
    entry = added("suites", SUITES)[name]
    try:
        return one_line(f"{load_suite(name).description} (package {package_of(entry)})")
    except EvaluationError as error:
        return one_line(str(error).removeprefix(f"{entry.group}: {name} "))


def load_suite(name: str) -> Suite:
    """The suite of that name."""
    if name not in SUITES:
        loaded: Suite = load_extension(added("suites", SUITES)[name], Suite)
        return loaded
    suite = importlib.import_module(f"coherencegym.builders.{name}").SUITE
    assert isinstance(suite, Suite)
    return suite


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

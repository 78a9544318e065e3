"""Suites and corpora that a Python file of the user's declares."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from coherencegym.builders.registry import all_suites, load_suite
from coherencegym.builders.suite import Suite
from coherencegym.command_line import USER_ERROR, did_you_mean, finish
from coherencegym.errors import EvaluationError

#: The command, as errors begin.
COMMAND = "coherencegym build"


def finished(prog: str, command: Callable[[], int]) -> int:
    """Run a command of this room to its exit code: see :func:`coherencegym.command_line.finish`."""
    return finish(prog, command, explain)


def explain(error: Exception) -> tuple[int, str] | None:
    """Exit code and message of an error; none where it is a mistake of this program.

    2 where the user can mend it, 1 where the Hub failed or could not be reached.
    """
    from coherencegym.errors import EvaluationError, one_line
    from coherencegym.hub import hub_problem
    from coherencegym.loaders.corpus import BadRowError, CorpusError

    # Who raised it, or saw it pass, may know what was done before.
    notes = getattr(error, "__notes__", ())
    # Ours first: one that came of an answer of the Hub says more than the answer. What the client
    # raises is an OSError, too.
    if isinstance(error, ModuleNotFoundError) and not (error.name or "").startswith("coherencegym"):
        return USER_ERROR, one_line(
            f"{error.name} is not installed; expected pip install {error.name}"
        )
    if not isinstance(error, (CorpusError, EvaluationError)):
        again = "; ".join([*notes, "run the same command again to finish"])
        if (problem := hub_problem(error, again)) is not None:
            return problem
        if not isinstance(error, OSError):
            return None
    skip = isinstance(error, BadRowError) and "--skip-bad-rows" not in str(error)
    said = "; ".join([one_line(error), *notes])
    return USER_ERROR, said + "; --skip-bad-rows leaves it out and goes on" * skip


@contextmanager
def explaining() -> Iterator[None]:
    """Raise what the user can mend as an ``EvaluationError`` of one line."""
    try:
        yield
    except Exception as error:
        if (explained := explain(error)) is None:
            raise  # a mistake of ours, shown whole
        raise EvaluationError(explained[1]) from None


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

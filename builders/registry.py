"""The modules of suites, by name; a new one has a line in :mod:`coherencegym.licence`.

Those of other packages come by their entry points (:mod:`coherencegym.extensions`).
"""

from __future__ import annotations

import importlib

from coherencegym.builders.suite import Suite
from coherencegym.errors import EvaluationError, one_line
from coherencegym.extensions import added, load_extension, package_of
from coherencegym.licence import SUITES

__all__ = ["SUITES", "all_suites", "describe_suite", "load_suite"]


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

"""The modules of suites, by name; a new one has a line in :mod:`coherencegym.suites`.

Those of other packages come by their entry points (:mod:`coherencegym.extensions`).
"""

from __future__ import annotations

import importlib

from coherencegym.builders.suite import Suite
from coherencegym.extensions import added, load_extension, package_of
from coherencegym.suites import SUITES

__all__ = ["SUITES", "all_suites", "load_suite"]


def all_suites() -> dict[str, str]:
    """All suites by name, each with one line on it; those of other packages last."""
    others = added("suites", SUITES)
    return {**SUITES, **{name: f"a suite of {package_of(each)}" for name, each in others.items()}}


def load_suite(name: str) -> Suite:
    """The suite of that name.

    Raises:
        KeyError: there is none.
        EvaluationError: it is of another package, and cannot be imported or is no suite.
    """
    if name not in SUITES:
        loaded: Suite = load_extension(added("suites", SUITES)[name], Suite)
        return loaded
    suite = importlib.import_module(f"coherencegym.builders.{name}").SUITE
    assert isinstance(suite, Suite)
    return suite

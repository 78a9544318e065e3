"""The page of operators has every one, and is what its command prints."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from support.operators_page import EXAMPLES, operators_page

from coherencegym import manipulations
from coherencegym.manipulations.operator import Operator
from coherencegym.manipulations.probes.registry import PROBES, ProbeSentence


def test_every_operator_has_an_example() -> None:
    walked = pkgutil.walk_packages(manipulations.__path__, f"{manipulations.__name__}.")
    modules = [importlib.import_module(module.name).__name__ for module in walked]
    there = {
        each
        for each in Operator.__subclasses__()
        if each.__module__ in modules  # and not in an example of another test
        and not each.__name__.startswith("Fitted")  # what `fit` of another gives
    }
    assert {type(operator) for operator, _ in EXAMPLES} == there
    probes = {one.probe for one, _ in EXAMPLES if isinstance(one, ProbeSentence)}
    assert probes == set(PROBES)


def test_the_page_is_what_the_command_prints(repository: Path) -> None:
    """Else: ``PYTHONPATH=tests python -m support.operators_page > docs/operators.md``."""
    assert (repository / "docs/operators.md").read_text(encoding="utf-8") == operators_page()

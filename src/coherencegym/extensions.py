"""Additions of other installed packages: corpora, suites and tasks, by entry points.

A package declares them in its own metadata, without a change here::

    [project.entry-points."coherencegym.suites"]
    recipe_order = "recipes.recipe_order:SUITE"

The name is what the command line calls it. The groups are ``coherencegym.corpora`` (a ``Corpus``),
``coherencegym.suites`` (a ``Suite``) and ``coherencegym.tasks`` (a ``Task``).
A name that the toolkit has itself stays its own.
"""

from __future__ import annotations

from collections.abc import Container
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from coherencegym.errors import EvaluationError

Group = Literal["corpora", "suites", "tasks"]


@cache
def extensions(group: Group) -> dict[str, EntryPoint]:
    """The entry points of a group by name, sorted, so that lists repeat; none of them is loaded."""
    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=f"coherencegym.{group}")):
        if entry.name in found and entry.value != found[entry.name].value:
            raise EvaluationError(
                f"{group}: {entry.name!r} is declared as {found[entry.name].value} and as "
                f"{entry.value}; expected one package with it, so uninstall the other"
            )
        found[entry.name] = entry
    return found


def added(group: Group, own: Container[str]) -> dict[str, EntryPoint]:
    """The entry points whose names the toolkit does not have itself: its own are never replaced."""
    return {name: entry for name, entry in extensions(group).items() if name not in own}


def package_of(entry: EntryPoint) -> str:
    """The name of the package that declares an entry point."""
    return entry.dist.name if entry.dist is not None else entry.module


def load_extension(entry: EntryPoint, expected: type | None = None) -> Any:
    """Import what an entry point names."""
    try:
        value = entry.load()
    except Exception as error:  # whatever a package of others does when it is imported
        raise EvaluationError(
            f"{entry.group}: {entry.name} ({entry.value}) cannot be imported: "
            f"{type(error).__name__}: {error}; mend the package {package_of(entry)} and install "
            "it again, or uninstall it"
        ) from error
    if expected is not None and not isinstance(value, expected):
        raise EvaluationError(
            f"{entry.group}: {entry.name} ({entry.value}) is a {type(value).__name__}; "
            f"expected a {expected.__name__}"
        )
    return value

"""Options of a task and its subcommand, from which the shell and Python take theirs.

None of it needs the task itself, whose modules are imported when it runs, not when help is shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from coherencegym.command_line import did_you_mean, options_in
from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.table_kind import TableKind
from coherencegym.files.strict_json import held

_T = TypeVar("_T")


@dataclass(frozen=True)
class NoOptions:
    """A task that leaves nothing open."""


@dataclass(frozen=True)
class CommandLine:
    """The subcommand of a task.

    Attributes:
        name: the subcommand.
        kind: the tables that the task reads.
        options: a frozen dataclass of its own options (:func:`coherencegym.command_line.option`).
        reads_bits: false for a task that reads no surprisals, and takes no options of reading.
        units: the word for rows, in the plural.
        examples: command lines.
        several: it takes several models and datasets in one call.
    """

    name: str
    kind: TableKind[Any]
    options: type[Any] = NoOptions
    reads_bits: bool = True
    units: str = "rows"
    examples: str = ""
    several: bool = False


def options_from(options: type[_T], given: Mapping[str, Any], where: str = "") -> _T:
    """A dataclass of options by their names, of which others are passed over, checked."""
    known = options_in(options)
    chosen = {name: own for name, own in given.items() if name in known and own is not None}
    for name, value in chosen.items():
        choices = known[name].metadata["choices"]
        for each in value if isinstance(value, list | tuple) else [value]:
            if choices and each not in choices:
                listed = ", ".join(repr(choice) for choice in choices if choice)
                raise EvaluationError(f"{where}{name}={each!r}; expected one of {listed}")
    return held({known[name].name: value for name, value in chosen.items()}, options)


def refuse_unknown(where: str, given: Collection[str], known: Collection[str]) -> None:
    """Refuse the name of an option that there is not."""
    for name in given:
        if name not in known:
            listed = ", ".join(sorted(known))
            message = f"{where}no option {name!r}; expected one of {listed}"
            raise EvaluationError(message + did_you_mean(name, known))


def signed_options(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Options as a signature has them: several values with commas between, none as ``all``."""
    found = {}
    for name, value in recorded.items():
        if isinstance(value, tuple | list):
            value = ",".join(map(str, value)) or "all"
        found[name] = None if value is False or value == "" else value
    return found

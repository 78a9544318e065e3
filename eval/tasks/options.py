"""The options of a task: one frozen dataclass, from which the shell and Python take theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from coherencegym.command_line import did_you_mean
from coherencegym.errors import EvaluationError
from coherencegym.files.strict_json import held


def option(default: Any, said: str, *, rare: bool = False) -> Any:
    """A field with its default and its line of help; ``rare``: only ``--help-all`` shows it."""
    return field(default=default, metadata={"help": said, "rare": rare})


@dataclass(frozen=True)
class NoOptions:
    """A task that leaves nothing open."""


@dataclass(frozen=True)
class Argument:
    """An option on the command line.

    Attributes:
        flag: its name there.
        settings: those of :meth:`argparse.ArgumentParser.add_argument`.
        is_rare: true where only ``--help-all`` shows it.
    """

    flag: str
    settings: Mapping[str, Any]
    is_rare: bool


def arguments_of(options: type[Any]) -> list[Argument]:
    """The command line's options of a dataclass: of choices, switches, numbers and texts."""
    hints = get_type_hints(options)
    return [_argument(one, hints[one.name]) for one in fields(options)]


def _argument(one: Field[Any], hint: Any) -> Argument:
    if one.default is MISSING or "help" not in one.metadata:
        raise TypeError(f"{one.name}: expected a field that option() made")
    settings: dict[str, Any] = {"dest": one.name, "default": one.default}
    said = one.metadata["help"]
    if hint is bool:
        settings |= {"action": "store_true"}
    elif get_origin(hint) is Literal:
        settings |= {"choices": get_args(hint)}
        said += f"; default {one.default}"
    else:
        settings |= {"type": hint, "metavar": one.name.upper()}
        said += f"; default {one.default}"
    flag = "--" + one.name.replace("_", "-")
    return Argument(flag, {**settings, "help": said}, one.metadata["rare"])


def task_options(
    task: str, options: type[Any], given: Mapping[str, Any], beside: Sequence[str] = ()
) -> Any:
    """A task's options by their names, checked; errors name those that there are ``beside`` them.

    Raises:
        EvaluationError: there is no such option, or a value is of another type.
    """
    known = [one.name for one in fields(options)]
    for name in given:
        if name not in known:
            names = [*known, *beside]
            raise EvaluationError(
                f"{task}: no option {name}; expected some of {', '.join(names)}"
                f"{did_you_mean(name, names)}"
            )
    return held(given, options)

"""Options of a task and its subcommand, from which the shell and Python take theirs.

None of it needs the task itself, whose modules are imported when it runs, not when help is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any

from coherencegym.command_line import did_you_mean
from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.table_kind import TableKind
from coherencegym.files.strict_json import held


def option(
    default: Any,
    said: str,
    *,
    choices: Sequence[str] = (),
    parse: Callable[[str], Any] | None = None,
    metavar: str = "",
    off: str = "",
    rare: bool = False,
    short: str = "",
) -> Any:
    """A field of a dataclass of options.

    Args:
        default: its value where nobody gives one; ``False`` makes a switch.
        said: its text in help.
        choices: its values; empty: any of its type.
        parse: makes its value of a word of the shell; None: the type of the default does.
        metavar: the word that stands for the value in help.
        off: the switch that makes ``True`` to ``False``.
        rare: true where only ``--help-all`` shows it.
        short: its text in ``--help``, where only ``--help-all`` shows the whole one.
    """
    about = {"help": said, "choices": tuple(choices), "parse": parse, "metavar": metavar}
    return field(default=default, metadata={**about, "off": off, "rare": rare, "short": short})


@dataclass(frozen=True)
class NoOptions:
    """A task that leaves nothing open."""


@dataclass(frozen=True)
class CommandLine:
    """The subcommand of a task.

    Attributes:
        name: the subcommand.
        kind: the tables that the task reads.
        options: a frozen dataclass of its own options (:func:`option`).
        reads_bits: false for a task that reads no surprisals, and takes no options of reading.
        config_flags: other names of ``--config``.
        units: the word for rows, in the plural.
        examples: command lines.
    """

    name: str
    kind: TableKind[Any]
    options: type[Any] = NoOptions
    reads_bits: bool = True
    config_flags: tuple[str, ...] = ()
    units: str = "rows"
    examples: str = ""


@dataclass(frozen=True)
class Argument:
    """An option on the command line.

    Attributes:
        flag: its name there.
        settings: those of :meth:`argparse.ArgumentParser.add_argument`.
        is_rare: true where only ``--help-all`` shows it.
        short: its text in ``--help``; empty: the whole one.
    """

    flag: str
    settings: Mapping[str, Any]
    is_rare: bool
    short: str


def arguments_of(options: type[Any]) -> list[Argument]:
    """The command line's options of a dataclass: of choices, switches, numbers and texts."""
    return [_argument(one) for one in fields(options)]


def _argument(one: Field[Any]) -> Argument:
    about = one.metadata
    if one.default is MISSING or "help" not in about:
        raise TypeError(f"{one.name}: expected a field that option() made")
    settings: dict[str, Any] = {"dest": one.name, "default": one.default, "help": about["help"]}
    if one.default is False or one.default is True:
        settings |= {"action": "store_false" if one.default else "store_true"}
    elif about["choices"]:
        settings |= {"choices": [name for name in about["choices"] if name]}
        settings |= {"metavar": about["metavar"]} if about["metavar"] else {}
    else:
        metavar = about["metavar"] or one.name.upper()
        settings |= {"type": about["parse"] or type(one.default), "metavar": metavar}
    short = about["short"]
    if one.default not in (False, True, None, "", ()):
        settings["help"] += f"; default {one.default}"
        short += f"; default {one.default}" if short else ""
    return Argument(about["off"] or flag_of(one.name), settings, about["rare"], short)


def flag_of(name: str) -> str:
    """The name of an option on the command line."""
    return "--" + name.replace("_", "-")


def task_options(
    task: str, options: type[Any], given: Mapping[str, Any], beside: Sequence[str] = ()
) -> Any:
    """A task's options by their names, checked; errors name those that there are ``beside`` them.

    Raises:
        EvaluationError: there is no such option, or a value is none of its choices or types.
    """
    known = {one.name: one for one in fields(options)}
    names = [*known, *beside]
    for name in given:
        if name not in known:
            raise EvaluationError(
                f"{task}: no option {name}; expected some of {', '.join(names)}"
                f"{did_you_mean(name, names)}"
            )
    found = held(given, options)
    for name, one in known.items():
        choices, value = one.metadata["choices"], getattr(found, name)
        if choices and value not in choices:
            listed = ", ".join(repr(choice) for choice in choices if choice)
            raise EvaluationError(f"{task}: {name}={value!r}; expected one of {listed}")
    return found


def signed_options(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Options as a signature has them: several values with commas between, none as ``all``."""
    found = {}
    for name, value in recorded.items():
        if isinstance(value, tuple | list):
            value = ",".join(map(str, value)) or "all"
        found[name] = None if value is False or value == "" else value
    return found

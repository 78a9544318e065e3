"""What is asked of a task, in one value, from the words of a shell or the arguments of Python."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import options_in
from coherencegym.eval.plan.options import INPUT, RUNNING, Options
from coherencegym.eval.run.options import (
    CHECKPOINTS,
    DataOptions,
    ItemOptions,
    ModelOptions,
    OutputOptions,
    ShellOptions,
)
from coherencegym.eval.tasks.options import CommandLine, options_from, refuse_unknown

if TYPE_CHECKING:
    from coherencegym.eval.run.data import Rebuild
    from coherencegym.eval.tasks.task import Task


@dataclass(frozen=True)
class Call:
    """A task, and all that is asked of it.

    Attributes:
        task: the task.
        model, data: models and datasets.
        reading: ways to read texts and to run them.
        own: the task's own options.
        output: what becomes of the results.
        given: the options that were given, by their names.
        rebuild: makes the rows of a release without texts; None: nobody does.
        shell: what only the shell has; None where Python calls.
    """

    task: Task[Any, Any, Any]
    model: ModelOptions
    data: DataOptions
    reading: Options
    own: Any
    output: OutputOptions
    given: Mapping[str, Any]
    rebuild: Rebuild | None = None
    shell: ShellOptions | None = None


def options_of_command(command: CommandLine) -> list[tuple[type[Any], Collection[str]]]:
    """The dataclasses of a command's options, and the names that it takes of each.

    They are those of model, data, reading, of the task's own and of output.
    """
    own = options_in(command.options)
    reading: Collection[str] = options_in(Options)
    if not command.several:
        reading = (*INPUT, *RUNNING) if command.reads_bits else ()
    model = [
        name for name in options_in(ModelOptions) if command.several or name not in CHECKPOINTS
    ]
    data = ItemOptions if command.several else DataOptions
    return [
        (ModelOptions, model),
        (data, options_in(data)),
        (Options, [name for name in reading if name not in own]),
        (command.options, own),
        (OutputOptions, options_in(OutputOptions)),
    ]


def call_of(
    task: Task[Any, Any, Any],
    given: Mapping[str, Any],
    rebuild: Rebuild | None = None,
    shell: ShellOptions | None = None,
) -> Call:
    """The call of a task with these options, checked; what is not given is as it is by default."""
    command = task.command
    usual: dict[str, Any] = {"scorer": "auto"} if command.several else {}
    where = command.name if shell is None else ""
    kinds = options_of_command(command)
    model, data, reading, own, output = parse_options(kinds, given, where, usual)
    reading.check()
    return Call(task, model, data, reading, task.check(own), output, given, rebuild, shell)


def parse_options(
    kinds: Sequence[tuple[type[Any], Collection[str]]],
    given: Mapping[str, Any],
    where: str,
    usual: Mapping[str, Any],
) -> list[Any]:
    """The dataclasses of a command's options, of the names that it takes of each.

    Args:
        kinds: the dataclasses, and the names.
        given: the options that were given.
        where: the function of Python that was called; empty in the shell.
        usual: values by default, where they are not those of the dataclass.
    """
    if where:
        # In Python nothing is said of progress, and nothing is kept unless a folder is named.
        usual = {**usual, "quiet": True, "no_cache": given.get("cache") is None}
    begin = f"{where}: " if where else ""
    refuse_unknown(begin, given, {name for _, names in kinds for name in names})
    values = {**usual, **given}
    return [
        options_from(kind, {name: values[name] for name in names if name in values}, begin)
        for kind, names in kinds
    ]

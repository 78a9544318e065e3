"""A task of the registry as a subcommand: parser and call come of what the task declares."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import Parser, add_options
from coherencegym.errors import EvaluationError
from coherencegym.eval.run.call import call_of, options_of_command
from coherencegym.eval.run.options import METHOD, ShellOptions
from coherencegym.eval.tasks.options import CommandLine, options_from

if TYPE_CHECKING:
    from coherencegym.eval.run.data import Rebuild
    from coherencegym.eval.tasks.task import Task


class TaskCommand:
    """A task as a subcommand; the task is imported when it runs."""

    def __init__(self, command: CommandLine, load: Callable[[], Task[Any, Any, Any]]) -> None:
        self.command = command
        self.EXAMPLES = command.examples
        self._load = load

    def add_arguments(self, parser: Parser) -> None:
        """Declare the options of every task, and its own."""
        for kind, names in options_of_command(self.command):
            add_options(parser, kind, METHOD, only=names, several=self.command.several)
        add_options(parser, ShellOptions)

    def run(self, arguments: argparse.Namespace) -> int:
        """Ask models about datasets; print what was found, and write the folders."""
        given = dict(vars(arguments))
        del given["typed_words"]
        return self.ask(given.pop("rebuild"), given)

    def ask(self, rebuild: Rebuild | None, given: Mapping[str, Any], where: str = "") -> int:
        """The same by the options that were given, by their names; ``where`` begins errors."""
        from coherencegym.eval.run.runs import Runs
        from coherencegym.terminal import data_output

        shell = options_from(ShellOptions, given)
        asked = {name: value for name, value in given.items() if name not in vars(shell)}
        try:
            call = call_of(self._load(), asked, rebuild, shell)
        except EvaluationError as error:
            raise EvaluationError(f"{where}{error}") from None
        with data_output(shell.json) as out:
            runs = Runs(call)
            runs.make()
            if runs.above is not None:
                runs.finish()
            if shell.json and runs.runs:
                out.write(runs.results_text())
        return 0

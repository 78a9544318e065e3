"""The command line of the evaluator: its subcommands, and errors in one line."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import USER_ERROR, Parser, add_options, did_you_mean, finish
from coherencegym.errors import EvaluationError, ProcessError, one_line
from coherencegym.eval.tasks.registry import all_tasks, command_line_of, task_named

if TYPE_CHECKING:
    from coherencegym.eval.tasks.options import CommandLine

#: Subcommands beside the tasks of the registry: where each is in this folder, and its purpose.
COMMANDS = {
    "run": ("run_file:RunFile", "make the runs that a YAML file describes"),
    "surprisal": (
        "models:Surprisal",
        "print the surprisal of every word or token of texts, as CSV",
    ),
    "train": (
        "models:Train",
        "fine-tune an encoder on a task, for comparison with language models",
    ),
    "overview": ("results:Overview", "show several runs in one table, best model first"),
    "compare": ("results:Compare", "compare the results of models, item by item"),
    "plot": ("results:Plot", "draw the scores of several runs in one figure"),
    "show": ("models:Show", "show the surprisal of every token of one item"),
    "push": (
        "results:Push",
        "push results to a repository on the Hub: a dataset's, or the model's own",
    ),
    "export-results": ("results:ExportResults", "write results in the format of Every Eval Ever"),
}
_DEFAULT = "score"

#: Seconds that other processes give the first one to say what is wrong.
PATIENCE = 20


def commands() -> dict[str, str]:
    """All subcommands and their purposes, those of other packages last."""
    of_tasks = {name: said for name, said in all_tasks().items() if name not in COMMANDS}
    own = {name: said for name, (_, said) in COMMANDS.items()}
    return {_DEFAULT: of_tasks.pop(_DEFAULT), **own, **of_tasks}


def command_named(name: str) -> Any:
    """The subcommand of a name: its ``EXAMPLES``, ``add_arguments(parser)`` and ``run(arguments)``.

    Importing it is quick.
    """
    if name in COMMANDS:
        module, _, made = COMMANDS[name][0].partition(":")
        return getattr(importlib.import_module(f"{__package__}.{module}"), made)()
    return TaskCommand(command_line_of(name))


def make_parser(prog: str, name: str = _DEFAULT, command: Any = None) -> Parser:
    """The parser of a subcommand: of ``command``, if it was imported already."""
    command = command or command_named(name)
    summary = commands()[name]
    parser = Parser(prog, summary[0].upper() + summary[1:] + ".", command.EXAMPLES)
    command.add_arguments(parser)
    return parser


def main(argv: Sequence[str] | None = None, prog: str = "") -> int:
    """Run a subcommand; ``python -m eval`` without one is ``python -m eval score``.

    Args:
        argv: the subcommand, and its options.
        prog: the command with its subcommand; empty: ``coherencegym`` with that of ``argv``.

    Returns:
        The exit code: 0, 2 for what the user can mend (one line on standard error says what), or
        what :func:`coherencegym.command_line.finish` says.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    known = commands()
    named = bool(words) and words[0] in known
    name = words.pop(0) if named else _DEFAULT
    prog = prog or f"coherencegym {name}"

    def run() -> int:
        if words and not named and not words[0].startswith("-"):
            message = f"no subcommand {words[0]!r}; expected one of {', '.join(known)}"
            raise EvaluationError(message + did_you_mean(words[0], known))
        command = command_named(name)
        code: int = command.run(make_parser(prog, name, command).parse_args(words))
        return code

    return finish(prog, run, _explain)


class TaskCommand:
    """A task as a subcommand; the task is imported when it runs."""

    def __init__(self, command: CommandLine) -> None:
        self.command = command
        self.EXAMPLES = command.examples

    def add_arguments(self, parser: Parser) -> None:
        """Declare the options of every task, and its own."""
        from coherencegym.eval.run.call import options_of_command
        from coherencegym.eval.run.options import METHOD, ShellOptions

        for kind, names in options_of_command(self.command):
            add_options(parser, kind, METHOD, only=names, several=self.command.several)
        add_options(parser, ShellOptions)

    def run(self, arguments: argparse.Namespace) -> int:
        """Ask models about datasets; print what was found, and write the folders."""
        return self.ask(vars(arguments))

    def ask(self, given: Mapping[str, Any]) -> int:
        """The same by the options that were given, by their names."""
        from coherencegym.eval.run.options import ShellOptions
        from coherencegym.eval.run.runs import Runs
        from coherencegym.eval.tasks.options import options_from
        from coherencegym.terminal import data_output

        shell = options_from(ShellOptions, given)
        asked = {name: value for name, value in given.items() if name not in vars(shell)}
        with data_output(shell.json) as out:
            runs = Runs(task_named(self.command.name), asked, shell)
            runs.make()
            if runs.above is not None:
                runs.finish()
            if shell.json and runs.runs:
                out.write(runs.results_text())
        return 0


def _explain(error: Exception) -> tuple[int, str] | None:
    if not isinstance(error, EvaluationError | OSError):
        return None
    # Of several processes that make one mistake, the first says so. The launcher stops all when
    # one ends, so that the others wait for it; if it does not stop them, the mistake is theirs.
    if os.environ.get("RANK", "0") != "0" and not isinstance(error, ProcessError):
        time.sleep(PATIENCE)
    return USER_ERROR, one_line(error)

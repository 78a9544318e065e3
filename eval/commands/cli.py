"""The command line of the evaluator: its subcommands, and errors in one line."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, cast

from coherencegym.command_line import USER_ERROR, Parser, did_you_mean, finish
from coherencegym.errors import EvaluationError, ProcessError, one_line
from coherencegym.eval.tasks.registry import TASKS, all_tasks, command_line_of, task_named

if TYPE_CHECKING:
    from coherencegym.eval.run.data import Rebuild

#: Subcommands beside the tasks of the registry, and their purposes; the module of
#: ``export-results`` is ``export_results_command``, and has ``add_arguments`` and ``run``.
COMMANDS = {
    "run": "make the runs that a YAML file describes",
    "surprisal": "print the surprisal of every word or token of texts, as CSV",
    "train": "fine-tune an encoder on a task, for comparison with language models",
    "overview": "show several runs in one table, best model first",
    "compare": "compare the results of models, item by item",
    "plot": "draw the scores of several runs in one figure",
    "show": "show the surprisal of every token of one item",
    "push": "push results to a repository on the Hub: a dataset's, or the model's own",
    "export-results": "write results in the format of Every Eval Ever",
}
_DEFAULT = "score"

#: Seconds that other processes give the first one to say what is wrong.
PATIENCE = 20


class Command(Protocol):
    """The module of a subcommand; importing it must be quick."""

    EXAMPLES: str

    def add_arguments(self, parser: Parser) -> None:
        """Declare the options."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it; returns the exit code."""


def commands() -> dict[str, str]:
    """All subcommands and their purposes, those of other packages last."""
    of_tasks = {name: said for name, said in all_tasks().items() if name not in COMMANDS}
    return {_DEFAULT: of_tasks.pop(_DEFAULT), **COMMANDS, **of_tasks}


def command_named(name: str) -> Command:
    """The module of a subcommand, or what has the same of a task."""
    if name not in COMMANDS:
        from coherencegym.eval.commands.task_command import TaskCommand

        load = partial(task_named, name)
        if name in TASKS:
            return TaskCommand(command_line_of(name), load)
        from coherencegym.eval.tasks.task import Task

        task = load()  # of another package
        return TaskCommand(task.command, load) if isinstance(task, Task) else cast(Command, task)
    path = f"coherencegym.eval.commands.{name.replace('-', '_')}_command"
    return cast(Command, importlib.import_module(path))


def make_parser(prog: str, name: str = _DEFAULT) -> Parser:
    """The parser of a subcommand."""
    return _parser(prog, name, command_named(name))


def _parser(prog: str, name: str, module: Command) -> Parser:
    summary = getattr(module, "SUMMARY", commands()[name])
    parser = Parser(prog, summary[0].upper() + summary[1:] + ".", getattr(module, "EXAMPLES", ""))
    module.add_arguments(parser)
    return parser


def main(argv: Sequence[str] | None = None, prog: str = "", rebuild: Rebuild | None = None) -> int:
    """Run a subcommand; ``python -m eval`` without one is ``python -m eval score``.

    Args:
        argv: the subcommand, and its options.
        prog: the command with its subcommand; empty: ``coherencegym`` with that of ``argv``.
        rebuild: makes the rows of a stand-off release; none: nobody does.

    Returns:
        The exit code: 0, 2 for what the user can mend (one line on standard error says what), or
        what :func:`coherencegym.command_line.finish` says.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    known = commands()
    named = bool(words) and words[0] in known
    name = words.pop(0) if named else _DEFAULT
    prog = prog or f"coherencegym {name}"
    if words and not named and not words[0].startswith("-"):
        message = f"no subcommand {words[0]!r}; expected one of {', '.join(known)}"
        message = f"coherencegym: {message}{did_you_mean(words[0], known)}"
        print(one_line(message), file=sys.stderr)
        return USER_ERROR
    return finish(prog, lambda: run_subcommand(prog, name, words, rebuild), _explain)


def run_subcommand(
    prog: str, name: str, words: Sequence[str], rebuild: Rebuild | None = None
) -> int:
    """Run a subcommand with its options; it also sees them as typed, as ``typed_words``.

    ``rebuild``: see :func:`main`.
    """
    module = command_named(name)
    arguments = _parser(prog, name, module).parse_args(words)
    arguments.typed_words, arguments.rebuild = words, rebuild
    return module.run(arguments)


def _explain(error: Exception) -> tuple[int, str] | None:
    if not isinstance(error, EvaluationError | OSError):
        return None
    # Of several processes that make one mistake, the first says so. The launcher stops all when
    # one ends, so that the others wait for it; if it does not stop them, the mistake is theirs.
    if os.environ.get("RANK", "0") != "0" and not isinstance(error, ProcessError):
        time.sleep(PATIENCE)
    return USER_ERROR, one_line(error)

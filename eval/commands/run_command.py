"""``coherencegym run``: the runs that a file describes, by the task that it names."""

from __future__ import annotations

import argparse
from pathlib import Path

from coherencegym.command_line import Parser

EXAMPLES = """\
  coherencegym run runs.yaml
  coherencegym run results/story_cloze--gpt2/run.yaml --output again
"""


def add_arguments(parser: Parser) -> None:
    """Declare the file, and what follows it."""
    said = "YAML with task, model, dataset, output, and other options of the task"
    parser.add_argument("file", type=Path, metavar="FILE", help=said)
    said = "options of the task, in the place of those of the file"
    parser.add_argument("more", nargs=argparse.REMAINDER, metavar="...", help=said)


def run(arguments: argparse.Namespace) -> int:
    """Run the task of the file with its options, and with those that follow it."""
    from coherencegym.command_line import did_you_mean
    from coherencegym.errors import EvaluationError
    from coherencegym.eval.commands.cli import command_named
    from coherencegym.eval.commands.task_command import TaskCommand
    from coherencegym.eval.run.runs import read_run_file
    from coherencegym.eval.tasks.registry import all_tasks

    path: Path = arguments.file
    given, tasks = read_run_file(path), all_tasks()
    # A list or a mapping is not hashable.
    if (name := given.pop("task", "score")) not in [*tasks]:
        listed = f"expected one of {', '.join(tasks)}{did_you_mean(name, tasks)}"
        raise EvaluationError(f"{path}: task: no task {name!r}; {listed}")
    command = command_named(name)
    if not isinstance(command, TaskCommand):
        raise EvaluationError(f"{path}: task: {name} is a command; expected a task")
    parser = Parser(f"coherencegym run {path}")
    command.add_arguments(parser)
    for action in parser._actions:
        action.required = False  # the file has it
    more = vars(parser.parse_args(arguments.more))
    return command.ask(arguments.rebuild, {**given, **more}, f"{path}: ")

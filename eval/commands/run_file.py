"""The command line ``run``: runs that a file describes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from coherencegym.command_line import Parser, did_you_mean
from coherencegym.errors import EvaluationError, first_line
from coherencegym.eval.commands.cli import TaskCommand
from coherencegym.eval.tasks.registry import all_tasks, command_line_of
from coherencegym.files.strict_json import kind
from coherencegym.files.tables import read_text


class RunFile:
    """The runs that a file describes, by the task that it names."""

    EXAMPLES = """\
  coherencegym run runs.yaml
  coherencegym run results/story_cloze--gpt2/run.yaml --output again
"""

    def add_arguments(self, parser: Parser) -> None:
        """Declare the file, and what follows it."""
        said = "YAML with task, model, dataset, output, and other options of the task"
        parser.add_argument("file", type=Path, metavar="FILE", help=said)
        said = "options of the task, in the place of those of the file"
        parser.add_argument("more", nargs=argparse.REMAINDER, metavar="...", help=said)

    def run(self, arguments: argparse.Namespace) -> int:
        """Run the task of the file with its options, and with those that follow it."""
        path: Path = arguments.file
        given, tasks = read_run_file(path), all_tasks()
        # A list or a mapping is not hashable.
        if (name := given.pop("task", "score")) not in [*tasks]:
            listed = f"expected one of {', '.join(tasks)}{did_you_mean(name, tasks)}"
            raise EvaluationError(f"{path}: task: no task {name!r}; {listed}")
        command = TaskCommand(command_line_of(name))
        parser = Parser(f"coherencegym run {path}")
        command.add_arguments(parser)
        for action in parser._actions:
            action.required = False  # the file has it
        more = vars(parser.parse_args(arguments.more))
        try:
            return command.ask({**given, **more})
        except EvaluationError as error:
            raise EvaluationError(f"{path}: {error}") from None


def read_run_file(path: Path) -> dict[str, Any]:
    """Read a file of runs: options by their names, ``task`` among them."""
    import yaml

    try:
        content = yaml.safe_load(read_text(path))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise EvaluationError(f"{path}:{line}: not YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise EvaluationError(f"{path}: not YAML: {first_line(error)}") from None
    if not isinstance(content, dict) or not all(isinstance(name, str) for name in content):
        raise EvaluationError(
            f"{path}: {kind(content)}; expected model, dataset, task, output, ..."
        )
    return content

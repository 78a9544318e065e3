"""``coherencegym run``: the runs that a file describes, by the subcommand that it names."""

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
    said = "YAML with models, datasets, task, options and output"
    parser.add_argument("file", type=Path, metavar="FILE", help=said)
    said = "options of the task, after those of the file"
    parser.add_argument("more", nargs=argparse.REMAINDER, metavar="...", help=said)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand of the file's task with the words that it stands for."""
    from coherencegym.command_line import did_you_mean
    from coherencegym.errors import EvaluationError
    from coherencegym.eval.commands.cli import make_parser, run_subcommand
    from coherencegym.eval.run.run_file import read_run_file
    from coherencegym.eval.tasks.registry import all_tasks

    path: Path = arguments.file
    asked, tasks = read_run_file(path), all_tasks()
    if asked.task not in tasks:
        listed = f"expected one of {', '.join(tasks)}{did_you_mean(asked.task, tasks)}"
        raise EvaluationError(f"{path}: task: no task {asked.task!r}; {listed}")
    prog = f"coherencegym run {path}"
    try:
        words = asked.words(make_parser(prog, asked.task))
    except EvaluationError as error:
        raise EvaluationError(f"{path}: {error}") from None
    return run_subcommand(prog, asked.task, [*words, *arguments.more], arguments.rebuild)

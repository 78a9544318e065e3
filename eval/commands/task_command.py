"""The subcommand of a task of the registry: its options beside those of every task, and a run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.detect_command import default_output
from coherencegym.eval.commands.model_options import (
    add_loading_arguments,
    load_model,
    model_settings,
)
from coherencegym.eval.tasks.task import Task
from coherencegym.numbers import positive


class TaskCommand:
    """A task as a subcommand."""

    def __init__(self, task: Task[Any]) -> None:
        self.task = task
        self.EXAMPLES = task.examples

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options of every task, and its own."""
        add_loading_arguments(parser)
        add = parser.add_argument
        add("--dataset", required=True, metavar="ID|FOLDER", help="a Hub dataset, or a folder")
        add(
            "--config",
            dest="configs",
            nargs="+",
            action="extend",
            default=[],
            metavar="C",
            help="configs; default all",
        )
        add("--split", default="test", metavar="S", help="default test")
        add("--revision", metavar="TAG", help="tag or commit of a Hub dataset")
        add("--max-items", type=positive, metavar="N", help="only the first N rows of each table")
        self.task.options(parser)
        output = f"default results/DATA--MODEL--{self.task.name}"
        add("--output", type=Path, metavar="DIR", help=output)
        add("--overwrite", action="store_true", help="replace an existing folder of results")

    def run(self, arguments: argparse.Namespace) -> int:
        """Ask the model about every table; prints the scores and writes the folder."""
        from coherencegym.eval.data.source import find_dataset
        from coherencegym.eval.forward.distributed import world
        from coherencegym.eval.models.libraries import quiet_libraries
        from coherencegym.eval.results.folder import MARKER
        from coherencegym.eval.tasks.task import gathered, read_tables
        from coherencegym.eval.views.task_report import print_task, write_task
        from coherencegym.files.folders import check_folder

        task = self.task
        if world().size > 1:
            raise EvaluationError(f"{task.name}: several processes; expected one")
        output = arguments.output or default_output(arguments, task.name)
        check_folder(output, arguments.overwrite, MARKER)
        data = {name: getattr(arguments, name) for name in ("configs", "split", "max_items")}
        settings = {**data, **model_settings(arguments)}
        own = {name: getattr(arguments, name) for name in task.settings}
        quiet_libraries()
        source = find_dataset(arguments.dataset, arguments.revision, arguments.configs)
        tables = read_tables(task, source, **data)
        model = load_model(arguments)
        outcomes = [one for table in tables for one in task.run(model, table, arguments)]
        results = gathered(task, source, model, tables, outcomes, settings, own)
        write_task(results, output, overwrite=arguments.overwrite)
        print_task(results)
        print(f"written to {output}")
        return 0

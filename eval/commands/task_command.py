"""The subcommand of a task of the registry: its options beside those of every task, and a run."""

from __future__ import annotations

import argparse
from typing import Any

from coherencegym.command_line import Parser
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands import options
from coherencegym.eval.tasks.task import Task


class TaskCommand:
    """A task as a subcommand."""

    def __init__(self, task: Task[Any]) -> None:
        self.task = task
        self.EXAMPLES = task.examples

    def add_arguments(self, parser: Parser) -> None:
        """Declare the options of every task, and its own."""
        options.add_tables(parser)
        self.task.options(parser)
        said = f"default results/DATA--MODEL--{self.task.name}"
        options.add_output(parser, said, "results")

    def run(self, arguments: argparse.Namespace) -> int:
        """Ask the model about every table; prints the scores and writes the folder."""
        from coherencegym.eval.data.notes import of_each
        from coherencegym.eval.data.source import find_dataset
        from coherencegym.eval.forward.distributed import world
        from coherencegym.eval.models.libraries import quiet_libraries
        from coherencegym.eval.tasks.task import gathered, read_tables
        from coherencegym.eval.views.task_report import print_task, write_task

        task = self.task
        if world().size > 1:
            raise EvaluationError(f"{task.name}: several processes; expected one")
        output = options.output_of(arguments, task.name)
        options.check_output(arguments, output)
        names = ("configs", "split", "max_items")
        settings = options.model_settings(arguments, names)
        own = {name: getattr(arguments, name) for name in task.settings}
        quiet_libraries()
        source = find_dataset(arguments.dataset, arguments.revision, arguments.configs)
        read, notes = read_tables(task, source, **{name: settings[name] for name in names})
        model = options.load_model(arguments)
        asked, more = of_each(read, lambda table: (table, list(task.run(model, table, arguments))))
        tables = [table for table, _ in asked]
        outcomes = [one for _, own_ones in asked for one in own_ones]
        source = source.noted([*notes, *more])
        results = gathered(task, source, model, tables, outcomes, settings, own)
        write_task(results, output, overwrite=arguments.overwrite)
        print_task(results)
        print(f"written to {output}")
        return 0

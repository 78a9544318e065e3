"""A task of the registry as a subcommand: everything comes of what the task declares."""

from __future__ import annotations

import argparse
from dataclasses import fields
from typing import Any

from coherencegym.command_line import Parser, rare
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands import options
from coherencegym.eval.commands.running import closed, opened, planned_work, print_work, running
from coherencegym.eval.forward.distributed import world
from coherencegym.eval.tasks.options import arguments_of
from coherencegym.eval.tasks.task import Task, TaskContext

#: Options of the data, as the results record them.
_DATA = ("configs", "split", "max_items")


class TaskCommand:
    """A task as a subcommand."""

    def __init__(self, task: Task[Any, Any]) -> None:
        self.task = task
        self.EXAMPLES = task.examples

    def add_arguments(self, parser: Parser) -> None:
        """Declare the options of every task, and its own."""
        task = self.task
        options.add_tables(parser, f"configs; default all that hold {task.kind.name}")
        options.add_reading(parser, task.units)
        group = parser.group(options.READING)
        for one in arguments_of(task.options):
            action = group.add_argument(one.flag, **one.settings)
            if one.is_rare:
                rare(action)
        options.add_output(parser, f"default results/DATA--MODEL--{task.name}", "results")
        options.add_alike(parser, "--dry-run", "--quiet", "--verbose")

    def run(self, arguments: argparse.Namespace) -> int:
        """Ask the model about every table; prints the findings and writes the folder."""
        from coherencegym.eval.data.notes import of_each
        from coherencegym.eval.data.source import find_dataset
        from coherencegym.eval.outcomes.tables import OutcomeWriter
        from coherencegym.eval.tasks.findings import gather_findings
        from coherencegym.eval.tasks.options import task_options
        from coherencegym.eval.tasks.table import Table, read_tables
        from coherencegym.eval.views.findings import print_findings, write_findings

        task = self.task
        if world().size > 1:
            raise EvaluationError(f"{task.name}: several processes; expected one")
        given = {one.name: getattr(arguments, one.name) for one in fields(task.options)}
        own = task_options(task.name, task.options, given)
        chosen = options.chosen(arguments)
        output, _ = opened(arguments, task.name, _DATA)
        settings = options.settings_of(arguments, chosen, _DATA)
        # The data first: they are read in a moment, and what is wrong with them shows at once.
        source = find_dataset(arguments.dataset, arguments.revision, arguments.configs)
        data = {name: getattr(arguments, name) for name in _DATA}
        tables, notes = read_tables(task.kind, source, **data)
        if arguments.dry_run:
            texts = [(table.name, task.texts(table, own), table.separator) for table in tables]
            print_work(planned_work(arguments, texts, chosen))
            print(f"would be written to {output}")
            return 0
        writer = OutcomeWriter()
        with running(arguments, chosen) as run_:

            def ask(table: Table[Any]) -> Table[Any]:
                with run_.reading(table.name, len(table.rows), task.units) as how:
                    task.run(TaskContext(run_.loaded, chosen, **how), table, own, writer)
                return table

            asked, more = of_each(tables, ask)
        source = source.noted([*notes, *more])
        found = gather_findings(task, source, run_.loaded, asked, writer.tables(), settings, own)
        return closed(arguments, output, found, write_findings, print_findings)

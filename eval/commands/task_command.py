"""A task of the registry as a subcommand: everything comes of what the task declares."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields
from functools import partial
from typing import Any

from coherencegym.command_line import Parser, rare
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands import options
from coherencegym.eval.commands.running import (
    Running,
    closed,
    opened,
    planned_work,
    print_work,
    running,
    step_bars,
)
from coherencegym.eval.forward.cache import cache_folder
from coherencegym.eval.forward.distributed import world
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.tasks.options import arguments_of
from coherencegym.eval.tasks.task import Loader, Task, TaskContext

#: Options of the data, as the results record them.
_DATA = ("configs", "split", "max_items")


class TaskCommand:
    """A task as a subcommand."""

    def __init__(self, task: Task[Any, Any, Any]) -> None:
        self.task = task
        self.EXAMPLES = task.examples

    def add_arguments(self, parser: Parser) -> None:
        """Declare the options of every task, and its own."""
        task = self.task
        said = f"configs; default all that hold {task.kind.name}"
        options.add_tables(parser, said, *task.config_flags)
        if task.texts is None:
            options.add_cache(parser, "vectors")
        else:
            options.add_reading(parser, task.units)
        group = parser.group(options.READING)
        for one in arguments_of(task.options):
            action = group.add_argument(one.flag, **one.settings)
            if one.is_rare:
                rare(action)
        options.add_output(parser, f"default results/DATA--MODEL--{task.name}", "results")
        options.add_alike(parser, "--dry-run", "--quiet", "--verbose")

    def run(self, arguments: argparse.Namespace) -> int:
        """Ask the model about every input; prints the findings and writes the folder."""
        from coherencegym.eval.data.notes import of_each
        from coherencegym.eval.data.source import find_dataset
        from coherencegym.eval.outcomes.tables import OutcomeWriter
        from coherencegym.eval.tasks.findings import gather_findings
        from coherencegym.eval.tasks.options import task_options
        from coherencegym.eval.views.findings import print_findings, write_findings

        task = self.task
        if world().size > 1 and not task.spreads:
            raise EvaluationError(f"{task.name}: several processes; expected one")
        given = {one.name: getattr(arguments, one.name) for one in fields(task.options)}
        own = task.check(task_options(task.name, task.options, given))
        output, settings = opened(arguments, task.name, _DATA)
        chosen = options.chosen(arguments, other=tuple(given))
        # The data first: they are read in a moment, and what is wrong with them shows at once.
        named = task.names(arguments.configs, own)
        source = find_dataset(arguments.dataset, arguments.revision, named)
        data = {name: getattr(arguments, name) for name in _DATA}
        read, notes = task.read(source, **data, options=own)
        own = task.resolve(own, lambda: options.model_config(arguments, scores=False)[0], "")
        inputs, unasked = of_each(read, partial(task.accept, own), named=bool(arguments.configs))
        if task.texts is not None and task.reads(own):
            settings = options.settings_of(arguments, chosen, _DATA)
        if arguments.dry_run:
            self._say_costs(arguments, inputs, own, chosen)
            print(f"would be written to {output}")
            return 0
        writer = OutcomeWriter()
        with self._asking(arguments, own, chosen) as (model, context_of, run_):
            own = task.settle(own, model)

            def ask(one: Any) -> tuple[Any, Any]:
                with context_of(one) as context:
                    return one, task.run(context, one, own, writer)

            asked, more = of_each(inputs, ask)
        if run_ is not None and not run_.processes.is_first:
            return 0
        source = source.noted([*notes, *unasked, *more])
        about = source, model, asked, writer.tables(), settings, own
        found = gather_findings(task, *about, task.record(own, chosen))
        code = closed(arguments, output, found, write_findings, print_findings)
        if run_ is not None and self.executions:
            texts = sum(len(one.plan.sequences) for one in self.executions)
            run_.print_cache(sum(one.stored for one in self.executions), texts)
        return code

    def _say_costs(
        self, arguments: argparse.Namespace, inputs: Sequence[Any], own: Any, chosen: Any
    ) -> None:
        """Print what a run would cost; only the model's config and tokenizer are read."""
        from coherencegym.eval.report import grid

        task = self.task
        texts = [
            (task.table(one).name, read, task.table(one).separator)
            for one in inputs
            if (read := task.surprisal_texts(one, own)) is not None
        ]
        if texts:
            print_work(planned_work(arguments, texts, chosen, in_chat=task.in_chat(own)))
        elif task.costs is not None:
            table = task.costs(inputs, own, *options.model_config(arguments, scores=False))
            console = grid.console_for()
            console.print(grid.in_width(table, width=console.width))
            grid.print_below(console, table.notes)

    @contextmanager
    def _asking(
        self, arguments: argparse.Namespace, own: Any, chosen: Any
    ) -> Iterator[
        tuple[LoadedModel, Callable[[Any], AbstractContextManager[TaskContext]], Running | None]
    ]:
        """The model, what a table is asked with, and the run if texts are read."""
        task, memo = self.task, dict[Any, Any]()
        self.executions: list[Any] = []
        kept: dict[str, Any] = {"executions": self.executions, "memo": memo}
        if task.texts is not None and task.reads(own):
            with running(arguments, chosen) as run_:

                @contextmanager
                def reading(one: Any) -> Iterator[TaskContext]:
                    with run_.reading(task.table(one).name, len(one.rows), task.units) as how:
                        yield TaskContext(run_.loaded, chosen, **how, **kept)

                yield run_.loaded, reading, run_
            return
        loader = Loader(
            lambda: options.load_model(arguments),
            lambda: options.load_model(arguments, scores=False),
            lambda head: options.load_head(arguments, head),
        )
        model = task.load(own, loader)
        vectors = None if arguments.no_cache else cache_folder(arguments.cache) / "states"

        @contextmanager
        def stepping(one: Any) -> Iterator[TaskContext]:
            name, number = task.table(one).name, len(one.rows)
            with step_bars(name, number, task.units, arguments.quiet) as step:
                yield TaskContext(model, chosen, vectors=vectors, step=step, **kept)

        yield model, stepping, None

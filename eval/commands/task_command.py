"""A task of the registry as a subcommand: everything comes of what the task declares."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import Parser, rare, short
from coherencegym.errors import EvaluationError, one_line
from coherencegym.eval.commands import options
from coherencegym.eval.commands.running import Work, planned_work, print_work
from coherencegym.eval.data.notes import first_names
from coherencegym.eval.forward.distributed import world
from coherencegym.eval.tasks.options import CommandLine, arguments_of

if TYPE_CHECKING:
    from coherencegym.eval.commands.several import Data, DatasetInputs, Several
    from coherencegym.eval.plan.options import Options
    from coherencegym.eval.plan.requests import Query
    from coherencegym.eval.tasks.results import Results
    from coherencegym.eval.tasks.task import Task


class TaskCommand:
    """A task as a subcommand; the task is imported when it runs."""

    def __init__(self, command: CommandLine, load: Callable[[], Task[Any, Any, Any]]) -> None:
        self.command = command
        self.EXAMPLES = command.examples
        self._load = load

    @cached_property
    def task(self) -> Task[Any, Any, Any]:
        """The task."""
        return self._load()

    def add_arguments(self, parser: Parser) -> None:
        """Declare the options of every task, and its own."""
        command = self.command
        said = f"configs; default all that hold {command.kind.name}"
        options.add_tables(parser, said, *command.config_flags)
        if command.reads_bits:
            options.add_reading(parser, command.units)
        else:
            options.add_cache(parser, "vectors")
        self.add_own(parser, options.READING)
        options.add_output(parser, f"default results/DATA--MODEL--{command.name}", "results")
        options.add_alike(parser, "--dry-run", "--json", "--quiet", "--verbose")

    def add_own(self, parser: Parser, group: str) -> None:
        """Declare the task's own options, in a group of the help."""
        for one in arguments_of(self.command.options):
            action = parser.group(group).add_argument(one.flag, **one.settings)
            if one.is_rare:
                rare(action)
            if one.short:
                short(action, one.short)

    def models(self, arguments: argparse.Namespace) -> list[argparse.Namespace]:
        """The options of each model."""
        return [arguments]

    def datasets(self, arguments: argparse.Namespace) -> list[str | None]:
        """The names of the datasets."""
        return [arguments.dataset]

    def is_alone(
        self, arguments: argparse.Namespace, models: Sequence[Any], datasets: Sequence[Any]
    ) -> bool:
        """Say that there will be one run, without others beside it."""
        return True

    def read(self, arguments: argparse.Namespace, own: Any) -> DatasetInputs:
        """The inputs of a dataset.

        Raises:
            EvaluationError: they cannot be read.
        """
        from coherencegym.eval.commands.asking import RECORDED
        from coherencegym.eval.commands.several import DatasetInputs

        named = self.task.names(arguments.configs, own)
        source = options.dataset_source(arguments, named)
        data = {name: getattr(arguments, name) for name in RECORDED}
        inputs, notes = self.task.read(source, **data, options=own)
        return DatasetInputs(source, inputs, notes)

    def texts(self, one: Any, own: Any, chosen: Options) -> Sequence[Query]:
        """The texts of an input that are read."""
        return self.task.surprisal_texts(one, own) or ()

    def check(self, arguments: argparse.Namespace) -> None:
        """Refuse options that only this command has, before anything is read."""

    def finish(self, arguments: argparse.Namespace, runs: Sequence[Results]) -> None:
        """Do what is to be done with the folders of all runs."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Ask models about every input of datasets; print the findings, and write their folders.

        Raises:
            EvaluationError: nothing can be asked, results are there of other things, or one of
                several runs could not be made.
        """
        from coherencegym.terminal import data_output

        with data_output(arguments.json) as out:
            several = self._run(arguments)
            if arguments.json and several.runs:
                out.write(several.results_text())
        return 0

    def _run(self, arguments: argparse.Namespace) -> Several:
        from coherencegym.eval.commands.run_file import given_options
        from coherencegym.eval.commands.several import Several
        from coherencegym.eval.models.libraries import quiet_libraries
        from coherencegym.eval.results.folder import told_apart
        from coherencegym.eval.tasks.options import task_options
        from coherencegym.eval.views.overview import check_runs

        task, command = self.task, self.command
        given = {one.name: getattr(arguments, one.name) for one in fields(command.options)}
        own = task.check(task_options(command.name, command.options, given))
        chosen = options.chosen(arguments, other=tuple(given))
        datasets, models = self.datasets(arguments), self.models(arguments)
        alone = self.is_alone(arguments, models, datasets)
        if world().size > 1 and not (alone and task.spreads):
            expected = "one model and one dataset with them" if task.spreads else "one"
            raise EvaluationError(f"{command.name}: several processes; expected {expected}")
        names = told_apart({d for d in datasets if d is not None}) | told_apart(
            {one.model for one in models}
        )
        pairs = [[self._pair(one, data, names, alone) for data in datasets] for one in models]
        parser = Parser()
        self.add_arguments(parser)
        typed = given_options(parser, arguments.typed_words)
        above = None if alone else _folder_of(arguments)
        several = Several(task, own, pairs, chosen, above, typed)
        elsewhere = (given.get("calibrate_on") or "").rpartition(":")[0]
        check_runs(
            several.folders,
            arguments.overwrite,
            several.above,
            kept=several.started,
            inputs=[name for name in (*datasets, elsewhere) if name],
            around=[*(one.model for one in models), *options.files_given(arguments)],
        )
        self.check(arguments)
        options.model_settings(pairs[0][0], ())
        quiet_libraries()
        # The data first: they are read in a moment, and what is wrong with them shows at once.
        read = [self.read(one, own) for one in pairs[0]]
        several.check_models(read)
        if arguments.dry_run:
            self._explain(several, read)
            return several
        runs = several.made(read)
        if several.above is not None:
            several.finish()
        self.finish(arguments, runs)
        return several

    def _pair(
        self,
        arguments: argparse.Namespace,
        dataset: str | None,
        names: Mapping[str, str],
        alone: bool,
    ) -> argparse.Namespace:
        own = argparse.Namespace(**{**vars(arguments), "dataset": dataset})
        name = "" if self.command.name == "score" else self.command.name
        if alone:
            own.output = options.output_of(own, name)
        else:
            own.output = None
            own.output = _folder_of(arguments) / options.output_of(own, name, names).name
        return own

    def _explain(self, several: Several, read: Data) -> None:
        # Only the configs and tokenizers of models are read. The plan is printed once for all
        # models that have the same.
        from coherencegym.eval.report import grid

        task, chosen = self.task, several.chosen
        models = [own[0] for own in several.pairs]
        own = several.resolved(models[0])
        accepted = [several.accepted(own, models[0], one) for one in read]
        if task.texts is None or not task.reads(own):
            if task.costs is not None:
                table = task.costs(
                    accepted[0].inputs, own, *options.model_config(models[0], scores=False)
                )
                console = grid.console_for()
                console.print(grid.in_width(table, width=console.width))
                grid.print_below(console, table.notes)
        else:

            def texts() -> Iterator[tuple[str, Sequence[Query], bool]]:
                for one in accepted:
                    data = f"{one.source.name}: " if len(accepted) > 1 else ""
                    for each in one.inputs:
                        table = task.table(each)
                        yield data + table.name, self.texts(each, own, chosen), table.separator

            known: dict[object, Work] = {}
            alike: dict[Work, list[str]] = {}
            for model in models:
                in_chat = task.in_chat(own)
                work = planned_work(model, texts(), chosen, in_chat=in_chat, known=known)
                alike.setdefault(work, []).append(options.model_name(model))
            _print_works(alike)
        if several.above is None:
            print(f"would be written to {several.folders[0]}")


def _print_works(alike: Mapping[Work, Sequence[str]]) -> None:
    *_, last = alike
    several = sum(map(len, alike.values())) > 1
    for work, names in alike.items():
        if several:
            counted = f"each of {len(names):,} models" if len(names) > 1 else "one model"
            print(one_line(f"the plan of {counted}: {first_names(names)}"))
        # What is under the last plan, too, is said there alone.
        own = [note for note in work.notes if work == last or note not in last.notes]
        print_work(replace(work, notes=tuple(own)))


def _folder_of(arguments: argparse.Namespace) -> Path:
    return arguments.output or Path("results")

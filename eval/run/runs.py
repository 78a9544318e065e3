"""Runs of a task: models on datasets, one or many. Python's calls and the shell's are both this.

Each model is loaded once, and texts are encoded and planned once for all models that read them
alike (:mod:`eval.plan.cached`). In the shell what is there is kept, and what fails does not end the
rest.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError, one_line
from coherencegym.eval.backends.registry import backend_named
from coherencegym.eval.data.notes import of_each
from coherencegym.eval.forward.cache import Cache, cache_folder
from coherencegym.eval.forward.distributed import ALONE, World, world
from coherencegym.eval.models.in_memory import evaluating
from coherencegym.eval.models.libraries import quiet_libraries
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.plan.cached import CachedPlans
from coherencegym.eval.plan.options import Options
from coherencegym.eval.report.formats import json_text
from coherencegym.eval.results.earlier import earlier_run, is_of_code
from coherencegym.eval.results.folder import MARKER, run_name, told_apart, write_results
from coherencegym.eval.results.read import runs_beside
from coherencegym.eval.results.steps import step_of
from coherencegym.eval.run.asking import described_model, reading_model
from coherencegym.eval.run.cache import print_cache
from coherencegym.eval.run.call import Call
from coherencegym.eval.run.data import (
    DatasetInputs,
    Items,
    each_dataset,
    is_file,
    read_dataset,
)
from coherencegym.eval.run.options import DataOptions, ModelOptions, SeveralModels, each_model
from coherencegym.eval.run.progress import batch_bar, step_bars
from coherencegym.eval.run.run_file import RUN_FILE_NAME, run_file_text
from coherencegym.eval.run.work import Work, planned_work, print_works
from coherencegym.eval.tasks.collect import collect_results
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.task import Loader, Task, TaskContext
from coherencegym.eval.views.overview import (
    PAGE,
    ShownOverview,
    check_runs,
    has_overview,
    overview,
    print_overview,
    write_overview,
)
from coherencegym.eval.views.page import write_results_files
from coherencegym.files.folders import written_beside

if TYPE_CHECKING:
    from coherencegym.eval.plan.requests import Query

#: The names of the settings of the data, as results record them.
_DATA = ("configs", "split", "max_items")


@dataclass(frozen=True)
class _Place:
    """A model on a dataset, and the folder of its results; None: nothing is written."""

    model: ModelOptions
    data: DataOptions
    folder: Path | None


@dataclass(frozen=True)
class Asker:
    """A loaded model, with the options as they came to for it, cache and processes of the run."""

    loaded: LoadedModel
    reading: Options
    own: Any
    is_read: bool
    cache: Cache | None = None
    processes: World = ALONE
    memo: dict[Any, Any] = field(default_factory=dict)


def run_task(call: Call) -> Results | ShownOverview:
    """Ask models about datasets, and write what was found, for Python.

    Returns:
        The results of one model on one dataset, or the overview of several.

    Raises:
        EvaluationError: something cannot be read or asked, or results are there already.
    """
    runs = Runs(call)
    runs.make()
    if runs.above is not None:
        runs.write_overview()
    return runs.last if len(runs.runs) == 1 else overview(runs.runs)


def results_about(
    task: Task[Any, Any, Any],
    context: TaskContext,
    read: DatasetInputs,
    own: Any,
    settings: Mapping[str, Any],
) -> Results:
    """What a model in evaluation mode says of the inputs of a dataset.

    Args:
        own: the task's options, as they came to for the model.
        settings: those of the model, as results record them.

    Raises:
        EvaluationError: nothing can be asked.
    """
    writer, reading = OutcomeWriter(), context.reading
    asked, more = task.ask(context, read.inputs, own, writer)
    is_read = task.texts is not None and task.reads(own)
    recorded = {**read.chosen, **(reading.record() if is_read else {}), **settings}
    source, outcomes = read.source.noted([*read.notes, *more]), writer.tables(last=True)
    about = source, context.model, asked, outcomes, recorded, own
    return collect_results(task, *about, task.record(own, reading))


class Runs:
    """The runs of a call.

    Attributes:
        call: the call.
        above: the folder of the overview; None: there will be none.
        runs: those that are there, in their order, once they are made.
        last: the results of the last one that was made.
    """

    last: Results

    def __init__(self, call: Call) -> None:
        self.call = call
        self.runs: list[Results] = []
        self._made: dict[tuple[int, int], Results] = {}
        self._refused: dict[tuple[int, int], EvaluationError] = {}
        datasets, left_out = each_dataset(call.data)
        command = call.task.command
        how: Any = (command.name, self._reads_by_model, call.reading.scorer)
        if call.shell is not None:
            for name in left_out:
                print(one_line(f"left out, as it has no minimal pairs: {name}"), file=sys.stderr)
        self.models = [described_model(one, *how) for one in each_model(call.model)]
        output = call.output.output
        # A training that has one checkpoint today has two tomorrow.
        is_training = isinstance(call.model, SeveralModels) and bool(call.model.all_revisions)
        alone = len(datasets) == len(self.models) == 1 and not is_training
        alone = alone and not (command.several and output and has_overview(output))
        if not alone and not command.several:
            raise EvaluationError(f"{command.name}: several models; expected one")
        self.processes = ALONE if call.shell is None else world()
        if self.processes.size > 1 and not (call.task.spreads and alone):
            some = "one model and one dataset with them" if call.task.spreads else "one"
            raise EvaluationError(f"{command.name}: several processes; expected {some}")
        if output is None and call.shell is not None:
            output = None if alone else Path("results")
        self.above = None if alone else output
        folders = self._folders(datasets, output, alone)
        self.places = [
            [_Place(model, data, folder) for data, folder in zip(datasets, own, strict=True)]
            for model, own in zip(self.models, folders, strict=True)
        ]
        self._check_folders(datasets)

    def _reads_by_model(self, model: Any) -> bool:
        task, name = self.call.task, type(model).__name__
        return self._reads(task.resolve(self.call.own, lambda: model.config, name))

    def _reads(self, own: Any) -> bool:
        return self.call.task.texts is not None and self.call.task.reads(own)

    def _folders(
        self, datasets: Sequence[DataOptions], output: Path | None, alone: bool
    ) -> list[list[Path | None]]:
        given, task = self.call.given, self.call.task.command.name
        how = "" if task == "score" else task, *(given.get(n) or "" for n in ("scorer", "masking"))
        if alone and output is not None:
            return [[output]]
        if output is None and self.call.shell is None:
            return [[None] * len(datasets) for _ in self.models]
        data = [_data_name(one.dataset) for one in datasets]
        models = [_model_name(one) for one in self.models]
        names = {} if alone else told_apart({*data}) | told_apart({*models})
        above = output or Path("results")
        return [
            [
                above
                / run_name(
                    *(names.get(of, of), names.get(model, model), *how), revision=one.revision
                )
                for of in data
            ]
            for model, one in zip(models, self.models, strict=True)
        ]

    def _check_folders(self, datasets: Sequence[DataOptions]) -> None:
        folders = [one.folder for own in self.places for one in own if one.folder is not None]
        if not folders:
            return
        call = self.call
        names = [_read_from(one.dataset) for one in datasets]
        elsewhere = str(call.given.get("calibrate_on") or "").rpartition(":")[0]
        files = [name for name in names if is_file(name)]
        around = [*(one.model for one in self.models if not one.is_loaded), *files]
        check_runs(
            folders,
            call.output.overwrite,
            self.above,
            "output=" if call.shell is None else "--output",
            kept=self._started(),
            inputs=[name for name in (*names, elsewhere) if name and name not in files],
            around=around,
        )

    def _started(self) -> set[Path]:
        """The folders that an earlier run has left, unless they are to be made anew."""
        call = self.call
        if call.shell is None or not call.task.resumes or call.output.overwrite:
            return set()
        folders = (one.folder for own in self.places for one in own)
        return {folder for folder in folders if folder and (folder / MARKER).is_file()}

    def make(self) -> None:
        """Read the data, make the runs that are not there, and write each as soon as it is made.

        Raises:
            EvaluationError: something cannot be read or asked; in the shell nothing can be.
        """
        call, is_shell = self.call, self.call.shell is not None
        self.models[0].record()
        if is_shell:
            quiet_libraries()
        # The data first: they are read in a moment, and what is wrong with them shows at once.
        data = [one.data for one in self.places[0]]
        how: Any = {"in_parts": is_shell}
        read = [read_dataset(call.task, one, call.own, call.rebuild, **how) for one in data]
        self._check_models(read)
        if call.shell is not None and call.shell.dry_run:
            self._explain(read)
            return
        plans = CachedPlans() if len(self.models) > 1 else None
        self._say_kept()
        for number, model in enumerate(self.models):
            left = [
                key
                for key in ((number, each) for each in range(len(read)))
                if key not in self._made and key not in self._refused
            ]
            if left:
                with self._attempt(model.name):
                    self._ask(model, {key: read[key[1]] for key in left}, plans)
        self.runs = [run for _, run in sorted(self._made.items(), key=lambda one: one[0])]

    def _say_kept(self) -> None:
        all_runs = sum(map(len, self.places))
        if self._made and self.above is not None:
            print(f"{len(self._made):,} of {all_runs:,} runs are there already, and kept")
        elif self._made and self.processes.is_first:
            folder = self.places[0][0].folder
            print(
                f"{folder} has the results of this very run already: nothing was scored "
                f"(`coherencegym overview {folder}` prints the score, --overwrite scores again)"
            )

    def _check_models(self, read: Sequence[DatasetInputs]) -> None:
        """Read the config of each model: the last may not be there, which hours later is too late.

        Results that are there are taken for done where they are of the same model, rows and
        settings; those of something else are said, and stay.

        Raises:
            EvaluationError: a model cannot be had, or all results would be in the way of others.
        """
        started = self._started()
        for number, own in enumerate(self.places):
            there = [each for each, one in enumerate(own) if one.folder in started]
            if there:
                self._keep(number, there, read)
            elif len(self.models) > 1 and not self.models[number].is_loaded:
                self.models[number].config(scorer=self.call.reading.scorer)
        if self._refused and len(self._refused) == sum(map(len, self.places)):
            raise next(iter(self._refused.values()))
        for error in self._refused.values():
            print(one_line(f"not scored: {error}"), file=sys.stderr)

    def _keep(self, number: int, there: Sequence[int], read: Sequence[DatasetInputs]) -> None:
        # Its files are read for their digest.
        model, reading = self.models[number], self.call.reading
        first = self.places[number][there[0]].folder
        assert first is not None
        facts, scorer = backend_named(model.backend).read_facts(
            *(model.model, model.device, model.dtype),
            **model.how(),
            scorer=reading.scorer,
            code=model.trust_remote_code and is_of_code(first),
        )
        chosen = reading.settled(scorer).record()
        for each in there:
            folder, data = self.places[number][each].folder, read[each]
            assert folder is not None
            settings = {**data.chosen, **chosen, **model.record()}
            about = folder, facts, data.source, data.inputs, settings
            try:
                self._made[number, each] = earlier_run(*about, tokens=self.call.own.tokens)
            except EvaluationError as error:
                self._refused[number, each] = error

    @contextmanager
    def _attempt(self, what: str) -> Iterator[None]:
        # What fails is said and the rest goes on, unless it is the first thing that is tried.
        try:
            yield
        except EvaluationError as error:
            if not self._made or self.call.shell is None:
                raise
            print(one_line(f"{what}: not scored: {error}"), file=sys.stderr)

    def _resolved(self, model: ModelOptions) -> Any:
        """The task's options as they come to by the config of a model."""
        task = self.call.task
        if model.is_loaded:
            of = model.model.model
            return task.resolve(self.call.own, lambda: of.config, type(of).__name__)
        return task.resolve(self.call.own, lambda: model.config(scores=False)[0], "")

    def _accepted(self, own: Any, read: DatasetInputs) -> DatasetInputs:
        """The inputs that options can be asked of.

        Raises:
            EvaluationError: there is none, or one that was named is not among them.
        """
        is_named, accept = bool(self.call.data.config), partial(self.call.task.accept, own)
        found, left_out = of_each(read.inputs, accept, named=is_named)
        return replace(read, inputs=found, notes=[*read.notes, *left_out])

    def _ask(
        self,
        model: ModelOptions,
        left: Mapping[tuple[int, int], DatasetInputs],
        plans: CachedPlans | None,
    ) -> None:
        own = self._resolved(model)
        accepted = {key: self._accepted(own, read) for key, read in left.items()}
        with self._asking(model, own) as asker:
            for key, read in accepted.items():
                place = self.places[key[0]][key[1]]
                with self._attempt(str(place.folder)):
                    self._run(key, asker, read, plans)

    @contextmanager
    def _asking(self, model: ModelOptions, own: Any) -> Iterator[Asker]:
        """The model, loaded as the task needs it, in as many processes as were launched.

        Raises:
            EvaluationError: it cannot be loaded, or an option has no meaning for its scorer.
        """
        call = self.call
        if self._reads(own):
            how = call.reading, call.output, self.processes
            with reading_model(model, *how) as (loaded, reading, cache):
                own = call.task.settle(own, loaded)
                yield Asker(loaded, reading, own, True, cache, self.processes)
            return
        loaders = Loader(model.load, model.load_vectors, model.load_head)
        loaded = model.model if model.is_loaded else call.task.load(own, loaders)
        with evaluating(loaded.model) if model.is_loaded else nullcontext():
            yield Asker(loaded, call.reading, call.task.settle(own, loaded), False)

    def _context(
        self, asker: Asker, plans: CachedPlans | None, folder: Path | None, above: str
    ) -> TaskContext:
        output, units = self.call.output, self.call.task.command.units
        is_quiet = output.quiet or not asker.processes.is_first

        @contextmanager
        def showing(name: str, number: int) -> Iterator[Mapping[str, Any]]:
            said: Any = (above + name, number, units, is_quiet)
            if asker.is_read:
                with batch_bar(*said) as progress:
                    yield {"store": asker.cache, "progress": progress, "world": asker.processes}
            else:
                with step_bars(*said) as step:
                    yield {"step": step}

        vectors = None if output.no_cache else cache_folder(output.cache)
        about: Any = {"memo": asker.memo, "showing": showing, "folder": folder}
        if not asker.is_read:
            about["vectors"] = vectors
        of_model = None if plans is None else plans.of(asker.loaded.tokenizer)
        return TaskContext(asker.loaded, asker.reading, plans=of_model, **about)

    def _run(
        self,
        key: tuple[int, int],
        asker: Asker,
        read: DatasetInputs,
        plans: CachedPlans | None,
    ) -> None:
        place, task = self.places[key[0]][key[1]], self.call.task
        about = read, asker.own, place.model.record()
        if place.folder is None or not asker.processes.is_first:
            context = self._context(asker, plans, None, "")
            found = results_about(task, context, *about)
        else:
            with written_beside(place.folder, self.call.output.overwrite) as work:
                above = f"{place.folder.name}: " if self.above is not None else ""
                context = self._context(asker, plans, work, above)
                found = results_about(task, context, *about)
                write_results(found, work)
                write_results_files(found, work)
                about_run = place.model, place.data, place.folder
                if text := run_file_text(self.call, *about_run, found.signature):
                    (work / RUN_FILE_NAME).write_bytes(text.encode("utf-8", "replace"))
        if not asker.processes.is_first:
            return
        found = replace(found, folder=place.folder)
        self._made[key] = found.without_details()
        if self.call.shell is None:
            self.last = found
        elif self.above is None or self.call.shell.verbose:
            found.print(verbose=self.call.shell.verbose)
            print(f"written to {place.folder}")
            if asker.cache is not None and context.reads:
                known, texts = map(sum, zip(*context.reads, strict=True))
                print_cache(asker.cache, known, texts, asker.reading.is_masked)

    def results_text(self) -> str:
        """The content of ``results.json``; of several runs a list, in their order."""
        found = [json.loads((run.place / MARKER).read_text(encoding="utf-8")) for run in self.runs]
        return json_text(found[0] if self.above is None else found)

    def write_overview(self) -> ShownOverview:
        """Write the overview of these runs and of what else is in the folder."""
        assert self.above is not None
        shown = overview([*self._beside(self.above), *self.runs])
        write_overview(shown, self.above)
        return shown

    def finish(self) -> None:
        """Write the overview, print it, and say what is missing.

        Raises:
            EvaluationError: a run could not be made.
        """
        print_overview(self.write_overview())
        assert self.above is not None
        print(f"written to {self.above}: open {self.above / PAGE}")
        every = sum(map(len, self.places))
        if missing := every - len(self.runs):
            raise EvaluationError(
                f"{missing:,} of {every:,} runs could not be made, as said above; the same "
                "command keeps the others and tries these again"
                + " (results of other rows in the way: --output for another folder, or --overwrite)"
                * bool(self._refused)
            )

    def _beside(self, above: Path) -> list[Results]:
        # Earlier results in the folder: other models, and checkpoints that were deleted since, of a
        # training that was scored now only those of the same rows and settings.
        known: dict[object, list[object]] = {}
        for run in self.runs:
            known.setdefault(_training(run), []).append(self._about(run))
        folders = [one.folder for own in self.places for one in own if one.folder is not None]
        return [
            run
            for run in runs_beside(above, folders)
            if (training := _training(run)) is None
            or self._about(run) in known.get(training, [self._about(run)])
        ]

    def _about(self, run: Results) -> object:
        names = (*_DATA, *self.call.reading.record(), "intervals", "versions")
        return run.digests, [run.settings.get(name) for name in names]

    def _explain(self, read: Sequence[DatasetInputs]) -> None:
        # Only the configs and tokenizers of models are read. The plan is printed once for all
        # models that have the same.
        task, reading = self.call.task, self.call.reading
        own = self._resolved(self.models[0])
        accepted = [self._accepted(own, one) for one in read]
        if self._reads(own):

            def texts() -> Iterator[tuple[str, Sequence[Query], bool]]:
                for one in accepted:
                    data = f"{one.source.name}: " if len(accepted) > 1 else ""
                    for each in one.inputs:
                        table = task.table(each)
                        queries = task.surprisal_texts(each, own) or ()
                        yield data + table.name, queries, table.separator

            known: dict[object, Work] = {}
            alike: dict[Work, list[str]] = {}
            for model in self.models:
                in_chat = task.in_chat(own)
                work = planned_work(model, texts(), reading, in_chat=in_chat, known=known)
                alike.setdefault(work, []).append(model.name)
            print_works(alike)
        elif task.costs is not None:
            from coherencegym.eval.report import grid

            config = self.models[0].config(scores=False)
            table = task.costs(accepted[0].inputs, own, *config)
            console = grid.console_for()
            console.print(grid.in_width(table, width=console.width))
            grid.print_below(console, table.notes)
        if self.above is None:
            print(f"would be written to {self.places[0][0].folder}")


def _training(run: Results) -> tuple[str, ...] | None:
    # None where the run is of no checkpoint.
    step = step_of(run)
    return (step.training, step.unit, run.data, run.suite, run.version) if step else None


def _model_name(options: ModelOptions) -> str:
    return str(options.model.name if options.is_loaded else options.model)


def _read_from(dataset: Any) -> str:
    return dataset.source.name if isinstance(dataset, Items) else _text_of(dataset)


def _text_of(dataset: Any) -> str:
    return str(dataset) if isinstance(dataset, str | Path) else ""


def _data_name(dataset: Any) -> str:
    # That of a file is its own without the ending, that of a suite in memory the suite's.
    name = _read_from(dataset)
    if isinstance(dataset, Items):
        return name if dataset.source.repo or Path(name).is_dir() else dataset.source.suite
    return Path(name).stem if is_file(name) and not Path(name).is_dir() else name

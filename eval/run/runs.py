"""Runs of a task: models on datasets, one or many. Python's calls and the shell's are both this.

Each model is loaded once, and texts are encoded and planned once for all models that read them
alike (:mod:`eval.plan.plan`). In the shell what fails does not end the rest.

A run is also a file of YAML: the name of a task and the arguments of its function in Python.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from coherencegym.errors import EvaluationError, one_line
from coherencegym.escapes import visible
from coherencegym.eval.forward.cache import Cache, cache_folder
from coherencegym.eval.forward.trial import Trials
from coherencegym.eval.models.in_memory import evaluating
from coherencegym.eval.models.machine import ALONE, quiet_libraries, world
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.plan.cached_plans import CachedPlans
from coherencegym.eval.report.formats import print_document
from coherencegym.eval.results.folder import MARKER, OVERVIEW, run_name, runs_beside, told_apart
from coherencegym.eval.results.written import write_results
from coherencegym.eval.run.call import (
    described_model,
    print_cache,
    progress_bar,
    reading_model,
    task_options,
    timed,
)
from coherencegym.eval.run.data import DatasetInputs, Items, each_dataset, is_file, read_dataset
from coherencegym.eval.run.options import DataOptions, ModelOptions, ShellOptions, each_model
from coherencegym.eval.tasks.collect import collect_results
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.task import StepProgress, Task, TaskContext
from coherencegym.eval.views.page import PAGE_OF_RUN, write_results_files
from coherencegym.files.folders import check_folder, check_inputs, written_beside
from coherencegym.files.strict_json import json_text

if TYPE_CHECKING:
    from coherencegym.eval.views.overview import ShownOverview


#: The name of the file in a folder of results.
RUN_FILE_NAME = "run.yaml"
#: Options that say nothing of one run in its folder, or are told by its model and its dataset.
_UNRECORDED = frozenset(
    {
        *("model", "model_revision", "all_revisions", "dataset"),
        *("output", "overwrite", "quiet"),
    }
)


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return list(map(_plain, value))
    return value if isinstance(value, str | int | float) else str(value)


#: The folder of runs for which nobody names another.
_RESULTS = Path("results")


@dataclass
class _Place:
    """A model on a dataset, and what came of it.

    Attributes:
        model, data: their options.
        folder: that of the results; None: nothing is written.
        read: the inputs, once they are read.
        run: the run, once it is there.
    """

    model: ModelOptions
    data: DataOptions
    folder: Path | None = None
    read: DatasetInputs = field(init=False)
    run: Results | None = None


def run_task(task: Task[Any, Any, Any], given: Mapping[str, Any]) -> Results | ShownOverview:
    """Ask models about datasets, and write what was found, for Python.

    Args:
        task: the task.
        given: the options that were given, by their names.

    Returns:
        The results of one model on one dataset, or the overview of several.
    """
    runs = Runs(task, given)
    runs.make()
    if runs.above is not None:
        runs.write_overview()
    if len(runs.runs) == 1:
        return runs.last
    from coherencegym.eval.views.overview import overview

    return overview(runs.runs)


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
    """
    writer, reading = OutcomeWriter(), context.reading
    asked, more = task.ask(context, read.inputs, own, writer)
    is_read = task.command.reads_bits and task.reads(own)
    recorded = {**read.chosen, **(reading.record() if is_read else {}), **settings}
    signed = reading.signed() if is_read else {}
    source, outcomes = read.source.noted(more), writer.tables(last=True)
    about = source, context.model, asked, outcomes, recorded, own
    return collect_results(task, *about, task.record(own), signed)


class Runs:
    """The runs of a task: models on datasets.

    Args:
        task: the task.
        given: the options that were given, by their names.
        shell: what only the shell has; None where Python calls.

    Attributes:
        above: the folder of the runs and their overview; None: there will be none.
        places: each model on each dataset, in their order.
        last: the results of the last run that was made.
    """

    last: Results

    def __init__(
        self,
        task: Task[Any, Any, Any],
        given: Mapping[str, Any],
        shell: ShellOptions | None = None,
    ) -> None:
        self.task, self.given, self.shell = task, given, shell
        command = task.command
        model, data, self.reading, self.own, self.kept = task_options(
            task, given, command.name if shell is None else ""
        )
        output = self.kept.output
        datasets, left_out = each_dataset(data)
        for name in left_out if shell is not None else ():
            print(one_line(f"left out, as it has no minimal pairs: {name}"), file=sys.stderr)
        how: Any = (command.name, self._reads_of, self.reading.scorer)
        models = [described_model(one, *how) for one in each_model(model)]
        # A training that has one checkpoint today has two tomorrow.
        alone = len(datasets) == len(models) == 1 and not model.all_revisions
        alone = alone and not (command.several and output and (output / OVERVIEW).is_dir())
        if not alone and not command.several:
            where = f"{command.name}: " * (shell is None)
            raise EvaluationError(f"{where}several models; expected one")
        self.processes = ALONE if shell is None else world()
        if self.processes.size > 1 and not (task.spreads and alone):
            some = "one model and one dataset with them" if task.spreads else "one"
            raise EvaluationError(f"several processes; expected {some}")
        if output is None and shell is not None and not alone:
            output = _RESULTS
        self.above = None if alone else output
        self._by_model = [[_Place(model, data) for data in datasets] for model in models]
        self.places = [place for own in self._by_model for place in own]
        self._name_folders(output)
        self._check_folders(datasets, models)

    @property
    def runs(self) -> list[Results]:
        """The runs that are there, in their order."""
        return [place.run for place in self.places if place.run is not None]

    def _reads(self, own: Any) -> bool:
        return self.task.command.reads_bits and self.task.reads(own)

    def _reads_of(self, model: Any) -> bool:
        return self._reads(self.task.resolve(self.own, lambda: type(model).__name__))

    def _name_folders(self, output: Path | None) -> None:
        given, task = self.given, self.task.command.name
        if output is None and self.shell is None:
            return
        if output is not None and self.above is None:
            self.places[0].folder = output
            return
        how = "" if task == "score" else task, *(given.get(n) or "" for n in ("scorer", "masking"))
        named = [(_data_name(one.data.dataset), _model_name(one.model)) for one in self.places]
        names = {name: name for both in named for name in both}
        if self.above is not None:
            names = told_apart({data for data, _ in named}) | told_apart({of for _, of in named})
        for one, (data, model) in zip(self.places, named, strict=True):
            name = run_name(names[data], names[model], *how, revision=one.model.revision)
            one.folder = (self.above or _RESULTS) / name

    def _check_folders(
        self, datasets: Sequence[DataOptions], models: Sequence[ModelOptions]
    ) -> None:
        names = [_read_from(one.dataset) for one in datasets]
        files = [name for name in names if is_file(name)]
        elsewhere = str(self.given.get("calibrate_on") or "").rpartition(":")[0]
        folders = [one.folder for one in self.places if one.folder is not None]
        if not folders:
            return
        option = "output=" if self.shell is None else "--output"
        inputs = [name for name in (*names, elsewhere) if name and name not in files]
        around = [*(one.model for one in models if not one.is_loaded), *files]
        check_inputs(folders, option, inputs=inputs, around=around)
        for folder in folders:
            if folders.count(folder) > 1:
                raise EvaluationError(
                    f"{folder}: two runs would be written there; expected each model and each "
                    "dataset once"
                )
            check_folder(folder, self.kept.overwrite, option)
        if self.above is not None:
            check_folder(self.above / OVERVIEW, True, option)

    def make(self) -> None:
        """Read the data, make the runs, and write each as soon as it is made."""
        is_shell = self.shell is not None
        self.places[0].model.record()
        if is_shell:
            quiet_libraries()
        # The data first: they are read in a moment, and what is wrong with them shows at once.
        for number, place in enumerate(self._by_model[0]):
            read = read_dataset(self.task, place.data, self.own, in_parts=is_shell)
            for own in self._by_model:
                own[number].read = read
        self._check_models()
        plans = CachedPlans() if len(self._by_model) > 1 else None
        for own in self._by_model:
            with self._attempt(own[0].model.name):
                self._ask(own, plans)

    def _check_models(self) -> None:
        """Read each model's config: that one is not there is too late to learn hours later."""
        for own in self._by_model if len(self._by_model) > 1 else ():
            if not own[0].model.is_loaded:
                own[0].model.config(scorer=self.reading.scorer)

    @contextmanager
    def _attempt(self, what: str) -> Iterator[None]:
        # What fails is said and the rest goes on, unless it is the first thing that is tried.
        try:
            yield
        except EvaluationError as error:
            if not self.runs or self.shell is None:
                raise
            print(one_line(f"{what}: not scored: {error}"), file=sys.stderr)

    def _resolved(self, model: ModelOptions) -> Any:
        """The task's options as they come to by the class of a model."""

        def made() -> str:
            if model.is_loaded:
                return type(model.model.model).__name__
            config, _ = model.config(scorer=None)
            return " ".join(getattr(config, "architectures", None) or ())

        return self.task.resolve(self.own, made)

    def _ask(self, left: Sequence[_Place], plans: CachedPlans | None) -> None:
        own = self._resolved(left[0].model)
        with self._asking(left[0].model, own, plans) as (context, settled):
            for place in left:
                with self._attempt(str(place.folder)):
                    self._run(place, context, settled)

    @contextmanager
    def _asking(
        self, model: ModelOptions, own: Any, plans: CachedPlans | None
    ) -> Iterator[tuple[TaskContext, Any]]:
        """The model, loaded as the task needs it, and the options as they came to for it."""
        task = self.task
        if self._reads(own):
            how = self.reading, self.kept, self.processes
            with reading_model(model, *how) as (loaded, reading, cache):
                of_model = None if plans is None else plans.of(loaded.tokenizer)
                run: Any = {"store": cache, "world": self.processes, "plans": of_model}
                run["trials"] = Trials(cache)
                yield TaskContext(loaded, reading, **run), task.settle(own, loaded)
            return
        loaded = model.model
        if not model.is_loaded:
            loaded = task.load(own, model.load_head) if task.load else model.load_vectors()
        vectors = None if self.kept.no_cache else cache_folder(self.kept.cache)
        with evaluating(loaded.model) if model.is_loaded else nullcontext():
            yield TaskContext(loaded, self.reading, vectors=vectors), task.settle(own, loaded)

    def _run(self, place: _Place, context: TaskContext, own: Any) -> None:
        task, folder = self.task, place.folder
        is_quiet = self.kept.quiet or not self.processes.is_first
        run_of_several = folder.name if folder is not None and self.above is not None else ""
        # Where there is no bar, several runs have a line each, and one alone one for each table.
        no_tables = is_quiet or (bool(run_of_several) and not sys.stderr.isatty())
        above, units = f"{run_of_several}: " * bool(run_of_several), task.command.units
        rows = sum(len(one.rows) for one in place.read.inputs)

        def showing(name: str, number: int) -> AbstractContextManager[StepProgress]:
            return progress_bar(above + name, number, units, no_tables)

        context = replace(context, showing=showing, reads=[], names=Counter())
        about = place.read, own, place.model.record()
        if not self.processes.is_first or folder is None:
            found = results_about(task, context, *about)
        else:
            with (
                timed(run_of_several, rows, units, is_quiet or not run_of_several),
                written_beside(folder, self.kept.overwrite) as work,
            ):
                found = results_about(task, replace(context, folder=work), *about)
                write_results(found, work)
                write_results_files(found, work)
                if text := self._run_file(place, found.signature):
                    (work / RUN_FILE_NAME).write_bytes(text.encode("utf-8", "replace"))
        if not self.processes.is_first:
            return
        found = replace(found, folder=folder)
        place.run = found.without_details()
        if self.shell is None:
            self.last = found
        elif self.above is None or self.shell.verbose:
            assert folder is not None
            verbose = self.shell.verbose
            found.print(verbose=verbose)
            print(f"written to {folder}: open its {PAGE_OF_RUN}")
            if isinstance(context.store, Cache) and context.reads:
                known, texts = map(sum, zip(*context.reads, strict=True))
                print_cache(context.store, known, texts, context.reading.is_masked, verbose)

    def _run_file(self, place: _Place, signature: str) -> str:
        # It is empty where a value in memory was asked, or asked about.
        model, dataset = place.model, place.data.dataset
        if model.is_loaded or not isinstance(dataset, str | Path):
            return ""
        content = {"task": self.task.command.name, "model": model.model, "dataset": str(dataset)}
        for name, value in self.given.items():
            if name not in _UNRECORDED and value is not None:
                content[name] = _plain(value)
        if model.revision:
            content["model_revision"] = model.revision
        content["output"] = str(place.folder)
        made = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=10_000)
        return f"# {visible(signature)}\n{made}"

    def results_text(self) -> str:
        """The content of ``results.json``; of several runs a list, in their order."""
        found = [json.loads((run.place / MARKER).read_text(encoding="utf-8")) for run in self.runs]
        return json_text(found[0] if self.above is None else found)

    def write_overview(self) -> ShownOverview:
        """Write the overview of these runs and of what else is in the folder."""
        from coherencegym.eval.views.overview import overview, write_overview

        assert self.above is not None
        folders = [one.folder for one in self.places if one.folder is not None]
        shown = overview([*runs_beside(self.above, folders), *self.runs])
        write_overview(shown, self.above / OVERVIEW)
        return shown

    def finish(self) -> None:
        """Write the overview, print it, and say what is missing."""
        from coherencegym.eval.views.overview import PAGE

        print_document(self.write_overview().document)
        assert self.above is not None
        print(f"written to {self.above}: open its {OVERVIEW}/{PAGE}")
        every = len(self.places)
        if missing := every - len(self.runs):
            raise EvaluationError(
                f"{missing:,} of {every:,} runs could not be made, as said above; the same "
                "command with --overwrite takes the others from the cache and tries these again"
            )


def _model_name(options: ModelOptions) -> str:
    return str(options.model.name if options.is_loaded else options.model)


def _read_from(dataset: Any) -> str:
    if isinstance(dataset, Items):
        return dataset.source.name
    return str(dataset) if isinstance(dataset, str | Path) else ""


def _data_name(dataset: Any) -> str:
    # That of a file is its own without the ending, that of a suite in memory the suite's.
    name = _read_from(dataset)
    if isinstance(dataset, Items):
        return name if dataset.source.repo or Path(name).is_dir() else dataset.source.suite
    return Path(name).stem if is_file(name) and not Path(name).is_dir() else name

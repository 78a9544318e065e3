"""Runs of a task: models on datasets, one or many.

What is there is kept, and what fails does not end the rest. Each model is loaded once, and texts
are encoded and planned once for all models that read them alike (:mod:`eval.plan.cached`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError, one_line
from coherencegym.eval.commands import options
from coherencegym.eval.commands.asking import RECORDED, Asker, asking
from coherencegym.eval.data.notes import Note, of_each
from coherencegym.eval.forward.distributed import world
from coherencegym.eval.plan.cached import CachedPlans, PlansOf
from coherencegym.eval.results.folder import MARKER
from coherencegym.eval.results.steps import step_of
from coherencegym.eval.tasks.options import flag_of

if TYPE_CHECKING:
    from coherencegym.eval.commands.run_file import GivenOptions
    from coherencegym.eval.data.source import Source
    from coherencegym.eval.plan.options import Options
    from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.task import Task


@dataclass(frozen=True)
class DatasetInputs:
    """The inputs of a task that a dataset has.

    Attributes:
        source: the dataset.
        inputs: see :class:`eval.tasks.task.Task`.
        notes: lines on inputs that were left out.
    """

    source: Source
    inputs: Sequence[Any]
    notes: Sequence[Note] = ()


#: The datasets as they were read, in their order.
Data = Sequence[DatasetInputs]


@dataclass
class Several:
    """Runs of models on datasets.

    Attributes:
        task, own: the task, and its options.
        pairs: the options of each run, its folder among them: for each model those of all datasets.
        chosen: reading and running.
        above: the folder of the overview; None: one run alone, without any.
        given: the options as they were typed.
        runs: those that are there, by folder.
        refused: the folders that have results of something else, and the errors on them.
    """

    task: Task[Any, Any, Any]
    own: Any
    pairs: Sequence[Sequence[argparse.Namespace]]
    chosen: Options
    above: Path | None
    given: GivenOptions
    runs: dict[Path, Results] = field(default_factory=dict)
    refused: dict[Path, EvaluationError] = field(default_factory=dict)

    @property
    def folders(self) -> list[Path]:
        """The folder of each run."""
        return [one.output for own in self.pairs for one in own]

    @property
    def started(self) -> set[Path]:
        """The folders that an earlier run has left, unless they are to be made anew."""
        if not self.task.resumes or self.pairs[0][0].overwrite:
            return set()
        return {folder for folder in self.folders if (folder / MARKER).is_file()}

    def check_models(self, read: Data) -> None:
        """Read the config of each model: the last may not be there, which hours later is too late.

        Results that are there are taken for done where they are of the same model, rows and
        settings; those of something else are said, and stay.

        Raises:
            EvaluationError: a model cannot be had, or all results would be in the way of others.
        """
        started = self.started
        for own in self.pairs if len(self.pairs) > 1 or started else ():
            there = [
                (one, data) for one, data in zip(own, read, strict=True) if one.output in started
            ]
            if there:
                self._keep(there)
            else:
                options.model_config(own[0], scorer=self.chosen.scorer)
        if self.refused and len(self.refused) == len(self.folders):
            raise next(iter(self.refused.values()))
        for error in self.refused.values():
            print(one_line(f"not scored: {error}"), file=sys.stderr)

    def _keep(self, there: Sequence[tuple[argparse.Namespace, DatasetInputs]]) -> None:
        # Its files are read for their digest.
        from coherencegym.eval.backends.registry import backend_named
        from coherencegym.eval.results.earlier import earlier_run, is_of_code

        first = there[0][0]
        facts, scorer = backend_named(first.backend).read_facts(
            first.model,
            first.device,
            first.dtype,
            **options.loading(first),
            scorer=self.chosen.scorer,
            code=first.trust_remote_code and is_of_code(first.output),
        )
        chosen = self.chosen.settled(scorer, flag_of)
        for one, read in there:
            settings = options.settings_of(one, chosen, RECORDED)
            about = one.output, facts, read.source, read.inputs, settings
            try:
                self.runs[one.output] = earlier_run(*about, tokens=self.own.tokens)
            except EvaluationError as error:
                self.refused[one.output] = error

    def made(self, read: Data) -> list[Results]:
        """Make the runs that are not there; all of them, in their order.

        Each folder is written as soon as its scores are there.
        """
        plans = CachedPlans() if len(self.pairs) > 1 else None
        if self.runs and self.above is not None:
            print(f"{len(self.runs):,} of {len(self.folders):,} runs are there already, and kept")
        elif self.runs and world().is_first:
            folder = self.folders[0]
            print(
                f"{folder} has the results of this very run already: nothing was scored "
                f"(`coherencegym overview {folder}` prints the score, --overwrite scores again)"
            )
        for own in self.pairs:
            left = [
                (one, data)
                for one, data in zip(own, read, strict=True)
                if one.output not in self.runs and one.output not in self.refused
            ]
            if left:
                with self._attempt(options.model_name(own[0])):
                    self._ask(left, plans)
        return [self.runs[folder] for folder in self.folders if folder in self.runs]

    @contextmanager
    def _attempt(self, what: str) -> Iterator[None]:
        # What fails is said and the rest goes on, unless it is the first thing that is tried.
        try:
            yield
        except EvaluationError as error:
            if not self.runs:
                raise
            print(one_line(f"{what}: not scored: {error}"), file=sys.stderr)

    def resolved(self, arguments: argparse.Namespace) -> Any:
        """The task's options as they come to by the config of a model."""
        return self.task.resolve(
            self.own, lambda: options.model_config(arguments, scores=False)[0], ""
        )

    def accepted(
        self, own: Any, arguments: argparse.Namespace, read: DatasetInputs
    ) -> DatasetInputs:
        """The inputs that options can be asked of.

        Raises:
            EvaluationError: there is none, or one that was named is not among them.
        """
        is_named = bool(arguments.configs)
        found, left_out = of_each(read.inputs, partial(self.task.accept, own), named=is_named)
        return replace(read, inputs=found, notes=[*read.notes, *left_out])

    def _ask(
        self, left: Sequence[tuple[argparse.Namespace, DatasetInputs]], plans: CachedPlans | None
    ) -> None:
        first = left[0][0]
        own = self.resolved(first)
        accepted = [(one, self.accepted(own, one, read)) for one, read in left]
        with asking(self.task, first, own, self.chosen) as asker:
            own = self.task.settle(own, asker.model)
            of_model = plans.of(asker.model.tokenizer) if plans is not None else None
            for one, read in accepted:
                one.device = first.device
                with self._attempt(str(one.output)):
                    self._write(one, asker, own, read, of_model)

    def _write(
        self,
        one: argparse.Namespace,
        asker: Asker,
        own: Any,
        read: DatasetInputs,
        plans: PlansOf | None,
    ) -> None:
        from coherencegym.eval.commands.run_file import RUN_FILE_NAME, run_file_text
        from coherencegym.eval.outcomes.tables import OutcomeWriter
        from coherencegym.eval.results.folder import write_results
        from coherencegym.eval.tasks.collect import collect_results
        from coherencegym.eval.views.page import write_results_files
        from coherencegym.files.folders import written_beside

        writer = OutcomeWriter()
        if not asker.is_first:
            self.task.ask(asker.context(plans), read.inputs, own, writer)
            return
        with written_beside(one.output, one.overwrite) as work:
            above = f"{one.output.name}: " if self.above is not None else ""
            context = asker.context(plans, work, above)
            asked, more = self.task.ask(context, read.inputs, own, writer)
            source = read.source.noted([*read.notes, *more])
            outcomes = writer.tables(last=True)
            about = source, asker.model, asked, outcomes, asker.settings(one), own
            found = collect_results(self.task, *about, self.task.record(own, asker.reading))
            write_results(found, work)
            write_results_files(found, work)
            text = run_file_text(self.task.command.name, one, self.given, found.signature)
            (work / RUN_FILE_NAME).write_bytes(text.encode("utf-8", "replace"))
        self.runs[one.output] = self._reported(one, asker, found, context.reads)

    def _reported(
        self,
        one: argparse.Namespace,
        asker: Asker,
        found: Results,
        reads: Sequence[tuple[int, int]],
    ) -> Results:

        if self.above is None or one.verbose:
            found.print(verbose=one.verbose)
            print(f"written to {one.output}")
            if asker.running is not None and reads:
                known, texts = map(sum, zip(*reads, strict=True))
                asker.running.print_cache(known, texts)
        return replace(found, folder=one.output)

    def results_text(self) -> str:
        """The content of ``results.json``; of several runs a list, in their order."""
        from coherencegym.eval.report.formats import json_text

        found = [
            json.loads((folder / MARKER).read_text(encoding="utf-8"))
            for folder in self.folders
            if folder in self.runs
        ]
        return json_text(found[0] if self.above is None else found)

    def finish(self) -> None:
        """Write the overview, print it, and say what is missing.

        Raises:
            EvaluationError: a run could not be made.
        """
        from coherencegym.eval.views.overview import PAGE, overview, print_overview, write_overview

        folder, folders = self.above, self.folders
        assert folder is not None
        shown = overview(
            [*self._beside(), *(self.runs[one] for one in folders if one in self.runs)]
        )
        write_overview(shown, folder)
        print_overview(shown)
        print(f"written to {folder}: open {folder / PAGE}")
        if missing := len(folders) - len(self.runs):
            raise EvaluationError(
                f"{missing:,} of {len(folders):,} runs could not be made, as said above; the same "
                "command keeps the others and tries these again"
                + " (results of other rows in the way: --output for another folder, or --overwrite)"
                * bool(self.refused)
            )

    def _beside(self) -> list[Results]:
        # Earlier results in the folder: other models, and checkpoints that were deleted since, of a
        # training that was scored now only those of the same rows and settings.
        from coherencegym.eval.results.read import runs_beside

        assert self.above is not None
        known: dict[object, list[object]] = {}
        for run in self.runs.values():
            known.setdefault(self._training(run), []).append(self._about(run))
        return [
            run
            for run in runs_beside(self.above, self.folders)
            if (training := self._training(run)) is None
            or self._about(run) in known.get(training, [self._about(run)])
        ]

    def _training(self, run: Results) -> tuple[str, ...] | None:
        # None where the run is of no checkpoint.
        step = step_of(run)
        return (step.training, step.unit, run.data, run.suite, run.version) if step else None

    def _about(self, run: Results) -> object:
        names = (*RECORDED, *self.chosen.record(), "intervals", "versions")
        return run.digests, [run.settings.get(name) for name in names]

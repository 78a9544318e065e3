"""Runs of models on datasets, one or many: what is there is kept, what fails does not end the rest.

Each model is loaded once, and texts are encoded and planned once for all models that read them
alike (:mod:`eval.plan.kept`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError, one_line
from coherencegym.eval.commands import options
from coherencegym.eval.commands.running import Running, running
from coherencegym.eval.forward.memory import give_back_memory
from coherencegym.eval.plan.kept import KeptPlans, PlansOf
from coherencegym.eval.results.folder import MARKER
from coherencegym.eval.results.steps import step_of
from coherencegym.eval.tasks.options import flag_of

if TYPE_CHECKING:
    from coherencegym.eval.data.dataset import ItemTable
    from coherencegym.eval.data.source import Source
    from coherencegym.eval.kinds.items import Item
    from coherencegym.eval.outcomes.tables import OutcomeWriter
    from coherencegym.eval.plan.options import Options
    from coherencegym.eval.results.runs import Run
    from coherencegym.eval.tasks.score.files import ItemFiles
    from coherencegym.eval.tasks.score.scored_table import ScoredTable
    from coherencegym.eval.tasks.score.scoring import PlannedItems
    from coherencegym.eval.tasks.task import Findings

#: Items that the page of a run shows of its tables, where they are scored in parts.
_MOST_SHOWN = 1_000
#: The settings of the data that results record.
_RECORDED = ("configs", "split", "max_items")
#: The datasets as they were read, in their order.
Data = Sequence[tuple["Source", Sequence["ItemTable"]]]


@dataclass
class Several:
    """Runs of models on datasets.

    Attributes:
        pairs: the options of each run, its folder among them: for each model those of all datasets.
        chosen: reading and running.
        above: the folder of the overview; None: one run alone, without any.
        runs: those that are there, by folder.
    """

    pairs: Sequence[Sequence[argparse.Namespace]]
    chosen: Options
    above: Path | None
    runs: dict[Path, Run] = field(default_factory=dict)

    @property
    def folders(self) -> list[Path]:
        """The folder of each run."""
        return [one.output for own in self.pairs for one in own]

    @property
    def started(self) -> set[Path]:
        """The folders that an earlier run of several has left, unless they are to be made anew."""
        if self.above is None or self.pairs[0][0].overwrite:
            return set()
        return {folder for folder in self.folders if (folder / MARKER).is_file()}

    def check_models(self, read: Data) -> None:
        """Read the config of each model: the last may not be there, which hours later is too late.

        Results that are there are taken for done where they are of the same model, rows and
        settings.

        Raises:
            EvaluationError: a model cannot be had, or results are of something else.
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

    def _keep(self, there: Sequence[tuple[argparse.Namespace, tuple[Source, Any]]]) -> None:
        """Take over the results of one model, whose files are read for their digest."""
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
        for one, (source, tables) in there:
            settings = options.settings_of(one, chosen, _RECORDED)
            self.runs[one.output] = earlier_run(
                one.output, facts, source, tables, settings, tokens=one.tokens
            )

    def made(self, read: Data) -> list[Run]:
        """Make the runs that are not there; all of them, in their order.

        Each folder is written as soon as its scores are there.
        """
        plans = KeptPlans() if len(self.pairs) > 1 else None
        if self.runs:
            print(f"{len(self.runs):,} of {len(self.folders):,} runs are there already, and kept")
        for own in self.pairs:
            left = [
                (one, *data)
                for one, data in zip(own, read, strict=True)
                if one.output not in self.runs
            ]
            if left:
                with self._attempt(model_name(own[0])):
                    self._score(left, plans)
        return [self.runs[folder] for folder in self.folders if folder in self.runs]

    @contextmanager
    def _attempt(self, what: str) -> Iterator[None]:
        """Say what fails and go on with the rest, unless it is the first thing that is tried."""
        try:
            yield
        except EvaluationError as error:
            if not self.runs:
                raise
            print(one_line(f"{what}: not scored: {error}"), file=sys.stderr)

    def _score(
        self,
        left: Sequence[tuple[argparse.Namespace, Source, Sequence[ItemTable]]],
        plans: KeptPlans | None,
    ) -> None:
        """Score a model on the datasets that are left of it."""
        first = left[0][0]
        with running(first, self.chosen) as run_:
            of_model = plans.of(run_.loaded.tokenizer) if plans is not None else None
            for own, source, tables in left:
                own.device = first.device
                with self._attempt(str(own.output)):
                    self._write(own, run_, source, tables, of_model)

    def _write(
        self,
        own: argparse.Namespace,
        run_: Running,
        source: Source,
        tables: Sequence[ItemTable],
        plans: PlansOf | None,
    ) -> None:
        """Score tables; the first of several processes writes the folder of the run."""
        from coherencegym.eval.outcomes.tables import OutcomeWriter
        from coherencegym.eval.results.folder import write_common
        from coherencegym.eval.tasks.findings import gather_findings
        from coherencegym.eval.tasks.score.files import item_files
        from coherencegym.eval.tasks.score.task import TASK, ScoreOptions
        from coherencegym.eval.views.findings import write_pages
        from coherencegym.files.folders import written_beside

        writer = OutcomeWriter()
        if not run_.processes.is_first:
            _scored(run_, tables, writer, plans)
            return
        with written_beside(own.output, own.overwrite) as work:
            above = f"{own.output.name}: " if self.above is not None else ""
            with item_files(work, own.tokens) as files:
                scored = _scored(run_, tables, writer, plans, files, above)
            settings = options.settings_of(own, run_.options, _RECORDED)
            about = source, run_.loaded, scored, writer.tables(), settings
            found = gather_findings(TASK, *about, ScoreOptions(own.tokens), {})
            write_common(found, work)
            write_pages(found, work)
        self.runs[own.output] = self._reported(own, run_, found)

    def _reported(self, own: argparse.Namespace, run_: Running, found: Findings) -> Run:
        from coherencegym.eval.results.runs import run_of
        from coherencegym.eval.views.findings import print_findings

        if self.above is None or own.verbose:
            print_findings(found, verbose=own.verbose)
            print(f"written to {own.output}")
            ran = [part for one in found.details for part in one.runs]
            run_.print_cache(sum(part.stored for part in ran), sum(part.texts for part in ran))
        return replace(run_of(found), folder=str(own.output))

    def finish(self) -> None:
        """Write the overview, print it, and say what is missing.

        Raises:
            EvaluationError: a run could not be made.
        """
        from coherencegym.eval.views.board.names import INDEX
        from coherencegym.eval.views.overview import overview, print_overview, write_overview

        folder, folders = self.above, self.folders
        assert folder is not None
        shown = overview(
            [*self._beside(), *(self.runs[one] for one in folders if one in self.runs)]
        )
        write_overview(shown, folder)
        print_overview(shown)
        print(f"written to {folder}: open {folder / INDEX}")
        if missing := len(folders) - len(self.runs):
            raise EvaluationError(
                f"{missing:,} of {len(folders):,} runs could not be made, as said above; the same "
                "command keeps the others and tries these again"
            )

    def _beside(self) -> list[Run]:
        """Earlier results in the folder: other models, and checkpoints that were deleted since.

        Those of a training that was scored now are of the same rows and settings.
        """
        from coherencegym.eval.results.runs import runs_beside

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

    def _training(self, run: Run) -> tuple[str, ...] | None:
        """The training of a run, and the dataset; None where it is of no checkpoint."""
        step = step_of(run)
        return (step.training, step.unit, run.data, run.suite, run.version) if step else None

    def _about(self, run: Run) -> object:
        """The rows and settings of a run."""
        names = (*_RECORDED, *self.chosen.record(), "intervals", "versions")
        return run.rows, [run.settings.get(name) for name in names]


def model_name(one: argparse.Namespace) -> str:
    """The name of the model that options name, with the revision that they ask for."""
    at = f"@{one.model_revision}" if one.model_revision else ""
    return f"{one.model}{at}"


def _scored(
    run_: Running,
    tables: Sequence[ItemTable],
    writer: OutcomeWriter,
    plans: PlansOf | None,
    files: ItemFiles | None = None,
    above: str = "",
) -> list[tuple[ItemTable, ScoredTable]]:
    """Score tables, those that are not in memory in parts, whose rows go into the files.

    ``above`` is what the name of a table begins with, where progress is shown.
    A part is planned while a device other than the CPU reads the one before it.
    """
    from coherencegym.eval.data.dataset import StoredItems
    from coherencegym.eval.plan.ahead import one_ahead
    from coherencegym.eval.tasks.score.scored_table import ScoredTable
    from coherencegym.eval.tasks.score.scoring import plan_items, score_items

    in_parts = any(isinstance(table.items, StoredItems) for table in tables)
    most_shown = max(1, _MOST_SHOWN // len(tables)) if in_parts else None
    found = [ScoredTable(table, writer, most_shown) for table in tables]
    model, tokenizer = run_.loaded.model, run_.loaded.tokenizer
    # Parts are read anew for each model: their plans would be kept for nobody.
    kept = None if in_parts else plans

    def plan(own: ScoredTable, number: int, part: Sequence[Item]) -> _Part:
        title = f"{above}{own.table.name}{f', part {number + 1}' if number else ''}"
        how: Any = {"uses_separator": own.table.separator, "plans": kept}
        return _Part(own, title, plan_items(model, tokenizer, part, run_.options, **how))

    def read(one: _Part) -> None:
        with run_.reading(one.title, len(one.planned.items), "items") as how:
            scored = score_items(model, tokenizer, one.planned, run_.options, **how)
        one.of.add(scored)
        if files is not None:
            files.add(one.of.table, scored)

    works = (
        partial(plan, own, number, part)
        for own in found
        for number, part in enumerate(own.table.parts())
    )
    for one in one_ahead(works, ahead=run_.loaded.device != "cpu"):
        read(one)
        if in_parts:
            # The next part takes as much again, in other pieces.
            del one
            give_back_memory()
    return list(zip(tables, found, strict=True))


@dataclass(frozen=True)
class _Part:
    """Items of a table that are scored together, and their plan."""

    of: ScoredTable
    title: str
    planned: PlannedItems

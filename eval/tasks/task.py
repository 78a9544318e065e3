"""A task: what a model is asked about tables of one kind.

A new task is one folder with a module ``task.py`` that declares a :class:`Task`, and one line in
:mod:`eval.tasks.registry`. Everything else comes of these: the subcommand and its options, the
call in Python, the folder of results, the table, the page, the comparison of two models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

from coherencegym.eval.data.notes import Note
from coherencegym.eval.forward.distributed import ALONE, World
from coherencegym.eval.forward.execute import BatchProgress
from coherencegym.eval.forward.numeric import Store
from coherencegym.eval.kinds.table_kind import TableKind
from coherencegym.eval.metrics.estimates import EstimateRow, estimates, score_of
from coherencegym.eval.metrics.metric import Metric
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.outcomes.tables import OutcomeTables, OutcomeWriter
from coherencegym.eval.plan.options import DEFAULT_OPTIONS, Options
from coherencegym.eval.plan.requests import Query
from coherencegym.eval.report.blocks import ReportSection
from coherencegym.eval.statistics.scores import (
    BAG_OF_WORDS,
    ONE_RATER,
    REPEATED_WORDS,
    Score,
    people_fields,
)
from coherencegym.eval.surprisal import Answer, surprisals
from coherencegym.eval.tasks.options import NoOptions
from coherencegym.eval.tasks.results import TaskResults
from coherencegym.eval.tasks.score.headline import Headline
from coherencegym.eval.tasks.table import Table

_T = TypeVar("_T")
_O = TypeVar("_O")


@dataclass(frozen=True)
class TaskContext:
    """The means of a task.

    Attributes:
        model: a loaded one, in evaluation mode.
        reading: the options of reading texts.
        store, progress, world: those of :func:`eval.surprisal.surprisals`.
    """

    model: LoadedModel
    reading: Options = DEFAULT_OPTIONS
    store: Store | None = None
    progress: BatchProgress | None = None
    world: World = ALONE

    def surprisals(self, table: Table[Any], queries: Sequence[Query]) -> tuple[Answer, ...]:
        """The bits of every text of a table, in the order of the queries."""
        found = surprisals(
            *(self.model.model, self.model.tokenizer, queries, self.reading),
            uses_separator=table.separator,
            store=self.store,
            progress=self.progress,
            world=self.world,
        )
        return tuple(found.items)


@dataclass(frozen=True)
class Task(Generic[_T, _O]):
    """A question to models.

    Attributes:
        name: the subcommand.
        kind: the tables that it reads.
        metrics: those of its outcomes.
        texts: the texts of a table that are read, of which ``--dry-run`` says what they cost.
        run: adds the outcomes of a table: of each unit under each metric, by the model and by
            baselines.
        options: a frozen dataclass of its own options (:func:`eval.tasks.options.option`).
        headline: the one number of a run, where it has one.
        sections: its report; by default one table of all estimates.
        notes: lines that a reader of the results must know.
        units: the word for rows, in the plural.
        examples: command lines.
    """

    name: str
    kind: TableKind[_T]
    metrics: tuple[Metric, ...]
    texts: Callable[[Table[_T], _O], Sequence[Query]]
    run: Callable[[TaskContext, Table[_T], _O, OutcomeWriter], None]
    options: type[Any] = NoOptions
    headline: Callable[[Findings], Headline | None] = lambda found: None
    sections: Callable[[Findings], Iterable[ReportSection]] | None = None
    notes: Callable[[Findings], Iterable[Note]] = lambda found: ()
    units: str = "rows"
    examples: str = ""


@dataclass(frozen=True, repr=False)
class Findings(TaskResults):
    """The results of a task of the registry.

    Attributes:
        asked: the task.
        tables: the rows that it was asked about.
        outcomes: those of its units, of which all else is computed.
    """

    asked: Task[Any, Any]
    tables: Sequence[Table[Any]] = ()
    outcomes: OutcomeTables | None = field(default=None, repr=False)

    @property
    def metrics(self) -> Sequence[Metric]:
        """The metrics of the outcomes."""
        return self.asked.metrics

    @cached_property
    def estimates(self) -> list[EstimateRow]:
        """Every number, with its interval."""
        assert self.outcomes is not None
        return list(estimates(self.outcomes, {one.name: one for one in self.metrics}))

    @cached_property
    def rows(self) -> list[Score]:
        """The same as readers of results take them, baselines also beside the model."""
        by_key = {(*_place(one), one.system.label): one for one in self.estimates}
        return [
            replace(score_of(one), **_beside(by_key, one))
            if one.system.role == "model"
            else score_of(one)
            for one in self.estimates
        ]


#: The fields of a score that a baseline's stand in, by the baseline.
_FIELDS = {BAG_OF_WORDS: "artefact_score", REPEATED_WORDS: "overlap_score"}


def _place(row: EstimateRow) -> tuple[Any, ...]:
    return row.config, row.split, row.group, row.metric.name


def _beside(by_key: Mapping[tuple[Any, ...], EstimateRow], row: EstimateRow) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for label, name in _FIELDS.items():
        if (other := by_key.get((*_place(row), label))) is not None:
            found[name] = other.estimate.value
    if (people := by_key.get((*_place(row), ONE_RATER))) is not None:
        found |= people_fields(people.estimate)
    return found

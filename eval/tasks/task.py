"""A task: what a model is asked about tables of one kind.

A new task is one folder with a module ``task.py`` that declares a :class:`Task`, and one line in
:mod:`eval.tasks.registry`. Everything else comes of these: the subcommand and its options, the
call in Python, the folder of results, the table, the page, the comparison of two models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from coherencegym.eval.data.notes import Note
from coherencegym.eval.forward.distributed import ALONE, World
from coherencegym.eval.forward.execute import BatchProgress
from coherencegym.eval.forward.numeric import Store
from coherencegym.eval.kinds.table_kind import TableKind
from coherencegym.eval.metrics.metric import Metric
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.plan.options import DEFAULT_OPTIONS, Options
from coherencegym.eval.plan.requests import Query
from coherencegym.eval.report.blocks import Section
from coherencegym.eval.surprisal import Answer, surprisals
from coherencegym.eval.tasks.options import NoOptions
from coherencegym.eval.tasks.score.headline import Headline
from coherencegym.eval.tasks.table import Table

if TYPE_CHECKING:
    from coherencegym.eval.tasks.findings import Findings

_T = TypeVar("_T")
_O = TypeVar("_O")


@dataclass(frozen=True)
class Context:
    """What a task asks with.

    Attributes:
        model: in evaluation mode.
        reading: how texts are read.
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
        summary: what it is for, for the list of subcommands.
        kind: the tables that it reads.
        metrics: what outcomes are measured by.
        texts: the texts of a table that are read, of which ``--dry-run`` says what they cost.
        run: adds the outcomes of a table: of each unit under each metric, by the model and by
            baselines.
        options: a frozen dataclass of its own options (:func:`eval.tasks.options.option`).
        headline: the one number of a run, where it has one.
        sections: its report; by default one table of all estimates.
        notes: lines that a reader of the results must know.
        units: what is counted, in the plural.
        examples: command lines.
    """

    name: str
    summary: str
    kind: TableKind[_T]
    metrics: tuple[Metric, ...]
    texts: Callable[[Table[_T], _O], Sequence[Query]]
    run: Callable[[Context, Table[_T], _O, OutcomeWriter], None]
    options: type[Any] = NoOptions
    headline: Callable[[Findings], Headline | None] = lambda findings: None
    sections: Callable[[Findings], Iterable[Section]] | None = None
    notes: Callable[[Findings], Iterable[Note]] = lambda findings: ()
    units: str = "rows"
    examples: str = ""

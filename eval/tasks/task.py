"""A task: what a model is asked about tables of one kind.

A new task is a package, with ``options.py`` for its subcommand and ``task.py`` for its
:class:`Task`, and one line in :mod:`eval.tasks.registry`. Everything else comes of these: the
options, the call in Python, the folder of results, the table, the page, the comparison of two
models.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.notes import Note, of_each
from coherencegym.eval.data.source import Source
from coherencegym.eval.forward.trial import Store, Trials
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.models.machine import ALONE, World
from coherencegym.eval.outcomes.metric import Metric
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.plan.cached_plans import CachedPlans
from coherencegym.eval.plan.options import DEFAULT_OPTIONS, Options
from coherencegym.eval.plan.requests import Query
from coherencegym.eval.report.blocks import ReportSection
from coherencegym.eval.statistics.scores import (
    CHANCE_NAME,
    MOST_FREQUENT,
    OTHER_BASELINES,
    SPEARMAN,
    Score,
    is_correlation,
)
from coherencegym.eval.surprisal import Answer, Surprisals, surprisals
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.options import CommandLine
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.outcomes import Difference
from coherencegym.eval.tasks.table import Table, read_tables
from coherencegym.eval.text.sequence import name_notes

_T = TypeVar("_T")


#: Loads the model that the user has named with a head of a class of transformers.
WithHead = Callable[[Any], LoadedModel]
_I = TypeVar("_I", bound=Any)
_O = TypeVar("_O")
_D = TypeVar("_D")


#: Told a step's name, how much of it is done, and how much there is.
StepProgress = Callable[[str, int, int], None]


#: Shows the progress of an input, by its name and the number of its rows.
Showing = Callable[[str, int], AbstractContextManager[StepProgress]]


@dataclass(frozen=True)
class TaskContext:
    """The means of a task.

    Attributes:
        model: a loaded one, in evaluation mode.
        reading: the options of reading texts.
        store, world, trials: those of :func:`eval.surprisal.surprisals`; together ``running``.
        plans: those of earlier models on these very texts; None: nothing is kept.
        vectors: a folder in which vectors are kept from run to run; None: they are thrown away.
        step: told how far a task is that has several steps.
        folder: that of the run, for rows that are written as they come; None: there is none.
        showing: shows the progress of inputs.
        reads: the texts of each run so far: those that were cached, and all.
        memo: values that a task keeps from one input for the next.
        names: those of special tokens in the texts so far (:mod:`eval.text.sequence`).
    """

    model: LoadedModel
    reading: Options = DEFAULT_OPTIONS
    store: Store | None = None
    world: World = ALONE
    trials: Trials | None = None
    plans: CachedPlans | None = None
    vectors: Path | None = None
    step: StepProgress = lambda name, done, total: None
    folder: Path | None = None
    showing: Showing = lambda name, number: nullcontext(lambda step, done, total: None)
    reads: list[tuple[int, int]] = field(default_factory=list)
    memo: dict[Any, Any] = field(default_factory=dict)
    names: Counter[str] = field(default_factory=Counter)

    @property
    def running(self) -> dict[str, Any]:
        """The arguments that say how texts are run."""
        own = {name: getattr(self, name) for name in ("store", "world", "trials")}
        return {**own, "progress": partial(self.step, "")}

    def surprisals(
        self, table: Table[Any] | None, queries: Sequence[Query]
    ) -> tuple[Answer[Query], ...]:
        """The bits of every text of a table, or of texts of none, in the order of the queries."""
        found = surprisals(
            *(self.model.model, self.model.tokenizer, queries, self.reading),
            uses_separator=None if table is None else table.separator,
            **self.running,
        )
        self.count(found)
        return found.items

    def count(self, read: Surprisals[Any]) -> None:
        """Count the texts of a run."""
        self.reads.append((read.execution.cached, len(read.plan.sequences)))
        self.names.update(read.rendering.names)

    @contextmanager
    def asking(self, name: str, number: int) -> Iterator[TaskContext]:
        """The context for an input of so many rows, whose progress is shown."""
        with self.showing(name, number) as step:
            yield replace(self, step=step)


@dataclass(frozen=True)
class Task(Generic[_I, _O, _D]):
    """A question to models.

    A task asks of inputs, one for each config: the table of a split, or what ``inputs`` reads, a
    table with more beside its rows. What ``run`` returns of one is its detail, for the report and
    for files of the task's own.

    Attributes:
        command: the subcommand.
        metrics: those of its outcomes.
        run: adds the outcomes of an input: of each unit under each metric, by the model and by
            baselines.
        run_all: does so for all inputs, where they are read in parts; None: one after another.
        reads: tells whether surprisals are read by these options, of a task that reads any.
        names: names under which a dataset has the configs that a user means.
        inputs: reads those of a dataset: (source, configs, split, most rows, options) -> inputs,
            notes.
        given: an input that comes from no file, from rows by split: (rows, split, options).
        load: loads the model that options need, where no surprisals are read; None: one that has
            vectors of texts.
        check: refuses options that contradict each other, and gives what they come to.
        resolve: gives what options come to by the name of a model's class, for which its config
            is read if nobody has loaded it.
        settle: gives what options come to for a loaded model.
        record: gives the options as results record them.
        came_to: gives settings that choices came to for the model, from the details of all inputs.
        beside: fields of a model's score that come of other estimates of the same units: of all by
            system, by label.
        headline: the one number of a run, where it has one.
        sections: its report; by default one table of all estimates.
        rows: all scores, for a task that has its own way to them.
        differences: scores against those of controls.
        notes: lines that a reader of the results must know.
        facts: gives keys of ``results.json`` on an input and its detail.
        more: the keys of ``results.json`` that only this task has.
        files: writes files of its own into a folder.
        frames: tables of rows beside the scores, by their names (:func:`eval.tasks.results.rows`).
        spreads: true where several processes may share its texts.
    """

    command: CommandLine
    metrics: tuple[Metric, ...]
    run: Callable[[TaskContext, _I, _O, OutcomeWriter], _D]
    run_all: (
        Callable[[TaskContext, Sequence[_I], _O, OutcomeWriter], list[tuple[_I, _D]]] | None
    ) = None
    reads: Callable[[_O], bool] = lambda options: True
    names: Callable[[Sequence[str], _O], list[str]] = lambda configs, options: list(configs)
    inputs: Callable[..., tuple[list[_I], list[Note]]] | None = None
    given: Callable[[Mapping[str, Iterable[Any]], str, _O], _I] | None = None
    load: Callable[[_O, WithHead], LoadedModel] | None = None
    check: Callable[[_O], _O] = lambda options: options
    resolve: Callable[[_O, Callable[[], str]], _O] = lambda options, made: options
    settle: Callable[[_O, LoadedModel], _O] = lambda options, model: options
    record: Callable[[_O], dict[str, Any]] = lambda options: asdict(cast(Any, options))
    came_to: Callable[[Sequence[Any]], dict[str, Any]] = lambda details: {}
    beside: Callable[[Mapping[str, Score]], dict[str, Any]] = lambda known: fields_beside(known)
    headline: Callable[[Results], Headline | None] = lambda found: None
    sections: Callable[[Results], Iterable[ReportSection]] | None = None
    rows: Callable[[Results], list[Score]] | None = None
    differences: Callable[[Results], Sequence[Difference]] = lambda found: ()
    notes: Callable[[Results], Iterable[Note]] = lambda found: ()
    facts: Callable[[_I, _D], Mapping[str, Any]] = lambda one, detail: {}
    more: Callable[[Results], dict[str, Any]] = lambda found: {}
    files: Callable[[Results, Path], None] = lambda found, folder: None
    frames: Mapping[str, Callable[[Results], Iterable[dict[str, Any]]]] = field(
        default_factory=dict
    )
    spreads: bool = False

    def __post_init__(self) -> None:
        """Refuse metrics of which the table of all scores cannot be written."""
        for one in self.metrics if self.rows is None else ():
            if one.unit or one.is_signed != is_correlation(one.said):
                raise EvaluationError(
                    f"task {self.command.name}, metric {one.said!r}: no table shows its scores; "
                    f"expected one from 0 to 1, or signed and with {SPEARMAN} in its label"
                )

    def ask(
        self,
        context: TaskContext,
        inputs: Sequence[_I],
        options: _O,
        writer: OutcomeWriter,
        is_named: bool = False,
    ) -> tuple[list[tuple[_I, _D]], list[Note]]:
        """The inputs with their details, and notes; ``is_named``: nothing may be left out.

        Raises:
            ConfigError: an input cannot be asked about, and was named, or all of them; of others a
                note says so. Any other error ends the run.
        """

        def ask_one(one: _I) -> tuple[_I, _D]:
            with context.asking(one.name, len(one.rows)) as own:
                return one, self.run(own, one, options, writer)

        if self.run_all is not None:
            found, left_out = self.run_all(context, inputs, options, writer), list[Note]()
        else:
            found, left_out = of_each(inputs, ask_one, named=is_named)
        return found, [*left_out, *name_notes(context.names, context.reading.special_tokens)]

    def read(
        self,
        source: Source,
        configs: Sequence[str],
        split: str,
        max_items: int | None,
        options: _O,
    ) -> tuple[list[_I], list[Note]]:
        """The inputs of a dataset, at least one, and what was left out.

        Raises:
            EvaluationError: see :func:`eval.tasks.table.read_tables`, or that of ``inputs``.
        """
        if self.inputs is not None:
            return self.inputs(source, configs, split, max_items, options)
        found, notes = read_tables(self.command.kind, source, configs, split, max_items)
        return cast(list[_I], found), notes


def fields_beside(
    known: Mapping[str, Score],
    constants: Sequence[str] = (MOST_FREQUENT,),
    chance_name: str = CHANCE_NAME,
) -> dict[str, Any]:
    """The fields of a score that baselines on the same units stand in.

    ``constants`` read nothing: the best of those that are known is what others call chance.
    """
    values = {label: one.score for label, one in known.items()}
    found: dict[str, Any] = {
        name: values[label] for name, label in OTHER_BASELINES.items() if label in values
    }
    reached = [value for label in constants if (value := values.get(label)) is not None]
    if reached:
        found |= {"chance": max(reached), "chance_name": chance_name}
    return found

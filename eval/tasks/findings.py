"""What a task of the registry found, and how that is gathered: one way for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from coherencegym.eval.data.notes import Note, caution
from coherencegym.eval.data.signature import versions
from coherencegym.eval.data.source import Source
from coherencegym.eval.metrics.estimates import EstimateRow, estimates, score_of
from coherencegym.eval.metrics.metric import Metric
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.outcomes.tables import OutcomeTables
from coherencegym.eval.statistics.intervals import INTERVALS
from coherencegym.eval.statistics.scores import (
    BAG_OF_WORDS,
    ONE_RATER,
    REPEATED_WORDS,
    Score,
    people_fields,
)
from coherencegym.eval.tasks.results import (
    TaskResults,
    about_dataset,
    about_table,
    run_notes,
    signature_of,
)
from coherencegym.eval.tasks.score.headline import floor_notes
from coherencegym.eval.tasks.score.summary import FEW_ITEMS
from coherencegym.eval.tasks.table import Table
from coherencegym.eval.tasks.task import Task


@dataclass(frozen=True, repr=False)
class Findings(TaskResults):
    """The results of a task of the registry.

    Attributes:
        asked: the task.
        tables: the rows that it was asked about.
        outcomes: what came out, of which all else is computed.
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


def gather_findings(
    asked: Task[Any, Any],
    source: Source,
    model: LoadedModel,
    tables: Sequence[Table[Any]],
    outcomes: OutcomeTables,
    settings: Mapping[str, Any],
    options: Any,
) -> Findings:
    """The findings of a run on the tables of a dataset, at least one.

    Args:
        settings: the user's choices of model, data and reading, by their names.
        options: the task's own.
    """
    about, own = model.about(), asdict(options)
    digests = [f"{table.config} {table.split} {table.rows_sha256}" for table in tables]
    dataset = about_dataset(
        source,
        digests,
        all(table.verified for table in tables),
        [about_table(table, table.rows) for table in tables],
    )
    recorded = {**settings, **own, "intervals": INTERVALS, "versions": versions(about)}
    signed = {**own, "dtype": model.dtype}
    found = Findings(
        signature=signature_of(asked.name, about, dataset, recorded, signed),
        model=about,
        dataset=dataset,
        settings=recorded,
        notes=(),
        task=asked.name,
        asked=asked,
        tables=tables,
        outcomes=outcomes,
    )
    found = replace(found, headline=asked.headline(found))
    notes = [*run_notes(source, model, tables, settings["max_items"]), *_notes(found)]
    return replace(found, notes=notes)


def _notes(found: Findings) -> Iterator[Note]:
    yield from found.asked.notes(found)
    yield from floor_notes(found.headline)
    if any(one.estimate.n < FEW_ITEMS for one in found.estimates):
        what = found.asked.units
        yield caution(f"! fewer than {FEW_ITEMS} {what}: read the interval, not the score")

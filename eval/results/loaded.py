"""Results that were read from their folder: scores, outcomes, and what the task says of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from coherencegym.eval.metrics.metric import Metric
from coherencegym.eval.results.folder import MARKER
from coherencegym.eval.results.runs import read_run
from coherencegym.eval.results.saved import read_saved
from coherencegym.eval.statistics.scores import Score
from coherencegym.eval.tasks.results import TaskResults
from coherencegym.files.strict_json import read_json


@dataclass(frozen=True, repr=False)
class LoadedResults(TaskResults):
    """Results that a run has written.

    Attributes:
        folder: the folder that they were read from.
        scores: the scores, in the form that every task has.
        of_metrics: the metrics of the outcomes.
        score_rows: the scores with all that the task says of each, as ``results.json`` has them.
    """

    folder: Path
    scores: Sequence[Score]
    of_metrics: Sequence[Metric]
    score_rows: Sequence[Mapping[str, Any]]

    @property
    def rows(self) -> Sequence[Score]:
        """The scores, in the form that every task has."""
        return self.scores

    @property
    def metrics(self) -> Sequence[Metric]:
        """The metrics of the outcomes."""
        return self.of_metrics

    def __repr__(self) -> str:
        number = f"{len(self.rows):,} score{'s' * (len(self.rows) != 1)}"
        return f"<Results of {self.model['name']} on {self.dataset['name']}: {number}>"


@dataclass(frozen=True)
class _Facts:
    model: dict[str, Any]
    dataset: dict[str, Any]
    scores: list[dict[str, Any]]


_Loaded = TypeVar("_Loaded", bound=LoadedResults)


def load_run(folder: Path, kind: type[_Loaded]) -> _Loaded:
    """The results of one run, as a kind of :class:`LoadedResults`.

    Raises:
        EvaluationError: see :func:`eval.results.saved.read_saved`.
        OSError: a file cannot be read.
    """
    saved, run = read_saved(folder), read_run(folder)
    facts = read_json(folder / MARKER, _Facts)
    return kind(
        signature=run.signature,
        model=facts.model,
        dataset=facts.dataset,
        settings=saved.settings,
        notes=run.notes,
        task=run.task,
        headline=run.headline,
        outcomes=saved.outcomes,
        folder=folder,
        scores=tuple(run.scores),
        of_metrics=tuple(saved.metrics.values()),
        score_rows=facts.scores,
    )

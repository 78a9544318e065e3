"""Runs of the checkpoints of a training, in the order of their steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from coherencegym.eval.results.run_table import RunColumn, RunTable
from coherencegym.eval.results.steps import step_of
from coherencegym.eval.tasks.headline import Headline


@dataclass(frozen=True)
class LearningCurve:
    """The headlines of two or more checkpoints of one training on one suite, by their counts.

    All of them are of the same rows, and have a score; ``suite`` is a name for readers.
    ``controlled`` suites have controls, from which their scores are to be told apart.
    """

    training: str
    suite: str
    unit: str
    counts: Sequence[float]
    heads: Sequence[Headline]
    controlled: bool = False

    @property
    def above_from(self) -> float | None:
        """The first count from which on every score is above chance and baselines.

        Each with its whole interval; None where the last one is not.
        """
        found = None
        for count, head in zip(reversed(self.counts), reversed(self.heads), strict=True):
            if not head.is_above_known:
                break
            found = count
        return found


def learning_curves(table: RunTable) -> list[LearningCurve]:
    """The curves of a table; of several runs of a checkpoint on the same rows, the last."""
    found: dict[tuple[object, ...], dict[float, Headline]] = {}
    columns: dict[tuple[object, ...], RunColumn] = {}
    for column, _, run in table.runs:
        step, head = step_of(run), run.number
        if step is not None and head is not None and head.score is not None:
            rows = frozenset((one.config, one.split, one.sha256, one.items) for one in run.tables)
            same = column.task, column.suite, column.version, rows, head.over, head.metric
            key = (*same, step.training, step.unit)
            found.setdefault(key, {})[step.count] = head
            columns.setdefault(key, column)
    curves = {key: dict(sorted(points.items())) for key, points in found.items() if len(points) > 1}
    names = Counter((columns[key].name, *key[-2:]) for key in curves)
    controlled = {(c.suite, c.version) for c in table.columns if c.is_controlled}
    return [
        LearningCurve(
            training,
            column.name if names[column.name, training, unit] == 1 else column.whole_name,
            unit,
            list(points),
            list(points.values()),
            (column.suite, column.version) in controlled,
        )
        for key, points in curves.items()
        for column, training, unit in [(columns[key], str(key[-2]), str(key[-1]))]
    ]

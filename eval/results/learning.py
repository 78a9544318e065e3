"""Runs of the checkpoints of a training, in the order of their steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coherencegym.eval.results.overview import SuiteKey, above_chance, above_floor, overview_of
from coherencegym.eval.results.runs import Run
from coherencegym.eval.results.steps import AS_NAMED, Axis, step_of
from coherencegym.eval.tasks.headline import Headline


@dataclass(frozen=True)
class LearningCurve:
    """The headlines of two or more checkpoints of one training on one suite, by their counts.

    All of them are of the same rows, and have a score; ``suite`` is a name for readers.
    ``controlled`` suites have controls, from which their scores are to be told apart. ``folders``
    are the places of the results, empty for those in memory.
    """

    training: str
    suite: str
    unit: str
    counts: Sequence[float]
    heads: Sequence[Headline]
    controlled: bool = False
    folders: Sequence[str] = ()

    @property
    def above_from(self) -> float | None:
        """The first count from which on every score is above chance and floors.

        Each with its whole interval; None where the last one is not.
        """
        found = None
        for count, head in zip(reversed(self.counts), reversed(self.heads), strict=True):
            if not above_all(head):
                break
            found = count
        return found


def above_all(head: Headline) -> bool:
    """Tell whether the whole interval is above chance, and above the floors where there are any."""
    return above_chance(head) and (head.floor is None or above_floor(head))


def learning_curves(runs: Sequence[Run], axis: Axis = AS_NAMED) -> list[LearningCurve]:
    """The curves that runs make; of several runs of a checkpoint on the same rows, the last."""
    shown = overview_of(runs)
    found: dict[tuple[SuiteKey, object, str, str], dict[float, tuple[Headline, str]]] = {}
    for (suite, _), run in shown.by_pair.items():
        step, head = step_of(run, axis), run.headline
        if step is not None and head is not None and head.score is not None:
            rows = tuple(sorted(run.rows.items()))
            same = (rows, head.over, head.measure)
            own = found.setdefault((suite, same, step.training, step.unit), {})
            own[step.count] = head, run.folder
    return [
        LearningCurve(
            training,
            shown.suites[suite],
            unit,
            sorted(points),
            [points[count][0] for count in sorted(points)],
            shown.controlled(suite),
            [points[count][1] for count in sorted(points)],
        )
        for (suite, _, training, unit), points in found.items()
        if len(points) > 1
    ]

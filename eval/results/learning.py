"""Runs of the checkpoints of a training, in the order of their steps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coherencegym.eval.results.overview import SuiteKey, overview_of
from coherencegym.eval.results.runs import Run
from coherencegym.eval.tasks.score.headline import Headline

#: Words of a checkpoint's name before its number, and the unit that each counts: ``step1000``,
#: ``checkpoint-500`` (of transformers), ``chck_10M`` (words, of BabyLM), ``epoch3``.
_UNITS = {
    **dict.fromkeys(("step", "steps", "globalstep"), "step"),
    **dict.fromkeys(("checkpoint", "ckpt", "iter", "iteration"), "step"),
    **dict.fromkeys(("chck", "words"), "word"),
    **dict.fromkeys(("token", "tokens"), "token"),
    **dict.fromkeys(("epoch", "epochs"), "epoch"),
}
_WORDS = "|".join(sorted(_UNITS, key=len, reverse=True))
# A number without such a word is the size of a model (``opt-125m``) or its version.
_COUNT = re.compile(
    rf"(?<![a-z])(?P<word>{_WORDS})(?P<between>[-_= ]?)"
    r"(?P<number>[0-9]{1,15}(?:\.[0-9]{1,6})?)(?P<times>[kmb]?)(?![a-z0-9])",
    re.IGNORECASE,
)
_TIMES = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9}


@dataclass(frozen=True)
class Step:
    """A place in a training.

    Attributes:
        training: the name that all its checkpoints have but for what they count.
        unit: the thing that is counted: ``step``, ``word``, ``token`` or ``epoch``.
        count: the number of them.
    """

    training: str
    unit: str
    count: float


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


def step_of(run: Run) -> Step | None:
    """The checkpoint that a run is of, by its revision or else the name of its model.

    Where a name counts several things (``step1000-tokens4B``) it is the first of them. None where
    it counts nothing.
    """
    path = Path(run.model)
    name = run.at_revision or path.name
    found = _COUNT.search(name)
    if found is None:
        return None
    rest = _COUNT.sub(lambda each: f"{each['word']}{each['between']}*", name)
    training = f"{run.model}{rest}" if run.at_revision else str(path.with_name(rest))
    count = float(found["number"]) * _TIMES[found["times"].lower()]
    return Step(training + run.by_scorer, _UNITS[found["word"].lower()], count)


def learning_curves(runs: Sequence[Run]) -> list[LearningCurve]:
    """The curves that runs make; of several runs of a checkpoint on the same rows, the last."""
    shown = overview_of(runs)
    found: dict[tuple[SuiteKey, object, str, str], dict[float, Headline]] = {}
    for (suite, _), run in shown.by_pair.items():
        step, head = step_of(run), run.headline
        if step is not None and head is not None and head.score is not None:
            rows = tuple(sorted(run.rows.items()))
            same = (rows, head.over, head.measure)
            found.setdefault((suite, same, step.training, step.unit), {})[step.count] = head
    return [
        LearningCurve(
            training,
            shown.suites[suite],
            unit,
            sorted(heads),
            [heads[count] for count in sorted(heads)],
            shown.controlled(suite),
        )
        for (suite, _, training, unit), heads in found.items()
        if len(heads) > 1
    ]

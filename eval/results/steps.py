"""The place of a checkpoint in its training, as the name of its revision or folder has it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from coherencegym.eval.tasks.results import Results

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
#: A revision that is nothing but a count; a folder's letter would be the size of a model (``7b``).
_ALONE = re.compile(r"(?P<number>[0-9]{1,15})(?P<times>[kmb]?)", re.IGNORECASE)
_TIMES = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9}


@dataclass(frozen=True)
class Step:
    """A place in a training.

    Attributes:
        training: the name that all its checkpoints have but for what they count.
        unit: the thing that is counted: ``step``, ``word``, ``token`` or ``epoch``; empty where the
            name does not say.
        count: the number of them.
    """

    training: str
    unit: str
    count: float


def step_of(run: Results) -> Step | None:
    """The checkpoint that a run is of, by its revision or else the name of its model.

    Where a name counts several things (``step1000-tokens4B``), it is the first. None where it
    counts nothing.
    """
    path = Path(run.model_name)
    revision = run.at_revision.removeprefix("@")
    name = revision or path.name
    rest = _COUNT.sub(lambda each: f"{each['word']}{each['between']}*", name)
    counts: dict[str, float] = {}
    for found in _COUNT.finditer(name):
        counts.setdefault(_UNITS[found["word"].lower()], _number(found))
    if not counts and (alone := _ALONE.fullmatch(name)) and (revision or not alone["times"]):
        counts, rest = {"": _number(alone)}, "*"
    if not counts:
        return None
    unit = next(iter(counts))
    training = f"{run.model_name}@{rest}" if revision else str(path.with_name(rest))
    return Step(training + run.by_scorer, unit, counts[unit])


def _number(found: re.Match[str]) -> float:
    return float(found["number"]) * _TIMES[found["times"].lower()]


def short_count(count: float) -> str:
    """A number of steps as names of checkpoints have it: ``500``, ``1.5k``, ``10M``."""
    for size, letter in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if abs(count) >= size:
            return f"{count / size:g}{letter}"
    return f"{count:g}"

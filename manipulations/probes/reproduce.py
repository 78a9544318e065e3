"""How many of other people's edits a probe in mode ``insted`` makes exactly as they did.

The probe files of Shen et al. (2021) have records with the sentence (``to_be_replaced``) and its
edited version (``replace_with``), one JSON object a line; ``docs/probes.md`` shows how to compare
a file of them, and what came out.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from coherencegym.manipulations.probes.probe import Mode, apply
from coherencegym.manipulations.probes.registry import probe_sentence


@dataclass(frozen=True, slots=True)
class Difference:
    """A pair that was not reproduced: the sentence, their edit, and ours."""

    sentence: str
    expected: str
    ours: str

    @property
    def kind(self) -> str:
        """Why it differs: what their edit has that ours has not, and the other way round."""
        theirs, mine = _edits(self.sentence, self.expected), _edits(self.sentence, self.ours)
        if not mine:
            return "the probe does not apply"
        if mine < theirs:
            return "they changed more"
        if theirs < mine:
            return "they changed less"
        if {place for place, _ in mine} == {place for place, _ in theirs}:
            return "other words in the same places"
        return "other places"


@dataclass(frozen=True, slots=True)
class Reproduced:
    """The outcome: how many pairs came out the same, and those that did not."""

    exact: int
    different: tuple[Difference, ...]

    @property
    def share(self) -> float:
        """Exact pairs of all pairs; 0 where there are none."""
        total = self.exact + len(self.different)
        return self.exact / total if total else 0.0


def reproduce(
    pairs: Iterable[tuple[str, str]], name: str, mode: Mode = "insted", pipeline: str | None = None
) -> Reproduced:
    """Apply a probe to the first of each pair and compare the result with the second.

    White space at the ends and runs of spaces do not count.

    Raises:
        KeyError: no probe has that name.
    """
    exact = 0
    different: list[Difference] = []
    for sentence, expected in pairs:
        ours = apply(sentence, probe_sentence(sentence, name, mode, pipeline))
        if ours.split() == expected.split():
            exact += 1
        else:
            different.append(Difference(sentence, expected, ours))
    return Reproduced(exact, tuple(different))


def _edits(before: str, after: str) -> set[tuple[tuple[int, int], str]]:
    """Which words became which: places in ``before`` with what stands there in ``after``."""
    old, new = before.split(), after.split()
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return {
        ((i, j), " ".join(new[k:m])) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"
    }

"""Control tasks: what a probe learns where there is nothing to learn.

Hewitt and Liang 2019 ("Designing and interpreting probes with control tasks"): a label is drawn for
each *type* once, from the distribution of the training labels, and learned as the task is. A probe
that does as well has memorised types; selectivity is the difference. Sentences do not recur, so the
type is something that does: the first word, in lower case, of the segment that the answer is about
(of Chinese its first two characters).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from coherencegym.eval.kinds.documents import LabelledExample
from coherencegym.words import with_spaces


def type_of(example: LabelledExample, slot: int) -> str:
    """The first word of a slot, in lower case; of Chinese its first two characters."""
    return with_spaces(example.slots[slot].segments[0]).split()[0].lower()


def control_labels(
    types: Sequence[str], train_labels: Sequence[str], seed: int = 0
) -> dict[str, str]:
    """A label for each type, drawn from the training labels by (seed, type) and nothing else."""
    choices = sorted(train_labels)
    return {name: choices[_draw(seed, name) % len(choices)] for name in {*types}}


def _draw(seed: int, name: str) -> int:
    key = json.dumps([seed, "probe", "control", name], ensure_ascii=False)
    return int.from_bytes(hashlib.sha256(key.encode()).digest(), "big")

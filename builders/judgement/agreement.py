"""Agreement of annotators, and the label that most of them give."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

#: (annotator, unit, label).
Label = tuple[str, str, str]


def alpha(labels: Iterable[Label]) -> tuple[float | None, int]:
    """Krippendorff's alpha for nominal labels, with missing ones (Krippendorff 2011).

    Args:
        labels: the labels of a unit: at most one for each annotator and unit.

    Returns:
        Alpha, and the number of units that at least two annotators labelled, which it is over. None
        where there is no such unit, or no variation: where all labels are equal nobody can tell
        agreement from habit (nltk says 1 there).
    """
    units: dict[str, list[Label]] = defaultdict(list)
    for label in sorted(labels):
        units[label[1]].append(label)
    shared = [label for of_unit in units.values() if len(of_unit) > 1 for label in of_unit]
    number = len({unit for _, unit, _ in shared})
    if len({label for _, _, label in shared}) < 2:
        return None, number

    from nltk.metrics.agreement import AnnotationTask

    return float(AnnotationTask(data=shared).alpha()), number


def majority(votes: Sequence[str]) -> str | None:
    """The answer of more than half of those who answered; none where there is no such answer."""
    if not votes:
        return None
    ((answer, count), *_) = Counter(votes).most_common(1)
    return answer if 2 * count > len(votes) else None

"""The verdict on a run's one number, as the page begins with it: the line that a terminal prints,
and what its cautions say of it."""

from __future__ import annotations

from collections.abc import Sequence

from coherencegym.eval.report.blocks import Bearing, Verdict
from coherencegym.eval.statistics.scores import FEW_ITEMS
from coherencegym.eval.tasks.headline import (
    Headline,
    baseline_notes,
    headline_line,
    named_baselines,
)
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.outcomes import Difference

_NO_LARGER = (
    "its margins are not shown to be larger than in the controls, in which the same change makes "
    "no text less coherent"
)


def verdict(head: Headline, differences: Sequence[Difference] = ()) -> Verdict | None:
    """The verdict on a headline; None where it has no number.

    ``differences`` are those from its controls.
    """
    if head.score is None:
        return None
    against = [str(note) for note in baseline_notes(head)]
    known = [one.ci_low for one in differences]
    if any(low is not None for low in known) and not all(
        low is not None and low > 0 for low in known
    ):
        against.append(_NO_LARGER)
    few = f"fewer than {FEW_ITEMS} items: read the interval, not the score"
    shows = "; ".join([*against, *[few] * (head.n < FEW_ITEMS)])
    bearing: Bearing = (
        "below" if head.is_below else "open" if against or head.ci_low is None else "shows"
    )
    return Verdict(
        headline_line(head),
        shows or f"the whole interval is above {' and '.join(named_baselines(head))}",
        "below" if head.is_below else bearing,
    )


def verdict_of(results: Results) -> Verdict | None:
    """The verdict on the run's one number, where it has one."""
    head = results.headline
    if head is None:
        return None
    return verdict(head, [each for each in results.differences if each.config in head.over])

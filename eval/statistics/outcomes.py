"""What one unit came to under one measure: the rows of ``outcomes.parquet``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

#: How outcomes add up: the mean of their values; the sum of their values over that of their wholes;
#: how often the value of a true unit is above that of another (the area under the ROC curve).
Statistic = Literal["share", "ratio", "ranks"]
STATISTICS: tuple[Statistic, ...] = get_args(Statistic)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a unit (an item, a document, a sentence) came to under a measure.

    Attributes:
        config, split: the table.
        measure, judge: as of :class:`eval.statistics.scores.Score`.
        statistic: how the outcomes of the measure add up.
        unit_id: unique within table, measure and judge.
        discourse_id: where the unit is from.
        cluster: what of all units is drawn as one: a family, or else the discourse.
        groups: those that the unit is in, ``column=value`` among them; all are in the group of all.
        value: a share, a part of the whole, or a number that ranks; None where there is none.
        whole: what the value is a part of, for a ratio; 1 for others.
        truth: whether the unit is one of those to be found, for ranks; None for others.
        reason: why there is no value; empty where there is one.
    """

    config: str
    split: str
    measure: str
    judge: str
    statistic: Statistic
    unit_id: str
    discourse_id: str
    cluster: str
    groups: tuple[str, ...] = ()
    value: float | None
    whole: float = 1.0
    truth: bool | None = None
    reason: str = ""


def value_of(outcomes: Sequence[Outcome]) -> float | None:
    """The value that outcomes of one measure, all with a value, add up to; None where they do not.

    A ratio without wholes has none, nor have ranks where all units are of one kind.
    """
    values = [one.value for one in outcomes if one.value is not None]
    if not values:
        return None
    if outcomes[0].statistic == "ranks":
        from coherencegym.eval.statistics.measures import above

        truths = [bool(one.truth) for one in outcomes]
        found = [v for v, truth in zip(values, truths, strict=True) if truth]
        others = [v for v, truth in zip(values, truths, strict=True) if not truth]
        return float(above(found, others).mean() / len(others)) if found and others else None
    whole = math.fsum(one.whole for one in outcomes)
    return math.fsum(values) / whole if whole else None

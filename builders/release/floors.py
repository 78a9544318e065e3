"""Floors: scores of what does not read, which a language model has to beat.

The statistic of the CD score, with something simpler in the place of the language model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from coherencegym.builders.suite import Contrast, Draft
from coherencegym.eval.kinds.items import Prediction
from coherencegym.eval.statistics.intervals import share_interval

#: Sides that differ by less than this tie.
TIE = 1e-9
#: Says how incoherent a condition (its name) looks where a contrast compares it.
Incoherence = Callable[[str, Contrast], float]


@dataclass(frozen=True, slots=True)
class FloorDecision:
    """One prediction decided by what does not read: 1 right, 0 wrong, one half a tie.

    ``discourse`` is what its item was made from; ``owner`` is that, or the family of discourses
    that it belongs to: a classifier must not learn from one Winograd twin what it is asked about
    the other. ``item`` is its item's number, ``columns`` are the groups that its item is in by
    its columns.
    """

    discourse: str
    owner: str
    item: int
    prediction: Prediction
    columns: tuple[str, ...]
    value: float


def decisions_on(
    draft: Draft, number: int, breakdowns: Sequence[str], incoherence: Incoherence
) -> Iterator[FloorDecision]:
    """The decisions on the predictions of an item, its ``number`` among those that are decided.

    The side of a contrast whose ``incoherence`` sums up to more is called the incoherent one.
    """
    item = draft.item
    columns = tuple(f"{column}={str(item.extra[column]).lower()}" for column in breakdowns)
    for contrast in draft.contrasts:
        value = decided(contrast, incoherence)
        yield FloorDecision(
            item.discourse_id, item.cluster, number, contrast.prediction, columns, value
        )


def decided(contrast: Contrast, incoherence: Incoherence) -> float:
    """Decide a contrast: 1 right, 0 wrong, one half a tie."""
    worse = sum(incoherence(name, contrast) for name in contrast.worse)
    better = sum(incoherence(name, contrast) for name in contrast.better)
    return 0.5 if abs(worse - better) < TIE else float(worse > better)


def floor_scores(
    decisions: Sequence[FloorDecision], headline: str = "", folds: int = 0
) -> list[dict[str, Any]]:
    """Scores of what does not read, of all items together (group ``""``) and of each group.

    One for each formula and metric, and where a group has several of them one over all, in which
    an item's value is the mean over its predictions. With a ``headline`` the score of all items and
    those by column are over that group alone; ``folds`` are those of the cross-validation by which
    a classifier decided, 0 where nothing was trained.
    """
    members: dict[str, list[FloorDecision]] = defaultdict(list)
    for decision in decisions:
        groups = decision.prediction.groups
        wide = not headline or headline in groups
        for group in (*groups, *(("", *decision.columns) if wide else ())):
            members[group].append(decision)
    grouped: dict[tuple[str, str, str], list[FloorDecision]] = defaultdict(list)
    for group, of_group in members.items():
        for decision in of_group:
            grouped[decision.prediction.formula, decision.prediction.metric, group].append(decision)
        formulas = {decision.prediction.formula for decision in of_group}
        metrics = {decision.prediction.metric for decision in of_group}
        formula = "" if len(formulas) > 1 else formulas.pop()
        metric = "" if len(metrics) > 1 else metrics.pop()
        grouped[formula, metric, group] = of_group
    return [
        {"formula": formula, "metric": metric, "group": group, **_score(several, folds)}
        for (formula, metric, group), several in sorted(grouped.items())
    ]


def _score(decisions: Sequence[FloorDecision], folds: int) -> dict[str, Any]:
    by_item: dict[int, list[float]] = defaultdict(list)
    owner_of = {decision.item: decision.owner for decision in decisions}
    for decision in decisions:
        by_item[decision.item].append(decision.value)
    values = [mean(own) for own in by_item.values()]
    owners = [owner_of[item] for item in by_item]
    return score_figures(values, owners, [len(own) for own in by_item.values()], folds)


def score_figures(
    values: Sequence[float], owners: Sequence[str], sizes: Sequence[int] = (), folds: int = 0
) -> dict[str, Any]:
    """A score and its interval as a manifest has them; arguments are those of the interval."""
    interval = share_interval(values, owners, sizes, folds=folds)
    return {
        "n": len(values),
        "n_discourses": len(set(owners)),
        "score": round(mean(values), 4),
        "ci_low": round(interval.low, 4),
        "ci_high": round(interval.high, 4),
        "ci_method": interval.method,
    }

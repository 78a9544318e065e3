"""Scores: how often predictions hold, by how many bits, and how far that can be trusted.

The CD score of Beyer, Loáiciga and Schlangen (2021, section 3) is the share of items whose
prediction holds. Where a row of the summary takes several predictions of one item, the item's
value is the share of them that holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any, TypeVar

from coherencegym.eval.kinds.predictions import Outcome
from coherencegym.eval.statistics.intervals import (
    macro_interval,
    mean_interval,
    median_interval,
    share_interval,
)
from coherencegym.eval.statistics.scores import REFERENCE, Score, ScoreRow
from coherencegym.eval.tasks.score.metrics import Judgement
from coherencegym.eval.tasks.score.selections import Selection, column_labels, select

#: Fewer items than this in a score, and the report warns.
FEW_ITEMS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemScore(Score):
    """A CD score with what is known of items; what has a default an older release may lack.

    The artefact and overlap scores and those of people are from the dataset's manifest.

    Attributes:
        level: ``all``, ``formula``, ``group``, ``headline`` (the group that ``all`` is over),
            ``detail`` (a group that is a row of the suite's table, where the config's own score is
            over a group of many) or ``column``.
        n_discourses: the discourses that the items come from; ``n_clusters``
            those of which no two share most of their text: what intervals are over.
        met: items whose prediction holds (shares added up where an item has several).
        ties, undefined: predictions; a tie is in the score and does not hold, an undefined
            prediction is left out. ``undefined_why`` counts the reasons.
        too_long: items left out because they do not fit into the model's context.
        margin_mean, margin_median: bits by which predictions hold, with 95 % intervals; None
            where a formula has no margin, the intervals also where clusters are too few: one, or
            for a median worth fewer than six items.
        first_left_out: items that read a first token which has no surprisal.
        too_close: predictions that differ by less than the measured numeric error of the run. They
            are in the score.
    """

    n_discourses: int = 0
    n_clusters: int = 0
    met: float = 0.0
    ties: int = 0
    undefined: int = 0
    undefined_why: Mapping[str, int] = field(default_factory=dict)
    too_long: int = 0
    margin_mean: float | None = None
    margin_mean_low: float | None = None
    margin_mean_high: float | None = None
    margin_median: float | None = None
    margin_median_low: float | None = None
    margin_median_high: float | None = None
    first_left_out: int = 0
    too_close: int = 0


@dataclass(frozen=True, slots=True)
class Macro:
    """The unweighted mean of the scores of a config's groups, with a 95 % interval."""

    config: str
    split: str
    n_groups: int
    score: float
    ci_low: float
    ci_high: float
    ci_method: str


def summarise(
    config: str,
    split: str,
    judgements: Sequence[Judgement],
    *,
    breakdowns: Sequence[str] = (),
    floors: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    headline: str = "",
    humans: Sequence[Mapping[str, Any]] = (),
) -> list[ItemScore]:
    """The scores of one table: of all items, then by formula, by group, by column.

    Args:
        config, split, judgements: the table, and all its predictions.
        breakdowns: columns by whose values scores are also reported.
        floors, humans: the manifest's scores of this table, the former by name.
        headline: the group of predictions that the score of all items, and those by column, are
            over; empty: all predictions.
    """
    # Once for each item, which has several judgements.
    items = {judgement.item.item_id: judgement.item for judgement in judgements}
    labels = {item_id: column_labels(item, breakdowns) for item_id, item in items.items()}
    rows = select(judgements, lambda j: labels[j.item.item_id], headline)
    about = {"config": config, "split": split}
    return [_score(about, row, floors or {}, humans) for row in rows]


#: Levels of scores that are over a group of predictions.
_GROUPS = ("group", "detail", "headline")


R = TypeVar("R", bound=ScoreRow)


def shown_rows(scores: Sequence[R]) -> list[R]:
    """The scores that a table or a plot shows.

    By formula only where there are no groups, details only where they have items enough, and not
    the group that the config's own score is over, nor what is not the model's.
    """
    grouped = {(s.config, s.split) for s in scores if s.level in _GROUPS}
    return [
        s
        for s in scores
        if (s.level != "formula" or (s.config, s.split) not in grouped)
        and (s.level != "detail" or s.n >= FEW_ITEMS)
        and s.level not in ("headline", REFERENCE)
    ]


def macro(
    config: str, split: str, judgements: Sequence[Judgement], headline: str = ""
) -> Macro | None:
    """The macro average over a table's groups; None where there are fewer than two.

    Over the first group of each prediction, the row of the suite's table; with a ``headline`` only
    of predictions in that group.
    """
    members = [j for j in judgements if j.groups and (not headline or headline in j.groups)]
    groups = []
    for chosen in by_first_group(members).values():
        values = item_values(chosen)
        if values:
            groups.append(([v.share for v in values], [v.cluster for v in values]))
    if len(groups) < 2:
        return None
    interval = macro_interval(groups)
    score = fmean(fmean(values) for values, _ in groups)
    return Macro(config, split, len(groups), score, interval.low, interval.high, interval.method)


def by_first_group(judgements: Iterable[Any]) -> dict[str, list[Any]]:
    """Judgements by the first group of each, the row of the suite's table; empty: it has none."""
    found: dict[str, list[Any]] = {}
    for judgement in judgements:
        found.setdefault(judgement.groups[0] if judgement.groups else "", []).append(judgement)
    return found


def cells_of(judgements: Sequence[Any], headline: str) -> dict[str, list[Any]]:
    """The judgements of each cell of a table: of its groups, as :func:`macro` has them, where its
    own score is over a group, and all of them where not."""
    if not headline:
        return {"": list(judgements)}
    return by_first_group(j for j in judgements if headline in j.groups)


@dataclass(frozen=True, slots=True)
class ItemValue:
    """Share of an item's predictions that hold, of how many, and their mean margin (bits) where all
    have one."""

    discourse_id: str
    cluster: str
    share: float
    predictions: int
    margin: float | None


def _mean(values: Sequence[float]) -> float:
    """The mean: most items have one prediction in a group, and there are many groups."""
    return values[0] if len(values) == 1 else fmean(values)


def item_values(judgements: Iterable[Any]) -> list[ItemValue]:
    """The value of each item that has a defined prediction among these.

    Args:
        judgements: fresh ones, or such as were read from a results folder.
    """
    by_item: dict[str, tuple[Any, list[Outcome]]] = {}
    for judgement in judgements:
        if (outcome := judgement.outcome) is not None:
            item = judgement.item
            by_item.setdefault(item.item_id, (item, []))[1].append(outcome)
    values = []
    for item, outcomes in by_item.values():
        margins = [outcome.margin for outcome in outcomes if outcome.margin is not None]
        values.append(
            ItemValue(
                item.discourse_id,
                item.cluster,
                sum([outcome.met for outcome in outcomes]) / len(outcomes),
                len(outcomes),
                _mean(margins) if len(margins) == len(outcomes) else None,
            )
        )
    return values


def _score(
    about: Mapping[str, Any],
    row: Selection,
    floors: Mapping[str, Sequence[Mapping[str, Any]]],
    humans: Sequence[Mapping[str, Any]],
) -> ItemScore:
    judgements: list[Judgement] = row.judgements
    formula, metric = (only_one(getattr(j, n) for j in judgements) for n in ("formula", "metric"))
    group = row.name if row.level in (*_GROUPS, "column") else ""
    # People judged texts, whatever the formula and the metric.
    human = next((h for h in humans if row.level != "formula" and h["group"] == group), {})
    beside = _named("human", human)
    for name, own in floors.items():
        beside |= _named(name, _floor(own, formula, metric, group))
    return ItemScore(
        **about,
        **beside,
        formula=formula,
        metric=metric,
        group=group,
        level=row.level,
        **_values_of(judgements),
        **_counts_of(judgements),
        human_n=human.get("n", 0),
    )


def _counts_of(judgements: Sequence[Judgement]) -> dict[str, Any]:
    """The fields of a score that count predictions, or items that are left out."""
    why = Counter(j.reason for j in judgements if j.outcome is None)
    why.pop("too_long", None)
    too_long = len({j.item.item_id for j in judgements if j.reason == "too_long"})
    return {
        "ties": sum(j.outcome.tie for j in judgements if j.outcome is not None),
        "undefined": why.total(),
        "undefined_why": dict(why),
        "too_long": too_long,
        "first_left_out": len({j.item.item_id for j in judgements if j.first_left_out}),
        "too_close": sum(j.too_close for j in judgements),
        "counts": {**why, **({"too_long": too_long} if too_long else {})},
    }


def only_one(names: Iterable[str]) -> str:
    """The name that all have in common; empty where they differ."""
    found = set(names)
    return found.pop() if len(found) == 1 else ""


def _named(whose: str, score: Mapping[str, Any]) -> dict[str, Any]:
    """The score and interval of somebody else, as the manifest has them."""
    return {f"{whose}_{name}": score.get(name) for name in ("score", "ci_low", "ci_high")}


def _values_of(judgements: Sequence[Judgement]) -> dict[str, Any]:
    """The fields of a score that are about the values of items, and about their margins."""
    values = item_values(judgements)
    clusters = [value.cluster for value in values]
    shares = [value.share for value in values]
    predictions = [value.predictions for value in values]
    fields: dict[str, Any] = {
        "n": len(values),
        "n_discourses": len({value.discourse_id for value in values}),
        "n_clusters": len(set(clusters)),
        "met": sum(shares),
        **dict.fromkeys(("score", "ci_low", "ci_high")),
    }
    if values:
        interval = share_interval(shares, clusters, predictions)
        fields |= {"score": fmean(shares), "ci_low": interval.low, "ci_high": interval.high}
        fields["ci_method"] = interval.method
    margins = [value.margin for value in values if value.margin is not None]
    if margins and len(margins) == len(values):
        for name, mean, of in (("mean", fmean, mean_interval), ("median", median, median_interval)):
            fields[f"margin_{name}"] = mean(margins)
            if (found := of(margins, clusters)) is not None:
                fields |= {f"margin_{name}_low": found.low, f"margin_{name}_high": found.high}
    return fields


def _floor(
    floors: Sequence[Mapping[str, Any]], formula: str, metric: str, group: str
) -> Mapping[str, Any]:
    """The floor of the same predictions; of a row over several formulas, the only one that the
    manifest has for its group."""
    same = [a for a in floors if a["group"] == group]
    exact = [a for a in same if (a["formula"], a["metric"]) == (formula, metric)]
    chosen = exact or (same if not formula else [])
    return chosen[0] if len(chosen) == 1 else {}

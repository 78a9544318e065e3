"""Scores: how often predictions hold, by how many bits, and how far that can be trusted.

The CD score of Beyer, Loáiciga and Schlangen (2021, section 3) is the share of items whose
prediction holds. Where a row of the summary takes several predictions of one item, the item's
value is the share of them that holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, TypeVar

from coherencegym.eval.statistics.intervals import (
    macro_interval,
    mean_interval,
    median_interval,
    share_interval,
)
from coherencegym.eval.statistics.scores import REFERENCE, Score, ScoreRow
from coherencegym.eval.tasks.score.columns import (
    Columns,
    ItemValues,
    by_first_place,
    count_distinct,
    in_columns,
    item_values,
)
from coherencegym.eval.tasks.score.metrics import Judgement
from coherencegym.eval.tasks.score.selections import Selection, select

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
    judgements: Columns | Sequence[Judgement],
    *,
    breakdowns: Sequence[str] = (),
    floors: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    headline: str = "",
    humans: Sequence[Mapping[str, Any]] = (),
) -> list[ItemScore]:
    """The scores of one table: of all items, then by formula, by group, by column.

    Args:
        config, split, judgements: the table, and all its predictions.
        breakdowns: columns by whose values scores are also reported; columns have them already.
        floors, humans: the manifest's scores of this table, the former by name.
        headline: the group of predictions that the score of all items, and those by column, are
            over; empty: all predictions.
    """
    columns = in_columns(judgements, breakdowns)
    about = {"config": config, "split": split}
    return [_score(about, columns, row, floors or {}, humans) for row in select(columns, headline)]


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
    config: str, split: str, judgements: Columns | Sequence[Judgement], headline: str = ""
) -> Macro | None:
    """The macro average over a table's groups; None where there are fewer than two.

    Over the first group of each prediction, the row of the suite's table; with a ``headline`` only
    of predictions in that group.
    """
    columns = in_columns(judgements)
    groups = []
    for name, places in by_first_group(columns, columns.inside(headline)).items():
        values = item_values(columns, places)
        if name is not None and len(values):
            groups.append((values.share, values.cluster))
    if len(groups) < 2:
        return None
    interval = macro_interval(groups)
    score = fmean(fmean(values) for values, _ in groups)
    return Macro(config, split, len(groups), score, interval.low, interval.high, interval.method)


def by_first_group(columns: Columns, places: Any) -> dict[str | None, Any]:
    """The places of predictions by the first group of each, the row of the suite's table; None: it
    has none."""
    import numpy as np

    groups = columns.group[places]
    number_of: dict[str | None, int] = {}
    numbers = np.zeros(len(columns.groups), np.int32)
    for group in by_first_place(groups):
        name = next(iter(columns.groups[group]), None)
        numbers[group] = number_of.setdefault(name, len(number_of))
    return {name: places[numbers[groups] == number] for name, number in number_of.items()}


def cells_of(columns: Columns, places: Any, headline: str) -> dict[str, Any]:
    """The places of each cell of a table: of its groups, as :func:`macro` has them, where its own
    score is over a group, and all of them where not."""
    if not headline:
        return {"": places}
    import numpy as np

    there = np.array([headline in own for own in columns.groups], bool)
    inside = places[there[columns.group[places]]]
    return {name or "": own for name, own in by_first_group(columns, inside).items()}


def _score(
    about: Mapping[str, Any],
    columns: Columns,
    row: Selection,
    floors: Mapping[str, Sequence[Mapping[str, Any]]],
    humans: Sequence[Mapping[str, Any]],
) -> ItemScore:
    formula, metric = kind_of(columns, row.places)
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
        **_values_of(item_values(columns, row.places)),
        **_counts_of(columns, row.places),
        human_n=human.get("n", 0),
    )


def _counts_of(columns: Columns, places: Any) -> dict[str, Any]:
    """The fields of a score that count predictions, or items that are left out."""
    reasons, items = columns.reason[places], columns.item[places]
    numbers = {columns.reasons[n]: n for n in by_first_place(reasons) if n}
    why = {name: int((reasons == number).sum()) for name, number in numbers.items()}
    too_long = 0
    if why.pop("too_long", 0):
        too_long = count_distinct(items[reasons == numbers["too_long"]])
    return {
        "ties": int(columns.tie[places].sum()),
        "undefined": sum(why.values()),
        "undefined_why": why,
        "too_long": too_long,
        "first_left_out": count_distinct(items[columns.first_left_out[places]]),
        "too_close": int(columns.too_close[places].sum()),
        "counts": {**why, **({"too_long": too_long} if too_long else {})},
    }


def kind_of(columns: Columns, places: Any) -> tuple[str, str]:
    """The formula and the metric that predictions have in common; empty where they differ."""
    kinds = [columns.kinds[number] for number in by_first_place(columns.kind[places])]
    return only_one(formula for formula, _ in kinds), only_one(metric for _, metric in kinds)


def only_one(names: Iterable[str]) -> str:
    """The name that all have in common; empty where they differ."""
    found = set(names)
    return found.pop() if len(found) == 1 else ""


def _named(whose: str, score: Mapping[str, Any]) -> dict[str, Any]:
    """The score and interval of somebody else, as the manifest has them."""
    return {f"{whose}_{name}": score.get(name) for name in ("score", "ci_low", "ci_high")}


def _values_of(values: ItemValues) -> dict[str, Any]:
    """The fields of a score that are about the values of items, and about their margins."""
    fields: dict[str, Any] = {
        "n": len(values),
        "n_discourses": count_distinct(values.discourse),
        "n_clusters": count_distinct(values.cluster),
        "met": sum(map(float, values.share)),
        **dict.fromkeys(("score", "ci_low", "ci_high")),
    }
    if not len(values):
        return fields
    interval = share_interval(values.share, values.cluster, values.predictions)
    fields |= {"score": fmean(values.share), "ci_low": interval.low, "ci_high": interval.high}
    fields["ci_method"] = interval.method
    if values.has_margins:
        for name, mean, of in (
            ("mean", fmean, mean_interval),
            ("median", _median, median_interval),
        ):
            fields[f"margin_{name}"] = mean(values.margin)
            if (found := of(values.margin, values.cluster)) is not None:
                fields |= {f"margin_{name}_low": found.low, f"margin_{name}_high": found.high}
    return fields


def _median(values: Any) -> float:
    import numpy as np

    return float(np.median(values))


def _floor(
    floors: Sequence[Mapping[str, Any]], formula: str, metric: str, group: str
) -> Mapping[str, Any]:
    """The floor of the same predictions; of a row over several formulas, the only one that the
    manifest has for its group."""
    same = [a for a in floors if a["group"] == group]
    exact = [a for a in same if (a["formula"], a["metric"]) == (formula, metric)]
    chosen = exact or (same if not formula else [])
    return chosen[0] if len(chosen) == 1 else {}

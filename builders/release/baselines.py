"""Baselines of pairs in a release (:mod:`eval.statistics.bag_of_words`).

Their decisions on every prediction of every item go beside the rows; the manifest has what they
come to, the statistic of the CD score, for the card.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from coherencegym.cards.render import said_of_control
from coherencegym.eval.data.dataset import (
    BALANCE_WEIGHT,
    SURFACE,
    baseline_schema,
    baselines_path,
)
from coherencegym.eval.kinds.table_kind import IDENTITY, SAMPLE, row_hash, rows_digest
from coherencegym.eval.statistics.balance import BALANCE_VERSION
from coherencegym.eval.statistics.control import CONTROLLED, UNCONTROLLED, Control
from coherencegym.eval.statistics.effective_size import cluster_pairs
from coherencegym.eval.statistics.estimators import effective_items, smallest_difference
from coherencegym.eval.statistics.intervals import share_interval
from coherencegym.eval.statistics.pair_baselines import BaselineDecision
from coherencegym.files.parquet import write_parquet


def baseline_scores(
    decisions: Sequence[BaselineDecision],
    shown: Collection[str] = ("",),
    headline: str = "",
    folds: int = 0,
) -> list[dict[str, Any]]:
    """The scores of a baseline over some groups of items, by group.

    An item's value is the mean over its predictions in the group.

    Args:
        decisions: those of the baseline.
        shown: the groups: ``""`` is all items, others are of predictions, or values of a column.
        headline: the group of predictions that the score of all items and those by column are over;
            empty: over all.
        folds: those of the cross-validation by which a classifier decided, 0 where nothing was
            trained.
    """
    members: dict[str, list[BaselineDecision]] = defaultdict(list)
    for decision in decisions:
        groups = {*decision.prediction.groups}
        if not headline or headline in groups:
            groups |= {"", *decision.columns}
        for group in groups.intersection(shown):
            members[group].append(decision)
    return [{"group": group, **_score(own, folds)} for group, own in sorted(members.items())]


def _score(decisions: Sequence[BaselineDecision], folds: int) -> dict[str, Any]:
    by_item: dict[str, list[float]] = defaultdict(list)
    cluster_of = {decision.item: decision.cluster for decision in decisions}
    for decision in decisions:
        by_item[decision.item].append(decision.value)
    values = [mean(own) for own in by_item.values()]
    cluster_ids = [cluster_of[item] for item in by_item]
    return score_figures(values, cluster_ids, [len(own) for own in by_item.values()], folds)


def score_figures(
    values: Sequence[float], cluster_ids: Sequence[str], sizes: Sequence[int] = (), folds: int = 0
) -> dict[str, Any]:
    """A score and its interval as a manifest has them; arguments are those of the interval."""
    interval = share_interval(values, cluster_ids, sizes, folds=folds)
    return {
        "n": len(values),
        "n_discourses": cluster_pairs(cluster_ids)[0],
        "score": round(mean(values), 4),
        "ci_low": round(interval.low, 4),
        "ci_high": round(interval.high, 4),
    }


def control_figures(control: Control, clusters: Sequence[str]) -> dict[str, Any]:
    """What is said of the surface of a split, as the manifest records it.

    ``clusters`` are those of the items that count, of which there is one.
    """
    # Independent items, of which each cluster has fewer, and weights make fewer still.
    effective = control.balance.effective
    independent = effective * effective_items(clusters) / len(clusters)
    difference = smallest_difference(independent)
    return {
        "version": BALANCE_VERSION,
        "word": control.word,
        "items": len(clusters),
        "weighed": control.balance.feasible,
        "effective_items": round(effective, 1),
        "needed": control.needed,
        "cue": "" if control.balance.solved else control.balance.worst,
        "by": control.by.by,
        **{
            name: round(getattr(control.by, own), 4)
            for name, own in {"score": "score", "ci_low": "low", "ci_high": "high"}.items()
        },
        "upper": round(control.checked[0].high, 4),
        "smallest_difference": None if difference is None else round(difference, 4),
    }


def control_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """The control of the split with the most effective items; empty where none was checked."""
    found = [own["control"] for own in config["quality"].values() if own.get("control")]
    return max(found, key=lambda own: float(own["effective_items"]), default={})


def hold_headline(configs: Mapping[str, dict[str, Any]]) -> None:
    """Take the configs that are not controlled out of a suite's headline.

    If none is controlled, those stay that can be; if none can be, all stay. ``not_headline`` says
    why a config is not controlled. Configs of the project's sample are looked at where there are no
    others, which alone would count.
    """
    named = [name for name, config in configs.items() if config["in_headline"]]
    chosen = [name for name in named if configs[name]["corpus"]["name"] != SAMPLE] or named
    words = {name: control_of(configs[name]).get("word", "") for name in chosen}
    controlled = [name for name in chosen if words[name] in ("", CONTROLLED)]
    kept = controlled or [name for name in chosen if words[name] != UNCONTROLLED] or chosen
    for name in chosen:
        configs[name]["in_headline"] = name in kept
        if name not in controlled:
            configs[name]["not_headline"] = said_of_control(control_of(configs[name]))


def write_baselines(
    folder: Path,
    config: str,
    split: str,
    decisions: Mapping[str, Sequence[BaselineDecision]],
    control: Control,
) -> dict[str, Any]:
    """Write the decisions of baselines, by their names, as a file of a split below ``folder``.

    A row for each baseline and item, in the order of the decisions; where the items are balanced,
    also one for each item's weight, and for what comes furthest under the weights.

    Returns:
        The entry of the manifest; empty, and no file, where there is no row.
    """
    import pyarrow as pa

    rows = []
    for name, own in decisions.items():
        values: dict[str, list[float]] = defaultdict(list)
        for decision in own:
            values[decision.item].append(decision.value)
        rows += [{IDENTITY: item, "baseline": name, "values": by} for item, by in values.items()]
    for name, of_items in ((BALANCE_WEIGHT, control.weights), (SURFACE, control.surface)):
        rows += [{IDENTITY: i, "baseline": name, "values": [v]} for i, v in of_items.items()]
    if not rows:
        return {}
    path = folder / baselines_path(config, split)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_parquet(pa.Table.from_pylist(rows, schema=baseline_schema()), path)
    return {"baselines": {"content_hash": rows_digest(map(row_hash, rows))}}

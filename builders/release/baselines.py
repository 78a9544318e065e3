"""Baselines of pairs in a release (:mod:`eval.statistics.pair_baselines`).

Their decisions on every prediction of every item go beside the rows; the manifest has what they
come to, the statistic of the CD score, for the card.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from coherencegym.cards.render import baseline_score
from coherencegym.eval.data.dataset import SURFACE, baseline_schema, baselines_path
from coherencegym.eval.kinds.table_kind import IDENTITY, SAMPLE, row_hash, rows_digest
from coherencegym.eval.statistics.effective_size import cluster_pairs
from coherencegym.eval.statistics.intervals import share_interval
from coherencegym.eval.statistics.pair_baselines import FEWEST_DISCOURSES, BaselineDecision
from coherencegym.files.parquet_writing import write_parquet

#: The interval of the surface baseline of a config in the headline ends below this.
MOST_BY_SURFACE = 0.6
_TOO_FEW = (
    f"fewer than {FEWEST_DISCOURSES} source texts; texts with a sentence in common count as one"
)


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


def hold_headline(configs: Mapping[str, dict[str, Any]]) -> None:
    """Take the configs that are not controlled out of a suite's headline.

    A config is controlled if the interval of its surface baseline ends below
    :data:`MOST_BY_SURFACE`. If none is controlled, those that have a surface baseline stay; if none
    has one, all stay. ``not_headline`` says why a config is not controlled. Configs of the
    project's sample are looked at where there are no others, which alone would count.
    """
    named = [name for name, config in configs.items() if config["in_headline"]]
    chosen = [name for name in named if configs[name]["corpus"]["name"] != SAMPLE] or named
    reasons = {name: _too_much(configs[name]) for name in chosen}
    controlled = [name for name in chosen if not reasons[name]]
    kept = controlled or [name for name in chosen if reasons[name] != _TOO_FEW] or chosen
    for name, reason in reasons.items():
        configs[name]["in_headline"] = name in kept
        if reason:
            configs[name]["not_headline"] = reason


def _too_much(config: Mapping[str, Any]) -> str:
    # By the test items, where a corpus is divided.
    quality = config["quality"]
    of_splits = [quality["test"]] if "test" in quality else quality.values()
    scores = [baseline_score(own, SURFACE, config.get("headline_value", "")) for own in of_splits]
    found = [score for score in scores if score is not None]
    if not found:
        return _TOO_FEW
    worst = max(found, key=lambda score: float(score["ci_high"]))
    if worst["ci_high"] < MOST_BY_SURFACE:
        return ""
    share, low, high = (f"{100 * worst[name]:.1f}" for name in ("score", "ci_low", "ci_high"))
    return (
        f"surface baseline {share} % [{low}, {high}], whose interval does not end below "
        f"{100 * MOST_BY_SURFACE:.0f} %"
    )


def write_baselines(
    folder: Path,
    config: str,
    split: str,
    decisions: Mapping[str, Sequence[BaselineDecision]],
    folds: Mapping[str, int],
) -> dict[str, Any]:
    """Write the decisions of baselines, by their names, as a file of a split below ``folder``.

    A row for each baseline and item, in the order of the decisions.

    Returns:
        The entry of the manifest, with ``folds`` of those that were trained; empty, and no file,
        where no baseline decided.
    """
    import pyarrow as pa

    rows = []
    for name, own in decisions.items():
        values: dict[str, list[float]] = defaultdict(list)
        for decision in own:
            values[decision.item].append(decision.value)
        rows += [{IDENTITY: item, "baseline": name, "values": by} for item, by in values.items()]
    if not rows:
        return {}
    path = folder / baselines_path(config, split)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_parquet(pa.Table.from_pylist(rows, schema=baseline_schema()), path)
    trained = {name: count for name, count in folds.items() if decisions.get(name)}
    digest = rows_digest(map(row_hash, rows))
    return {"baselines": {"content_hash": digest, "folds": trained}}

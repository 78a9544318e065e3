"""Estimates as plain records: what today's results say, whatever their classes and files are.

Each task has one function that reads its results, and so has each comparison of two runs. Where a
task's results change their form its function follows, and the records stay.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from types import SimpleNamespace
from typing import Any

from coherencegym.eval.results.comparison import ModelComparison
from coherencegym.eval.statistics.scores import (
    BAG_OF_WORDS,
    ONE_RATER,
    REPEATED_WORDS,
    Score,
    ScoreRow,
)
from coherencegym.eval.tasks.detect.documents import ANNOTATOR, VOTE
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.probe.task import layer_name, layer_rows
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.spans.task import RELEASED_PROGRAM

#: The model itself, and the systems that stand beside it in most tasks.
MODEL, PARTIAL_INPUT, OVERLAP, PEOPLE = "model", "partial input", "overlap", "people"
CHANCE = "chance"
#: Systems that have a name of their own in some tasks.
_SYSTEMS = {
    "": MODEL,
    BAG_OF_WORDS: PARTIAL_INPUT,
    REPEATED_WORDS: OVERLAP,
    ONE_RATER: PEOPLE,
    VOTE: PEOPLE,
    ANNOTATOR: "people, mean annotator",
    "random init": "randomly initialised, mean",
}
#: Counts of predictions and items by their names in results.
_COUNTS = {
    "tie": "ties",
    "too_long": "too long",
    "too close": "too close",
    "first token left out": "first token left out",
}
#: Metrics that come from a model's bits or vectors and are no count; names begin so.
_REAL = (
    *("margin", "difference of margins", "Spearman"),
    *("threshold of decision", "asked with"),
)


@dataclass(frozen=True, kw_only=True)
class Golden:
    """An estimate of a run.

    Attributes:
        run: the run of the task, or two that are compared.
        suite, config, split: the rows; no config: all that count in the suite's one number.
        group: the units: a group of them, or ``column=value``; empty: all.
        formula: the prediction and its region aggregation, where units have several.
        metric, system: what was estimated, and of whom.
        value, low, high: the estimate and its interval.
        n, clusters: the units, and those of which no two share text.
        method, test: those of the interval and of the test.
        p, p_holm: of the test, and corrected for its family.
        counts: units that are left out or are of a kind, by name; none that are 0.
    """

    run: str
    suite: str
    config: str = ""
    split: str = "test"
    group: str = ""
    formula: str = ""
    metric: str
    system: str = MODEL
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    clusters: int | None = None
    method: str = ""
    test: str = ""
    p: float | None = None
    p_holm: float | None = None
    counts: Mapping[str, float] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, ...]:
        """All that says what was estimated."""
        return tuple(getattr(self, name) for name in KEY)

    @property
    def is_real(self) -> bool:
        """Say that the values are no counts: another machine's last digits may differ."""
        return self.metric.startswith(_REAL)

    def as_json(self) -> dict[str, Any]:
        """The fields that have a value other than their default."""
        named = ((one, getattr(self, one.name)) for one in fields(self))
        return {one.name: value for one, value in named if value not in (one.default, {})}


#: The fields that say what was estimated, and those that say what came out.
KEY = ("run", "suite", "config", "split", "group", "formula", "metric", "system")
VALUES = tuple(one.name for one in fields(Golden) if one.name not in KEY)


def read_score(run: str, found: Results) -> Iterator[Golden]:
    """The estimates of a run of ``score``."""
    about = _about(run, found)
    yield from _headline(about, found.headline)
    for score in found.rows:
        yield from _item_score(about, score)
    for own in found.differences:
        by = {"formula": f"{own.formula} {own.aggregation}", "group": f"control {own.control}"}
        sides = {"margin mean": own.margin_mean, "margin mean, control": own.control_margin_mean}
        sizes = {
            "margin mean": (own.n, own.n_clusters),
            "margin mean, control": (own.n_control, own.n_clusters_control),
        }
        for metric, value in sides.items():
            n, clusters = sizes[metric]
            yield _golden(about, own, metric, value=value, n=n, clusters=clusters, bare=True, **by)
        change = {"value": own.difference, "n": None, "clusters": None}
        yield _golden(about, own, "difference of margins", **change, **by)
    for quoted in found.more["published"]:
        system = f"{quoted['model']}: {quoted['source']}"
        yield Golden(
            **about,
            config=quoted["config"],
            group=quoted["row"],
            metric="accuracy",
            system=system,
            value=quoted["score"],
        )


def read_detect(run: str, results: Results) -> Iterator[Golden]:
    """The estimates of a run of ``detect``."""
    about = _about(run, results)
    yield from _headline(about, results.headline)
    yield from _scores(about, results.rows)
    for chosen in results.more["thresholds"]:
        metric = "threshold of decision"
        by: dict[str, Any] = {"system": chosen["decision"], "group": chosen["chosen_on"]}
        by |= {"config": chosen["config"], "split": chosen["split"]}
        n = chosen["documents"]
        yield Golden(**about, **by, metric=metric, value=chosen["threshold"], n=n)
    for change in results.more["probes"]:
        where = {name: change[name] for name in ("config", "split", "value", "low", "high", "n")}
        by = {"metric": f"{change['metric']} − without", "system": change["decision"]}
        yield Golden(**about, **where, **by, method=change["method"])


def read_probe(run: str, results: Results) -> Iterator[Golden]:
    """The estimates of a run of ``probe``."""
    about = _about(run, results)
    yield from _headline(about, results.headline)
    yield from _scores(about, results.rows)
    for own in results.more["probes"]:
        yield from _probe_facts(about, SimpleNamespace(**own))
    for row in layer_rows(results):
        draw = f", randomly initialised {row['draw']}" if row["draw"] else ""
        fit: dict[str, Any] = {**about, "config": row["config"], "split": row["split"]}
        fit["system"] = layer_name(row["layer"]) + draw
        yield Golden(**fit, metric="accuracy", value=row["test"], n=row["n"])
        yield Golden(**fit, metric="accuracy on validation", value=row["validation"])
        yield Golden(**fit, metric="weight of the penalty", value=row["setting"])


def _probe_facts(about: dict[str, Any], own: Any) -> Iterator[Golden]:
    values: dict[str, tuple[str, float | None]] = {
        "layer": (MODEL, float(own.layer)),
        "layers": (MODEL, float(len(own.layers))),
        "layer after the final norm": (MODEL, float(own.normed)),
        "weight of the penalty": (MODEL, own.setting),
    }
    for metric, (system, value) in values.items():
        yield _golden(about, own, metric, system=system, value=value)
    for part in ("train", "validation", "test"):
        yield _golden(about, own, f"rows of {part}", n=getattr(own, part))


def read_spans(run: str, results: Results) -> Iterator[Golden]:
    """The estimates of a run of ``spans``."""
    about = _about(run, results)
    yield from _headline(about, results.headline)
    yield from _scores(about, results.rows)
    for one, own in zip(results.details, results.more["spans"], strict=True):
        where = {**about, "config": own["config"], "split": own["split"]}
        counts = _kept({"too long": one.left_out["too_long"], "cut": own["cut"]})
        yield Golden(**where, metric="texts", n=len(one.judged), counts=counts)
        for name, (low, high) in own["thresholds"].items():
            yield Golden(
                **where, metric=f"confidence for {name.replace(' ', '_')}", low=low, high=high
            )
        for name, value in own["about"].items():
            if _is_number(value):
                yield Golden(**where, metric=f"asked with {name}", value=float(value))
    for row in results.rows:
        if row.system.startswith(RELEASED_PROGRAM) and not row.group:
            system = row.system.removeprefix(RELEASED_PROGRAM).removeprefix(", ")
            where = {**about, "config": row.config, "split": row.split}
            where["system"] = _SYSTEMS.get(system, system)
            yield Golden(**where, metric=f"released {row.metric}", value=row.score)


def read_correlate(run: str, results: Results) -> Iterator[Golden]:
    """The estimates of a run of ``correlate``."""
    about = _about(run, results)
    yield from _headline(about, results.headline)
    yield from _scores(about, results.rows)


def read_comparison(run: str, compared: ModelComparison) -> Iterator[Golden]:
    """The estimates of two runs on the same units."""
    about = {"run": run, "suite": compared.baseline.suite}
    for row in compared.rows:
        named = _row(row)
        who = "" if named["system"] == MODEL else f", {named['system']}"
        counts = {
            "left out": row.left_out,
            "undefined, first": row.undefined_baseline,
            "undefined, second": row.undefined,
            "too close": row.too_close,
            "first higher": row.baseline_higher,
            "second higher": row.higher,
        }
        where = {**named, "n": row.n, "clusters": row.n_clusters}
        for side, value in (("first", row.baseline_score), ("second", row.score)):
            own = {"system": f"{side}{who}", "value": value, "bare": True}
            yield _golden(about, row, **{**where, **own})
        of_change = {
            **{"system": f"second − first{who}", "value": row.difference, "counts": _kept(counts)},
            **{"low": row.ci_low, "high": row.ci_high, "method": row.ci_method},
            **{"test": row.test, "p": row.p, "p_holm": row.p_holm},
        }
        yield _golden(about, row, **{**where, **of_change})


def unique(found: Iterable[Golden]) -> dict[tuple[str, ...], Golden]:
    """Records by key; what results say twice has to be the same, and the fuller record stays.

    Raises:
        AssertionError: results say two things of one estimate.
    """
    records: dict[tuple[str, ...], Golden] = {}
    for one in found:
        other = records.setdefault(one.key, one)
        if other is one:
            continue
        both = {}
        for name in VALUES:
            values = getattr(other, name), getattr(one, name)
            known = [value for value in values if value not in (None, "", {})]
            assert len(known) < 2 or _is_same(*known), f"{one.key}: {name}: {values}"
            both[name] = known[0] if known else values[0]
        records[one.key] = replace(other, **both)
    return records


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=0.0, abs_tol=1e-12)
    return bool(one == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)


def _about(run: str, results: Results) -> dict[str, Any]:
    return {"run": run, "suite": results.dataset["suite"]}


def _kept(counts: Mapping[str, float]) -> dict[str, float]:
    return {name: count for name, count in counts.items() if count}


def _golden(about: dict[str, Any], row: Any, metric: str, **more: Any) -> Golden:
    """A record with the fields that a row names as every row of today's results does."""
    names = {"config": "config", "split": "split", "n": "n", "clusters": "n_clusters"}
    if not more.pop("bare", False):
        names |= {"low": "ci_low", "high": "ci_high", "method": "ci_method", "value": "score"}
    found = {name: getattr(row, field, None) for name, field in names.items()}
    found["method"] = found.get("method") or ""
    for name in ("config", "split"):
        found[name] = found[name] or ""
    return Golden(**{**about, **found, "metric": metric, **more})


def _row(row: ScoreRow) -> dict[str, Any]:
    """What a row of scores, or of a comparison, is about."""
    return {
        "group": row.group,
        "formula": f"{row.formula} {row.aggregation}" if row.level == "formula" else "",
        "metric": "accuracy" if row.metric == "CD score" else row.metric,
        "system": _SYSTEMS.get(row.system, row.system),
    }


def _scores(about: dict[str, Any], scores: Iterable[Score]) -> Iterator[Golden]:
    for score in scores:
        named = _row(score)
        yield _golden(about, score, counts=_kept(score.counts), **named)
        yield from _beside({**about, **named}, score)


def _beside(about: dict[str, Any], score: Score | Headline) -> Iterator[Golden]:
    """The baselines and people that stand beside a score."""
    where: dict[str, Any] = {name: getattr(score, name, "") for name in ("config", "split")}
    for name, system in (
        ("partial_input", PARTIAL_INPUT),
        ("lexical_overlap", OVERLAP),
        ("human", PEOPLE),
    ):
        value = getattr(score, f"{name}_score")
        if value is not None:
            low, high = (getattr(score, f"{name}_ci_{end}", None) for end in ("low", "high"))
            n = getattr(score, f"{name}_n", None)
            found: dict[str, Any] = {**about, **where, "system": system, "value": value}
            yield Golden(**found, low=low, high=high, n=n)
    if score.chance is not None:
        yield Golden(**{**about, **where, "system": CHANCE, "value": score.chance})


def _headline(about: dict[str, Any], head: Headline | None) -> Iterator[Golden]:
    """The suite's one number, and what stands beside it."""
    if head is None:
        return
    metric = "accuracy" if head.metric == "CD score" else head.metric
    named = {**about, "group": "headline", "metric": metric, "split": ""}
    cells: dict[str, float] = {f"over {one}": 1 for one in head.over}
    cells |= _kept({"effective items": head.effective_items or 0})
    yield _golden(named, head, metric, counts=cells)
    if head.is_controlled:
        plain: Any = {
            "value": head.plain_score,
            "low": head.plain_ci_low,
            "high": head.plain_ci_high,
        }
        named["metric"] = "accuracy"
        yield Golden(**named, **plain)
    yield from _beside(named, head)


def _item_score(about: dict[str, Any], score: Score) -> Iterator[Golden]:
    """A row of ``score``: the accuracy, what stands beside it, and margins."""
    counts: dict[str, float] = {
        "hold": score.n * (score.score or 0.0),
        **{_COUNTS.get(name, f"undefined: {name}"): n for name, n in score.counts.items()},
        "undefined": sum(n for name, n in score.counts.items() if name not in _COUNTS),
    }
    named = _row(score)
    yield _golden(about, score, counts=_kept(counts), clusters=score.clusters, **named)
    if score.controlled is not score:
        own: dict[str, Any] = {"counts": _kept({"effective items": score.effective_items or 0})}
        own["clusters"] = score.clusters
        yield _golden(about, score.controlled, **own, **_row(score.controlled))
    yield from _beside({**about, **named}, score)
    if score.margin_mean is not None:
        own = {"value": score.margin_mean, "clusters": score.clusters, "method": ""}
        own |= {"low": score.margin_mean_low, "high": score.margin_mean_high}
        yield _golden(about, score, **{**named, "metric": "margin mean", **own})

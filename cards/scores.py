"""The scores of models that a card shows: a plot beside it, and a line for each model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from coherencegym.escapes import markdown_text
from coherencegym.eval.data.baselines import BASELINE_TITLES, HUMAN_PERFORMANCE
from coherencegym.eval.statistics.scores import CD
from coherencegym.files.strict_json import Many, SignedShare, Some, held

#: The plot's place beside the card, and the key of a manifest that has the scores.
PLOT, SCORES = "assets/scores.png", "scores"


@dataclass(frozen=True, slots=True)
class ModelScore:
    """A model's headline score on the suite, with what it is held against; shares.

    Attributes:
        model, commit: its name, and which it was.
        over: words on what was averaged, or the only config.
        n: items, or the units of another metric.
    """

    model: str
    commit: str
    metric: str
    score: SignedShare
    ci_low: SignedShare | None
    ci_high: SignedShare | None
    partial_input_score: SignedShare | None
    human_score: SignedShare | None
    chance: SignedShare | None
    over: str
    n: int
    lexical_overlap_score: SignedShare | None = None
    surface_score: SignedShare | None = None


@dataclass(frozen=True, slots=True, order=True)
class ScoredRows:
    """A config and split that was scored, as its rows were then."""

    config: str
    split: str
    content_hash: str


@dataclass(frozen=True, slots=True)
class CardScores:
    """The scores in a manifest."""

    models: Some[ModelScore]
    tables: Many[ScoredRows]


def card_scores(manifest: Mapping[str, Any]) -> CardScores | None:
    """The scores of a manifest; None where it has none.

    Raises:
        EvaluationError: they are not what a build writes.
    """
    found = manifest.get(SCORES)
    return None if found is None else held(found, CardScores)


def scores_hold(manifest: Mapping[str, Any], configs: Mapping[str, Any]) -> bool:
    """Tell whether the scores of a manifest are on the rows that these configs have."""
    scores = card_scores(manifest)
    return scores is not None and all(
        table.content_hash
        == configs.get(table.config, {}).get("splits", {}).get(table.split, {}).get("content_hash")
        for table in scores.tables
    )


def scores_markdown(manifest: Mapping[str, Any]) -> str:
    """The plot with its description, and a line for each model; empty where there are none."""
    scores = card_scores(manifest)
    if scores is None:
        return ""
    names = ", ".join(markdown_text(one.model) for one in scores.models)
    alt = f"Scores of {names} on {manifest['title']} with 95 % intervals, by config"
    lines = "\n".join(f"- {_line(one)}" for one in scores.models)
    return f"![{alt}]({PLOT})\n\n{lines}\n"


def _line(one: ModelScore) -> str:
    interval = ""
    if one.ci_low is not None and one.ci_high is not None:
        interval = f" [{100 * one.ci_low:.1f}, {100 * one.ci_high:.1f}]"
    metric = "CD" if one.metric == CD else one.metric
    beside = "".join(f"; {text}" for text in _beside(one))
    return (
        f"**{markdown_text(one.model)}**: {metric} {100 * one.score:.1f} %{interval} "
        f"({markdown_text(one.over)}, n = {one.n:,}){beside}"
    )


def _beside(one: ModelScore) -> Iterator[str]:
    for name, value in (
        *((title, getattr(one, name)) for name, title in BASELINE_TITLES.items()),
        (HUMAN_PERFORMANCE, one.human_score),
        ("chance", one.chance),
    ):
        if value is not None:
            yield f"{name} {100 * value:.1f} %"

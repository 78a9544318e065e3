"""The effect of the correction for words on the scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.plan.options import Rules
from coherencegym.eval.tasks.score.metrics import EvaluatedPrediction, evaluate_predictions
from coherencegym.eval.tasks.score.scoring import Scored


@dataclass(frozen=True, slots=True)
class WordEffect:
    """A config's score with the correction for words and without.

    Attributes:
        config, split: the table.
        n: predictions that have an outcome either way, of those that the score is over.
        met, met_by_token: those that hold, corrected and by token.
        changed: those that turn from holding to not holding, or back.
    """

    config: str
    split: str
    n: int
    met: int
    met_by_token: int
    changed: int


def word_effect(
    table: ItemTable, scored: Scored, evaluated: Sequence[EvaluatedPrediction], rules: Rules
) -> WordEffect | None:
    """Compare predictions with those without the correction; None where nothing was corrected."""
    headline = table.headline
    if all(c.by_token is None for item in scored.items for c in item.conditions.values()):
        return None
    plain = (
        prediction
        for item in scored.items
        for prediction in evaluate_predictions(
            replace(item, conditions={n: c.uncorrected() for n, c in item.conditions.items()}),
            rules,
        )
    )
    pairs = [
        (corrected.outcome.met, by_token.outcome.met)
        for corrected, by_token in zip(evaluated, plain, strict=True)
        if corrected.outcome is not None
        and by_token.outcome is not None
        and (not headline or headline in corrected.groups)
    ]
    return WordEffect(
        table.config,
        table.split,
        len(pairs),
        sum(met for met, _ in pairs),
        sum(met for _, met in pairs),
        sum(met != before for met, before in pairs),
    )


def added_effects(one: WordEffect | None, other: WordEffect | None) -> WordEffect | None:
    """The effect on two parts of a table together; None where neither has one."""
    if one is None or other is None:
        return one or other
    names = ("n", "met", "met_by_token", "changed")
    return replace(one, **{name: getattr(one, name) + getattr(other, name) for name in names})


def effect_line(effect: WordEffect) -> str:
    """One line for people."""
    share, before = (
        f"{count / effect.n:.3f}" if effect.n else "–"
        for count in (effect.met, effect.met_by_token)
    )
    return (
        f"word correction, {effect.config}: {share} of predictions hold, {before} without it; "
        f"{effect.changed:,} of {effect.n:,} change"
    )

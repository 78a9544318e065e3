"""The task ``correlate``: what a text scores, and what else may go along with its rating.

Scores are turned so that higher is better: the score of a text is its surprisal taken negative. A
model that finds just those texts surprising that people find incoherent has a Spearman correlation
of 1; one that knows nothing of it has 0.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from coherencegym.eval.forward.distributed import ALONE, World
from coherencegym.eval.forward.execute import BatchProgress
from coherencegym.eval.forward.numeric import Store
from coherencegym.eval.kinds.formula import WHOLE
from coherencegym.eval.kinds.items import Condition, Region
from coherencegym.eval.kinds.ratings import RATINGS, RatedText
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.plan.options import DEFAULT_OPTIONS, Options
from coherencegym.eval.plan.requests import Query
from coherencegym.eval.statistics.bag_regression import predicted_ratings
from coherencegym.eval.statistics.scores import (
    BAG_OF_WORDS,
    LENGTH,
    ONE_RATER,
    REPEATED_WORDS,
    SPEARMAN,
    Statistic,
    UnitOutcome,
)
from coherencegym.eval.surprisal import Answer, surprisals
from coherencegym.eval.tasks.task import Table, Task

#: The measures, and the statistics that they are.
PARTIAL, WITHIN = f"{SPEARMAN}, length held", f"{SPEARMAN} within prompts"
MEASURES: Mapping[str, Statistic] = {
    SPEARMAN: "correlation",
    PARTIAL: "partial",
    WITHIN: "within",
}
#: The scores of a text: surprisal in bits, taken negative.
BY_TOKEN, BY_CHARACTER, IN_ALL = "bits a token", "bits a character", "bits in all"
SCORES = (BY_TOKEN, BY_CHARACTER, IN_ALL)
_TEXT = "text"

#: The score of each text of a table, None where it has none.
Values = Sequence[float | None]


def query(rated: RatedText) -> Query:
    """The whole text, read once."""
    condition = Condition(_TEXT, rated.text, (Region(1, rated.text),))
    return Query(rated.item_id, [condition], {_TEXT: frozenset({WHOLE})})


def correlated(
    model: LoadedModel,
    table: Table[RatedText],
    options: Options = DEFAULT_OPTIONS,
    *,
    store: Store | None = None,
    progress: BatchProgress | None = None,
    world: World = ALONE,
) -> Iterator[UnitOutcome]:
    """The outcomes of a table: of every text under every measure, by the model and by baselines.

    Args:
        options: ways to read the texts.
        store, progress, world: those of :func:`eval.surprisal.surprisals`.
    """
    found = surprisals(
        *(model.model, model.tokenizer, list(map(query, table.rows)), options),
        uses_separator=table.separator,
        store=store,
        progress=progress,
        world=world,
    )
    scored = [_scores(rated, own) for rated, own in zip(table.rows, found.items, strict=True)]
    for judge in SCORES:
        yield from _outcomes(table, judge, [own.get(judge) for own in scored])
    yield from baselines(table)


def _scores(rated: RatedText, answer: Answer) -> dict[str, float]:
    """The scores of a text by their names; none where it was not read."""
    if (condition := answer.conditions.get(_TEXT)) is None:
        return {}
    bits = condition.region_bits(WHOLE)
    if not len(bits):
        return {}
    total = -float(bits.sum())
    return {BY_TOKEN: total / len(bits), BY_CHARACTER: total / len(rated.text), IN_ALL: total}


def baselines(table: Table[RatedText]) -> Iterator[UnitOutcome]:
    """The outcomes of what is easier than coherence, where it is known, and of one person.

    - length: characters; the longer, the higher.
    - repeated words: the column ``overlap``.
    - bag of words: ratings that it predicts (:mod:`eval.statistics.bag_regression`).
    - one rater: the first rating of a text, held against the mean of its others.
    """
    rows = table.rows
    yield from _outcomes(table, LENGTH, [float(len(one.text)) for one in rows], partial=False)
    if any(one.overlap is not None for one in rows):
        yield from _outcomes(table, REPEATED_WORDS, [one.overlap for one in rows])
    words = predicted_ratings(
        [one.text for one in rows], [one.rating for one in rows], [one.cluster for one in rows]
    )
    if words is not None:
        yield from _outcomes(table, BAG_OF_WORDS, words)
    several = [one for one in rows if len(one.ratings) > 1]
    if several:
        others = {one.item_id: _mean(one.ratings[1:]) for one in several}
        firsts = [one.ratings[0] if one.item_id in others else None for one in rows]
        yield from _outcomes(table, ONE_RATER, firsts, others, reason="one rating")


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _outcomes(
    table: Table[RatedText],
    judge: str,
    values: Values,
    against: Mapping[str, float] | None = None,
    *,
    partial: bool = True,
    reason: str = "too_long",
) -> Iterator[UnitOutcome]:
    """The outcomes of a score under each measure; ``against``: other numbers than the ratings."""
    sizes = Counter(one.cluster for one in table.rows)
    held = against or {}
    for measure, statistic in MEASURES.items():
        if (statistic == "partial" and not partial) or (
            statistic == "within" and max(sizes.values()) == 1
        ):
            continue
        for rated, value in zip(table.rows, values, strict=True):
            yield table.outcome(
                *(rated, measure, statistic, value),
                judge=judge,
                reason=reason,
                against=held.get(rated.item_id, rated.rating),
                given=float(len(rated.text)) if statistic == "partial" else None,
            )


def no_options(parser: argparse.ArgumentParser) -> None:
    """Declare nothing: the task has no options of its own."""


CORRELATE = Task(
    name="correlate",
    kind=RATINGS,
    options=no_options,
    settings=(),
    run=lambda model, table, arguments: correlated(model, table),
    notes=(
        "scores are surprisals taken negative, so that higher is better: a model that finds just "
        "the texts surprising that people find incoherent has 1, one that knows nothing has 0",
        f"{PARTIAL}: with the number of characters held constant (by rank, so that its logarithm "
        "gives the same)",
        f"{WITHIN}: of ranks among the texts of one prompt",
    ),
    examples="  coherencegym correlate --model gpt2 --dataset suites/coherence_ratings\n",
)

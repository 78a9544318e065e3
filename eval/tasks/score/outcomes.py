"""What predictions came to, as outcomes: the form that the results of every task have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coherencegym.eval.statistics.outcomes import Outcome
from coherencegym.eval.statistics.scores import CD
from coherencegym.eval.tasks.score.metrics import Judgement
from coherencegym.eval.tasks.score.selections import column_labels


def outcomes(
    config: str, split: str, judgements: Sequence[Judgement], breakdowns: Sequence[str]
) -> Iterator[Outcome]:
    """One outcome for each prediction, 1 where it holds.

    Its unit is ``ITEM#N``, the Nth prediction of the item; an item's value in a score is the mean
    over those of its predictions that the score is over.
    """
    numbers: dict[str, int] = {}
    for judgement in judgements:
        item = judgement.item
        number = numbers[item.item_id] = numbers.get(item.item_id, 0) + 1
        yield Outcome(
            config=config,
            split=split,
            measure=CD,
            judge="",
            statistic="share",
            unit_id=f"{item.item_id}#{number}",
            discourse_id=item.discourse_id,
            cluster=item.cluster,
            groups=(*judgement.groups, *column_labels(item, breakdowns)),
            value=None if judgement.outcome is None else float(judgement.outcome.met),
            reason=judgement.reason,
        )

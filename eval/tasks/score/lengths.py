"""Lengths and margins: a confound where the conditions of an item differ in length.

A mean falls with every cheap token that a condition has more, a sum rises with every token. Where
the incoherent region is also the longer or the shorter one, a margin may come from that alone: then
it correlates with the difference in length over the items of a prediction.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from coherencegym.eval.kinds.formula import Comparison, Value, parse_formula
from coherencegym.eval.tasks.score.columns import UNKNOWN, Columns, by_first_place, places_where
from coherencegym.eval.tasks.score.metrics import Judgement
from coherencegym.eval.tasks.score.scoring import ScoredItem
from coherencegym.eval.tasks.score.summary import FEW_ITEMS

#: Correlations of this size or more are shown unasked, with enough items to mean something: Cohen
#: (1988, section 3.2) calls .30 medium.
NOTEWORTHY = 0.3
#: Fewest points of a correlation: that of two is 1 or -1.
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class LengthCorrelation:
    """The correlation of the margin of one prediction with the difference in length, over the
    items.

    Attributes:
        config, split, formula, metric: the prediction.
        n: items with a margin.
        n_differ: those in which the two regions have different numbers of tokens.
        tokens_mean: the mean difference in length: tokens of the region that is predicted to be the
            more surprising minus tokens of the other one, for this model's tokenizer; tokens that
            have no surprisal not counted. None without items.
        pearson, spearman: correlations of margin (bits) and difference in length (tokens), and of
            their ranks. None where the difference, or the margin, is the same in every item, and
            with fewer than three items.
        asked: the suite wants it shown, whatever it is.
    """

    config: str
    split: str
    formula: str
    metric: str
    n: int
    n_differ: int
    tokens_mean: float | None
    pearson: float | None
    spearman: float | None
    asked: bool = False

    @property
    def noteworthy(self) -> bool:
        """Say that it is large, on enough items, so that a reader of the score should see it."""
        largest = max(abs(self.pearson or 0.0), abs(self.spearman or 0.0))
        return self.n >= FEW_ITEMS and largest >= NOTEWORTHY


def correlations(xs: Sequence[float], ys: Sequence[float]) -> tuple[float | None, float | None]:
    """Pearson's and Spearman's correlation; None where undefined (a side without variation).

    Raises:
        ValueError: the sides have different lengths.
    """
    if len(xs) != len(ys):
        raise ValueError(f"{len(xs)} and {len(ys)} values; expected as many on both sides")
    if len(xs) < _FEWEST:
        return None, None
    import warnings

    import numpy as np
    from scipy import stats

    with warnings.catch_warnings():
        # A side without variation gives no number, which is left out below.
        warnings.simplefilter("ignore")
        # One side after another: spearmanr ranks both at once, in more memory.
        ranks = stats.rankdata(xs), stats.rankdata(ys)
        found = float(stats.pearsonr(xs, ys)[0]), float(np.corrcoef(*ranks)[0, 1])
    pearson, spearman = (value if math.isfinite(value) else None for value in found)
    return pearson, spearman


def length_difference(scored: ScoredItem, formula: str) -> int | None:
    """Tokens of the region that a formula predicts to be more surprising, minus the other's.

    None where the formula is not one value ``>`` or ``<`` another, or a condition was not scored.
    """
    tree = parse_formula(formula)
    if not isinstance(tree, Comparison) or tree.operator == "=":
        return None
    sides = (tree.left, tree.right) if tree.operator == ">" else (tree.right, tree.left)
    lengths = []
    for side in sides:
        if not isinstance(side, Value) or side.condition not in scored.conditions:
            return None
        lengths.append(len(scored.conditions[side.condition].region_bits(side.region)))
    return lengths[0] - lengths[1]


def length_differences(
    items: Sequence[ScoredItem], judgements: Sequence[Judgement]
) -> Iterator[int | None]:
    """The difference in length of each judgement of some items; None where it has no margin."""
    by_id = {scored.item.item_id: scored for scored in items}
    for judgement in judgements:
        if judgement.outcome is None or judgement.outcome.margin is None:
            yield None
        else:
            yield length_difference(by_id[judgement.item.item_id], judgement.formula)


def length_correlations(
    config: str, split: str, columns: Columns, *, asked: bool = False
) -> list[LengthCorrelation]:
    """One for each formula of a table that compares one region with another.

    ``asked``: the suite wants them shown; see :class:`LengthCorrelation`.
    """
    points = places_where(columns.longer != UNKNOWN)
    rows = []
    for number in by_first_place(columns.kind[points]):
        own = points[columns.kind[points] == number]
        margins, tokens_more = columns.margin[own], columns.longer[own].astype(float)
        formula, metric = columns.kinds[number]
        pearson, spearman = correlations(margins, tokens_more)
        rows.append(
            LengthCorrelation(
                config=config,
                split=split,
                formula=formula,
                metric=metric,
                n=len(own),
                n_differ=int((tokens_more != 0).sum()),
                tokens_mean=fmean(tokens_more),
                pearson=pearson,
                spearman=spearman,
                asked=asked,
            )
        )
    return rows

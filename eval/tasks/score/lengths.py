"""Lengths and margins: a confound where the conditions of an item differ in length.

A mean falls with every cheap token that a condition has more, a sum rises with every token. Where
the incoherent region is also the longer or the shorter one, a margin may come from that alone: then
it correlates with the difference in length over the items of a prediction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.outcomes.schema import MODEL
from coherencegym.eval.outcomes.tables import OutcomeTables
from coherencegym.eval.statistics.scores import FEW_ITEMS
from coherencegym.eval.tasks.score.outcomes import MARGIN, predictions_of
from coherencegym.eval.tasks.score.selections import by_kind

#: Correlations of this size or more are shown unasked, with enough items to mean something: Cohen
#: (1988, section 3.2) calls .30 medium.
NOTEWORTHY = 0.3
#: Fewest items of unequal length for that: a few others decide no score.
FEWEST_UNEQUAL = 10
#: The share of items in which one side is the longer one from which on length alone may decide.
NEARLY_ALL = 0.9
#: Fewest points of a correlation: that of two is 1 or -1.
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class LengthCorrelation:
    """The correlation of the margin of one prediction with the difference in length, over the
    items.

    Attributes:
        config, split, formula, aggregation: the prediction.
        n: items with a margin.
        n_differ: those in which the two regions have different numbers of tokens.
        n_longer: those in which the region that is predicted to be the more surprising has more.
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
    aggregation: str
    n: int
    n_differ: int
    n_longer: int
    tokens_mean: float | None
    pearson: float | None
    spearman: float | None
    asked: bool = False

    @property
    def noteworthy(self) -> bool:
        """Say that it is large, on enough items, so that a reader of the score should see it."""
        largest = max(abs(self.pearson or 0.0), abs(self.spearman or 0.0))
        enough = self.n >= FEW_ITEMS and self.n_differ >= FEWEST_UNEQUAL
        return enough and largest >= NOTEWORTHY

    @property
    def one_sided(self) -> bool:
        """Say that nearly always the same side is the longer one: no correlation would show it."""
        n_shorter = self.n_differ - self.n_longer
        return self.n >= FEW_ITEMS and max(self.n_longer, n_shorter) >= NEARLY_ALL * self.n


def correlations(xs: Sequence[float], ys: Sequence[float]) -> tuple[float | None, float | None]:
    """Pearson's and Spearman's correlation; None where undefined (a side without variation)."""
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


def length_correlations(outcomes: OutcomeTables, table: ItemTable) -> list[LengthCorrelation]:
    """One for each formula of a table that compares one region with another."""
    import numpy as np

    bits, tokens = (outcomes.by_unit(MARGIN.name, MODEL, name) for name in ("value", "target"))
    places = predictions_of(outcomes, table.config, table.split)
    places = places[~np.isnan(tokens[outcomes.units_of(places)])]
    rows = []
    for (formula, aggregation), own in by_kind(outcomes, places).items():
        units = outcomes.units_of(own)
        tokens_more = tokens[units]
        pearson, spearman = correlations(bits[units], tokens_more)
        rows.append(
            LengthCorrelation(
                config=table.config,
                split=table.split,
                formula=formula,
                aggregation=aggregation,
                n=len(own),
                n_differ=int((tokens_more != 0).sum()),
                n_longer=int((tokens_more > 0).sum()),
                tokens_mean=fmean(tokens_more),
                pearson=pearson,
                spearman=spearman,
                asked=table.length_confound,
            )
        )
    return rows

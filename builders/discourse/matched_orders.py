"""Items of windows in their own order and in a matched one, chosen over all of a corpus at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from coherencegym.builders.discourse.cutting import (
    CATEGORY,
    DOCUMENT,
    FIRST_UNIT,
    ChosenWindows,
    Extent,
    choose,
    stretches,
    tiles,
)
from coherencegym.builders.pipeline.fitting import Fits
from coherencegym.builders.suite import Column, Contrast, GeneratedItem, generate_item
from coherencegym.eval.kinds.items import FAMILY, SEPARATOR
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.text.prose import badly_split, unfinished
from coherencegym.manipulations.operator import Context, Operator, Pipeline
from coherencegym.manipulations.orders.centering import (
    broken_transitions,
    forward_centers,
    has_centers,
)
from coherencegym.manipulations.orders.matched_order import (
    MATCHED_ORDER,
    FittedMatchedOrder,
    MatchedOrder,
)
from coherencegym.manipulations.shuffle import kendall_tau, original_positions

ORIGINAL, SHUFFLED = "original", "shuffled"
#: The group of predictions that a config's own score is over: the whole text.
WHOLE_TEXT = "whole"
_PIECES = "a window with a badly split sentence"

MATCHED_COLUMNS = {
    "permutation": Column(
        ["int32"], "for each unit of the shuffled text, its position (from 0) in the original"
    ),
    "kendall_tau": Column(
        "float64",
        "Kendall's rank correlation of the units between the first and the last with the original "
        "order: 1 the same, -1 the reverse",
    ),
    "genre": Column("string", "the genre or domain of the document, where its corpus has several"),
    "first_unit": Column("int32", "the position (from 0) of the first unit in its document"),
    "broken_transitions": Column(
        "int32",
        "how many more rough shifts and transitions without a center (centering theory) the "
        "shuffled text has than the original; null if the corpus does not annotate entities",
    ),
    FAMILY: Column(
        "string",
        "the document, or the first of the documents that share lines with it; rows of one family "
        "form one cluster in intervals",
    ),
}


def _pieces(window: Discourse) -> str:
    # Where the other half of a sentence or a quotation goes shows.
    prose = window.meta.get("domain") != "chat" and not any(u.speaker for u in window.units)
    halved = prose and any(map(badly_split, window.texts))
    return _PIECES if halved or any(map(unfinished, window.texts)) else ""


def ends_and_between(discourse: Discourse) -> list[list[int]]:
    """Three regions: the first unit, those that are reordered, and the last."""
    last = len(discourse.units) - 1
    return [[0], list(range(1, last)), [last]]


def units_between(discourse: Discourse) -> tuple[str, ...]:
    """Give what the partial-input classifier sees: each reordered unit, by its place."""
    return tuple(text.removesuffix(f" {SEPARATOR}") for text in discourse.texts[1:-1])


def matched_columns(window: Discourse, matched: Discourse, family: str) -> dict[str, Any]:
    """The columns of a window and the same in a matched order."""
    places = original_positions(matched, MATCHED_ORDER)
    broken = None
    if has_centers(window):
        centers = forward_centers(window)
        broken = broken_transitions([centers[place] for place in places])
        broken -= broken_transitions(centers)
    return {
        "permutation": places,
        "kendall_tau": round(kendall_tau(places[1:-1]), 6),
        "genre": window.meta[CATEGORY],
        "first_unit": int(window.meta[FIRST_UNIT]),
        "broken_transitions": broken,
        FAMILY: family,
    }


@dataclass(frozen=True)
class MatchedOrders:
    """Windows of ``size`` units that do not overlap, each with a matched order.

    Windows and orders are chosen over all splits, so that the classifier that chooses knows as many
    texts as there are. With ``speakers`` a window has exactly so many: where several talk, what one
    says often fits in several places. ``both`` is applied to either order last.
    """

    size: int
    speakers: int = 0
    operator: MatchedOrder = field(default_factory=MatchedOrder)
    both: Operator = field(default_factory=Pipeline)
    contrasts: tuple[Contrast, ...] = (
        Contrast(SHUFFLED, ORIGINAL, "*", groups=(WHOLE_TEXT,)),
        Contrast(SHUFFLED, ORIGINAL, 3, groups=("last",)),
    )
    chosen: ChosenWindows = field(
        default_factory=lambda: ChosenWindows({}, {}, {}), repr=False, compare=False
    )
    fitted: FittedMatchedOrder = field(
        default_factory=lambda: FittedMatchedOrder({}, {}), repr=False, compare=False
    )

    @property
    def recipe(self) -> str:
        """The operator, as the manifest records it."""
        speakers = f" of {self.speakers} speakers" if self.speakers else ""
        steps = filter(None, (str(self.operator), str(self.both)))
        return f"{self.size} units in a row{speakers}, {' | '.join(steps)}"

    def windows(self, discourse: Discourse, context: Context) -> list[Extent]:
        """The windows of a document: side by side, or as they come where speakers are counted."""
        if not self.speakers:
            return tiles(
                discourse, self.size, context.random(discourse, MATCHED_ORDER, size=self.size)
            )
        found: list[Extent] = []
        for begin, end in stretches(discourse):
            for first in range(begin, end - self.size + 1):
                spoken = {unit.speaker for unit in discourse.units[first : first + self.size]}
                if len(spoken) == self.speakers and (not found or first >= found[-1][1]):
                    found.append((first, first + self.size))
        return found

    def fit_corpus(self, discourses: Sequence[Discourse], context: Context, fits: Fits) -> Self:
        """The item generator with the windows of these documents and an order for each."""
        chosen = choose(
            discourses,
            lambda discourse: self.windows(discourse, context),
            sys.maxsize,
            f"no {self.size} units of prose in a row"
            + f" by {self.speakers} speakers" * bool(self.speakers),
            _pieces,
        )
        windows = [window for own in chosen.windows.values() for window in own]
        families = [chosen.family[window.meta[DOCUMENT]] for window in windows]
        return replace(self, chosen=chosen, fitted=self.operator.fit(windows, families, context))

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[GeneratedItem]:
        """Yield the pair of each window."""
        context.skipped.update(self.chosen.reasons[discourse.id])
        for window in self.chosen.windows[discourse.id]:
            for matched in self.fitted(window, context):
                (own,), (other,) = (list(self.both(one, context)) for one in (window, matched))
                made = generate_item(
                    matched.variant,
                    {ORIGINAL: own, SHUFFLED: other},
                    ends_and_between,
                    self.contrasts,
                    units_between,
                    matched_columns(window, matched, self.chosen.family[discourse.id]),
                )
                yield replace(made, item=replace(made.item, discourse_id=discourse.id))

"""Items of windows in their own order and in a matched one, chosen over all of a corpus at once.

A corpus that was public when a model's training data were collected may have been read by the
model, which then knows what comes next by heart. Who is called what does not matter for what
happens in a story, but a memorised text no longer stands there word by word when its people have
other names. What is scored comes after everybody was named, and has the same words but for the
names.
"""

from __future__ import annotations

import re
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
from coherencegym.builders.discourse.released import FAMILY_COLUMN
from coherencegym.builders.pipeline.kinds import Division, Fits
from coherencegym.builders.suite import (
    Column,
    Config,
    Contrast,
    GeneratedItem,
    MinimalPairs,
    generate_item,
)
from coherencegym.eval.kinds.items import FAMILY, SEPARATOR
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.languages.registry import SEVERAL, language_of
from coherencegym.loaders.registry import CORPORA
from coherencegym.loaders.text.prose import badly_split, unfinished
from coherencegym.manipulations.matched_order import (
    MATCHED_ORDER,
    FittedMatchedOrder,
    MatchedOrder,
    broken_transitions,
    forward_centers,
    has_centers,
)
from coherencegym.manipulations.operator import Context, Operator, Pipeline
from coherencegym.manipulations.reference.named_people import NewNames, named_people
from coherencegym.manipulations.units import kendall_tau, original_positions

#: The splits that whoever learns from examples needs.
_NEEDED = {"train", "validation", "test"}
#: The name of the split of documents that nobody has divided.
_UNSPLIT = "unsplit"
#: Fewer documents than this are all for testing.
_FEWEST = 20


@dataclass(frozen=True)
class OwnSplits:
    """The splits of a corpus that has those of :data:`_NEEDED`, and a division of any other.

    Too small a corpus to learn from becomes the split ``test``.

    A registered corpus has the splits that it declares, whichever of them were read: GUM's test
    documents alone are not divided again. A dataset of which nothing is declared has those that
    its discourses are of; so do one's own documents, of which any may be of no split.
    """

    division: Division

    def __call__(self, discourses: Sequence[Discourse], seed: int) -> dict[str, list[Discourse]]:
        """The discourses by split, in their order; each language by itself."""
        parts: dict[str, list[Discourse]] = {}
        for discourse in discourses:
            parts.setdefault(language_of(discourse).code, []).append(discourse)
        found: dict[str, list[Discourse]] = {}
        for part in parts.values():
            for split, own in self._of_language(part, seed).items():
                found.setdefault(split, []).extend(own)
        return found

    def _of_language(
        self, discourses: Sequence[Discourse], seed: int
    ) -> dict[str, list[Discourse]]:
        found = {discourse.meta["split"] for discourse in discourses}
        names = {discourse.corpus for discourse in discourses}
        # The parts of a corpus of several languages need not have the splits of others.
        known = {name for name in names & {*CORPORA} if CORPORA[name].language != SEVERAL}
        declared = {split for name in known for split in CORPORA[name].splits}
        if _UNSPLIT in found or not declared | found >= _NEEDED:
            if len(discourses) < _FEWEST:
                return {"test": list(discourses)}
            return self.division(discourses, seed)
        own: dict[str, list[Discourse]] = {}
        for discourse in discourses:
            own.setdefault(discourse.meta["split"], []).append(discourse)
        return own


#: The name of the config; it is in no suite's headline.
FAMILIARITY = "familiarity"


@dataclass(frozen=True)
class NamedAndMore(Operator):
    """Leave a discourse as it is; one that ends with its last name is left out."""

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse if something follows the first mention of the last person."""
        if named_people(discourse.texts) and not _named_and_rest(discourse)[1]:
            context.skipped["nothing follows the last name"] += 1
            return
        yield discourse


def familiarity_config(corpora: tuple[str, ...]) -> Config:
    """The config of texts and the same texts with other names, from corpora, the best first."""
    return Config(
        name=FAMILIARITY,
        corpora=corpora,
        generator=MinimalPairs(
            versions={"original": NamedAndMore(), "renamed": NamedAndMore() | NewNames()},
            regions=_named_and_rest,
            contrasts=(Contrast("renamed", "original", 2, metric="sum"),),
            view=lambda discourse: (discourse.text,),
        ),
        summary=(
            "each text as published, and with other names for all people; a model that has read "
            "the text before finds the published version less surprising"
        ),
        regions=("the text until the last person has been named", "the rest of the text"),
        length_confound=True,
        is_diagnostic=True,
        partial_input="a bag of words of the whole text",
    )


def _named_and_rest(discourse: Discourse) -> list[str]:
    """The text through the word with which the last new person is named, and the rest."""
    text = discourse.text
    last = max(
        match.end()
        for person in named_people(discourse.texts)
        if (match := re.search(rf"\b{person.name}\b\S*", text))
    )
    return [text[:last], text[last:].lstrip()]


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
    **FAMILY_COLUMN,
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

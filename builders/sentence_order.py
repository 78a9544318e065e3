"""Sentence order: a text whose sentences or utterances are shuffled is the more surprising one.

Beyer, Loáiciga and Schlangen 2021, section 4.1. The paper's narration set is the Story Cloze
spring-2016 test split with the right ending fifth (1,871 stories), its dialogue set PersonaChat's
test split. Every ``_sep`` config has the same permutations of the same dialogues as its twin
without separators: the random key does not see the separator, so scores are paired.

Any order may be drawn there, and position habits tell it from the original: greetings open
dialogues. In the ``matched`` configs the first and the last unit stay, and those between them are
put into an order that habits find as likely as the original (:mod:`manipulations.matched_order`).

A corpus that was public when a model's training data were collected may have been read by the
model, which then knows what comes next by heart. Who is called what does not matter for what
happens in a story, but a memorised text no longer stands there word by word when its people have
other names. ``familiarity`` scores what comes after everybody was named, and has the same words but
for the names.

    coherencegym build sentence_order --corpus personachat --data-dir PATH
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
    Passages,
    choose,
    stretches,
    tiles,
)
from coherencegym.builders.pipeline.kinds import Fits
from coherencegym.builders.suite import (
    ANY_LANGUAGE,
    BEYER_2021,
    FAMILY_COLUMN,
    Column,
    Config,
    Contrast,
    GeneratedItem,
    MinimalPairs,
    Suite,
    Use,
    by_language,
    context_and_last,
    generate_item,
)
from coherencegym.eval.kinds.items import FAMILY
from coherencegym.loaders.discourse import Discourse
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
from coherencegym.manipulations.units import (
    Shuffle,
    SpeakerSeparator,
    kendall_tau,
    original_positions,
)

NARRATION: tuple[str, ...] = ("storycloze", "rocstories")
DIALOGUE: tuple[str, ...] = ("personachat",)
_DOCUMENTS: tuple[str, ...] = ("documents", "gum", "insted", "discoeval")
_THREADS: tuple[str, ...] = ("irc",)


def whole(discourse: Discourse) -> list[list[int]]:
    """One region: every unit."""
    return [list(range(len(discourse.units)))]


def order_columns(original: Discourse, shuffled: Discourse) -> dict[str, Any]:
    """The permutation and its distance from the original order, over all units."""
    places = original_positions(shuffled)
    return {"permutation": places, "kendall_tau": round(kendall_tau(places), 6)}


def context_columns(original: Discourse, shuffled: Discourse) -> dict[str, Any]:
    """The same over the reordered context, and whether the unit before the last has moved."""
    places = original_positions(shuffled)[:-1]
    return {
        "permutation": [*places, len(places)],
        "kendall_tau": round(kendall_tau(places), 6),
        # By text: of two equal sentences it does not matter which one stands there.
        "last_context_unit_moved": shuffled.texts[-2] != original.texts[-2],
    }


def _bare(text: str) -> str:
    return text.removesuffix(" [SEP]")


ORDER_COLUMNS = {
    "permutation": Column(
        ["int32"], "for each unit of the shuffled text, its position (from 0) in the original"
    ),
    "kendall_tau": Column(
        "float64",
        "Kendall's rank correlation of the reordered units with the original order: "
        "1 the same, -1 the reverse",
    ),
}
CONTEXT_COLUMNS = ORDER_COLUMNS | {
    "last_context_unit_moved": Column(
        "bool",
        "whether the unit directly before the last one differs from the original; with three or "
        "four units of context, many permutations leave the same unit there",
    )
}


def order_config(genre: str, corpora: tuple[str, ...], scope: str, k: int, sep: bool) -> Config:
    """One of the suite's configs: ``scope`` is ``all`` or ``context``, ``k`` the permutations."""
    unit = "sentence" if genre == "narration" else "utterance"
    context = scope == "context"
    region = 2 if context else 1
    separated = ", with the change of speaker marked by [SEP]" if sep else ""
    return Config(
        name=f"{genre}_{scope}{'_sep' if sep else ''}",
        corpora=corpora,
        languages=ANY_LANGUAGE,
        genre=genre,
        generator=MinimalPairs(
            versions={
                "original": Pipeline(),
                "shuffled": Shuffle(keep_last=int(context), permutations=k),
            },
            both=SpeakerSeparator() if sep else Pipeline(),
            regions=context_and_last if context else whole,
            contrasts=(Contrast("shuffled", "original", region),),
            columns=context_columns if context else order_columns,
            # The first and the last unit that are reordered.
            view=lambda discourse: tuple(
                _bare(discourse.texts[i]) for i in (0, -2 if context else -1)
            ),
        ),
        summary=(
            f"every {unit} but the last is shuffled, and the last one is scored"
            if context
            else f"every {unit} is shuffled, and the whole text is scored"
        )
        + separated,
        regions=(
            (
                f"all {unit}s but the last (shuffled in `shuffled`)",
                f"the last {unit}, the same text",
            )
            if context
            else (f"all {unit}s",)
        ),
        columns=CONTEXT_COLUMNS if context else ORDER_COLUMNS,
        breakdowns=("last_context_unit_moved",) if context else (),
        separator=sep,
        partial_input=f"bags of words of the first and of the last reordered {unit}",
    )


def passage_config(name: str, passages: Passages, scope: str, k: int) -> Config:
    """A config of passages of documents: as :func:`order_config` has it for stories."""
    config = order_config("narration", (), scope, k, sep=False)
    shuffled = Shuffle(keep_last=int(scope == "context"), permutations=k)
    assert isinstance(config.generator, MinimalPairs)
    generator = replace(
        config.generator,
        versions={"original": passages, "shuffled": passages | shuffled},
    )
    number = f"{passages.most}" if passages.number == 1 else f"up to {passages.most}"
    first = "the first " * (passages.number == 1)
    summary = f"{first}{number} consecutive sentences of prose in a document: {config.summary}"
    how: dict[str, Any] = {"generator": generator, "summary": summary, "divided": False}
    return replace(config, name=f"{name}_{scope}", **how)


#: Passages as long as the documents of intruder sentences, and openings as long as stories.
PASSAGES = {"documents": Passages(4, 8, number=sys.maxsize), "openings": Passages(5, 5)}


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
    "permutation": ORDER_COLUMNS["permutation"],
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
    chosen: ChosenWindows = field(default_factory=ChosenWindows, repr=False, compare=False)
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
                    lambda text: [[0], [*range(1, len(text.units) - 1)], [len(text.units) - 1]],
                    self.contrasts,
                    lambda text: tuple(map(_bare, text.texts[1:-1])),
                    matched_columns(window, matched, self.chosen.family[discourse.id]),
                )
                yield replace(made, item=replace(made.item, discourse_id=discourse.id))


def matched_config(name: str, corpora: tuple[str, ...], unit: str, **settings: Any) -> Config:
    """A config of windows in a matched order: of six units, or of the ``size`` in ``settings``."""
    generator = MatchedOrders(
        settings.pop("size", 6),
        settings.pop("speakers", 0),
        both=SpeakerSeparator() if settings.get("separator") else Pipeline(),
    )
    return Config(
        name=f"matched_{name}",
        corpora=corpora,
        languages=ANY_LANGUAGE,
        generator=generator,
        summary=(
            f"{generator.size} consecutive {unit}s; those between the first and the last are in "
            "another order that single ones do not give away"
            + ", with the change of speaker marked by [SEP]"
            * bool(settings.get("separator"))
        ),
        regions=(
            f"the first {unit}, the same text",
            f"the {unit}s between (in another order in `shuffled`)",
            f"the last {unit}, the same text",
        ),
        columns=MATCHED_COLUMNS,
        headline=WHOLE_TEXT,
        partial_input=f"bags of words of each reordered {unit}, by its place",
        **settings,
    )


#: The configs in matched orders. Of a story's five sentences three can move.
MATCHED: tuple[Config, ...] = (
    matched_config(
        "narration",
        NARRATION,
        "sentence",
        genre="narration",
        size=5,
    ),
    matched_config("dialogue", DIALOGUE, "utterance", genre="dialogue", separator=True),
    matched_config(
        "documents",
        _DOCUMENTS,
        "sentence",
        genre="documents",
        # Of chat without its speakers nobody knows whose turn it is.
        select=lambda discourse: discourse.meta.get("domain") != "chat",
        breakdowns=("genre",),
        divided=False,
    ),
    matched_config("threads", _THREADS, "message", speakers=2, separator=True, divided=False),
)


def _configured(permutations: int) -> dict[str, Any]:
    genres = (("narration", NARRATION, False), ("dialogue", DIALOGUE, False))
    return {
        "configs": (
            *(
                order_config(genre, corpora, scope, permutations, sep)
                for genre, corpora, sep in (*genres, ("dialogue", DIALOGUE, True))
                for scope in ("all", "context")
            ),
            *MATCHED,
            familiarity_config(NARRATION),
            *(
                by_language(passage_config(name, passages, scope, permutations))
                for name, passages in PASSAGES.items()
                for scope in ("all", "context")
            ),
            by_language(next(one for one in MATCHED if one.name == "matched_documents")),
        )
    }


SUITE = Suite(
    name="sentence_order",
    title="Sentence order",
    version="4.0.0",
    hypothesis=(
        "A model that notices incoherence finds a text more surprising after its sentences or "
        "utterances are shuffled, and finds the last sentence more surprising after a shuffled "
        "context than after the original context."
    ),
    description=(
        "Minimal pairs of a text and the same text with its sentences (narration) or "
        "utterances (dialogue) in another order. The words are the same in both conditions; "
        "only their order tells them apart."
    ),
    conditions={
        "original": "the text as it stands in the corpus",
        "shuffled": (
            "the same in another order, drawn from all that read differently; in the `matched` "
            "configs, the first and the last stay, and each other unit is about as likely, by its "
            "words alone, in its new position as in its own"
        ),
    },
    uses=(
        Use(
            "…_all",
            "is the original order more expected",
            "whether the model expects coherence, cohesion or typical positions of sentences",
        ),
        Use(
            "…_context",
            "is the last sentence more expected after the context in its original order",
            "whether the order of all sentences matters or only the sentence before the last one",
        ),
        Use(
            "matched_dialogue",
            "is the original order more expected, if positions are equally typical",
            "whether the model notices incoherence or only an answer before its question",
        ),
        Use(
            "matched_documents",
            "is the original order of prose more expected, if positions are equally typical",
            "whether incoherence matters or only that neighbouring sentences share fewer words",
        ),
    ),
    limitations=(
        "Some shuffled texts are coherent: a perfect reader does not reach 100 %.",
        "In all but the `matched` configs, knowledge of typical positions goes a long way: "
        "greetings open dialogues, and first sentences introduce names.",
        "A classifier that sees one unit at a time (naive Bayes) matched the orders of the "
        "`matched` configs. Lexical links between neighbours are part of order itself and were not "
        "matched. The orders depend on all texts of a corpus: `--limit` or `--split` changes them.",
        "Mean surprisal over a whole shuffled text mixes the order with which sentence comes first "
        "and has no context. The `context` configs score the same text.",
    ),
    headline=(
        "narration_context",
        "dialogue_context",
        *(config.name for config in MATCHED),
    ),
    citation=BEYER_2021,
    configure=_configured,
    settings={"permutations": 1},
    settings_help={"permutations": "random orders of each text"},
    **_configured(permutations=1),
    tags=("sentence-ordering", "dialogue", "narration"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)

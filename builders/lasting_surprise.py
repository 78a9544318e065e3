"""Lasting surprise: for how many sentences does a text stay surprising after it went wrong?

An intruder or a contradiction disturbs a text, and the text goes on. What follows is the same, word
for word, in three conditions that differ in one sentence:

- *original*: the text's own sentence;
- *manipulated*: an intruder (:mod:`manipulations.intruders.intruder_sentence`), or what the speaker
  said of himself or herself before, denied (:mod:`builders.spans.denials`);
- *left_out*: neither.

What follows also lacks the sentence that stood there, which may be surprising by itself. So each of
the next five sentences or utterances is held against both: the groups are two curves by distance.

    coherencegym build lasting_surprise --corpus gum --data-dir PATH
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from coherencegym.builders.discourse.cutting import Extent, category, stretches
from coherencegym.builders.discourse.windows import DONOR_COLUMNS, Replacing
from coherencegym.builders.spans.denials import Denial, denials, says_more
from coherencegym.builders.suite import (
    BEYER_2021,
    Column,
    Config,
    Contrast,
    GeneratedItem,
    Suite,
    Use,
    generate_item,
)
from coherencegym.loaders.corpora.insted import SHEN_2021
from coherencegym.loaders.discourse import Discourse, Edit, Unit
from coherencegym.loaders.text.prose import unfinished
from coherencegym.manipulations.catalogue import SpeakerSeparator
from coherencegym.manipulations.editing import cut_excerpt, replace_text
from coherencegym.manipulations.intruders.intruder_sentence import IntruderSentence
from coherencegym.manipulations.operator import Context, Operator, Pipeline

ORIGINAL, MANIPULATED, LEFT_OUT = "original", "manipulated", "left_out"
#: Sentences or utterances after the slot that are scored, where the text has as many, and those
#: that it has at least.
_FOLLOWING, _FEWEST = 5, 3
#: The region of the slot, behind that of all that precedes it.
_SLOT = 2
#: The group that a config's score is taken over: all distances together.
AGAINST_LEFT_OUT = "against left out"
_AS_THEY_ARE = Pipeline()
_INTRUDER = IntruderSentence(share=1.0, keep_last=_FOLLOWING)
#: Utterances from a statement to its denial, at most.
_FURTHEST = 8
#: An utterance of several sentences, whose last one is a statement of four words or more.
_ENDS_IN_STATEMENT = re.compile(
    r"(.*[.!?]) "
    r"(?!(?:wh\w+|how|do|does|did|are|is|was|were|can|could|have|has|had|will|would|any)\b)"
    r"((?:[^\s.!?]+ ){3,}[^\s.!?]+[.!])"
)
#: Reasons why a statement is not denied, from the first that keeps it to the last.
_WHY_LEFT = (
    f"fewer than {_FEWEST} utterances after a later one of the same speaker",
    "no later utterance of several sentences that ends in a statement",
    "the speaker says more about the subject",
)
#: A second clause, which a negation of the first does not deny.
_SECOND_CLAUSE = re.compile(r"\band (?:i|my)\b", re.IGNORECASE)

CURVES = tuple(
    Contrast(MANIPULATED, other, _SLOT + place, groups=(f"{name}, sentence {place}", name))
    for other, name in ((LEFT_OUT, AGAINST_LEFT_OUT), (ORIGINAL, "against original"))
    for place in range(1, _FOLLOWING + 1)
)
CURVES_AND_SLOT = (*CURVES, Contrast(MANIPULATED, ORIGINAL, _SLOT, groups=("slot",)))


def disturbed_items(
    original: Discourse,
    manipulated: Discourse,
    slot: int,
    columns: dict[str, Any],
    context: Context,
    finish: Operator = _AS_THEY_ARE,
) -> Iterator[GeneratedItem]:
    """Yield the item of a text of which up to five units follow the slot.

    ``finish`` is applied to all conditions; where it does not apply, there is no item.
    """
    units = original.units
    following = len(units) - slot - 1

    def around_slot(discourse: Discourse) -> list[list[int]]:
        # Where the slot is left out, its region is empty.
        units = list(range(len(discourse.units)))
        return [units[:slot], units[slot:-following], *([unit] for unit in units[-following:])]

    def following_texts(discourse: Discourse) -> tuple[str, ...]:
        # What the partial-input classifier sees: what is scored, the same in all conditions.
        return (*discourse.texts[-following:], *[""] * (_FOLLOWING - following))

    contrasts = tuple(one for one in CURVES_AND_SLOT if int(one.region) <= _SLOT + following)
    edit = Edit("LeftOut", slot, 0, units[slot].text, "", removed=True)
    left_out = replace(original, units=units[:slot] + units[slot + 1 :], edits=(edit,))
    made = {ORIGINAL: original, MANIPULATED: manipulated, LEFT_OUT: left_out}
    versions = {name: one for name, text in made.items() for one in finish(text, context)}
    if len(versions) == len(made):
        item = (MANIPULATED, versions, around_slot, contrasts, following_texts, columns)
        yield generate_item(*item)


@dataclass(frozen=True)
class Intruders(Replacing):
    """Texts of two or three sentences, of which the last may be an intruder, and five more."""

    most: int = 3
    operator: IntruderSentence = _INTRUDER
    contrasts: tuple[Contrast, ...] = CURVES_AND_SLOT

    task = "lasting_surprise"
    size = 2 + _FOLLOWING
    missing = "fewer than seven whole sentences of prose in a row"

    def wanted(self, discourse: Discourse, context: Context) -> Sequence[Extent]:
        """Windows of whole sentences that do not overlap, in random order."""
        types = discourse.meta.get("sentence_types", "").split()
        taken = {unit for unit, text in enumerate(discourse.texts) if unfinished(text)}
        taken |= {unit for unit, kind in enumerate(types) if kind == "frag"}
        generator, extents = context.random(discourse, self.task), []
        found = [
            range(first, first + size)
            for size in (self.size, self.size + 1)
            for begin, end in stretches(discourse)
            for first in range(begin, end - size + 1)
        ]
        generator.shuffle(found)
        for window in sorted(found, key=len, reverse=True):
            if taken.isdisjoint(window):
                taken.update(window)
                extents.append((window.start, window.stop))
        return extents

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[GeneratedItem]:
        """Yield the item of each window."""
        for window, made, slot, columns in self.replaced(discourse, context):
            plain = replace(
                window, mentions=(), relations=(), alternatives=(), judgements=(), tree=None
            )
            original, manipulated = (
                cut_excerpt(text, 0, slot + _FOLLOWING) for text in (plain, made)
            )
            own = self.columns(window) | columns
            for one in disturbed_items(original, manipulated, slot, own, context):
                yield replace(one, item=replace(one.item, discourse_id=discourse.id))


@dataclass(frozen=True)
class DeniedStatements:
    """Parts of dialogues in which a speaker may deny, where a sentence stood, what was said."""

    contrasts: tuple[Contrast, ...] = CURVES_AND_SLOT

    @property
    def recipe(self) -> str:
        """The operation, as the manifest records it."""
        return "a statement, negated, in the place of the last sentence of a later utterance"

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[GeneratedItem]:
        """Yield the items of a dialogue, unless nothing that is said can be denied later.

        A statement is denied once, and an utterance has one denial.
        """
        ended = replace(discourse, units=tuple(map(_ended, discourse.units)))
        places = list(_places(ended.units, context))
        context.random(discourse, "DeniedStatements").shuffle(places)
        taken = set[object]()
        for denial, later in places:
            if taken.isdisjoint((denial, later)):
                taken |= {denial, later}
                yield from self._item(ended, denial, later, context)

    def _item(
        self, discourse: Discourse, denial: Denial, later: int, context: Context
    ) -> Iterator[GeneratedItem]:
        begin = max(0, denial.unit - 1)
        units = list(discourse.units[begin : later + 1 + _FOLLOWING])
        slot = later - begin + 1
        units[slot - 1 : slot] = _parted(units[slot - 1])
        name = f"{discourse.id}/{begin}-{begin + len(units) - 2}"
        original = replace(discourse, id=name, units=tuple(units))
        end = len(units[slot].text)
        manipulated = replace_text(
            original, slot, 0, end, denial.denied, operator="DeniedStatements"
        )
        columns = {"statement": denial.sentence, "distance": later - denial.unit}
        marks = SpeakerSeparator(merge_runs=True)
        for one in disturbed_items(original, manipulated, slot, columns, context, marks):
            yield replace(one, item=replace(one.item, discourse_id=discourse.id))


def _ended(unit: Unit) -> Unit:
    # Half of the utterances of chats end without a mark.
    return unit if unit.text[-1] in ".!?" else replace(unit, text=f"{unit.text}.", words=())


def _places(units: Sequence[Unit], context: Context) -> Iterator[tuple[Denial, int]]:
    # A statement, and the unit whose last sentence its denial takes the place of. Statements that
    # have no such unit are counted.
    for denial in denials(units):
        if _SECOND_CLAUSE.search(denial.sentence):
            context.skipped["statement with a second clause"] += 1
            continue
        first, found = denial.unit, {0}
        for later in range(first + 2, min(first + _FURTHEST + 1, len(units) - _FEWEST)):
            if units[later].speaker != units[first].speaker:
                continue
            shown = units[max(0, first - 1) : later + 1]
            if not _parted(units[later]):
                found.add(1)
            elif says_more(shown, denial.sentence, min(first, 1), len(shown) - 1):
                found.add(2)
            else:
                found.add(3)
                yield denial, later
        if 3 not in found:
            context.skipped[_WHY_LEFT[max(found)]] += 1


def _parted(unit: Unit) -> tuple[Unit, ...]:
    # What is said first, and the statement with which it ends; nothing where it ends otherwise.
    parts = _ENDS_IN_STATEMENT.fullmatch(unit.text)
    return tuple(replace(unit, text=part, words=()) for part in parts.groups()) if parts else ()


def is_prose(discourse: Discourse) -> bool:
    """Tell whether a document is prose by one author, and not a conversation."""
    return all(unit.speaker is None for unit in discourse.units) and category(discourse) != "chat"


_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_SHARED: dict[str, Any] = {
    "regions": (
        "the text before the slot",
        "the slot: the original sentence, the manipulated one, or nothing",
        *(f"the {ordinal} sentence or utterance after it" for ordinal in _ORDINALS),
    ),
    "headline": AGAINST_LEFT_OUT,
    "partial_input": (
        "bags of words of what follows the slot (the same in all conditions, so the score is 50 % "
        "by construction)"
    ),
}

SUITE = Suite(
    name="lasting_surprise",
    title="Lasting surprise",
    version="2.0.0",
    hypothesis=(
        "A model that notices incoherence finds the sentences after an intruder or a "
        "contradiction more surprising than in the original text and than in the text without "
        "that sentence; the effect decreases with distance."
    ),
    description=(
        "Texts in three conditions: one sentence is the original one, is manipulated, or is left "
        "out. The five sentences after it (in dialogues, three to five utterances) are the same "
        "in all conditions. In documents, the manipulated sentence is an intruder: a sentence of "
        "another document with similar words (TF-IDF). In dialogues, the speaker denies a "
        "statement that he or she made up to eight utterances before."
    ),
    conditions={
        ORIGINAL: "the text as it stands in the corpus",
        MANIPULATED: "the text with an intruder, or a contradiction, in place of one sentence",
        LEFT_OUT: "the text without that sentence",
    },
    uses=(
        Use(
            "",
            "how many sentences after a wrong sentence are more surprising",
            "whether the model notices incoherence or only expects more about the wrong topic",
        ),
    ),
    limitations=(
        "Read the groups as two curves by distance, `against left out` and `against original`; "
        "`coherencegym plot` draws them. A config's score counts `against left out` at all five "
        "distances. A point above chance in `against original` alone only shows that information "
        "is missing.",
        "The manipulated text is one sentence longer than the one without the sentence, and more "
        "text usually lowers surprisal: `against left out` is a strict test. The surface baseline "
        "separates the two texts by their length (its score is near 100 %), which says nothing "
        "about the scored text. `against original` compares texts with the same number of "
        "sentences. A lasting effect is above chance in both groups.",
        "The text that follows may be about the original sentence, and in dialogues the partner "
        "does not react to the denial. The shorter the distance, the more this matters.",
        "A denial needs a statement about the speaker alone, whose negation is good English, and "
        "a later utterance of the same speaker that ends in a statement. Of 115 statements in 67 "
        "PersonaChat dialogues, 38 become an item. In 28 cases, fewer than three utterances "
        "follow; in 30, no later utterance ends in a statement; in 14, the speaker says more "
        "about the subject; one statement has a second clause. The others share their utterance "
        "with another denial. Dialogues that end early give three or four distances: 38 items at "
        "the first three, 30 at the fourth, 23 at the fifth. A full stop is added if an utterance "
        "has no final punctuation mark. GUM's 80 documents have 11 statements that can be denied, "
        "mostly of different speakers and documents, too few for items.",
        "The group `slot` compares different sentences, with all that their words contribute.",
    ),
    citation=BEYER_2021 + "\n\n" + SHEN_2021,
    configs=(
        Config(
            name="intruder",
            corpora=("documents", "gum", "tedmdb", "insted"),
            genre="documents",
            select=is_prose,
            generator=Intruders(),
            summary="a sentence of another document, and the five sentences after it",
            columns=DONOR_COLUMNS,
            breakdowns=("genre",),
            **_SHARED,
        ),
        Config(
            name="contradiction",
            corpora=("personachat",),
            genre="dialogue",
            generator=DeniedStatements(),
            summary=(
                "a speaker's denial of an earlier statement, and the three to five utterances "
                "after it"
            ),
            columns={
                "statement": Column("string", "the statement that is denied"),
                "distance": Column(
                    "int32", "the number of utterances from the statement to its denial"
                ),
            },
            separator=True,
            **_SHARED,
        ),
    ),
    one_split=True,
    fewest_sentences=7,
    tags=("intruder-sentence-detection", "contradiction", "dialogue"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)

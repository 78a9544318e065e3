"""Inferred connectives: text is more surprising after a connective that cannot say its relation.

The question of ``connectives`` (Beyer, Loáiciga and Schlangen 2021, section 4.5) in languages in
which nobody annotated connectives. The corpora of DISRPT have discourse relations; a known
connective that begins a unit is taken for that of the unit's relation if the connective can say
this relation. A cause or a result becomes a contrast, and a contrast becomes a cause or a result.

    coherencegym build inferred_connectives --corpus disrpt --data-dir PATH
"""

from __future__ import annotations

from typing import Any

from coherencegym.builders.discourse.languages import is_written
from coherencegym.builders.suite import (
    BEYER_2021,
    Column,
    Config,
    Contrast,
    MinimalPairs,
    Suite,
    Use,
)
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.connectives.inferred_connectives import (
    InferredConnectiveSegments,
    InferredConnectiveSubstitution,
    connective_of,
    connective_places,
)
from coherencegym.words.scripts import join_texts

ORIGINAL, REPLACED = "original", "replaced"
_SEGMENTS = InferredConnectiveSegments()


def around_connectives(segment: Discourse) -> tuple[str, ...]:
    """Five regions: the text before, the connective, the text up to its partner, it, and the rest.

    Without a partner the third and the fourth are empty.
    """
    (unit, start, end), *partner = connective_places(segment)
    text = segment.units[unit].text
    _, other, last = partner[0] if partner else (unit, end, end)
    parts = (text[start:end], text[end:other], text[other:last], text[last:])
    before = join_texts(filter(None, (*segment.texts[:unit], text[:start].strip())))
    return before, *(part.strip() for part in parts)


def _columns(original: Discourse, replaced: Discourse) -> dict[str, Any]:
    (relation,) = original.relations
    return {
        "connective": connective_of(original).lower(),
        "replacement": connective_of(replaced).lower(),
        "paired": len(connective_places(original)) > 1,
        "relation": relation.unified,
        "sense": relation.senses[0],
        "dataset": original.meta["dataset"],
    }


def _connective_alone(segment: Discourse) -> tuple[str]:
    return (connective_of(segment).lower(),)


SUITE = Suite(
    name="inferred_connectives",
    title="Inferred connectives",
    version="1.0.0",
    hypothesis=(
        "A model that notices incoherence finds the text after a connective more surprising if "
        "the connective cannot express how the two parts of the text are related."
    ),
    description=(
        "Segments of one to four sentences in Dutch, Chinese and German around a connective that "
        "begins a discourse unit, each with the connective and with another one of the same "
        "syntax. The connective is inferred from the annotated discourse relation, not annotated. "
        "The scored text, which follows the connective, is the same in both versions."
    ),
    conditions={
        ORIGINAL: "the segment as its author wrote it",
        REPLACED: (
            "the segment with a connective of contrast in place of one of cause or result, or the "
            "reverse; of a pair of connectives (`因为 … 所以`) both are replaced"
        ),
    },
    uses=(
        Use(
            "",
            "does the text fit the author's connective, in other languages than English",
            "the fit of a connective from its frequency",
        ),
    ),
    limitations=(
        "The connectives are inferred. A word counts as the connective of a relation if it begins "
        "a unit of the relation, if a table (`loaders/languages/connectives`) says that it can "
        "express the relation, and if a whole clause follows. `docs/quality.md` reports how often "
        "readers agreed.",
        "The replacement may be less frequent in its position than the original. The scored text "
        "does not contain it, but a rare word can make the following text more surprising.",
        "Few connectives can be inferred: 62 from 68 Dutch documents, 26 from 46 Chinese ones and "
        "7 from 17 German ones. The intervals are wide. Six Italian dialogues (LUNA) give 5, "
        "without punctuation, and are left out.",
        "Only causes, results, contrasts and concessions are exchanged. A condition or a time "
        "often remains possible with another connective.",
    ),
    citation=BEYER_2021,
    configs=(
        Config(
            name="",
            corpora=("disrpt",),
            by="language",
            languages=("nl", "zh", "de"),
            select=is_written,
            generator=MinimalPairs(
                versions={
                    ORIGINAL: _SEGMENTS,
                    REPLACED: _SEGMENTS | InferredConnectiveSubstitution(),
                },
                regions=around_connectives,
                contrasts=(Contrast(REPLACED, ORIGINAL, 5),),
                columns=_columns,
                view=_connective_alone,
            ),
            summary="a segment with its connective, and with one that denies the relation",
            regions=(
                "the text before the connective (empty where it begins the segment)",
                "the connective",
                "the text between the two connectives of a pair (mostly empty)",
                "the second connective of a pair (mostly empty)",
                "the text after the connective or the pair, the same in both conditions",
            ),
            columns={
                "connective": Column("string", "the connective that the author wrote, lower-case"),
                "replacement": Column("string", "the connective in its place, lower-case"),
                "paired": Column("bool", "whether there are two connectives (`因为 … 所以`)"),
                "relation": Column("string", "the relation: one of the 17 labels of DISRPT 2025"),
                "sense": Column("string", "the name of the relation in the corpus"),
                "dataset": Column("string", "the part of DISRPT, such as `nld.rst.nldt`"),
            },
            breakdowns=("relation", "dataset"),
            partial_input="a bag of words of the connective alone",
        ),
    ),
    one_split=True,
    tags=("discourse-connectives", "discourse-relations", "multilingual"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)

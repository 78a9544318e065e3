"""Connectives that nobody annotated: the config ``inferred`` of the suite ``connectives``.

The corpora of DISRPT have discourse relations, most of them no connectives. A known connective that
begins a unit is taken for that of the unit's relation if the connective can say this relation. A
cause, a result or a condition becomes a contrast, and a contrast becomes a cause or a result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from coherencegym.builders.discourse.cutting import stretches
from coherencegym.builders.suite import ANY_LANGUAGE, Column, Config, Contrast, MinimalPairs
from coherencegym.loaders.discourse import Discourse, is_parsed
from coherencegym.loaders.languages.language import ENGLISH
from coherencegym.manipulations.connectives.inferred_connectives import (
    InferredConnectiveSegments,
    InferredConnectiveSubstitution,
    connective_of,
    connective_places,
)
from coherencegym.manipulations.editing import cut_excerpt
from coherencegym.manipulations.operator import Context, Operator
from coherencegym.words import join_texts

#: Corpora of whole documents in several languages.
MULTILINGUAL = ("disrpt",)


def is_written(discourse: Discourse) -> bool:
    """Select whole documents that nobody speaks."""
    return is_parsed(discourse) and not any(unit.speaker for unit in discourse.units)


def by_language(config: Config, **changes: Any) -> Config:
    """A config's twin, which makes one config for each language (``order_disrpt_nl``)."""
    # Rare classes are kept: of most languages there are few documents.
    settings = {"select": is_written, "genre": "", "fewest_of_a_class": 0, **changes}
    return replace(config, corpora=MULTILINGUAL, by="language", languages=ANY_LANGUAGE, **settings)


def of_entities(config: Config, languages: Iterable[str]) -> Config:
    """A config's twin from documents with coreference in some other languages than English."""
    return replace(
        config,
        corpora=MULTILINGUAL,
        by="language",
        languages=tuple(code for code in languages if code != ENGLISH.code),
        select=lambda discourse: bool(discourse.mentions),
    )


def in_dutch(config: Config) -> Config:
    """A config's twin from Dutch novels (``openboek_nl``)."""
    return replace(config, corpora=("openboek",), by="language", languages=("nl",))


@dataclass(frozen=True)
class Passages(Operator):
    """Sentences of prose that follow one another, without headings and fragments.

    Attributes:
        fewest, most: the numbers of sentences that a passage may have.
        number: the most passages of a document, which do not overlap.

    The first passage has no variant, others ``<first unit>-<last unit>``.
    """

    fewest: int
    most: int
    number: int = 1

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the first passages in the order of the text."""
        found = [
            (start, min(end, start + self.most) - 1)
            for first, end in stretches(discourse)
            for start in range(first, end - self.fewest + 1, self.most)
        ]
        for place, (start, last) in enumerate(found[: self.number]):
            yield cut_excerpt(discourse, start, last, variant=f"{start}-{last}" if place else "")
        if not found:
            context.skipped[f"no {self.fewest} sentences of prose in a row"] += 1


#: The languages of which items were read (``docs/quality.md``).
_LANGUAGES = ("nl", "zh", "de")
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
        "relation_name": relation.senses[0],
        "dataset": original.meta["dataset"],
    }


def inferred_config(original: str, replaced: str) -> Config:
    """The config, with the names of its two conditions."""
    return Config(
        name="inferred",
        corpora=("disrpt",),
        by="language",
        languages=_LANGUAGES,
        select=is_written,
        generator=MinimalPairs(
            versions={
                original: _SEGMENTS,
                replaced: _SEGMENTS | InferredConnectiveSubstitution(),
            },
            regions=around_connectives,
            contrasts=(Contrast(replaced, original, 5),),
            columns=_columns,
            view=lambda segment: (connective_of(segment).lower(),),
        ),
        summary=(
            "a segment with a connective inferred from an annotated relation, and the segment "
            "with another connective of the same syntax that contradicts the relation"
        ),
        regions=(
            "the text before the connective (empty where it begins the segment)",
            "the connective",
            "the text between the two connectives of a pair (mostly empty)",
            "the second connective of a pair (mostly empty)",
            "the text after the connective or the pair, the same in both conditions",
        ),
        columns={
            "connective": Column("string", "the connective that the author wrote, lower-case"),
            "replacement": Column("string", "the connective that replaces it, lower-case"),
            "paired": Column("bool", "whether there are two connectives (`因为 … 所以`)"),
            "relation": Column("string", "the relation: one of the 17 labels of DISRPT 2025"),
            "relation_name": Column("string", "the name of the relation in the corpus"),
            "dataset": Column("string", "the part of DISRPT, such as `nld.rst.nldt`"),
        },
        breakdowns=("relation", "dataset"),
        partial_input="a bag of words of the connective alone",
    )


INFERRED_LIMITATIONS = (
    "`inferred`: nobody annotated these connectives. A word counts as the connective of a relation "
    "if it begins a unit of the relation, can express it, and a whole clause follows. A cause, a "
    "result or a condition becomes a contrast, and a contrast becomes a cause or a result.",
)

"""The work of builds on generated items that differs by the kind of the table.

A kind that is not named here serves as it is: its generators yield what its ``to_row`` takes, and
nothing is measured but the number of items.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from coherencegym.builders.release.quality import document_quality, quality
from coherencegym.builders.release.span_quality import span_quality
from coherencegym.builders.suite import Config, GeneratedDocument, GeneratedItem
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.eval.kinds.ratings import RatedText
from coherencegym.eval.kinds.spans import SpanText
from coherencegym.eval.kinds.structures import StructuredDocument
from coherencegym.eval.statistics.pair_baselines import BaselineDecision


def row_value(made: Any, number: int) -> Any:
    """What the kind's ``to_row`` takes of a generated item, the ``number``-th from 1."""
    if isinstance(made, GeneratedItem):
        return replace(made.item, item_number=number)
    return made.document if isinstance(made, GeneratedDocument) else made


def content(made: Any) -> Hashable:
    """The question of an item: of those of a split with the same the first one stays."""
    if isinstance(made, GeneratedItem):
        return made.item.conditions, made.item.predictions
    if isinstance(made, GeneratedDocument):
        return made.document.sentences, made.document.intruder_position
    if isinstance(made, StructuredDocument):
        return made.title, made.sections
    if isinstance(made, SpanText):
        return made.units, made.speakers, made.hypothesis, made.alternatives, made.gold
    return id(made)


def counted_groups(config: Config, made: Any) -> Iterable[str]:
    """The groups that a row is counted in, beside those by columns."""
    if isinstance(made, GeneratedDocument):
        return ("with an intruder" if made.document.intruded else "coherent",)
    if isinstance(made, GeneratedItem):
        start = 1 if config.headline else 0
        return {group for one in made.item.predictions for group in one.groups[start:]}
    return ()


def details(config: Config, generated: Sequence[Any]) -> dict[str, int]:
    """Counts of items by the first groups of their predictions, which are details."""
    counts: Counter[str] = Counter()
    if config.headline and config.kind is ITEMS:
        for made in generated:
            firsts = (prediction.groups[0] for prediction in made.item.predictions)
            # The groups ``as_causal → since`` and ``as_causal → yet`` have the same items.
            counts.update({re.split(" → |: ", group)[0] for group in firsts})
    # All items are in all groups.
    if set(counts.values()) == {len(generated)}:
        return {}
    return dict(sorted(counts.items()))


def measured(
    config: Config,
    generated: Sequence[Any],
    decided: Mapping[str, Sequence[BaselineDecision]],
) -> dict[str, Any]:
    """The quality section of a split, as the manifest records it.

    Args:
        config, generated: the config, and its items, of which there is one.
        decided: what baselines say of each, where they are pairs.
    """
    first = generated[0]
    if isinstance(first, GeneratedItem):
        return quality(config, generated, decided)
    if isinstance(first, GeneratedDocument):
        return document_quality(generated)
    if isinstance(first, SpanText):
        return span_quality(generated)
    if isinstance(first, StructuredDocument):
        return structure_quality(generated)
    if isinstance(first, RatedText):
        return {
            "items": len(generated),
            "ratings": range_of([one.rating for one in generated]),
            "raters": range_of([len(one.ratings) for one in generated]),
            "characters": range_of([len(one.text) for one in generated]),
        }
    return {"items": len(generated)}


def range_of(values: Sequence[float]) -> dict[str, float]:
    """The least, the mean and the greatest of some values; empty where there are none."""
    if not values:
        return {}
    return {"least": min(values), "mean": round(fmean(values), 4), "most": max(values)}


def structure_quality(documents: Sequence[StructuredDocument]) -> dict[str, Any]:
    """Numbers of documents, sections, paragraphs and sentences, and of titles and levels."""
    sections = [section for document in documents for section in document.sections]
    return {
        "items": len(documents),
        "titles": sum(bool(document.title) for document in documents),
        "sections": len(sections),
        "headings": sum(bool(section.title) for section in sections),
        "levels": len({section.level for section in sections}),
        "paragraphs": sum(len(section.paragraphs) for section in sections),
        "sentences": sum(1 for document in documents for _ in document.sentences),
    }

"""The work of builds on the generated items of each kind of table, beside the kind's own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Generic, TypeVar

from coherencegym.builders.release.example_quality import (
    example_quality,
    without_rare_classes,
)
from coherencegym.builders.release.quality import baseline_decisions, document_quality, quality
from coherencegym.builders.release.span_quality import span_quality
from coherencegym.builders.suite import Config, GeneratedDocument, GeneratedItem
from coherencegym.eval.kinds.documents import DOCUMENTS
from coherencegym.eval.kinds.examples import EXAMPLES, LabelledExample
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.eval.kinds.ratings import RATINGS, RatedText
from coherencegym.eval.kinds.spans import SPANS, SpanText
from coherencegym.eval.kinds.structures import STRUCTURES, StructuredDocument
from coherencegym.eval.kinds.table_kind import TableKind
from coherencegym.eval.statistics.pair_baselines import (
    BaselineDecision,
    baseline_folds,
    trained_decisions,
)

D = TypeVar("D")
_Decisions = Mapping[str, Sequence[BaselineDecision]]


@dataclass(frozen=True)
class AcrossSplits(Generic[D]):
    """Results of a look at all splits of a config at once.

    Attributes:
        generated: split -> the generated items that stay.
        skipped: split -> reason -> how many do not.
        quality: split -> figures for the quality section, of each split that has an item.
    """

    generated: Mapping[str, list[D]]
    skipped: Mapping[str, Mapping[str, int]]
    quality: Mapping[str, dict[str, Any]]


@dataclass(frozen=True)
class Making(Generic[D]):
    """The way from generated items to a table. ``D`` is what the item generators of the kind yield.

    As it stands it serves a kind whose item generators yield what its ``to_row`` takes, and of
    whose quality nothing is measured.

    Attributes:
        value: (generated item, its number from 1) -> what the kind's ``to_row`` takes.
        groups: (config, generated item) -> the groups that its row is counted in, beside those by
            columns.
        details: (config, generated items) -> further counts, by group.
        decide: (generated items, breakdowns) -> what each classifier says of all of a split: of
            every config that one is spread over.
        baselines: (config, generated items, what was decided) -> the decisions of each baseline on
            these, which are written beside the rows; ``folds`` are those of each that is trained.
        quality: (config, generated items, those decisions) -> the quality section of the manifest.
        content: the question of an item: of those of a split with the same the first one stays.
        survey: (config, split -> generated items, the words of a corpus whose script has no
            spaces) -> what can only be said of all splits together.
    """

    value: Callable[[D, int], Any] = lambda one, number: one
    groups: Callable[[Config, D], Iterable[str]] = lambda config, one: ()
    details: Callable[[Config, Sequence[D]], dict[str, int]] = lambda config, generated: {}
    decide: Callable[[Sequence[D], Sequence[str]], _Decisions] = lambda generated, breakdowns: {}
    baselines: Callable[[Config, Sequence[D], _Decisions], _Decisions] = (
        lambda config, generated, decided: {}
    )
    folds: Callable[[Sequence[Any]], Mapping[str, int]] = lambda generated: {}
    quality: Callable[[Config, Sequence[D], _Decisions], dict[str, Any]] = (
        lambda config, generated, decisions: {"items": len(generated)}
    )
    content: Callable[[D], Hashable] = id
    survey: (
        Callable[[Config, Mapping[str, Sequence[D]], frozenset[str]], AcrossSplits[D]] | None
    ) = None


def _item_groups(config: Config, generated: GeneratedItem) -> set[str]:
    start = 1 if config.headline else 0
    return {group for one in generated.item.predictions for group in one.groups[start:]}


def _item_details(config: Config, generated: Sequence[GeneratedItem]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    if config.headline:
        for made in generated:
            firsts = (prediction.groups[0] for prediction in made.item.predictions)
            # The groups ``as_causal → since`` and ``as_causal → yet`` have the same items.
            counts.update({re.split(" → |: ", group)[0] for group in firsts})
    # All items are in all groups.
    if set(counts.values()) == {len(generated)}:
        return {}
    return dict(sorted(counts.items()))


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


def _survey_examples(
    config: Config, generated: Mapping[str, Sequence[LabelledExample]], words: frozenset[str]
) -> AcrossSplits[LabelledExample]:
    kept, skipped = without_rare_classes(generated, config.fewest_of_a_class)
    return AcrossSplits(kept, skipped, example_quality(kept, config.regions, words))


#: Kind -> the work on it; a line where there is more to do than for any kind.
MAKINGS: Mapping[str, Making[Any]] = {
    ITEMS.name: Making[GeneratedItem](
        value=lambda one, number: replace(one.item, item_number=number),
        groups=_item_groups,
        details=_item_details,
        decide=trained_decisions,
        baselines=baseline_decisions,
        folds=baseline_folds,
        quality=quality,
        content=lambda one: (one.item.conditions, one.item.predictions),
    ),
    DOCUMENTS.name: Making[GeneratedDocument](
        value=lambda one, number: one.document,
        groups=lambda config, one: ("with an intruder" if one.document.intruded else "coherent",),
        quality=lambda config, generated, decisions: document_quality(generated),
        content=lambda one: (one.document.sentences, one.document.intruder_position),
    ),
    EXAMPLES.name: Making[LabelledExample](survey=_survey_examples),
    RATINGS.name: Making[RatedText](
        quality=lambda config, generated, decisions: {
            "items": len(generated),
            "ratings": range_of([one.rating for one in generated]),
            "raters": range_of([len(one.ratings) for one in generated]),
            "characters": range_of([len(one.text) for one in generated]),
        },
    ),
    STRUCTURES.name: Making[StructuredDocument](
        quality=lambda config, generated, decisions: structure_quality(generated),
        content=lambda one: (one.title, one.sections),
    ),
    SPANS.name: Making[SpanText](
        quality=lambda config, generated, decisions: span_quality(generated),
        content=lambda one: (
            *(one.units, one.speakers, one.hypothesis, one.alternatives, one.gold),
        ),
    ),
}


def making(kind: TableKind[Any]) -> Making[Any]:
    """Find the way in which tables of a kind are made."""
    return MAKINGS.get(kind.name, Making())

"""The work of builds on the drafts of each kind of table, beside what the kind itself says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any, Generic, TypeVar

from coherencegym.builders.release.baselines import BaselineDecision
from coherencegym.builders.release.example_quality import (
    example_quality,
    without_rare_classes,
)
from coherencegym.builders.release.quality import (
    BASELINE_FOLDS,
    baseline_decisions,
    decide,
    document_quality,
    quality,
)
from coherencegym.builders.release.span_quality import span_quality
from coherencegym.builders.suite import Config, DocumentDraft, Draft
from coherencegym.eval.kinds.documents import DOCUMENTS
from coherencegym.eval.kinds.examples import EXAMPLES, LabelledExample
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.eval.kinds.ratings import RATINGS, RatedText
from coherencegym.eval.kinds.spans import SPANS, SpanText
from coherencegym.eval.kinds.table_kind import TableKind

D = TypeVar("D")
_Decisions = Mapping[str, Sequence[BaselineDecision]]


@dataclass(frozen=True)
class AcrossSplits(Generic[D]):
    """Findings of a look at all splits of a config at once.

    Attributes:
        drafts: split -> the drafts that stay.
        skipped: split -> reason -> how many do not.
        quality: split -> figures for the quality section, of each split that has a draft.
    """

    drafts: Mapping[str, list[D]]
    skipped: Mapping[str, Mapping[str, int]]
    quality: Mapping[str, dict[str, Any]]


@dataclass(frozen=True)
class Making(Generic[D]):
    """The way from drafts to a table. ``D`` is what the drafters of the kind yield.

    As it stands it serves a kind whose drafters yield what its ``to_row`` takes, and of whose
    quality nothing is measured.

    Attributes:
        value: (draft, its number from 1) -> what the kind's ``to_row`` takes.
        groups: (config, draft) -> the groups that its row is counted in, beside those by columns.
        details: (config, drafts) -> further counts, by group.
        decide: (drafts, breakdowns) -> what a classifier says of all drafts of a split: of every
            config that one is spread over.
        baselines: (config, drafts, what was decided) -> the decisions of each baseline on these
            drafts, which are written beside the rows; ``folds`` are those of each that is trained.
        quality: (config, drafts, those decisions) -> the quality section of the manifest.
        content: the question of a draft: of those of a split with the same the first one stays.
        survey: (config, split -> drafts) -> what can only be said of all splits together.
        draft: the type of a draft, by which drafts can be kept until a build is done; none: they
            are made again by a build that goes on.
    """

    value: Callable[[D, int], Any] = lambda draft, number: draft
    groups: Callable[[Config, D], Iterable[str]] = lambda config, draft: ()
    details: Callable[[Config, Sequence[D]], dict[str, int]] = lambda config, drafts: {}
    decide: Callable[[Sequence[D], Sequence[str]], list[BaselineDecision]] = (
        lambda drafts, breakdowns: []
    )
    baselines: Callable[[Config, Sequence[D], Sequence[BaselineDecision]], _Decisions] = (
        lambda config, drafts, decided: {}
    )
    folds: Mapping[str, int] = field(default_factory=dict)
    quality: Callable[[Config, Sequence[D], _Decisions], dict[str, Any]] = (
        lambda config, drafts, decisions: {"items": len(drafts)}
    )
    content: Callable[[D], Hashable] = id
    survey: Callable[[Config, Mapping[str, Sequence[D]]], AcrossSplits[D]] | None = None
    draft: type[D] | None = None


def _item_groups(config: Config, draft: Draft) -> set[str]:
    start = 1 if config.headline else 0
    return {group for one in draft.item.predictions for group in one.groups[start:]}


def _item_details(config: Config, drafts: Sequence[Draft]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    if config.headline:
        for made in drafts:
            firsts = (prediction.groups[0] for prediction in made.item.predictions)
            # The groups ``as_causal → since`` and ``as_causal → yet`` have the same items.
            counts.update({re.split(" → |: ", group)[0] for group in firsts})
    # All items are in all groups.
    if set(counts.values()) == {len(drafts)}:
        return {}
    return dict(sorted(counts.items()))


def range_of(values: Sequence[float]) -> dict[str, float]:
    """The least, the mean and the greatest of some values; empty where there are none."""
    if not values:
        return {}
    return {"least": min(values), "mean": round(fmean(values), 4), "most": max(values)}


def _survey_examples(
    config: Config, drafts: Mapping[str, Sequence[LabelledExample]]
) -> AcrossSplits[LabelledExample]:
    kept, skipped = without_rare_classes(drafts, config.fewest_of_a_class)
    return AcrossSplits(kept, skipped, example_quality(kept, config.regions))


#: Kind -> the work on it; a line where there is more to do than for any kind.
MAKINGS: Mapping[str, Making[Any]] = {
    ITEMS.name: Making[Draft](
        value=lambda draft, number: replace(draft.item, item_number=number),
        groups=_item_groups,
        details=_item_details,
        decide=decide,
        baselines=baseline_decisions,
        folds=BASELINE_FOLDS,
        quality=quality,
        content=lambda draft: (draft.item.conditions, draft.item.predictions),
        draft=Draft,
    ),
    DOCUMENTS.name: Making[DocumentDraft](
        value=lambda draft, number: draft.document,
        groups=lambda config, draft: (
            "with an intruder" if draft.document.intruded else "coherent",
        ),
        quality=lambda config, drafts, decisions: document_quality(drafts),
        content=lambda draft: (draft.document.sentences, draft.document.intruder_position),
        draft=DocumentDraft,
    ),
    EXAMPLES.name: Making[LabelledExample](survey=_survey_examples, draft=LabelledExample),
    RATINGS.name: Making[RatedText](
        draft=RatedText,
        quality=lambda config, drafts, decisions: {
            "items": len(drafts),
            "ratings": range_of([one.rating for one in drafts]),
            "raters": range_of([len(one.ratings) for one in drafts]),
            "characters": range_of([len(one.text) for one in drafts]),
        },
    ),
    SPANS.name: Making[SpanText](
        quality=lambda config, drafts, decisions: span_quality(drafts),
        content=lambda draft: (
            *(draft.units, draft.speakers, draft.hypothesis, draft.alternatives, draft.gold),
        ),
        draft=SpanText,
    ),
}


def making(kind: TableKind[Any]) -> Making[Any]:
    """Find the way in which tables of a kind are made."""
    return MAKINGS.get(kind.name, Making())

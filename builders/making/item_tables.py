"""Tables of items: what a build counts, measures and asks people of drafts of minimal pairs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from coherencegym.builders.judgement.figures import human_figures
from coherencegym.builders.judgement.match import HUMAN_OK, Matcher, human_ok
from coherencegym.builders.making.tables import Making
from coherencegym.builders.release.quality import decide, quality
from coherencegym.builders.suite import Config, Draft
from coherencegym.eval.kinds.items import Item


def _numbered(draft: Draft, number: int) -> Item:
    return replace(draft.item, item_number=number)


def _groups(config: Config, draft: Draft) -> Iterator[str]:
    """The groups of an item's predictions, each once and without details."""
    start = 1 if config.headline else 0
    return iter({group for contrast in draft.contrasts for group in contrast.groups[start:]})


def detail_counts(config: Config, drafts: Sequence[Draft]) -> dict[str, int]:
    """Items by the first group of their predictions, where the config's score is over another.

    Of a group's name what is before an arrow or a colon: the groups ``as_causal → since`` and
    ``as_causal → yet`` have the same items. Empty where all items are in all groups, which says
    nothing.
    """
    counts: Counter[str] = Counter()
    if config.headline:
        for made in drafts:
            firsts = {contrast.groups[0] for contrast in made.contrasts}
            counts.update({re.split(" → |: ", group)[0] for group in firsts})
    if set(counts.values()) == {len(drafts)}:
        return {}
    return dict(sorted(counts.items()))


def _judge(
    matcher: Matcher,
    config: Config,
    name: str,
    split: str,
    drafts: Sequence[Draft],
    rows: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    judged = [matcher.judged(name, split, draft.item) for draft in drafts]
    for row, own in zip(rows, judged, strict=True):
        row[HUMAN_OK] = human_ok(own)
    said = [pair for own in judged for pair in own]
    return human_figures(config, said, matcher.answers.digests) if said else {}


ITEM_TABLES = Making(
    value=_numbered,
    groups=_groups,
    details=detail_counts,
    decide=decide,
    quality=quality,
    judge=_judge,
)

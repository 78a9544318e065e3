"""The control of crossed configs: the same items with the words of their contexts in random order.

A context that is shuffled still has its topic, its names and its words; what it says is gone. So
what is left of a score there is not of coherence, and the difference between the two is (after
Khandelwal et al. 2018, who shuffle what a language model reads before the words that it predicts).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from coherencegym.builders.crossing.generator import Crossed, condition_of
from coherencegym.builders.suite import Config, Contrast, GeneratedItem
from coherencegym.eval.kinds.items import ITEMS, SEPARATOR, ItemEdit
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context

#: Words that keep their places: speakers, and what stands between turns.
_FIXED = re.compile(rf"{re.escape(SEPARATOR)}|<\S+>")
_NAME = "ShuffledContext"


@dataclass(frozen=True)
class ShuffledContext:
    """The items of a crossing with the words before the compared regions in random order.

    All conditions of an item have one permutation, so that contexts that differ in a word differ in
    that word. Texts that are not from a crossing's contexts stay as they are, and so do speakers'
    names and separators.
    """

    crossed: Crossed

    @property
    def recipe(self) -> str:
        """The operators, as the manifest records them."""
        return f"{self.crossed.recipe} | {_NAME}()"

    @property
    def contrasts(self) -> tuple[Contrast, ...]:
        """The predictions, as the manifest records them."""
        return self.crossed.contrasts

    def fit(self, discourses: Sequence[Discourse], context: Context, fits: Any) -> Self:
        """The item generator that knows who is crossed with whom among these discourses."""
        return replace(self, crossed=self.crossed.fit(discourses, context, fits))

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[GeneratedItem]:
        """Yield the items whose first context is the discourse's."""
        for made in self.crossed(discourse, context):
            yield self._shuffled(made, discourse, context)

    def _shuffled(
        self, made: GeneratedItem, discourse: Discourse, context: Context
    ) -> GeneratedItem:
        before = min(int(region) for each in made.contrasts for region in each.regions) - 1
        conditions, edits = [], list(made.item.edits)
        views: Mapping[str, tuple[str, ...]] = dict(made.views)
        for condition in made.item.conditions:
            texts = [region.content for region in condition.regions]
            for place, text in enumerate(texts[:before]):
                chance = context.random(discourse, _NAME, item=made.item.item_id, region=place)
                texts[place] = shuffled_words(text, chance)
                edits.append(
                    ItemEdit(condition.condition_name, _NAME, place, 0, text, texts[place])
                )
            name = condition.condition_name
            conditions.append(condition_of(name, texts))
            views = {**views, name: (*texts, *views[name][len(texts) :])}
        name = f"{made.item.item_id}/shuffled_context"
        item = replace(made.item, item_id=name, conditions=tuple(conditions), edits=tuple(edits))
        ITEMS.check(item)
        return replace(made, item=item, views=views)


def shuffled_words(text: str, chance: Any) -> str:
    """The words of a text in random order; names of speakers and separators keep their places.

    Words of two texts that are as many words from the beginning stand in the same order in both.

    >>> import random
    >>> shuffled_words("<ann> see you there <bob>", random.Random(1))
    '<ann> see there you <bob>'
    """
    words = text.split()
    places = [place for place, word in enumerate(words) if not _FIXED.fullmatch(word)]
    drawn = {place: chance.random() for place in places}
    order = [words[place] for place in sorted(places, key=drawn.__getitem__)]
    for place, word in zip(places, order, strict=True):
        words[place] = word
    return " ".join(words)


def with_shuffled_contexts(*configs: Config) -> tuple[Config, ...]:
    """The configs of a suite, and after them the control of each that is crossed."""
    controls = {
        config.name: replace(
            config,
            name=f"{config.name}_shuffled_context",
            generator=ShuffledContext(config.generator),
            summary=f"the items of `{config.name}`, the words of their contexts in random order",
            controls=(),
            is_diagnostic=True,
        )
        for config in configs
        if isinstance(config.generator, Crossed)
    }
    crossed = (
        replace(config, controls=(*config.controls, controls[config.name].name))
        if config.name in controls
        else config
        for config in configs
    )
    return (*crossed, *controls.values())

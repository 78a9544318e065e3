"""Crossed items: two contexts and two targets, and the prediction is their interaction.

The four conditions are each context with each target. The targets in each other's contexts are
predicted to be more surprising, together, than in their own::

    bits(target 1 | context 1) + bits(target 2 | context 2)
        < bits(target 1 | context 2) + bits(target 2 | context 1)

Every text stands once on each side, so that whatever reads the targets alone, or the contexts
alone, ties exactly: only how they go together is left. After Ivanova et al. 2024 (EWoK), who
compare the same four.

Their control has the same items with the words of their contexts in random order. A context that is
shuffled still has its topic, its names and its words; what it says is gone. So
what is left of a score there is not of coherence, and the difference between the two is (after
Khandelwal et al. 2018, who shuffle what a language model reads before the words that it predicts).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from coherencegym.builders.crossing.partners import Couple, Partner
from coherencegym.builders.suite import Column, Config, Contrast, GeneratedItem
from coherencegym.eval.kinds.items import (
    FAMILY,
    ITEMS,
    SEPARATOR,
    Condition,
    Item,
    ItemEdit,
    Region,
)
from coherencegym.eval.statistics.effective_size import WITH
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context

#: Marks before which no space stands.
_CLOSING = frozenset(",.;:!?)]}'’”%")

#: Words that keep their places: speakers, and what stands between turns.
_FIXED = re.compile(rf"{re.escape(SEPARATOR)}|<\S+>")
_SHUFFLED = "ShuffledContext"

#: Makes the regions of a condition: (who gives the context, who gives the target) -> texts.
Join = Callable[[Partner, Partner], tuple[str, ...]]


#: Columns that every crossed config has; :func:`crossed_columns` adds the suite's own to them.
_CROSSED_COLUMNS = {
    FAMILY: Column(
        "string",
        "the document or schema of the item, or its two documents (`a × b`); intervals treat "
        "items that share one as dependent",
    ),
    "partner_discourse": Column("string", "the document that the second context is from"),
    "similarity": Column(
        "float64", "TF-IDF cosine of the two contexts; null if they were not matched by it"
    ),
}


def crossed_columns(**own: Column) -> dict[str, Column]:
    """The columns of a crossed config: those of all, and the suite's own."""
    return _CROSSED_COLUMNS | own


#: The reason why a partner is in no item.
_LEFT = "no remaining partner fits"


#: The couples whose first context is a discourse's, and what of it is in none, by reason.
_Coupled = tuple[list[Couple], Counter[str]]


@dataclass(frozen=True, kw_only=True)
class Crossed:
    """Couples of partners, each two contexts and two targets; one item for each couple.

    Attributes:
        partners: the partners that a discourse brings: (discourse, context) -> partners.
        couple: chooses who is crossed with whom: (partners, context) -> couples.
        operators: the way to the partners in words, for the manifest.
        family: a key of ``meta``: partners are coupled within discourses that have it alike (the
            twins of a schema). Empty: within each discourse, unless ``across``.
        across: true where partners are coupled over all discourses of a split.
        among: a key of ``meta``: of ``across`` only over discourses that have it alike (a genre).
        join: makes the regions of a condition.
        region, last: parts of the prediction, as in :class:`Contrast`.
        apart: groups, each with the one region that its prediction compares, in the place of
            ``region`` to ``last``; a couple without that region has no such prediction.
        names: words for contexts and for targets in the names of conditions, which number them.
        columns: the suite's own columns, of a couple.
        shuffled: true where the words before the compared regions stand in random order.
        found: the couples of a fit, by discourse.
    """

    partners: Callable[[Discourse, Context], Iterator[Partner]]
    operators: str
    couple: Callable[[Sequence[Partner], Context], list[Couple]]
    family: str = ""
    across: bool = False
    among: str = ""
    join: Join = lambda context, target: (context.parts[0], target.parts[1])
    region: int = 2
    last: int = 0
    apart: Mapping[str, int] = field(default_factory=dict)
    names: tuple[str, str] = ("context", "target")
    columns: Callable[[Couple], dict[str, Any]] = lambda couple: {}
    shuffled: bool = False
    found: Mapping[str, _Coupled] = field(default_factory=dict)

    @property
    def recipe(self) -> str:
        """The operators, as the manifest records them."""
        where = "a split" if self.across else self.family or "a discourse"
        where = self.among or where
        shuffled = f" | {_SHUFFLED}()" * self.shuffled
        return f"{self.operators} | Crossed(partners within {where}){shuffled}"

    @property
    def conditions(self) -> tuple[str, str, str, str]:
        """The names of the conditions: the two of the texts' own, then the two exchanged ones."""
        context, target = self.names
        first, second, third, fourth = (
            f"{context}_{i}_{target}_{j}" for i, j in ((1, 1), (2, 2), (1, 2), (2, 1))
        )
        return first, second, third, fourth

    @property
    def contrasts(self) -> tuple[Contrast, ...]:
        """The predictions, as the manifest records them."""
        own, exchanged = self.conditions[:2], self.conditions[2:]
        if self.apart:
            return tuple(
                Contrast(exchanged, own, region, "sum", (group,))
                for group, region in self.apart.items()
            )
        return (Contrast(exchanged, own, self.region, "sum", last=self.last),)

    def fit(self, discourses: Sequence[Discourse], context: Context, fits: Any) -> Self:
        """The item generator that knows who is crossed with whom among these discourses."""
        if not (self.across or self.family):
            return self
        # A config and its control cross the same texts, whatever becomes of them in the items.
        how = self.partners, self.couple, self.family, self.across, self.among
        key = how, tuple(map(id, discourses)), context.seed, context.suite
        # Found with the discourses: as long as these are there, no others have their identities.
        _, found = fits.once(key, lambda: (discourses, self._found(discourses, context)))
        return replace(self, found=found)

    def _found(self, discourses: Sequence[Discourse], context: Context) -> dict[str, _Coupled]:
        found: dict[str, _Coupled] = {}
        by_family: dict[str, list[Partner]] = defaultdict(list)
        for discourse in discourses:
            own = Context(context.seed, context.suite)
            kind = (discourse.meta.get(self.among, ""),) if self.among else ()
            by_family[discourse.meta.get(self.family, "") if self.family else ""] += (
                replace(partner, alike=(*partner.alike, *kind))
                for partner in self.partners(discourse, own)
            )
            found[discourse.id] = [], own.skipped
        for partners in by_family.values():
            alone = {partner.key for partner in partners}
            for couple in self.couple(partners, context):
                alone -= {couple.first.key, couple.second.key}
                found[couple.first.discourse.id][0].append(couple)
            for identifier, _ in alone:
                found[identifier][1][_LEFT] += 1
        return found

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[GeneratedItem]:
        """Yield the items whose first context is the discourse's."""
        couples, skipped = (self.found or self._found([discourse], context))[discourse.id]
        context.skipped.update(skipped)
        for couple in couples:
            made = self._generate(couple)
            # Twins may differ in nothing but their blanks: filled in, they are one text.
            if len({each.content for each in made.item.conditions}) < len(self.conditions):
                context.skipped["two conditions have the same text"] += 1
            else:
                yield self._shuffled(made, discourse, context) if self.shuffled else made

    def _generate(self, couple: Couple) -> GeneratedItem:
        first, second = couple.first, couple.second
        pairs = ((first, first), (second, second), (first, second), (second, first))
        made = {
            name: condition_of(name, self.join(context, target))
            for name, (context, target) in zip(self.conditions, pairs, strict=True)
        }
        regions = min(len(condition.regions) for condition in made.values())
        contrasts = tuple(
            contrast
            for contrast in self.contrasts
            if not self.apart or int(contrast.region) <= regions
        )
        item = Item(
            item_id="/".join(filter(None, (*first.key, "crossed", *second.key))),
            item_number=0,
            conditions=tuple(made.values()),
            predictions=tuple(contrast.prediction for contrast in contrasts),
            discourse_id=first.discourse.id,
            corpus=first.discourse.corpus,
            edits=tuple(
                edit
                for own, exchanged, source in zip(
                    self.conditions[:2], self.conditions[2:], (second, first), strict=True
                )
                for edit in _exchanges(made[own], made[exchanged], source)
            ),
            extra=self._columns(couple),
        )
        ITEMS.check(item)
        # A classifier has one bag of words for each region, also of one that is missing.
        missing = ("",) * (max(self.apart.values(), default=0) - regions)
        views = {
            name: tuple(region.content for region in condition.regions) + missing
            for name, condition in made.items()
        }
        return GeneratedItem(item, contrasts, views)

    def _columns(self, couple: Couple) -> dict[str, Any]:
        discourses = couple.first.discourse, couple.second.discourse
        ids = dict.fromkeys(discourse.id for discourse in discourses)
        return {
            FAMILY: discourses[0].meta.get(self.family, "") or WITH.join(ids),
            "partner_discourse": discourses[1].id,
            "similarity": couple.similarity,
            **self.columns(couple),
        }

    def _shuffled(
        self, made: GeneratedItem, discourse: Discourse, context: Context
    ) -> GeneratedItem:
        # All conditions of an item have one permutation, so that contexts that differ in a word
        # differ in that word.
        before = min(int(region) for each in made.contrasts for region in each.regions) - 1
        conditions, edits = [], list(made.item.edits)
        views: Mapping[str, tuple[str, ...]] = dict(made.views)
        for condition in made.item.conditions:
            texts = [region.content for region in condition.regions]
            for place, text in enumerate(texts[:before]):
                chance = context.random(discourse, _SHUFFLED, item=made.item.item_id, region=place)
                texts[place] = shuffled_words(text, chance)
                edits.append(
                    ItemEdit(condition.condition_name, _SHUFFLED, place, 0, text, texts[place])
                )
            name = condition.condition_name
            conditions.append(condition_of(name, texts))
            views = {**views, name: (*texts, *views[name][len(texts) :])}
        name = f"{made.item.item_id}/shuffled_context"
        item = replace(made.item, item_id=name, conditions=tuple(conditions), edits=tuple(edits))
        ITEMS.check(item)
        return replace(made, item=item, views=views)


def condition_of(name: str, texts: Sequence[str]) -> Condition:
    """A condition of regions, with a space between them but before marks that close."""
    content = ""
    for text in filter(None, texts):
        content += text if not content or text[0] in _CLOSING else f" {text}"
    return Condition(name, content, tuple(Region(i, text) for i, text in enumerate(texts, start=1)))


def _exchanges(own: Condition, exchanged: Condition, source: Partner) -> Iterator[ItemEdit]:
    # Units of such a text are its regions.
    for mine, other in zip(own.regions, exchanged.regions, strict=True):
        if mine.content != other.content:
            yield ItemEdit(
                exchanged.condition_name,
                "Crossed",
                mine.region_number - 1,
                0,
                mine.content,
                other.content,
                source.discourse.id,
            )


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
            generator=replace(config.generator, shuffled=True),
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

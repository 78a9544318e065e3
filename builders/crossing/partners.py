"""Partners of a crossing: who is crossed with whom, so that as little as can be gives it away."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, combinations, groupby
from typing import Any

from coherencegym.builders.crossing.balance import Option, choose_balanced, side
from coherencegym.builders.crossing.similarity import stems
from coherencegym.eval.statistics.lexical_overlap import all_words, content_words, cosine
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.intruders.neighbours import groups, nearest, text_vectors
from coherencegym.manipulations.operator import Context

_NAME = "Crossed"


@dataclass(frozen=True)
class Partner:
    """A context with its own target, as one side of a crossing brings them.

    Attributes:
        discourse: the discourse that it is from.
        name: its name among the partners of that discourse; may be empty where it is the only one.
        parts: its texts, of which the conditions are made: at first its context and its target.
        alike: values that partners must have in common (type, tense, gender, number).
        columns: the suite's own columns, on it alone.
    """

    discourse: Discourse
    parts: tuple[str, ...]
    name: str = ""
    alike: tuple[Any, ...] = ()
    columns: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """Its discourse's id and its own name, which together are like no other's."""
        return self.discourse.id, self.name


@dataclass(frozen=True)
class Couple:
    """Two partners.

    Attributes:
        first, second: the partners.
        similarity: the TF-IDF cosine of what they are matched by; none: nothing was.
        half: 1 or 2: the half of the discourses that both are from; 0: these were not divided.
    """

    first: Partner
    second: Partner
    similarity: float | None = None
    half: int = 0


#: Counts the words of a text, or weighs them.
CountWords = Callable[[str], Mapping[str, float]]
#: Measures a combination of the context of one with the target of the other.
Measure = Callable[[Partner, Partner], float]
#: Tells whether two partners may be crossed, whatever else they have in common.
MayCross = Callable[[Partner, Partner], bool]
#: Fits two partners to each other; none where that cannot be.
FitTogether = Callable[[Partner, Partner, Context], tuple[Partner, Partner] | None]


def as_they_are(one: Partner, other: Partner, context: Context) -> tuple[Partner, Partner]:
    """Leave two partners as they are."""
    return one, other


def any_two(one: Partner, other: Partner) -> bool:
    """Let any two partners be crossed whose first parts differ, where there are any, and last."""
    same = one.parts[0] == other.parts[0] != ""
    return not same and one.parts[-1] != other.parts[-1]


def of_like_length(one: Partner, other: Partner, times: float = 1.5, more: int = 3) -> bool:
    """Tell whether the longer of two targets has at most half as many words again, or three.

    Or so many times as many, or so many more.
    """
    if not any_two(one, other):
        return False
    shorter, longer = sorted(len(each.parts[-1].split()) for each in (one, other))
    return longer <= max(times * shorter, shorter + more)


def repeating_alike(one: Partner, other: Partner) -> bool:
    """Tell whether the targets repeat at most one word more of their own contexts, together.

    More than of each other's: where it is many, counting repeated words tells which goes with
    which.
    """
    before, targets = ([stems(each.parts[i]) for each in (one, other)] for i in (0, -1))
    own, exchanged = (
        sum(len(context & target) for context, target in zip(before, order, strict=True))
        for order in (targets, targets[::-1])
    )
    return own - exchanged <= 1


@dataclass(frozen=True)
class ClosestInLength:
    """Couples partners by how little the lengths (words) of their last parts differ.

    For the partners of one discourse, or of one family, all of which may be compared.

    Attributes:
        fits: tells which partners may be crossed.
        adapt: fits partners to each other, before they are measured.
        scarce_first: true where those that fit few others come first, so that more find one.
        measures: numbers that are as often higher for the own combinations as for the exchanged
            ones, but for one couple; over all discourses, within each of which partners are.
    """

    fits: MayCross = any_two
    adapt: FitTogether = as_they_are
    scarce_first: bool = False
    measures: tuple[Measure, ...] = ()

    def __call__(self, partners: Sequence[Partner], context: Context) -> list[Couple]:
        """Couple partners, each at most once, in their order."""
        words = [len(partner.parts[-1].split()) for partner in partners]
        places = range(len(partners))
        together: list[Sequence[int]] = [places]
        if self.measures:
            together = [list(g) for _, g in groupby(places, lambda i: partners[i].discourse.id)]
        pairs = chain.from_iterable(combinations(own, 2) for own in together)
        wanted = ((abs(words[i] - words[j]), i, j) for i, j in pairs)
        how: dict[str, Any] = {"scarce_first": self.scarce_first, "slack": int(bool(self.measures))}
        couples = _best_first(
            partners, self.fits, wanted, context, self.measures, self.adapt, **how
        )
        return [replace(couple, similarity=None) for couple in couples]


@dataclass(frozen=True)
class MostSimilar:
    """Couples partners by how similar some texts of theirs are, over many discourses.

    By the project's retrieval (:mod:`manipulations.intruders.neighbours`).

    Attributes:
        fits: tells which partners may be crossed.
        parts: the numbers of the parts that are compared; the first is the context.
        adapt: fits partners to each other, before anything but their similarity is measured.
        neighbours: the number of nearest others that each is compared with.
        balanced: true where as many couples repeat more words in their own combinations as do in
            the exchanged ones, so that repeated words say nothing over all of them: content words,
            all words, and all words by how rare they are, each by itself.
        measures: further numbers that are as often higher for the own combinations.
        within: true where partners of one discourse may be coupled, too, and those first that fit
            few others; no text of the column ``texts`` is then in two couples, and of the measures
            one couple may be left over. Else neither those
            nor partners of discourses that share lines.
        halves: true where the discourses are divided at random. Partners are coupled and balanced
            within a half, by weights of words that the other half gave, so that a baseline that
            learns from one half measures nothing in the other that the coupling was fitted to.
    """

    fits: MayCross = any_two
    adapt: FitTogether = as_they_are
    parts: tuple[int, ...] = (0,)
    neighbours: int = 50
    balanced: bool = False
    measures: tuple[Measure, ...] = ()
    within: bool = False
    halves: bool = False

    def __call__(self, partners: Sequence[Partner], context: Context) -> list[Couple]:
        """Couple partners, each at most once, in their order."""
        if not self.halves:
            return self._coupled(partners, partners, context)
        one, two = _halves(partners, context)
        return [
            replace(couple, half=half)
            for half, (own, other) in enumerate(((one, two), (two, one)), start=1)
            for couple in self._coupled(own, other, context)
        ]

    def _coupled(
        self, partners: Sequence[Partner], known: Sequence[Partner], context: Context
    ) -> list[Couple]:
        # By the weights of the words of those that are known; of a half alone by its own.
        if len(partners) < 2:
            return []
        known = known or partners
        weights = None if known is partners else text_vectors(self._texts(known))[1].idf
        vectors, _ = text_vectors(self._texts(partners), weights=weights)
        indices, similarities = nearest(
            vectors,
            min(self.neighbours, len(partners) - 1),
            range(len(partners))
            if self.within
            else groups([partner.discourse.texts for partner in partners]),
        )
        similarity = {
            (min(i, int(j)), max(i, int(j))): round(float(near), 6)
            for i, (others, nearness) in enumerate(zip(indices, similarities, strict=True))
            for j, near in zip(others, nearness, strict=True)
            if j >= 0
        }
        if self.within and len(partners) <= self.neighbours:
            # Those without a word in common, too.
            similarity = dict.fromkeys(combinations(range(len(partners)), 2), 0.0) | similarity
        repeated = map(_repeated, _ways_to_count(known) if self.balanced else ())
        wanted = ((-near, i, j) for (i, j), near in similarity.items())
        measures = (*repeated, *self.measures)
        return _best_first(
            partners, self.fits, wanted, context, measures, self.adapt, within=self.within
        )

    def _texts(self, partners: Sequence[Partner]) -> list[list[str]]:
        return [[partner.parts[i] for i in self.parts] for partner in partners]


def _halves(partners: Sequence[Partner], context: Context) -> tuple[list[Partner], list[Partner]]:
    # Discourses that share lines are in one half.
    together = groups([partner.discourse.texts for partner in partners])
    lots = {
        group: context.random(partner.discourse, _NAME, half="").random()
        for group, partner in zip(together, partners, strict=True)
    }
    first = set(sorted(lots, key=lambda group: (lots[group], group))[::2])
    halves: tuple[list[Partner], list[Partner]] = ([], [])
    for group, partner in zip(together, partners, strict=True):
        halves[group not in first].append(partner)
    return halves


def _ways_to_count(partners: Sequence[Partner]) -> tuple[CountWords, ...]:
    texts = [text for partner in partners for text in (partner.parts[0], partner.parts[-1])]
    found_in = Counter(word for text in texts for word in all_words(text))

    @cache
    def by_rarity(text: str) -> Mapping[str, float]:
        counts = all_words(text).items()
        # A word that partners are given when they are adapted is as rare as can be.
        return {
            word: number * math.log(len(texts) / (found_in[word] or 1)) for word, number in counts
        }

    return content_words, all_words, by_rarity


def _repeated(count: CountWords) -> Measure:
    return lambda context, target: cosine(count(context.parts[0]), count(target.parts[-1]))


def _favours(one: Partner, other: Partner, measure: Measure) -> int:
    # 1: it is higher for the own combinations; -1: for the exchanged ones.
    own = measure(one, one) + measure(other, other)
    return side(own - measure(one, other) - measure(other, one))


def _best_first(
    partners: Sequence[Partner],
    fits: MayCross,
    wanted: Iterable[tuple[float, int, int]],
    context: Context,
    measures: Sequence[Measure] = (),
    adapt: FitTogether = as_they_are,
    *,
    within: bool = False,
    scarce_first: bool = False,
    slack: int = 0,
) -> list[Couple]:
    lots = [
        context.random(partner.discourse, _NAME, partner=partner.name).random()
        for partner in partners
    ]
    fitting = [
        (cost, i, j, both)
        for cost, i, j in wanted
        if partners[i].alike == partners[j].alike
        and fits(partners[i], partners[j])
        and (both := adapt(partners[i], partners[j], context))
    ]
    rare = within or scarce_first
    others = Counter(each for _, i, j, _ in fitting for each in (i, j) if rare)
    names: list[frozenset[Hashable]] = [
        frozenset(partner.columns["texts"]) if within else frozenset({place})
        for place, partner in enumerate(partners)
    ]
    options: dict[Option, Couple] = {}
    for cost, i, j, both in fitting:
        leans = tuple(_favours(*both, measure) for measure in measures)
        order = min(others[i], others[j]), cost, lots[i], lots[j], i, j
        options[Option(order, names[i] | names[j], leans)] = Couple(*both, -cost)
    chosen = choose_balanced(options, slack or int(within))
    return [options[option] for option in sorted(chosen, key=lambda option: option.cost[4:])]

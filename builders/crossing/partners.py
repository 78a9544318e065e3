"""Partners of a crossing: who is crossed with whom, so that as little as can be gives it away."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations
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
    """Two partners, and the TF-IDF cosine of what they are matched by (none: nothing was)."""

    first: Partner
    second: Partner
    similarity: float | None = None


#: Counts the words of a text, or weighs them.
CountWords = Callable[[str], Mapping[str, float]]
#: Tells whether two partners may be crossed, whatever else they have in common.
MayCross = Callable[[Partner, Partner], bool]
#: Fits two partners to each other; none where that cannot be.
FitTogether = Callable[[Partner, Partner, Context], tuple[Partner, Partner] | None]


def as_they_are(one: Partner, other: Partner, context: Context) -> tuple[Partner, Partner]:
    """Leave two partners as they are."""
    return one, other


def any_two(one: Partner, other: Partner) -> bool:
    """Let any two partners be crossed whose first and last parts differ."""
    return one.parts[0] != other.parts[0] and one.parts[-1] != other.parts[-1]


def of_like_length(one: Partner, other: Partner) -> bool:
    """Tell whether the longer of two targets has at most half as many words again, or three."""
    if not any_two(one, other):
        return False
    shorter, longer = sorted(len(each.parts[-1].split()) for each in (one, other))
    return longer <= max(1.5 * shorter, shorter + 3)


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
    """

    fits: MayCross = any_two

    def __call__(self, partners: Sequence[Partner], context: Context) -> list[Couple]:
        """Couple partners, each at most once, in their order."""
        words = [len(partner.parts[-1].split()) for partner in partners]
        pairs = combinations(range(len(partners)), 2)
        wanted = ((abs(words[i] - words[j]), i, j) for i, j in pairs)
        couples = _best_first(partners, self.fits, wanted, context)
        return [replace(couple, similarity=None) for couple in couples]


@dataclass(frozen=True)
class MostSimilar:
    """Couples partners by how similar the texts of their first parts are, over many discourses.

    By the project's retrieval (:mod:`manipulations.intruders.neighbours`); discourses that share
    lines are never coupled.

    Attributes:
        fits: tells which partners may be crossed.
        adapt: fits partners to each other, before anything but their similarity is measured.
        neighbours: the number of nearest others that each is compared with.
        balanced: true where as many couples repeat more words in their own combinations as do in
            the exchanged ones, so that repeated words say nothing over all of them: content words,
            all words, and all words by how rare they are, each by itself.
    """

    fits: MayCross = any_two
    adapt: FitTogether = as_they_are
    neighbours: int = 50
    balanced: bool = False

    def __call__(self, partners: Sequence[Partner], context: Context) -> list[Couple]:
        """Couple partners, each at most once, in their order."""
        if len(partners) < 2:
            return []
        vectors, _ = text_vectors([partner.parts[:1] for partner in partners])
        found = nearest(
            vectors,
            min(self.neighbours, len(partners) - 1),
            groups([partner.discourse.texts for partner in partners]),
        )
        similarity = {
            (min(i, int(j)), max(i, int(j))): round(float(near), 6)
            for i, (others, nearness) in enumerate(
                zip(found.indices, found.similarities, strict=True)
            )
            for j, near in zip(others, nearness, strict=True)
            if j >= 0
        }
        counted = _ways_to_count(partners) if self.balanced else ()
        wanted = ((-near, i, j) for (i, j), near in similarity.items())
        return _best_first(partners, self.fits, wanted, context, counted, self.adapt)


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


def _favours(one: Partner, other: Partner, count: CountWords) -> int:
    # 1: the own combinations repeat more words; -1: the exchanged ones.
    def repeated(context: Partner, target: Partner) -> float:
        return cosine(count(context.parts[0]), count(target.parts[-1]))

    own = repeated(one, one) + repeated(other, other)
    return side(own - repeated(one, other) - repeated(other, one))


def _best_first(
    partners: Sequence[Partner],
    fits: MayCross,
    wanted: Iterable[tuple[float, int, int]],
    context: Context,
    counted: Sequence[CountWords] = (),
    adapt: FitTogether = as_they_are,
) -> list[Couple]:
    lots = [
        context.random(partner.discourse, _NAME, partner=partner.name).random()
        for partner in partners
    ]
    options: dict[Option, Couple] = {}
    for cost, i, j in wanted:
        one, other = partners[i], partners[j]
        if (
            one.alike != other.alike
            or not fits(one, other)
            or not (both := adapt(one, other, context))
        ):
            continue
        leans = tuple(_favours(*both, count) for count in counted)
        option = Option((cost, lots[i], lots[j], i, j), frozenset({i, j}), leans)
        options[option] = Couple(*both, -cost)
    chosen = choose_balanced(options)
    return [options[option] for option in sorted(chosen, key=lambda option: option.cost[3:])]

"""Partners of a crossing: who is crossed with whom, so that as little as can be gives it away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from coherencegym.builders.crossing.likeness import stems
from coherencegym.builders.release.floors import TIE
from coherencegym.builders.release.overlap import content_words, cosine
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


#: Tells whether two partners may be crossed, whatever else they have in common.
MayCross = Callable[[Partner, Partner], bool]


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
        chosen = _best_first(partners, self.fits, wanted, context)
        return [Couple(partners[i], partners[j]) for i, j, _ in sorted(chosen)]


@dataclass(frozen=True)
class MostSimilar:
    """Couples partners by how similar the texts of their first parts are, over many discourses.

    By the project's retrieval (:mod:`manipulations.intruders.neighbours`); discourses that share
    lines are never coupled.

    Attributes:
        fits: tells which partners may be crossed.
        neighbours: the number of nearest others that each is compared with.
        balanced: true where as many couples repeat more words in their own combinations as do in
            the exchanged ones, so that repeated words say nothing over all of them. Couples of
            the second sort, rare among texts that cohere, and those that favour neither are
            chosen first.
    """

    fits: MayCross = any_two
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
        wanted = [(-near, i, j) for (i, j), near in similarity.items()]
        if not self.balanced:
            chosen = _best_first(partners, self.fits, wanted, context)
        else:
            favours = {(i, j): _favours(partners[i], partners[j]) for _, i, j in wanted}
            others = [one for one in wanted if favours[one[1:]] <= 0]
            chosen = _best_first(partners, self.fits, others, context)
            against = sum(favours[i, j] < 0 for i, j, _ in chosen)
            own = [one for one in wanted if favours[one[1:]] > 0]
            taken = {place for i, j, _ in chosen for place in (i, j)}
            chosen += _best_first(partners, self.fits, own, context, taken, against)
        return [Couple(partners[i], partners[j], -cost) for i, j, cost in sorted(chosen)]


def _favours(one: Partner, other: Partner) -> float:
    """Tell which combinations repeat more words: above 0 the own ones, below 0 the exchanged."""
    own = sum(_repeated(each, each) for each in (one, other))
    difference = own - _repeated(one, other) - _repeated(other, one)
    return 0.0 if abs(difference) < TIE else difference


def _repeated(context: Partner, target: Partner) -> float:
    return cosine(content_words(context.parts[0]), content_words(target.parts[-1]))


def _best_first(
    partners: Sequence[Partner],
    fits: MayCross,
    wanted: Iterable[tuple[float, int, int]],
    context: Context,
    taken: Iterable[int] = (),
    most: int | None = None,
) -> list[tuple[int, int, float]]:
    """Choose couples of least cost first, each partner at most once; of equal cost by lot.

    Those that are ``taken`` already are in none, and of the couples there are at ``most`` so many.
    """
    lots = [
        context.random(partner.discourse, _NAME, partner=partner.name).random()
        for partner in partners
    ]
    gone = set(taken)
    chosen: list[tuple[int, int, float]] = []
    for cost, _, _, i, j in sorted((cost, lots[i], lots[j], i, j) for cost, i, j in wanted):
        if len(chosen) == most:
            break
        one, other = partners[i], partners[j]
        if not gone & {i, j} and one.alike == other.alike and fits(one, other):
            gone |= {i, j}
            chosen.append((i, j, cost))
    return chosen

"""Sentence order: put the units of a discourse in another order.

Beyer et al. 2021, section 4.1: a shuffled narration or dialogue should be more surprising than the
original, and so should the last unit after a shuffled context.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coherencegym.loaders.discourse import Discourse, Edit, Span
from coherencegym.manipulations.editing import move_annotations
from coherencegym.manipulations.operator import Composable, Context


@dataclass(frozen=True)
class Shuffle(Composable):
    """Put the units (sentences or turns) of a text in a random new order.

    Attributes:
        keep_last: the number of units at the end of the text that stay in place, 0 or 1.
        permutations: the number of new orders, each of which gives one result. A short text may
            have fewer new orders and then gives fewer results.

    The results are named ``shuffled``, ``shuffled-2``, ``shuffled-3``, .... If the text is an
    excerpt with the name (``variant``) ``8-15``, the result is named ``8-15/shuffled``. In the
    ``edits`` of a result, ``source_unit`` is the original position (from 0) of a moved unit. A text
    gives no result if all its units have the same words.
    """

    keep_last: int = 0
    permutations: int = 1

    def __post_init__(self) -> None:
        if self.keep_last not in (0, 1):
            raise ValueError(f"keep_last is {self.keep_last}; expected 0 or 1")
        if self.permutations < 1:
            raise ValueError(f"permutations is {self.permutations}; expected at least 1")

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the reordered discourses."""
        texts = discourse.texts[: len(discourse.units) - self.keep_last]
        others = count_orders(texts) - 1
        if len(texts) < 2:
            context.skipped["fewer than two units to reorder"] += 1
            return
        if others == 0:
            context.skipped["all units to reorder have the same text"] += 1
            return
        if others < self.permutations:
            context.skipped["fewer other orders than --permutations asks for"] += 1
        # `permutations` is left out of the key: asking for more orders keeps the first ones.
        own = {"passage": discourse.variant} if discourse.variant else {}
        random = context.random(discourse, "Shuffle", keep_last=self.keep_last, **own)
        seen = {texts}
        while len(seen) <= min(others, self.permutations):
            order = list(range(len(texts)))
            random.shuffle(order)
            if (reordered := tuple(texts[i] for i in order)) in seen:
                continue
            seen.add(reordered)
            number = len(seen) - 1
            variant = "shuffled" if number == 1 else f"shuffled-{number}"
            yield reorder(
                discourse,
                [*canonical(order, texts), *range(len(texts), len(discourse.units))],
                variant="/".join(filter(None, (discourse.variant, variant))),
            )


def count_orders(texts: Sequence[str]) -> int:
    """Count the orders in which the texts can be read, equal ones counting as equal."""
    return math.factorial(len(texts)) // math.prod(map(math.factorial, Counter(texts).values()))


def canonical(order: Sequence[int], texts: Sequence[str]) -> list[int]:
    """The order that reads the same and keeps units of equal text in their original sequence."""
    places = {
        text: iter([index for index, other in enumerate(texts) if other == text])
        for text in set(texts)
    }
    return [next(places[texts[index]]) for index in order]


def reorder(
    discourse: Discourse, order: Sequence[int], variant: str, operator: str = "Shuffle"
) -> Discourse:
    """The discourse whose unit ``i`` is the original's unit ``order[i]``.

    Annotations move with their units; one whose parts are no longer in reading order is dropped.
    ``operator`` is what the edits are noted under.
    """
    place = {old: new for new, old in enumerate(order)}

    def move(span: Span) -> Span | None:
        moved = tuple((place[unit], start, end) for unit, start, end in span)
        return moved if list(moved) == sorted(moved) else None

    units = tuple(discourse.units[old] for old in order)
    edits = tuple(
        Edit(operator, new, 0, discourse.units[new].text, units[new].text, discourse.id, old)
        for new, old in enumerate(order)
        if new != old
    )
    return move_annotations(
        discourse, move, units=units, variant=variant, edits=discourse.edits + edits
    )


def original_positions(discourse: Discourse, operator: str = "Shuffle") -> list[int]:
    """Give each unit of a reordered discourse its place (0-based) in the original."""
    places = list(range(len(discourse.units)))
    for edit in discourse.edits:
        if edit.operator == operator and edit.source_unit is not None:
            places[edit.unit] = edit.source_unit
    return places


def kendall_tau(order: Sequence[int]) -> float:
    """Kendall's rank correlation of an order with the original: 1 the same, -1 the reverse.

    The distance that information-ordering work reports (Lapata 2006, "Automatic evaluation of
    information ordering"): 1 - 2 x (pairs out of order) / (pairs).

    Raises:
        ValueError: fewer than two units.
    """
    n = len(order)
    if n < 2:
        raise ValueError("an order of fewer than two units has no rank correlation")
    inversions = sum(order[i] > order[j] for i in range(n) for j in range(i + 1, n))
    return 1 - 2 * inversions / (n * (n - 1) / 2)

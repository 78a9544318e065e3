"""Clean and corrupted token sequences of one scored text, aligned for activation patching.

Activation patching runs a model on a corrupted text with some activations of the clean text in
place of its own (Vig et al. 2020, "Investigating Gender Bias in Language Models Using Causal
Mediation Analysis"; Zhang and Nanda 2024, "Towards Best Practices of Activation Patching in
Language Models"). That needs positions of the two texts that belong together. Here the two texts
are conditions of an item on the two sides of a prediction in which the same text is scored after
different contexts. In a crossed item they are a context and its own target, and the same target in
the exchanged context.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from coherencegym.eval.kinds.formula import (
    WHOLE,
    RegionRef,
    comparisons_of,
    parse_formula,
    sum_of,
)
from coherencegym.eval.kinds.items import Condition, Item
from coherencegym.eval.plan.options import DEFAULT_OPTIONS, Options
from coherencegym.eval.plan.requests import Query, prepare
from coherencegym.eval.text.encode import Encoding
from coherencegym.eval.text.regions import SPECIAL
from coherencegym.eval.text.sequence import common_start

#: Reasons why two conditions are not aligned.
NO_SHARED_TEXT = "items that score no text after two contexts"
NOT_ENCODED = "a text too long for the model, or with a separator that the tokenizer does not have"
ACROSS = "a token that reaches from the context into the scored text"
OTHER_TOKENS = "a scored text with other tokens after the other context"


@dataclass(frozen=True, slots=True)
class AlignedPosition:
    """Two tokens in the same place of the clean and of the corrupted text.

    Attributes:
        clean, corrupted: their indices in the two sequences.
        region: their region number; -1 for the start-of-text token and separators.
        in_target: they are tokens of the scored text, and equal.
    """

    clean: int
    corrupted: int
    region: int
    in_target: bool


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """The same scored text after its own context (clean) and after another (corrupted).

    Attributes:
        item_id: the item.
        clean_condition, corrupted_condition: the conditions' names.
        clean, corrupted: their token ids, the start-of-text token included.
        positions: positions that belong together, in their order. In each region they pair up from
            the left as far as the tokens are equal, and the others from the right.
    """

    item_id: str
    clean_condition: str
    corrupted_condition: str
    clean: tuple[int, ...]
    corrupted: tuple[int, ...]
    positions: tuple[AlignedPosition, ...]

    @property
    def unaligned(self) -> tuple[list[int], list[int]]:
        """Indices of the clean and of the corrupted sequence that have no counterpart."""
        clean = {one.clean for one in self.positions}
        corrupted = {one.corrupted for one in self.positions}
        return (
            [n for n in range(len(self.clean)) if n not in clean],
            [n for n in range(len(self.corrupted)) if n not in corrupted],
        )

    @property
    def is_shifted(self) -> bool:
        """Tell whether positions that belong together have different indices."""
        return any(one.clean != one.corrupted for one in self.positions)


@dataclass(frozen=True)
class Alignment:
    """Pairs, and how many could not be aligned, by reason."""

    pairs: tuple[AlignedPair, ...]
    left_out: Mapping[str, int]

    def __str__(self) -> str:
        sides = [pair.unaligned for pair in self.pairs]
        clean, corrupted = (sum(len(side[n]) for side in sides) for n in (0, 1))
        lines = [
            f"pairs: {len(self.pairs):,}, of which shifted: "
            f"{sum(pair.is_shifted for pair in self.pairs):,}",
            f"aligned positions: {sum(len(pair.positions) for pair in self.pairs):,}",
            f"positions without a counterpart: {clean:,} clean, {corrupted:,} corrupted",
            *(f"left out: {count:,}: {reason}" for reason, count in self.left_out.items()),
        ]
        return "\n".join(lines)


def align_items(
    tokenizer: Any, config: Any, items: Iterable[Item], options: Options = DEFAULT_OPTIONS
) -> Alignment:
    """Align the conditions of items in which the same text is scored after different contexts.

    Args:
        tokenizer: a tokenizer of transformers.
        config: that of the model, or None.
        items: those of a crossed config, for instance; they give a pair for each of their targets.
        options: those of encoding: start-of-text token and separators.

    Raises:
        EvaluationError: the tokens of a text cannot be placed in it.
    """
    left_out: Counter[str] = Counter()
    found = []
    for item in items:
        own = list(dict.fromkeys(_same_targets(item)))
        left_out[NO_SHARED_TEXT] += not own
        found += [(item, *one) for one in own]
    queries = [
        Query(item.item_id, [item.condition(clean), item.condition(corrupted)], {})
        for item, clean, corrupted, _ in found
    ]
    fitted = prepare(tokenizer, config, queries, options).fitted if queries else []
    pairs = []
    for (item, clean, corrupted, target), one in zip(found, fitted, strict=True):
        if len(one.encodings) < 2:
            left_out[NOT_ENCODED] += 1
            continue
        sides = one.encodings[clean], one.encodings[corrupted]
        if any(_reaches_in(side, target) for side in sides):
            left_out[ACROSS] += 1
            continue
        positions = tuple(_positions(*sides, target))
        scored = [sum(side.regions.count(number) for number in target) for side in sides]
        if {sum(place.in_target for place in positions)} != {*scored}:
            left_out[OTHER_TOKENS] += 1
            continue
        ids = sides[0].ids, sides[1].ids
        pairs.append(AlignedPair(item.item_id, clean, corrupted, *ids, positions))
    return Alignment(tuple(pairs), +left_out)


def _same_targets(item: Item) -> Iterator[tuple[str, str, frozenset[int]]]:
    # The clean condition, the corrupted one, and the scored regions whose text is the same in both.
    for prediction in item.predictions:
        for comparison in comparisons_of(parse_formula(prediction.formula)):
            sides = sum_of(comparison.left), sum_of(comparison.right)
            worse, better = sides[::-1] if comparison.operator == "<" else sides
            for clean, scored in better.items():
                shared = {
                    corrupted: frozenset(
                        _shared_end(
                            item.condition(clean),
                            item.condition(corrupted),
                            {*scored} & {*others},
                        )
                    )
                    for corrupted, others in worse.items()
                }
                # Where both share text with it, the one that shares more has the other context.
                corrupted = max(shared, key=lambda name: len(shared[name]), default="")
                if shared.get(corrupted):
                    yield clean, corrupted, shared[corrupted]


def _shared_end(clean: Condition, corrupted: Condition, scored: Set[RegionRef]) -> Iterator[int]:
    # The last scored regions, as far back as the texts are the same: before them is the context.
    texts = [{one.region_number: one.content for one in c.regions} for c in (clean, corrupted)]
    numbers = sorted((n for n in scored if n != WHOLE), reverse=True)
    yield from takewhile(lambda number: texts[0][number] == texts[1][number], numbers)


def _reaches_in(encoding: Encoding, target: Set[int]) -> bool:
    return any(
        region not in target and any(other in target for other, _ in reached)
        for _, region, reached in encoding.crossing
    )


def _positions(clean: Encoding, corrupted: Encoding, target: Set[int]) -> Iterator[AlignedPosition]:
    sides = _by_region(clean), _by_region(corrupted)
    for region in sorted(sides[0].keys() & sides[1].keys()):
        left, right = sides[0][region], sides[1][region]
        ids = [clean.ids[n] for n in left], [corrupted.ids[n] for n in right]
        same = common_start(ids)
        rest = min(len(left), len(right)) - same
        ends = zip(left[len(left) - rest :], right[len(right) - rest :], strict=True)
        for a, b in [*zip(left[:same], right[:same], strict=True), *ends]:
            number = clean.regions[a]
            in_target = number in target and clean.ids[a] == corrupted.ids[b]
            yield AlignedPosition(a, b, number, in_target)


def _by_region(encoding: Encoding) -> Mapping[int, list[int]]:
    # A start-of-text token or a separator goes with the text behind it, one at the end with that
    # before it.
    found: dict[int, list[int]] = {}
    region = max(encoding.regions, default=SPECIAL)
    for place in reversed(range(len(encoding.ids))):
        if encoding.regions[place] != SPECIAL:
            region = encoding.regions[place]
        found.setdefault(region, []).insert(0, place)
    return found

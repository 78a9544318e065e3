"""Operators on whole units: another order, the last one alone, another ending, marks between turns.

Beyer et al. 2021, section 4.1: a shuffled narration or dialogue should be more surprising than the
original, and so should the last unit after a shuffled context. One unit to the front, or two
neighbours exchanged: Chen, Chu and Gimpel 2019 (DiscoEval), sections 3.1 and 3.2, sentence position
and binary sentence order.

Another ending: Beyer et al. 2021, section 4.2, on the Story Cloze Test (Mostafazadeh et al. 2016).

Section 4.6: dialogue models are trained with a separator between utterances. In a dataset the
separator is the abstract ``[SEP]``; the evaluator renders it for each model.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from coherencegym.loaders.discourse import Discourse, Edit, Span
from coherencegym.manipulations.editing import cut_excerpt, move_annotations, replace_text
from coherencegym.manipulations.operator import Context, Operator


@dataclass(frozen=True)
class Shuffle(Operator):
    """Put the units (sentences or turns) of a text in a random new order.

    Attributes:
        keep_last: the number of units at the end of the text that stay in place, 0 or 1.
        permutations: the number of new orders, each of which gives one result. A short text may
            have fewer new orders and then gives fewer results.

    The results are named ``shuffled``, ``shuffled-2``, ``shuffled-3``, .... If the text is already
    the result of another operator, the name of the text comes first: a text named ``moved`` gives
    ``moved/shuffled``. In the ``edits`` of a result, ``source_unit`` is the original position (from
    0) of a moved unit. A text gives no result if all its units have the same words.
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


@dataclass(frozen=True)
class MoveToFront(Operator):
    """Move one unit (a sentence or a turn) of a text to the front.

    The operator draws the unit at random. The result is named ``moved``. If the operator draws the
    first unit, the result ``moved`` has the same words as the original text. Call the function
    :func:`moved_from` with the result to get the original position (from 0) of the moved unit. A
    text of one unit gives no result.
    """

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse with a unit in front, unless there is one unit only."""
        number = len(discourse.units)
        if number < 2:
            context.skipped["fewer than two units to reorder"] += 1
            return
        place = context.random(discourse, "MoveToFront").randrange(number)
        order = [place, *(other for other in range(number) if other != place)]
        yield reorder(discourse, order, "moved", "MoveToFront")


def moved_from(discourse: Discourse) -> int:
    """The place (from 0) at which the first unit stood before :class:`MoveToFront`."""
    return original_positions(discourse, "MoveToFront")[0]


@dataclass(frozen=True)
class Exchange(Operator):
    """Exchange two neighbouring units (sentences or turns) of a text.

    Attributes:
        unit: the position (from 0) of the unit that is exchanged with the next unit.

    The result is named ``exchanged``. A text gives no result if the two units have the same words.
    """

    unit: int = 0

    def __post_init__(self) -> None:
        if self.unit < 0:
            raise ValueError(f"unit is {self.unit}; expected 0 or more")

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse with both exchanged, unless it reads the same or has no such unit."""
        first, second = self.unit, self.unit + 1
        if second >= len(discourse.units):
            context.skipped["no two units to exchange"] += 1
            return
        if discourse.units[first].text == discourse.units[second].text:
            context.skipped["both units have the same text"] += 1
            return
        order = list(range(len(discourse.units)))
        order[first], order[second] = second, first
        yield reorder(discourse, order, "exchanged", "Exchange")


@dataclass(frozen=True)
class LastUnit(Operator):
    """Keep only the last unit (sentence or turn) of a text, with the annotations of this unit.

    A text of one unit gives no result.
    """

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield it, unless there is no other unit."""
        *others, _ = discourse.units
        if not others:
            context.skipped["a single unit"] += 1
            return
        edits = (Edit("LastUnit", 0, 0, unit.text, "", removed=True) for unit in others)
        last = cut_excerpt(discourse, len(others), len(others))
        yield replace(last, edits=(*discourse.edits, *edits))


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
    """
    n = len(order)
    if n < 2:
        raise ValueError("an order of fewer than two units has no rank correlation")
    inversions = sum(order[i] > order[j] for i in range(n) for j in range(i + 1, n))
    return 1 - 2 * inversions / (n * (n - 1) / 2)


@dataclass(frozen=True)
class EndingSwap(Operator):
    """Replace the last sentence of a text by a wrong ending that the corpus lists for the text.

    Attributes:
        name: the name of the result, by default ``distractor_ending``. If a text has several
            results, the second and later results have this name and a number, such as
            ``distractor_ending-2``.

    Each wrong ending of a text gives one result. A text without a wrong ending gives no result. The
    Story Cloze Test, for example, is a corpus that lists wrong endings.
    """

    name: str = "distractor_ending"

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse once for each wrong ending."""
        last = len(discourse.units) - 1
        text = discourse.units[last].text
        whole = (last, 0, len(text))
        ending = next((a for a in discourse.alternatives if a.span == (whole,)), None)
        if ending is None:
            context.skipped["no alternative ending"] += 1
            return
        wrong = dict.fromkeys(t for i, t in enumerate(ending.options) if i != ending.right)
        if text in wrong:
            context.skipped["the two endings are the same"] += 1
            del wrong[text]
        for number, other in enumerate(wrong, start=1):
            swapped = replace_text(discourse, *whole, other, operator="EndingSwap")
            name = self.name if number == 1 else f"{self.name}-{number}"
            yield replace(swapped, variant=name)


@dataclass(frozen=True)
class SpeakerSeparator(Operator):
    """Write a mark (``[SEP]``) after every utterance of a dialogue except the last utterance.

    Attributes:
        separator: the mark. The operator writes a space before the mark.

    The operator does not change the name (``variant``): if the dialogue is a result named
    ``shuffled``, the result with marks is also named ``shuffled``. A dialogue that already contains
    the mark gives no result.
    """

    separator: str = "[SEP]"

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse with separators; the variant stays what it was."""
        if any(self.separator in text for text in discourse.texts):
            context.skipped[f"the text itself contains {self.separator}"] += 1
            return
        if len(discourse.units) < 2:
            context.skipped["only one utterance"] += 1
            return
        result = discourse
        for i, text in enumerate(discourse.texts[:-1]):
            end, mark = len(text), f" {self.separator}"
            result = replace_text(result, i, end, end, mark, operator="SpeakerSeparator")
        yield result

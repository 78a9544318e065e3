"""Passages that a model reads for examples, and the way from vectors back to slots.

``isolated``: every segment is a text of its own, as in Chen, Chu and Gimpel 2019. ``in-context``:
the text is read once as it stands, and each slot's vector is pooled over its tokens there; under
causal attention it depends on what comes before it and nothing after. ``whole``: one vector, of the
last token of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherencegym.eval.hidden_states import Passage
from coherencegym.eval.kinds.examples import NO_PLACE, LabelledExample
from coherencegym.words.scripts import join_texts, place_texts

if TYPE_CHECKING:
    from coherencegym.eval.hidden_states import States

#: The choices of ``--encoding``.
ENCODINGS = ("isolated", "in-context", "whole")

#: The reason why an example has no vectors where a slot of it is nowhere in its text.
NO_TEXT = "no_text"


@dataclass(frozen=True)
class Readings:
    """Passages, and the spans that each slot of each example is the mean of.

    Attributes:
        passages: distinct texts.
        spans: the numbers of the spans, counted over all passages, of each slot of each example;
            none where the slot is nowhere in the text.
    """

    passages: list[Passage]
    spans: list[list[list[int]]]

    def left_out(self, states: States) -> list[str]:
        """The reason why each example has no vectors; empty where it has."""
        return [
            next(
                (
                    reason
                    for slot in slots
                    for reason in (
                        [states.left_out.get(span, "") for span in slot] if slot else [NO_TEXT]
                    )
                    if reason
                ),
                "",
            )
            for slots in self.spans
        ]

    def vectors(self, of_layer: Any, examples: Sequence[int]) -> Any:
        """The vectors of the slots of some examples.

        Args:
            of_layer: the vectors of all spans in one layer, shape (spans, width).
            examples: their numbers; each has vectors, and all have equally many slots.

        Returns:
            float32, shape (examples, slots, width).
        """
        import numpy as np

        slots = [slot for number in examples for slot in self.spans[number]]
        starts = np.cumsum([0, *map(len, slots)])[:-1]
        flat = np.fromiter((span for slot in slots for span in slot), dtype=np.int64)
        if len(flat) == len(slots):
            found = of_layer[flat]
        else:
            found = np.add.reduceat(of_layer[flat], starts, axis=0)
            found /= np.fromiter(map(len, slots), dtype=np.float32)[:, None]
        return found.reshape(len(examples), -1, of_layer.shape[1])


def readings(examples: Sequence[LabelledExample], encoding: str) -> Readings:
    """The passages of examples, each distinct one once."""
    firsts: dict[Passage, int] = {}
    total = 0

    def number_of(passage: Passage) -> int:
        nonlocal total
        if passage not in firsts:
            firsts[passage] = total
            total += len(passage.spans)
        return firsts[passage]

    spans = []
    for example in examples:
        if encoding == "isolated":
            spans.append(
                [
                    [number_of(Passage(text, ((0, len(text)),))) for text in slot.segments]
                    for slot in example.slots
                ]
            )
        elif encoding == "whole":
            text = join_texts(example.text or example.segments)
            spans.append([[number_of(Passage(text, ((0, len(text)),)))]])
        else:
            spans.append(_in_context(example, number_of))
    return Readings(list(firsts), spans)


def _in_context(example: LabelledExample, number_of: Callable[[Passage], int]) -> list[list[int]]:
    if NO_PLACE in example.places:
        return [[] for _ in example.slots]
    ends = place_texts(example.text)
    places = sorted({*example.places})
    first = number_of(Passage(join_texts(example.text), tuple(ends[place] for place in places)))
    return [[first + places.index(place)] for place in example.places]

"""The questions that annotators answer, and the answers that there are."""

from __future__ import annotations

from collections.abc import Mapping

YES, NO = "yes", "no"
TEXT_A, TEXT_B, CANT_TELL = "a", "b", "can't tell"

#: Field of an answer -> question, and its answers.
QUESTIONS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "a_grammatical": ("Is A grammatical English?", (YES, NO)),
    "b_grammatical": ("Is B grammatical English?", (YES, NO)),
    "less_coherent": ("Which is less coherent?", (TEXT_A, TEXT_B, CANT_TELL)),
}

#: An answer as it is printed.
LABELS = {YES: "yes", NO: "no", TEXT_A: "A", TEXT_B: "B", CANT_TELL: "can’t tell"}

#: The fields of a line that annotators fill, or leave empty.
FREE_FIELDS = ("annotator", "comment")

#: The fields of a line that come with the pair.
GIVEN_FIELDS = ("pair", "number", "text_a", "text_b")

"""Probes: functions from an analysed sentence to the replacements that they make."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from coherencegym.manipulations.probes.sentence import Tagged, TaggedSentence
from coherencegym.words import in_case_of


@dataclass(frozen=True, slots=True)
class Replacement:
    """The characters ``start`` to ``end`` of a sentence become ``after``."""

    start: int
    end: int
    after: str


#: A rule-based edit of one sentence: its replacements in order, none overlapping; empty where the
#: probe does not apply.
Probe = Callable[[TaggedSentence], tuple[Replacement, ...]]


def put(form: str, word: Tagged, last: Tagged | None = None) -> Replacement:
    """Replace a word, or all from it to a last one, by a form in the word's letter case."""
    return Replacement(word.start, (last or word).end, in_case_of(word.text, form))


def apply(sentence: str, replacements: Iterable[Replacement]) -> str:
    """The sentence with its replacements made.

    Raises:
        ValueError: replacements overlap or are not in the sentence.
    """
    parts: list[str] = []
    position = 0
    for replacement in sorted(replacements, key=lambda one: (one.start, one.end)):
        if not position <= replacement.start <= replacement.end <= len(sentence):
            raise ValueError(
                f"characters {replacement.start} to {replacement.end} overlap with another "
                f"replacement, or are not in a sentence of {len(sentence)}"
            )
        parts += [sentence[position : replacement.start], replacement.after]
        position = replacement.end
    return "".join(parts) + sentence[position:]

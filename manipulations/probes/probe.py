"""Probes: functions from an analysed sentence to the replacements that they make."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from coherencegym.manipulations.probes.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Replacement:
    """The characters ``start`` to ``end`` of a sentence become ``after``."""

    start: int
    end: int
    after: str


class Probe(Protocol):
    """A rule-based edit of one sentence."""

    @property
    def name(self) -> str:
        """The probe's name in the registry."""
        ...

    def __call__(self, sentence: Sentence) -> tuple[Replacement, ...]:
        """The replacements in order, none overlapping; empty where the probe does not apply."""
        ...


def apply(sentence: str, replacements: Iterable[Replacement]) -> str:
    """The sentence with its replacements made.

    Raises:
        ValueError: replacements overlap or are not in the sentence.
    """
    ordered = sorted(replacements, key=lambda replacement: (replacement.start, replacement.end))
    parts: list[str] = []
    position = 0
    for replacement in ordered:
        if not position <= replacement.start <= replacement.end <= len(sentence):
            raise ValueError(
                f"characters {replacement.start} to {replacement.end} overlap with another "
                f"replacement, or are not in a sentence of {len(sentence)}"
            )
        parts += [sentence[position : replacement.start], replacement.after]
        position = replacement.end
    return "".join(parts) + sentence[position:]

"""Contrasts: the conditions of an item that are to be the more surprising ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from coherencegym.eval.kinds.items import Item, Prediction


@dataclass(frozen=True, slots=True)
class Contrast:
    """A prediction between two conditions: the incoherent one is the more surprising.

    Several conditions on a side are added up: with two contexts and two targets, the targets in
    each other's contexts are together more surprising than in their own, which is an interaction.
    ``region`` is a region number or ``*`` for the whole text; with ``last`` it is the sum of the
    regions from one number to the other that is compared.
    """

    incoherent: str | tuple[str, ...]
    coherent: str | tuple[str, ...]
    region: int | str
    metric: str = "mean"
    groups: tuple[str, ...] = ()
    last: int = 0

    @property
    def formula(self) -> str:
        """The prediction in SyntaxGym's formula language."""
        return f"{self._value(self.worse)} > {self._value(self.better)}"

    @property
    def worse(self) -> tuple[str, ...]:
        """The conditions predicted to be the more surprising."""
        return (self.incoherent,) if isinstance(self.incoherent, str) else self.incoherent

    @property
    def better(self) -> tuple[str, ...]:
        """The conditions predicted to be the less surprising."""
        return (self.coherent,) if isinstance(self.coherent, str) else self.coherent

    @property
    def regions(self) -> Sequence[int | str]:
        """The regions that are compared."""
        return range(int(self.region), self.last + 1) if self.last else [self.region]

    def _value(self, conditions: Sequence[str]) -> str:
        return " + ".join(f"({r};%{name}%)" for name in conditions for r in self.regions)

    @property
    def prediction(self) -> Prediction:
        """The prediction as a row carries it."""
        return Prediction(self.formula, self.metric, self.groups)


@dataclass(frozen=True)
class GeneratedItem:
    """An item, the contrasts behind its predictions, and what a partial-input classifier may see.

    ``views`` maps a condition to the texts that the classifier gets of it, one bag of words each;
    ``language`` (ISO 639-1) is that of the texts, and ``words`` are those of its corpus, where its
    script has no spaces.
    """

    item: Item
    contrasts: tuple[Contrast, ...]
    views: Mapping[str, tuple[str, ...]]
    language: str = "en"
    words: frozenset[str] = frozenset()


#: Says how incoherent a condition (its name) looks where a contrast compares it.
Incoherence = Callable[[str, Contrast], float]

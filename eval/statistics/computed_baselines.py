"""Baselines of pairs that no build wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from coherencegym.eval.data.dataset import LEXICAL_OVERLAP, PARTIAL_INPUT, SURFACE, PairBaselines
from coherencegym.eval.kinds.items import GeneratedItem, Item
from coherencegym.eval.statistics.balance import MOST_OF_ONE

if TYPE_CHECKING:
    from coherencegym.eval.statistics.control import Control


@dataclass(frozen=True)
class ComputedBaselines:
    """The baselines of items that no build wrote, computed when they are first asked for.

    One that ties everywhere is left out. Of a part of a table the baselines that a build
    ``stored`` are known, but its weights would not balance the part: these are solved anew, for the
    group ``headline`` where only that counts.
    """

    items: Sequence[GeneratedItem]
    headline: str = ""
    stored: PairBaselines | None = None

    @cached_property
    def control(self) -> Control | None:
        """What is said of the surface of the items; None of so few that no weights balance them."""
        if len(self.items) * MOST_OF_ONE < 1:
            return None
        from coherencegym.eval.statistics.control import checked_items

        return checked_items(self.items, self.headline)

    @cached_property
    def _measured(self) -> Mapping[str, Mapping[str, Sequence[float]]]:
        from coherencegym.eval.statistics.pair_baselines import (
            TIED,
            overlap_decisions,
            partial_input_decisions,
        )

        found = {
            PARTIAL_INPUT: partial_input_decisions(self.items),
            LEXICAL_OVERLAP: overlap_decisions(self.items),
        }
        values: dict[str, dict[str, list[float]]] = {name: {} for name in found}
        for name, decisions in found.items():
            if any(decision.value != TIED for decision in decisions):
                for decision in decisions:
                    values[name].setdefault(decision.item, []).append(decision.value)
        return values

    def check(self) -> None:
        """Hold what was stored to what was published."""
        if self.stored is not None:
            self.stored.check()

    def decisions(self, items: Iterable[Item]) -> dict[str, Mapping[str, Sequence[float]]]:
        """The decisions on the predictions of some items: baseline -> item id -> values."""
        asked = {item.item_id: item for item in items}
        known = self._measured if self.stored is None else self.stored.decisions(asked.values())
        of_surface = self.control.surface if self.control is not None else {}
        surface = {name: [value] for name, value in of_surface.items()}
        return {
            name: {item: own[item] for item in own if item in asked}
            for name, own in {**known, SURFACE: surface}.items()
        }

    def weights(self, items: Iterable[Item]) -> Mapping[str, float]:
        """The balance weights of some items by their ids; empty where they cannot be balanced."""
        asked = {item.item_id for item in items}
        known = self.control.weights if self.control is not None else {}
        return {item: weight for item, weight in known.items() if item in asked}

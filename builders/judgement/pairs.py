"""Pairs of conditions of an item, one of which is predicted to be the less coherent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.eval.kinds.formula import WHOLE, Comparison, Truth, parse_formula, sum_of
from coherencegym.eval.kinds.items import Item


@dataclass(frozen=True, slots=True)
class ConditionPair:
    """Two conditions of an item, and their texts; the groups of all predictions about these two."""

    coherent: str
    incoherent: str
    coherent_text: str
    incoherent_text: str
    groups: tuple[str, ...]


def condition_pairs(item: Item) -> list[ConditionPair]:
    """The pairs of an item, in the order of its predictions, each once.

    A prediction that adds up several conditions on each side gives a pair of each of them with the
    one on the other side that has the same text around what is compared. A prediction that is not
    about sums of regions gives none, and neither do two conditions of the same text.
    """
    groups: dict[tuple[str, str], dict[str, None]] = {}
    for prediction in item.predictions:
        for names in _compared(item, parse_formula(prediction.formula)):
            groups.setdefault(names, {}).update(dict.fromkeys(prediction.groups))
    found = []
    for (coherent, incoherent), named in groups.items():
        texts = item.condition(coherent).content, item.condition(incoherent).content
        if texts[0] != texts[1]:
            found.append(ConditionPair(coherent, incoherent, *texts, tuple(named)))
    return found


def _compared(item: Item, formula: Truth) -> Iterator[tuple[str, str]]:
    if not isinstance(formula, Comparison) or formula.operator == "=":
        return
    better, worse = sum_of(formula.right), sum_of(formula.left)
    if formula.operator == "<":
        better, worse = worse, better
    if not worse or len(worse) != len(better):
        return
    left = list(worse)
    regions = [region for own in (*better.values(), *worse.values()) for region in own]
    first = min((region for region in regions if region != WHOLE), default=1)
    for name in better:
        own = [region.content for region in item.condition(name).regions]

        def similarity(other: str, own: list[str] = own) -> tuple[bool, int]:
            regions = [region.content for region in item.condition(other).regions]
            same = sum(a == b for a, b in zip(own, regions, strict=True))
            return own[: first - 1] == regions[: first - 1], same

        nearest = max(left, key=similarity)
        left.remove(nearest)
        yield name, nearest

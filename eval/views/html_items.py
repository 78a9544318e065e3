"""The items of a run as the page's script reads them: chosen, cut into tokens, packed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.kinds.formula import RegionRef, values_of
from coherencegym.eval.results.results import Results
from coherencegym.eval.tasks.score.metrics import Judgement, region_value
from coherencegym.eval.tasks.score.scoring import Scored, ScoredItem
from coherencegym.eval.tasks.score.selections import column_labels
from coherencegym.eval.views.html_selection import LIMITS, Selection, margin, select
from coherencegym.eval.views.html_tokens import packed, scored_pieces, unscored_pieces

#: Characters of text in a page, about; more, and each table shows fewer items.
MOST_CHARACTERS = 2_500_000
#: Characters of a column's value that is shown with its item.
MOST_EXTRA = 80


@dataclass(frozen=True, slots=True)
class Items:
    """``data`` is for JSON; ``selections`` say what it has and what it leaves out."""

    data: dict[str, Any]
    selections: tuple[Selection, ...]


def collect(results: Results, most_characters: int = MOST_CHARACTERS) -> Items:
    """The items that a page shows, as many as fit into it.

    Args:
        results: of a run.
        most_characters: of all texts together; passed only where one item of each kind is more.
    """
    for limit in LIMITS:
        selections = [
            _select(table, results.judged[table.config, table.split], limit)
            for table, _ in results.tables
        ]
        kept = [sorted(place for one in own for place in one.kept) for own in selections]
        if _characters(results, kept) <= most_characters:
            break
    packer = _Packer()
    for (table, scored), places in zip(results.tables, kept, strict=True):
        packer.add_table(table, scored, results.judged[table.config, table.split], places)
    return Items(packer.data, tuple(one for own in selections for one in own))


def _select(table: ItemTable, judged: Sequence[Judgement], limit: int) -> list[Selection]:
    columns = _columns(table)
    return select(table.config, table.split, judged, limit, lambda j: groups(j, columns))


def _characters(results: Results, kept: Sequence[Sequence[int]]) -> int:
    """The length of the texts that the kept predictions compare, each once."""
    total = 0
    for (table, _), places in zip(results.tables, kept, strict=True):
        judged = results.judged[table.config, table.split]
        compared = {
            (judged[place].item.item_id, name): len(judged[place].item.condition(name).content)
            for place in places
            for _, name in read(judged[place])
        }
        total += sum(compared.values())
    return total


def read(judgement: Judgement) -> list[tuple[RegionRef, str]]:
    """The (region, condition) pairs that a prediction reads, in its order, each once."""
    pairs = [(value.region, value.condition) for value in values_of(judgement.formula)]
    return list(dict.fromkeys(pairs))


def groups(judgement: Judgement, columns: Sequence[str]) -> list[str]:
    """What a prediction is found by: its groups, and ``column=value`` as scores are called."""
    return [*judgement.groups, *column_labels(judgement.item, columns)]


def _columns(table: ItemTable) -> list[str]:
    """The columns by which a table has scores: those with more than one value."""
    return [
        column
        for column in table.breakdowns
        if len({str(item.extra[column]) for item in table.items}) > 1
    ]


def state(judgement: Judgement) -> str:
    """``met``, ``not met``, ``tie`` or ``undefined``."""
    if judgement.outcome is None:
        return "undefined"
    return "met" if judgement.outcome.met else "tie" if judgement.outcome.tie else "not met"


class _Packer:
    """Puts tables into ``data``; texts stand in it once, names as numbers."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {
            "tables": [],
            "kinds": [],
            "groups": [],
            "items": [],
            "predictions": [],
        }
        self._numbers: dict[tuple[str, str], int] = {}

    def add_table(
        self,
        table: ItemTable,
        scored: Scored,
        judged: Sequence[Judgement],
        places: Sequence[int],
    ) -> None:
        """Add the predictions at these places of a table."""
        number, columns = len(self.data["tables"]), _columns(table)
        self.data["tables"].append([table.config, table.split])
        by_id = {one.item.item_id: one for one in scored.items}
        items: dict[str, int] = {}
        for place in places:
            judgement = judged[place]
            item_id = judgement.item.item_id
            if item_id not in items:
                items[item_id] = len(self.data["items"])
                self.data["items"].append(_item(by_id[item_id], number, columns))
            own = self.data["items"][items[item_id]]
            self._add_conditions(own, judgement, by_id[item_id])
            self.data["predictions"].append(
                {
                    "i": items[item_id],
                    "k": self._number("kinds", f"{judgement.formula} {judgement.metric}"),
                    "g": [self._number("groups", name) for name in groups(judgement, columns)],
                    "m": _rounded(margin(judgement)),
                    "s": state(judgement),
                    "w": judgement.reason,
                    "c": int(judgement.too_close),
                    "v": _values(judgement, by_id[item_id], scored),
                }
            )

    def _number(self, kind: str, name: str) -> int:
        number = self._numbers.setdefault((kind, name), len(self.data[kind]))
        if number == len(self.data[kind]):
            self.data[kind].append(name)
        return number

    def _add_conditions(
        self, own: dict[str, Any], judgement: Judgement, scored: ScoredItem
    ) -> None:
        """Add the conditions that a prediction compares, if they are not there, in its order."""
        there = {condition["n"] for condition in own["c"]}
        for name in dict.fromkeys(name for _, name in read(judgement)):
            if name not in there:
                condition = scored.item.condition(name)
                one = scored.conditions.get(name)
                pieces = (
                    scored_pieces(one, condition.content) if one else unscored_pieces(condition)
                )
                own["c"].append(packed(name, pieces))
        order = [condition.condition_name for condition in scored.item.conditions]
        own["c"].sort(key=lambda condition: order.index(condition["n"]))


def _item(scored: ScoredItem, number: int, grouped: Sequence[str]) -> dict[str, Any]:
    item = scored.item
    return {
        "id": item.item_id,
        "d": item.discourse_id,
        "t": number,
        "cut": scored.truncated,
        "x": [
            [name, text]
            for name, value in item.extra.items()
            if name not in grouped and (text := _shown(value))
        ],
        "c": [],
    }


def _values(judgement: Judgement, item: ScoredItem, scored: Scored) -> list[list[Any]]:
    """For each value of the formula: region, condition, bits or null, tokens with a surprisal."""
    parts: tuple[int, ...] = ()
    if scored.rules.whole_sums_regions:
        parts = tuple(region.region_number for region in item.item.conditions[0].regions)
    found = []
    for region, name in read(judgement):
        condition = item.conditions.get(name)
        value = region_value(condition, region, judgement.metric, parts) if condition else None
        tokens = len(condition.region_bits(region)) if condition else 0
        found.append([region, name, _rounded(value), tokens])
    return found


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _shown(value: Any) -> str:
    """A column's value in a line; empty where it is no short scalar."""
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.4g}"
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value) if isinstance(value, str | int) else ""
    return text if len(text) <= MOST_EXTRA else ""

"""Pairs of whole texts in the manner of BLiMP: JSON lines with ``sentence_good``, ``sentence_bad``.

BLiMP (Warstadt et al. 2020) compares the log-probabilities of two sentences. For most suites here
that is not what they predict, which is about a region or a mean: ``simple_LM_method``, BLiMP's name
for it, is true only where it is.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from coherencegym.builders.export.item_pairs import row_pairs
from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.kinds.items import Condition, Item
from coherencegym.eval.kinds.table_kind import to_row

#: BLiMP's field of linguistics, which for these suites is always the same.
_FIELD = "discourse"


@dataclass
class PairTable:
    """The pairs of one config and split.

    Attributes:
        config, split: the config and split that the pairs are of.
        records: the records in the form written, one a line.
        refused: the number of pairs or predictions that are left out, by reason.
        headline: the group that the config's score is over; empty: all.
        headline_sums: the number of pairs of which the config's score compares only the sums over
            the whole texts.
    """

    config: str
    split: str
    records: list[dict[str, Any]] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    headline: str = ""
    headline_sums: int = 0

    @property
    def same_comparison(self) -> int:
        """The number of pairs whose whole texts' log-probabilities the suite itself compares."""
        return sum(record["simple_LM_method"] for record in self.records)


def pair_table(table: ItemTable, suite: str) -> PairTable:
    """The pairs of a table, in its order."""
    made = PairTable(table.config, table.split, headline=table.headline)
    for item in table.items:
        for pair, reason in row_pairs(to_row(item)):
            if pair is None:
                made.refused[reason] += 1
                continue
            sums = _whole_sums(item, pair)
            counted = [one for one in pair["predictions"] if table.headline in ("", *one["groups"])]
            made.headline_sums += bool(counted) and all(one in sums for one in counted)
            made.records.append(_record(table, suite, item, pair, len(made.records), bool(sums)))
    return made


def _record(
    table: ItemTable, suite: str, item: Item, pair: dict[str, Any], number: int, simple: bool
) -> dict[str, Any]:
    good, bad = pair["sentence_good"], pair["sentence_bad"]
    return {
        "sentence_good": good,
        "sentence_bad": bad,
        "field": _FIELD,
        "linguistics_term": suite,
        "UID": table.config,
        "simple_LM_method": simple,
        "lexically_identical": sorted(good.split()) == sorted(bad.split()),
        "pairID": str(number),
        "item_id": item.item_id,
        "discourse_id": item.discourse_id,
        "cluster": pair["cluster"],
        "corpus": item.corpus,
        "config": table.config,
        "split": table.split,
        "good_condition": pair["good_condition"],
        "bad_condition": pair["bad_condition"],
        "groups": pair["groups"],
        "predictions": pair["predictions"],
    }


def _whole_sums(item: Item, pair: dict[str, Any]) -> list[dict[str, Any]]:
    # The predictions that compare sums over the whole texts.
    conditions = item.condition(pair["good_condition"]), item.condition(pair["bad_condition"])
    return [
        one
        for one in pair["predictions"]
        if one["metric"] == "sum" and _is_whole(*conditions, one["region"])
    ]


def _is_whole(good: Condition, bad: Condition, region: str) -> bool:
    # Sums over a region differ by as much as those over the whole texts if it is the rest of the
    # text after a beginning that both share and that ends in white space: otherwise a token may
    # reach across the boundary.
    if region == "*":
        return True
    number = int(region) - 1
    starts = []
    for condition in (good, bad):
        offsets = condition.region_offsets()
        if condition.content[offsets[number][1] :].strip():
            return False
        starts.append(condition.content[: offsets[number][0]])
    return starts[0] == starts[1] and not starts[0][-1:].strip()

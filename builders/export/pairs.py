"""Pairs of texts in the manner of BLiMP: JSON lines with ``sentence_good`` and ``sentence_bad``.

BLiMP (Warstadt et al. 2020) compares the log-probabilities of two sentences. A pair here is a
prediction that such sums decide: of two texts, or of their rests after two contexts.
``simple_LM_method``, BLiMP's name for it, is true where the contexts are the same.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from coherencegym.builders.export.item_pairs import row_pairs
from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.kinds.table_kind import to_row

#: BLiMP's field of linguistics, which for these suites is always the same.
_FIELD = "discourse"


@dataclass
class PairTable:
    """The pairs of one config and split.

    Attributes:
        config, split: the config and split that the pairs are of.
        records: the records in the form written, one a line.
        refused: the number of predictions that are left out, by reason.
        headline: the group that the config's score is over; empty: all.
        predictions: the number of all predictions, by group (empty: of any) and metric.
    """

    config: str
    split: str
    records: list[dict[str, Any]] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    headline: str = ""
    predictions: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))


def pair_table(table: ItemTable, suite: str) -> PairTable:
    """The pairs of a table, in its order."""
    made = PairTable(table.config, table.split, headline=table.headline)
    for item in table.items:
        for prediction in item.predictions:
            for group in {"", *prediction.groups}:
                made.predictions[group][prediction.metric] += 1
        for pair, reason in row_pairs(to_row(item)):
            if pair is None:
                made.refused[reason] += 1
            else:
                made.records.append(_record(table, suite, item, pair, len(made.records)))
    return made


def _record(
    table: ItemTable, suite: str, item: Item, pair: dict[str, Any], number: int
) -> dict[str, Any]:
    good, bad = pair["sentence_good"], pair["sentence_bad"]
    return {
        "field": _FIELD,
        "linguistics_term": suite,
        "UID": table.config,
        "simple_LM_method": pair["context_good"] == pair["context_bad"],
        "lexically_identical": sorted(good.split()) == sorted(bad.split()),
        "pairID": str(number),
        "corpus": item.corpus,
        "config": table.config,
        "split": table.split,
        **pair,
    }

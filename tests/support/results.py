"""Results of a run that never was: a token is a word with the space before it, bits are given."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, cast
from zlib import crc32

import numpy as np

from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.data.notes import caution
from coherencegym.eval.kinds.formula import WHOLE
from coherencegym.eval.kinds.items import Condition, Item, read_by
from coherencegym.eval.results.results import Results
from coherencegym.eval.surprisal import ScoredCondition
from coherencegym.eval.tasks.score.controls import Difference
from coherencegym.eval.tasks.score.metrics import judge
from coherencegym.eval.tasks.score.scoring import Scored, ScoredItem
from coherencegym.eval.tasks.score.summary import macro, summarise
from coherencegym.eval.text.encode import Encoding
from coherencegym.eval.text.special import Start

#: The surprisal (bits) of a token of a text.
Bits = Callable[[str], float]


def made_condition(condition: Condition, read: set[Any], bits: Bits) -> ScoredCondition:
    """A condition whose first id is a start-of-text token; no bits where nothing is read."""
    spans = [match.span() for match in re.finditer(r"\s*\S+", condition.content)]
    ends = [end for _, end in condition.region_offsets()]
    regions = [
        next(r.region_number for r, e in zip(condition.regions, ends, strict=True) if end <= e)
        for _, end in spans
    ]
    values = [
        bits(condition.content[start:end].strip()) if {region, WHOLE} & read else math.nan
        for (start, end), region in zip(spans, regions, strict=True)
    ]
    encoding = Encoding(
        (
            0,
            *(
                crc32(condition.content[start:end].encode("utf-8", "replace"))
                for start, end in spans
            ),
        ),
        (-1, *regions),
        (0, *(start for start, _ in spans)),
        (0, *(end for _, end in spans)),
        0,
        True,
    )
    return ScoredCondition(encoding, np.array([math.nan, *values]))


def made_item(item: Item, bits: Bits, too_long: bool = False) -> ScoredItem:
    """An item scored so; without conditions where it is too long."""
    read = read_by(item)
    conditions = {
        condition.condition_name: made_condition(
            condition, read.get(condition.condition_name, set()), bits
        )
        for condition in item.conditions
    }
    return ScoredItem(item, {} if too_long else conditions, too_long)


def made_results(
    tables: Mapping[str, Sequence[ScoredItem]],
    *,
    breakdowns: Sequence[str] = (),
    notes: Sequence[str] = (),
    model: str = "made-up",
    dataset: str = "owner/made_up",
) -> Results:
    """Results of the tables (config -> items) of one split."""
    scored, scores, macros, judged = [], [], [], {}
    for config, items in tables.items():
        own = tuple(one.item for one in items)
        table = ItemTable(config, "test", own, "0", True, False, tuple(breakdowns))
        execution = cast(Any, None)
        scored.append((table, Scored(tuple(items), Start(0, "<s>", ""), None, None, execution)))
        judgements = [judgement for one in items for judgement in judge(one)]
        judged[config, "test"] = judgements
        scores += summarise(config, "test", judgements, breakdowns=breakdowns)
        average = macro(config, "test", judgements)
        macros += [average] if average else []
    return Results(
        signature="model:made-up|data:made_up",
        model={
            "name": model,
            "commit": "0123456789abcdef",
            "parameters": 1000,
            "context": 64,
            "device": "cpu",
            "dtype": "float32",
        },
        dataset={"name": dataset, "version": "1.0.0", "commit": None},
        settings={"compat": None},
        scores=scores,
        macros=macros,
        notes=list(map(caution, notes)),
        tables=scored,
        judged=judged,
    )


def made_difference(*values: object) -> Difference:
    """A difference from a control, its fields in their order."""
    names = (field.name for field in fields(Difference))
    return Difference(**dict(zip(names, values, strict=True)))  # type: ignore[arg-type]

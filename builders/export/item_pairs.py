"""Pairs of whole texts, one of which is the coherent one, from the rows of an items table.

This module needs nothing but ``datasets`` beside Python: an export copies it beside the task
files as ``utils.py``, where lm-evaluation-harness loads it. So what is counted when the pairs
are written and what the harness reads from the published rows is the same by construction.
It is laid out so that their formatter (88 columns) leaves it as it is, as ours does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

#: The abstract change of speaker. Read as it stands it is five characters that mean nothing.
_SEPARATOR = "[SEP]"

#: Reasons why a prediction or a pair is left out.
NO_PAIR = "not a comparison of two texts (crossed items compare four texts)"
SEPARATED = f"a text holds {_SEPARATOR}, which other tools would take literally"
SAME_TEXT = "both conditions have the same text"

_VALUE = r"\(\s*(\*|\d+)\s*;\s*%([^%]+)%\s*\)"
_COMPARISON = re.compile(rf"\s*{_VALUE}\s*([<>])\s*{_VALUE}\s*")


def compared(formula: str) -> tuple[str, str, str] | None:
    """Region, less and more surprising condition of a formula such as ``(2;%b%) > (2;%a%)``.

    None where it is not a comparison of one region (a number, or ``*``) of two conditions.
    """
    match = _COMPARISON.fullmatch(formula)
    if match is None:
        return None
    region, left, operator, other_region, right = match.groups()
    if region != other_region or left == right:
        return None
    return (region, right, left) if operator == ">" else (region, left, right)


def row_pairs(row: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any] | None, str]]:
    """The pairs of a row, and why what gives none does not.

    Predictions about the same two texts, by another metric or of another region, make one pair,
    with the groups of all of them.

    Yields:
        A pair and an empty string; or none and the reason, once for every two conditions (for every
        prediction that does not compare two).
    """
    conditions = row["conditions"]
    texts = {each["condition_name"]: each["content"] for each in conditions}
    found: dict[tuple[str, str], dict[str, Any]] = {}
    refused: dict[tuple[str, str], str] = {}
    for prediction in row["predictions"]:
        comparison = compared(prediction["formula"])
        if comparison is None or not {comparison[1], comparison[2]} <= set(texts):
            yield None, NO_PAIR
            continue
        region, good, bad = comparison
        if _SEPARATOR in texts[good] or _SEPARATOR in texts[bad]:
            refused[good, bad] = SEPARATED
            continue
        if texts[good] == texts[bad]:
            refused[good, bad] = SAME_TEXT
            continue
        pair = found.setdefault(
            (texts[good], texts[bad]),
            {
                "sentence_good": texts[good],
                "sentence_bad": texts[bad],
                "item_id": row["item_id"],
                "discourse_id": row["discourse_id"],
                "cluster": row.get("family") or row["discourse_id"],
                "good_condition": good,
                "bad_condition": bad,
                "groups": [],
                "predictions": [],
            },
        )
        groups = list(prediction["groups"])
        pair["groups"] += [group for group in groups if group not in pair["groups"]]
        about = {"region": region, "metric": prediction["metric"], "groups": groups}
        pair["predictions"].append(about)
    for reason in refused.values():
        yield None, reason
    for pair in found.values():
        yield pair, ""


def process_docs(rows: Iterable[Mapping[str, Any]], group: str = "") -> Any:
    """The pairs of rows as a ``datasets.Dataset``: of one group, where one is named.

    Rows that are pairs already are taken as they are.
    """
    from datasets import Dataset

    found = (
        pair
        for row in rows
        for pair in ([row] if "sentence_good" in row else _pairs(row))
        if not group or group in pair["groups"]
    )
    return Dataset.from_list(list(found))


def _pairs(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [pair for pair, _ in row_pairs(row) if pair is not None]

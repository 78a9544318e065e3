"""Pairs of texts whose log-probabilities decide what a suite compares, from the rows of a table.

A text is read to the end of the region that is compared, and its context is what stands before
that region: after the start token, log P(text) - log P(context) is what the region has.

This module needs nothing but ``datasets`` and ``transformers`` beside Python: an export copies it
beside the task files as ``utils.py``, where lm-evaluation-harness loads it, and beside the pairs as
``local.py``, where ``local.yaml`` names it. So what is counted when the pairs are written and what
the harness reads from the published rows is the same by construction.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

#: The abstract change of speaker. Read as it stands it is five characters that mean nothing.
_SEPARATOR = "[SEP]"

#: Reasons why a prediction is left out.
NO_PAIR = "not a comparison of the same regions of two texts"
SEPARATED = f"a text holds {_SEPARATOR}, which other tools would take literally"
SAME_TEXT = "both conditions have the same text"
WITHOUT_TEXT = "a region or a context without text"
GOES_ON = "the text goes on after the region without a space"
JOINED = "no white space before the region: a token may reach across"

#: Nats by which log-probabilities have to differ, for each token of a mean: 1e-4 bits.
_TIE = 1e-4 * math.log(2)

#: The texts of a pair, and what stands before their regions.
_TEXTS = ("sentence_good", "sentence_bad", "context_good", "context_bad")

#: The columns that a pair and its item have in common.
_ITEM = ("item_id", "discourse_id", "cluster")

_VALUE = r"\(\s*(\*|\d+)\s*;\s*%([^%]+)%\s*\)"
_SUM = rf"\s*{_VALUE}(?:\s*\+\s*{_VALUE})*\s*"
_COMPARISON = re.compile(rf"(?P<left>{_SUM})(?P<operator>[<>])(?P<right>{_SUM})")


class LeftOutError(Exception):
    """A prediction that cannot be written; the message says why."""


def compared(formula: str) -> tuple[str, str, str] | None:
    """Regions, less and more surprising condition of a formula such as ``(2;%b%) > (2;%a%)``.

    Each side may add up regions that follow one another (``2-3``). None where it is not a
    comparison of the same regions (numbers, or ``*``) of two conditions.
    """
    match = _COMPARISON.fullmatch(formula)
    if match is None:
        return None
    values = [re.findall(_VALUE, side) for side in (match["left"], match["right"])]
    left, right = ({name for _, name in side} for side in values)
    regions, others = (sorted(region for region, _ in side) for side in values)
    if regions != others or len(left) > 1 or len(right) > 1 or left == right:
        return None
    if regions != ["*"]:
        numbers = sorted(map(int, regions)) if "*" not in regions else []
        if not numbers or numbers != list(range(numbers[0], numbers[-1] + 1)):
            return None
        regions = [str(number) for number in dict.fromkeys((numbers[0], numbers[-1]))]
    (more,), (less,) = (left, right) if match["operator"] == ">" else (right, left)
    return "-".join(regions), less, more


def _apart(content: str, place: int) -> bool:
    # No token of one word, or of punctuation alone, reaches across.
    left, right = content[:place][-1:], content[place:][:1]
    if left.isalpha() and right in ",.;:!?":
        return True
    return not left.strip() or not right.strip()


def row_pairs(row: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any] | None, str]]:
    """The pairs of a row, and why what gives none does not.

    Yields:
        For each prediction a pair and an empty string; or none and the reason.
    """
    conditions = {each["condition_name"]: each for each in row["conditions"]}
    for prediction in row["predictions"]:
        try:
            yield _pair(row, conditions, prediction), ""
        except LeftOutError as reason:
            yield None, str(reason)


def _pair(
    row: Mapping[str, Any],
    conditions: Mapping[str, Mapping[str, Any]],
    prediction: Mapping[str, Any],
) -> dict[str, Any]:
    region, *names = compared(prediction["formula"]) or ("", "", "")
    if not set(names) <= set(conditions):
        raise LeftOutError(NO_PAIR)
    good, bad = (_passage(conditions[name], region) for name in names)
    if good == bad:
        raise LeftOutError(SAME_TEXT)
    if not all(_apart("".join(each), len(each[0])) for each in (good, bad)):
        raise LeftOutError(JOINED)
    # The same words are as many tokens in both: the sum decides as the mean does.
    same = good[1:] == bad[1:] and bool(good[0]) == bool(bad[0])
    metric = prediction["metric"]
    if metric != "sum" and not (metric == "mean" and same):
        raise LeftOutError(f"metric {metric}, where other tools compare sums")
    return {
        "sentence_good": "".join(good),
        "sentence_bad": "".join(bad),
        "context_good": good[0],
        "context_bad": bad[0],
        "item_id": row["item_id"],
        "discourse_id": row["discourse_id"],
        "cluster": row.get("family") or row["discourse_id"],
        "good_condition": names[0],
        "bad_condition": names[1],
        "region": region,
        "metric": metric,
        "groups": list(prediction["groups"]),
    }


def _passage(condition: Mapping[str, Any], region: str) -> tuple[str, str, str]:
    # The text before the regions, the space, and their text, if it is read alone as it stands.
    content, places, end = condition["content"], [], 0
    for each in condition["regions"]:
        start = content.index(each["content"], end)
        end = start + len(each["content"])
        places.append((start, end))
    first, _, last = region.partition("-") if region != "*" else ("1", "", str(len(places)))
    start, end = places[int(first) - 1][0], places[int(last or first) - 1][1]
    text = content[start:end]
    if not text.strip():
        raise LeftOutError(WITHOUT_TEXT)
    start += len(text) - len(text.lstrip())
    end -= len(text) - len(text.rstrip())
    if _SEPARATOR in content[:end]:
        raise LeftOutError(SEPARATED)
    if not _apart(content, end):
        raise LeftOutError(GOES_ON)
    before = content[:start].rstrip()
    return before, content[len(before) : start], content[start:end]


def process_docs(rows: Iterable[Mapping[str, Any]], group: str = "") -> Any:
    """The items of rows as a ``datasets.Dataset``, with their pairs: of one group, if it is named.

    An item's ``choices`` are the texts that are read: those of its pairs, and contexts that
    differ. Rows that are pairs already are taken as they are.
    """
    from datasets import Dataset

    items: dict[str, dict[str, Any]] = {}
    for row in rows:
        for pair in [row] if "sentence_good" in row else _pairs(row):
            if group and group not in pair["groups"]:
                continue
            about = {name: pair[name] for name in _ITEM}
            about |= {"choices": [], "pairs": []}
            item = items.setdefault(pair["item_id"], about)
            texts = {name: pair[name] for name in _TEXTS}
            item["pairs"].append({**texts, "tokens": pair.get("tokens", 1)})
            contexts = [pair["context_good"], pair["context_bad"]]
            read = [pair["sentence_good"], pair["sentence_bad"]]
            for text in read + contexts * (contexts[0] != contexts[1]):
                if text and text not in item["choices"]:
                    item["choices"].append(text)
    return Dataset.from_list(list(items.values()))


def _pairs(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [pair for pair, _ in row_pairs(row) if pair is not None]


def process_results(
    doc: Mapping[str, Any], results: Iterable[tuple[float, bool]]
) -> dict[str, float]:
    """The share of an item's pairs whose region is more probable in the coherent text."""
    logs = {text: log for text, (log, _) in zip(doc["choices"], results, strict=True)}
    right = 0
    for pair in doc["pairs"]:
        good, bad, *contexts = (logs.get(pair[each], 0.0) for each in _TEXTS)
        margin = (good - contexts[0]) - (bad - contexts[1])
        right += margin > _TIE * pair["tokens"]
    return {"acc": right / len(doc["pairs"])}


def pairs(
    config: str,
    split: str,
    pretrained: str | None = None,
    tokenizer: str | None = None,
    revision: str = "main",
    **_: Any,
) -> Any:
    """The pairs of a config and split beside this file, as a ``datasets.DatasetDict``.

    The harness gives all metadata of a task, and the arguments of the model with them. Where these
    name a tokenizer, pairs that a mean is of have ``tokens``, its number: two means tie if they are
    within 1e-4 bits.
    """
    from datasets import Dataset, DatasetDict

    path = Path(__file__).with_name(f"{config}-{split}.jsonl")
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    if name := tokenizer or pretrained:
        from transformers import AutoTokenizer

        of_model = {} if tokenizer else {"revision": revision}
        encode = AutoTokenizer.from_pretrained(name, **of_model)
        for row in rows:
            texts = [row["sentence_good"], row["context_good"]]
            whole, context = encode(texts, add_special_tokens=False)["input_ids"]
            row["tokens"] = len(whole) - len(context) if row["metric"] == "mean" else 1
    return DatasetDict({split: Dataset.from_list(rows)})

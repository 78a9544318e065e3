"""Prompted choices: beside each headline config of pairs a flat table that asks in words.

A question quotes once what the two texts of a pair share, and asks which of two continuations (or
which words for a gap, or which of two whole texts) makes the more coherent text. The place of the
right answer is drawn, and balanced over the table: of every two rows one has it first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from coherencegym.builders.judgement.pairs import condition_pairs
from coherencegym.builders.pipeline.entries import kind_rank
from coherencegym.builders.release.rows import data_path, to_table, write_split
from coherencegym.eval.data.benchmark import CHOICE_OF, choice_config, suite_headline
from coherencegym.eval.kinds.choices import PROMPTED_CHOICES, ChoiceQuestion
from coherencegym.eval.kinds.items import Condition, Item, item_from_row
from coherencegym.eval.kinds.table_kind import DISCOURSE, FAMILY, SEPARATOR, Column
from coherencegym.manipulations.operator import Context

#: Marks the place of the choices in a text.
CHOICE_GAP = "____"
#: Reasons why a pair makes no question.
_NO_PAIR = "no two conditions of the item are compared"
_SAME = "both choices have the same text"
#: Questions about a text: how it goes on, what stands in a gap, or which it is.
_CONTINUATION = "Which continuation makes this {text} more coherent?"
_BEGINNING = f"Which beginning, in place of {CHOICE_GAP}, makes this {{text}} more coherent?"
_GAP = f"What makes this {{text}} more coherent in place of {CHOICE_GAP}?"
_WHOLE = "Which {text} is more coherent?"
#: Key: whether the texts share a beginning, and an end.
_USUAL = {
    (False, False): _WHOLE,
    (True, False): _CONTINUATION,
    (False, True): _BEGINNING,
    (True, True): _GAP,
}
_DIALOGUE = " (Each line is a turn.)"
#: The space between sentences, or turns.
_BOUNDARY = re.compile(rf"(?<=[.!?])\s+|(?<=[.!?]['\"”’)])\s+|\s*{re.escape(SEPARATOR)}\s*")
#: Columns of a row of items that a question has, too.
_KEPT = {FAMILY: Column("string", "questions of one family share most of their text")}


def ask_pair(right: Condition, wrong: Condition, words: str = "") -> tuple[str, str, str]:
    """The question that two conditions of an item make, and its right and its wrong answer.

    Args:
        right, wrong: the coherent and the incoherent condition.
        words: the question, where the usual one does not fit.
    """
    before, (good, bad), after = _divided(right, wrong)
    is_dialogue = any(SEPARATOR in one.content for one in (right, wrong))
    usual = _USUAL[bool(before), bool(after)]
    asked = words or usual.format(text="dialogue" if is_dialogue else "text")
    asked += _DIALOGUE * is_dialogue
    quoted = _turns(f"{before}{CHOICE_GAP}{after}" if after else before)
    return "\n\n".join(filter(None, (asked, quoted))), _turns(good), _turns(bad)


def _divided(one: Condition, other: Condition) -> tuple[str, tuple[str, str], str]:
    # What both texts share before and after the part in which they differ: whole regions, and
    # whole sentences and turns at its ends. An answer has some text, so that an empty region takes
    # the next one with it, or the one before.
    regions = [[region.content for region in each.regions] for each in (one, other)]
    same = [a == b for a, b in zip(*regions, strict=True)]
    count = len(same)
    first = next((n for n in range(count) if not same[n]), 0)
    last = next((n for n in reversed(range(count)) if not same[n]), count - 1)
    while True:
        parts = [_cut(each, first, last) for each in (one, other)]
        if all(part[1] for part in parts) or (first, last) == (0, count - 1):
            break
        first, last = (first, last + 1) if last + 1 < count else (first - 1, last)
    (before, good, after), (other_before, bad, other_after) = parts
    if (before, after) != (other_before, other_after):
        return "", (one.content.strip(), other.content.strip()), ""
    start = _shared_start(good, bad)
    before, good, bad = before + good[:start], good[start:], bad[start:]
    end = _shared_end(good, bad)
    after = good[len(good) - end :] + after
    good, bad = good[: len(good) - end], bad[: len(bad) - end]
    return before if before.strip() else "", (good, bad), after if after.strip() else ""


def _cut(condition: Condition, first: int, last: int) -> tuple[str, str, str]:
    # White space and changes of speaker at the ends of an answer belong to the text around it.
    offsets, text = condition.region_offsets(), condition.content
    start, end = offsets[first][0], offsets[last][1]
    edges = rf"(?:\s|{re.escape(SEPARATOR)})*"
    match = re.fullmatch(f"({edges})(.*?)({edges})", text[start:end], re.DOTALL)
    assert match is not None  # each part may be empty
    return text[:start] + match[1], match[2], match[3] + text[end:]


def _shared_start(one: str, other: str) -> int:
    # The length of the sentences and turns with which both begin, neither being used up.
    most = min(len(one), len(other))
    ends = (match.end() for match in _BOUNDARY.finditer(one))
    return max((end for end in ends if end < most and other.startswith(one[:end])), default=0)


def _shared_end(one: str, other: str) -> int:
    most = min(len(one), len(other))
    starts = (match.start() for match in _BOUNDARY.finditer(one))
    sizes = (len(one) - start for start in starts if other.endswith(one[start:]))
    return max((size for size in sizes if size < most), default=0)


def _turns(text: str) -> str:
    return "\n".join(part.strip() for part in text.split(SEPARATOR)).strip()


def write_choices(
    folder: Path, suite: str, configs: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Write a table of questions for each headline config of pairs of a build.

    Args:
        folder: the build, with the tables of its configs.
        suite: its name, of which and of the seed of a config the order of choices is drawn.
        configs: the manifest's entries.

    Returns:
        The entries of the new configs.
    """
    found = {}
    for name in suite_headline(configs):
        if configs[name].get("choice", {}) is None:
            continue
        entry = _entry(folder, suite, name, configs[name])
        if entry["splits"]:
            found[choice_config(name)] = entry
    return found


def _entry(folder: Path, suite: str, name: str, pairs: Mapping[str, Any]) -> dict[str, Any]:
    splits: dict[str, Any] = {}
    skipped: dict[str, dict[str, int]] = {}
    quality: dict[str, Any] = {}
    columns = {key: one for key, one in _KEPT.items() if key in pairs["columns"]}
    schema = PROMPTED_CHOICES.features({key: one.type for key, one in columns.items()})
    example: dict[str, Any] = {}
    for split in pairs["splits"]:
        lost = Counter[str]()
        context = Context(pairs["seed"], suite, lost)
        asked = _questions(_items(folder, name, split), name, split, pairs, context)
        skipped[split] = dict(sorted(lost.items()))
        if not asked:
            continue
        rows = [PROMPTED_CHOICES.to_row(one) for one in asked]
        written = write_split(folder, choice_config(name), split, to_table(rows, schema))
        splits[split] = {
            "rows": written.rows,
            "discourses": len({row[DISCOURSE] for row in rows}),
            "num_bytes": written.num_bytes,
            "download_size": written.download_size,
            "content_hash": written.content_hash,
            "groups": {},
            "details": {},
        }
        quality[split] = {"items": len(rows), "first": sum(not row["target"] for row in rows)}
        example = example or dict(PROMPTED_CHOICES.example(rows))
    shared = (
        *("corpus", "republishable", "licences", "withheld_discourses", "bad_rows"),
        *("seed", "limit", "settings", "splits_asked", "suite_version", "toolkit_version"),
    )
    return {
        "kind": PROMPTED_CHOICES.name,
        "summary": f"`{name}` as a prompted choice",
        **{key: pairs[key] for key in shared},
        "separator": False,
        "operators": pairs["operators"],
        **{key: [] for key in ("regions", "predictions", "breakdowns", "controls", "questions")},
        "columns": {
            key: {"type": str(one.type), "description": one.description}
            for key, one in columns.items()
        },
        "headline": "",
        "length_confound": False,
        "in_headline": False,
        CHOICE_OF: name,
        "rank": kind_rank(PROMPTED_CHOICES) + pairs["rank"],
        "features": schema.to_dict(),
        "splits": splits,
        "skipped": skipped,
        "quality": quality,
        "example": example,
    }


def _items(folder: Path, config: str, split: str) -> Iterator[Item]:
    import pyarrow.parquet as pq

    pattern = Path(data_path(config, split)).name.replace("00000-of-00001", "*-of-*")
    for path in sorted((folder / "data" / config).glob(pattern)):
        yield from map(item_from_row, pq.read_table(path).to_pylist())


def _questions(
    items: Iterator[Item], config: str, split: str, about: Mapping[str, Any], context: Context
) -> list[ChoiceQuestion]:
    made: list[tuple[float, ChoiceQuestion]] = []
    for item in items:
        found = _of_item(item, about, context.skipped)
        draws = context.random_for(
            item.corpus, item.discourse_id, "Choice", config=config, split=split, item=item.item_id
        )
        for number, (question, right, wrong) in enumerate(found, start=1):
            asked = ChoiceQuestion(
                item_id=item.item_id if number == 1 else f"{item.item_id}#{number}",
                question=question,
                choices=(right, wrong),
                target=0,
                discourse_id=item.discourse_id,
                corpus=item.corpus,
                extra={key: item.extra[key] for key in _KEPT if key in about["columns"]},
            )
            made.append((draws.random(), asked))
    # Of every two rows one is turned round, and a row that comes later turns no earlier one.
    turned = [draw < 0.5 for draw, _ in made[::2]]
    return [
        replace(asked, choices=asked.choices[::-1], target=1)
        if turned[place // 2] is (place % 2 == 0)
        else asked
        for place, (_, asked) in enumerate(made)
    ]


def _of_item(
    item: Item, about: Mapping[str, Any], skipped: Counter[str]
) -> list[tuple[str, str, str]]:
    column, _, value = about.get("headline_value", "").partition("=")
    headline = about["headline"]
    counted = [p for p in item.predictions if not headline or headline in p.groups]
    if not counted or (column and str(item.extra[column]).lower() != value):
        return []
    pairs = condition_pairs(replace(item, predictions=tuple(counted)))
    if not pairs:
        skipped[_NO_PAIR] += 1
    choice = about.get("choice", {})
    found = []
    for pair in pairs:
        if choice.get("coherent") and pair.coherent not in choice["coherent"]:
            continue
        conditions = item.condition(pair.coherent), item.condition(pair.incoherent)
        asked = ask_pair(*conditions, choice.get("question", ""))
        if asked[1] == asked[2]:
            skipped[_SAME] += 1
        elif asked not in found:
            found.append(asked)
    return found

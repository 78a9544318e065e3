"""An item as a card shows it: region by region, with the edit visible."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from coherencegym.escapes import markdown_text

#: Predictions of an example that its note names.
_SHOWN_FORMULAS = 3


@dataclass(frozen=True, slots=True)
class ShownCondition:
    """A condition's name and its regions as Markdown."""

    name: str
    regions: tuple[str, ...]


def show_conditions(row: dict[str, Any]) -> list[ShownCondition]:
    """The conditions of a row: changed text in bold, and what stood there or where it was."""
    edits, discourse = contrasting_edits(row), row["discourse_id"]
    contents = {
        condition["condition_name"]: [region["content"] for region in condition["regions"]]
        for condition in row["conditions"]
    }
    # The same words may stand in a region that is the same everywhere: no edit is shown there.
    same = [len(set(versions)) == 1 for versions in zip(*contents.values(), strict=True)]
    shown = []
    for name, regions in contents.items():
        own = [edit for edit in edits if edit["condition_name"] == name and _shows(edit, discourse)]
        own = _with_edits_inside(own, discourse)
        shown.append(ShownCondition(name, tuple(_show_regions(regions, same, own, discourse))))
    return shown


def show_pair(row: dict[str, Any], headline: str = "") -> list[tuple[str, str]]:
    """Two conditions of a row, each with its whole text: those that a prediction compares.

    That is the first prediction of the headline group, or else the first one.
    """
    own = [p for p in row["predictions"] if headline in p["groups"]] or row["predictions"]
    formula = own[0]["formula"] if own else ""
    shown = [
        (condition.name, _whole(made, condition.regions))
        for condition, made in zip(show_conditions(row), row["conditions"], strict=True)
    ]
    pair = [(name, text) for name, text in shown if f"%{name}%" in formula]
    return pair if len(pair) > 1 else shown[:2]


def _whole(condition: dict[str, Any], shown: tuple[str, ...]) -> str:
    content, text, position = condition["content"], "", 0
    for region, as_shown in zip(condition["regions"], shown, strict=True):
        start = content.index(region["content"], position)
        text += markdown_text(content[position:start]) + as_shown
        position = start + len(region["content"])
    return text


def contrasting_edits(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The edits of a row that tell its conditions apart.

    What was done to every condition alike, wherever in its text, is no part of the contrast: a
    dialogue has its separators in the original order and in the shuffled one.
    """

    def change(edit: dict[str, Any]) -> tuple[Any, ...]:
        keys = ("operator", "before", "after", "source_discourse", "source_unit")
        return tuple(edit[key] for key in keys)

    conditions = {condition["condition_name"] for condition in row["conditions"]}
    having: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    for edit in row["edits"]:
        having[change(edit)].add(edit["condition_name"])
    shared = conditions if len(conditions) > 1 else set()
    return [edit for edit in row["edits"] if having[change(edit)] != shared]


def _with_edits_inside(edits: list[dict[str, Any]], discourse: str) -> list[dict[str, Any]]:
    # A sentence that was moved and then edited does not stand in the text as it was moved.
    found: list[dict[str, Any]] = []
    for edit in edits:
        outer = next((one for one in found if _is_inside(edit, one, discourse)), None)
        if outer is None:
            found.append({**edit, "inside": []})
        else:
            start = edit["start"] - outer["start"]
            rest = outer["after"][start + len(edit["before"]) :]
            outer["after"] = outer["after"][:start] + edit["after"] + rest
            outer["inside"].append(edit)
    return found


def _is_inside(edit: dict[str, Any], outer: dict[str, Any], discourse: str) -> bool:
    moved = _place_before(outer, discourse) is not None
    start = edit["start"] - outer["start"]
    return (
        moved
        and edit["unit"] == outer["unit"]
        and 0 <= start < len(outer["after"])
        and edit["before"] != outer["after"]
        and outer["after"].startswith(edit["before"], start)
    )


def _place_before(edit: dict[str, Any], discourse: str) -> int | None:
    return edit["source_unit"] if edit["source_discourse"] == discourse else None


def example_note(row: dict[str, Any]) -> str:
    """Explain how to read the example's marks, and its prediction."""
    edits = contrasting_edits(row)
    if any(_place_before(edit, row["discourse_id"]) is not None for edit in edits):
        marks = "Sentences in bold have moved from the position that is named after them."
    elif any(edit["before"] for edit in edits):
        marks = "Text in bold replaces the text that is struck out."
    else:
        marks = "Text in bold was inserted."
    formulas = list(dict.fromkeys(f"`{p['formula']}`" for p in row["predictions"]))
    others = len(formulas) - _SHOWN_FORMULAS
    more = f" and {others} more" if others > 0 else ""
    return f"{marks} Prediction: {', '.join(formulas[:_SHOWN_FORMULAS])}{more}."


def _show_regions(
    regions: list[str], same: list[bool], edits: list[dict[str, Any]], discourse: str
) -> Iterator[str]:
    waiting = sorted(edits, key=lambda edit: (edit["unit"], edit["start"]))
    # The same words may stand earlier in the text: a region that is the edit is where it was made.
    whole = [len(waiting) == 1 and content == waiting[0]["after"] for content in regions]
    for content, is_edit, unchanged in zip(regions, whole, same, strict=True):
        shown, position = "", 0
        searched = (is_edit or not any(whole)) and (not unchanged or all(same))
        while searched and waiting:
            edit = waiting[0]
            if (found := _pattern(edit["after"], regions).search(content, position)) is None:
                break
            waiting.pop(0)
            shown += markdown_text(content[position : found.start()]) + _bold(edit["after"])
            if (place := _place_before(edit, discourse)) is not None:
                there = [_said_inside(one) for one in edit["inside"]]
                shown += f" ({'; '.join([f'originally at position {place + 1}', *there])})"
            elif edit["before"]:
                shown += f" (instead of: ~~{markdown_text(edit['before'])}~~)"
            position = found.end()
        yield shown + markdown_text(content[position:])


def _said_inside(edit: dict[str, Any]) -> str:
    before = f"~~{markdown_text(edit['before'])}~~"
    what = f"instead of {before}" if edit["before"] else "inserted"
    return f"*{markdown_text(edit['after'])}* {what}"


def _shows(edit: dict[str, Any], discourse: str) -> bool:
    moved = _place_before(edit, discourse) is not None
    return bool(edit["after"]) and (moved or edit["after"] != edit["before"])


def _pattern(text: str, regions: list[str]) -> re.Pattern[str]:
    # As whole words if a region has them: no edit has made the ``he`` of ``the``.
    whole = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")
    return whole if any(map(whole.search, regions)) else re.compile(re.escape(text))


def _bold(text: str) -> str:
    # White space at its ends stays outside the marks, which do not hold there.
    inner = text.strip()
    before, _, after = text.partition(inner)
    return f"{before}**{markdown_text(inner)}**{after}" if inner else text

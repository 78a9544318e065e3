"""An item as a card shows it: region by region, with the edit visible."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

#: Operators that are no part of the contrast where they were applied to all conditions alike.
SHARED_OPERATORS = frozenset({"SpeakerSeparator"})


@dataclass(frozen=True, slots=True)
class ShownCondition:
    """A condition's name and its regions as Markdown."""

    name: str
    regions: tuple[str, ...]


def escape(text: str) -> str:
    """Text as Markdown that reads the same."""
    return re.sub(r"([\\`*_\[\]<>|#~])", r"\\\1", text)


def show_conditions(row: dict[str, Any]) -> list[ShownCondition]:
    """The conditions of a row: changed text in bold, and what stood there or where it was."""
    edits = contrasting_edits(row)
    contents = [
        [region["content"] for region in condition["regions"]] for condition in row["conditions"]
    ]
    # The same words may stand in a region that is the same everywhere: no edit is shown there.
    same = [len(set(versions)) == 1 for versions in zip(*contents, strict=True)]
    return [
        ShownCondition(
            condition["condition_name"],
            tuple(
                _show_regions(
                    [region["content"] for region in condition["regions"]],
                    same,
                    [
                        edit
                        for edit in edits
                        if edit["condition_name"] == condition["condition_name"]
                    ],
                    row["discourse_id"],
                )
            ),
        )
        for condition in row["conditions"]
    ]


def contrasting_edits(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The edits of a row that tell its conditions apart."""
    conditions = {condition["condition_name"] for condition in row["conditions"]}
    applied: dict[str, set[str]] = {operator: set() for operator in SHARED_OPERATORS}
    for edit in row["edits"]:
        applied.setdefault(edit["operator"], set()).add(edit["condition_name"])
    shared = {operator for operator in SHARED_OPERATORS if applied[operator] == conditions}
    return [edit for edit in row["edits"] if edit["operator"] not in shared]


def _show_regions(
    regions: list[str], same: list[bool], edits: list[dict[str, Any]], discourse: str
) -> list[str]:
    shown = []
    waiting = sorted((edit for edit in edits if edit["after"]), key=_place)
    # The same words may stand earlier in the text: a region that is the edit is where it was made.
    whole = [len(waiting) == 1 and content == waiting[0]["after"] for content in regions]
    for content, is_edit, unchanged in zip(regions, whole, same, strict=True):
        parts, position = [], 0
        searched = (is_edit or not any(whole)) and (not unchanged or all(same))
        while searched and waiting and (start := content.find(waiting[0]["after"], position)) >= 0:
            edit = waiting.pop(0)
            parts.append(escape(content[position:start]))
            parts.append(_bold(edit["after"]))
            if edit["source_discourse"] == discourse and edit["source_unit"] is not None:
                parts.append(f" (was {edit['source_unit'] + 1}.)")
            elif edit["before"]:
                parts.append(f" (instead of: ~~{escape(edit['before'])}~~)")
            position = start + len(edit["after"])
        shown.append("".join(parts) + escape(content[position:]))
    return shown


def _bold(text: str) -> str:
    """Text in bold; white space at its ends stays outside the marks, which do not hold there."""
    inner = text.strip()
    before, _, after = text.partition(inner)
    return f"{before}**{escape(inner)}**{after}" if inner else text


def _place(edit: dict[str, Any]) -> tuple[int, int]:
    return (edit["unit"], edit["start"])

"""An item as a card shows it: region by region, with what its conditions differ in."""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from coherencegym.escapes import markdown_text

#: Predictions of an example that its note names.
_SHOWN_FORMULAS = 3
#: Regions less alike than this have no word in common that a reader would look for.
_ALIKE = 0.5


class ShownCondition(NamedTuple):
    """A condition's name and its regions as Markdown."""

    name: str
    regions: tuple[str, ...]


def show_conditions(row: dict[str, Any]) -> list[ShownCondition]:
    """The conditions of a row: in bold what another one does not have in that region.

    The first is held against the second, and all others against the first. Regions of the same
    words in another order have no mark.
    """
    contents = {
        condition["condition_name"]: [region["content"] for region in condition["regions"]]
        for condition in row["conditions"]
    }
    first, *others = contents.values()
    second = others[0] if others else first
    return [
        ShownCondition(name, tuple(map(_marked, regions, second if regions is first else first)))
        for name, regions in contents.items()
    ]


def show_pair(row: dict[str, Any], headline: str = "") -> list[tuple[str, str]]:
    """Two conditions of a row, each with its whole text: those that a prediction compares.

    That is the first prediction of the headline group, or else the first one.
    """
    own = [p for p in row["predictions"] if headline in p["groups"]] or row["predictions"]
    formula = own[0]["formula"] if own else ""
    found = [c for c in row["conditions"] if f"%{c['condition_name']}%" in formula]
    pair = found if len(found) > 1 else row["conditions"][:2]
    shown = show_conditions(row | {"conditions": pair})
    return [
        (name, _whole(condition, regions))
        for condition, (name, regions) in zip(pair, shown, strict=True)
    ]


def _whole(condition: dict[str, Any], shown: tuple[str, ...]) -> str:
    content, text, position = condition["content"], "", 0
    for region, as_shown in zip(condition["regions"], shown, strict=True):
        start = content.index(region["content"], position)
        text += markdown_text(content[position:start]) + as_shown
        position = start + len(region["content"])
    return text


def example_note(row: dict[str, Any]) -> str:
    """Explain how to read the example's marks, and its prediction."""
    is_marked = any("**" in text for shown in show_conditions(row) for text in shown.regions)
    marks = "Text in bold is not in the same region of the other condition."
    if not is_marked:
        marks = "The conditions have the same words in another order."
    formulas = list(dict.fromkeys(f"`{p['formula']}`" for p in row["predictions"]))
    others = len(formulas) - _SHOWN_FORMULAS
    more = f" and {others} more" if others > 0 else ""
    return f"{marks} Prediction: {', '.join(formulas[:_SHOWN_FORMULAS])}{more}."


def _marked(text: str, other: str) -> str:
    words, others = (re.findall(r"\s+|\w+|[^\w\s]", one) for one in (text, other))
    if Counter("".join(words).split()) == Counter("".join(others).split()):
        return markdown_text(text)
    matcher = SequenceMatcher(None, others, words, False)
    if matcher.ratio() < _ALIKE:
        return _bold(text)
    parts = [(what, "".join(words[start:end])) for what, _, _, start, end in matcher.get_opcodes()]
    return "".join(markdown_text(part) if what == "equal" else _bold(part) for what, part in parts)


def _bold(text: str) -> str:
    # White space at its ends stays outside the marks, which do not hold there.
    if not (inner := text.strip()):
        return text
    before, _, after = text.partition(inner)
    return f"{before}**{markdown_text(inner)}**{after}"

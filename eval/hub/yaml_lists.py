"""Lists in YAML of somebody's: items come and go, and all else stays to the letter."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from textwrap import indent
from typing import Any


def with_list(
    text: str, key: str, new: Sequence[Any], stays: Callable[[Any], bool] = lambda _: True
) -> str:
    """A mapping in YAML, in whose list under a key ``new`` items stand before those that stay.

    The key comes last where it is not there. The caller looks whether the YAML is as it should be:
    not every layout is known here.
    """
    import yaml

    root = yaml.compose(text, yaml.SafeLoader)
    node = next((value for own, value in root.value if own.value == key), None) if root else None
    if isinstance(node, yaml.SequenceNode):
        kept = [stays(one) for one in yaml.safe_load(text)[key]]
        return edited_list(text, node, kept, before=new)
    if node is None:
        return text + _dumped({key: list(new)})
    place = node.end_mark.index
    return f"{text[:place]}\n{_dumped(list(new))}" + text[place:].lstrip("\n")


def edited_list(
    text: str,
    node: Any,
    kept: Sequence[bool],
    before: Sequence[Any] = (),
    after: Sequence[Any] = (),
) -> str:
    """The text with some items of a list, which is a node in it, and new ones around them."""
    start, end = node.start_mark.index, node.end_mark.index
    if node.flow_style:
        spans = [text[one.start_mark.index : one.end_mark.index] for one in node.value]
        spans = [span for span, stays in zip(spans, kept, strict=True) if stays]
        whole = ", ".join([*map(json.dumps, before), *spans, *map(json.dumps, after)])
        return f"{text[:start]}[{whole}]{text[end:]}"
    margin = " " * node.start_mark.column
    start -= len(margin)
    items = [start + found.start() for found in re.finditer(f"^{margin}-", text[start:end], re.M)]
    spans = [text[one:other] for one, other in pairwise([*items, end])]
    spans = [span if stays else _remarks(span) for span, stays in zip(spans, kept, strict=True)]
    around = (indent(_dumped(list(added)), margin) if added else "" for added in (before, after))
    whole = "".join(spans).join(around) or " []\n"
    return text[:start] + whole + text[end:]


def _dumped(value: Any) -> str:
    import yaml

    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=float("inf")))


def _remarks(span: str) -> str:
    # Of an item that goes: what follows it is somebody's.
    lines = span.splitlines(keepends=True)
    return "".join(line for line in lines if not line.strip() or line.lstrip().startswith("#"))

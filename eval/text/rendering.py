"""A text without its separators, and where they stood.

White space before a separator is removed; the space after it is kept or dropped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coherencegym.eval.kinds.items import SEPARATOR
from coherencegym.eval.text.special import Separator

_NONE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Rendered:
    """A text without its separators.

    Attributes:
        text: N characters.
        origin: shape (N,): the place of each character in the content; empty where no separator
            was taken out, and each character is in its own place.
        breaks: the places (characters in ``text``) where a separator stood.
    """

    text: str
    origin: np.ndarray
    breaks: tuple[int, ...]


def take_out_separators(content: str, separator: Separator | None) -> Rendered:
    """A content without its separators; None for ``separator``: ``[SEP]`` is ordinary text."""
    if separator is None or SEPARATOR not in content:
        return Rendered(content, _NONE, ())
    pieces, origin, breaks = [], list[int](), []
    start = 0
    parts = content.split(SEPARATOR)
    for number, part in enumerate(parts):
        left, right = 0, len(part)
        if number < len(parts) - 1:
            right = len(part.rstrip())
        if number > 0:
            breaks.append(len(origin))
            if separator.space == "drop":
                left = min(right, len(part) - len(part.lstrip()))
        pieces.append(part[left:right])
        origin.extend(range(start + left, start + right))
        start += len(part) + len(SEPARATOR)
    return Rendered("".join(pieces), np.array(origin, dtype=np.int64), tuple(breaks))

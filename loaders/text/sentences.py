"""Ends of sentences in plain text, by rule: for short texts that come without sentence breaks."""

from __future__ import annotations

import re

#: Words whose full stop does not end a sentence; a single letter is an initial, or ``b. 1980``.
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'“‘])"
    r"(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Rev|Gen|Col|Capt|Lt|Sgt|Gov|Sen|Rep|No|vs|ca|cf|e\.g|i\.e|[A-Zbcdr])\.$"
)
_STOP = re.compile(r"[.!?]+[\"'”’)\]]*")
_GAP = re.compile(_STOP.pattern + r"\s+(?=[\"'“‘(\[]*(\w))")


def ends_sentence(text: str) -> bool:
    """Tell whether what follows ``text`` begins a sentence; true of an empty text."""
    text = text.rstrip()
    if not text:
        return True
    stop = re.search(_STOP.pattern + "$", text)
    return stop is not None and _ABBREVIATION.search(text) is None


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end (characters) of each sentence of a text, without the white space between.

    A sentence ends at ``.``, ``!`` or ``?``, closing quotation marks and brackets included, where a
    capital letter or a digit follows: ``"Stop!" she said`` is one sentence. ``Dr.`` and the like
    end none.
    """
    spans, start = [], len(text) - len(text.lstrip())
    for gap in _GAP.finditer(text):
        following = gap[1]
        end = gap.start() + len(gap[0].rstrip())
        if (following.isupper() or following.isdigit()) and ends_sentence(text[start:end]):
            spans.append((start, end))
            start = gap.end()
    if text[start:].strip():
        spans.append((start, len(text.rstrip())))
    return spans

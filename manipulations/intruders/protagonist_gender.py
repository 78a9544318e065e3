"""Whom a text is about, as far as its pronouns say: a man or a woman."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_PRONOUN = re.compile(
    r"\b(?:(?P<masculine>[Hh](?:e|im(?:self)?|is))|(?P<feminine>[Ss]he|[Hh]er(?:s|self)?))\b"
)


def sentence_gender(sentence: str) -> str:
    """``masculine`` or ``feminine`` by the first pronoun; empty where there is none.

    The first one is most often about whom the text is; those behind it may be somebody whom the
    sentence itself brings in (``He married her in 1920``).
    """
    found = _PRONOUN.search(sentence)
    return found.lastgroup or "" if found else ""


def text_gender(sentences: Iterable[str]) -> str:
    """The gender of most sentences that have one; empty where there is none, or no majority."""
    counts = Counter(filter(None, map(sentence_gender, sentences)))
    masculine, feminine = counts["masculine"], counts["feminine"]
    if masculine == feminine:
        return ""
    return "masculine" if masculine > feminine else "feminine"

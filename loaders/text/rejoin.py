"""Join what a sentence splitter cut in two, in tokenised text (``the No . | 7 is a lock``)."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: Abbreviations before a number.
_OF_NUMBER = (
    r"No|Nos|c|ca|al|Op|op|Vol|vol|pp?|Fig|Figs|figs?|Eqs?|Sec|Art|Ch|Phys|Rev|Lett|Math|Nr"
)
#: Abbreviations before a name.
_OF_NAME = (
    r"Mr|Mrs|Ms|Messrs|Dr|Drs|Prof|Rev|Fr|Hon|Gen|Col|Maj|Capt|Cpt|Lt|Sgt|Cpl|Gov|Govt|Sen|Rep|"
    r"Adm|Cmdr|Pres|Supt|St|Ste|Mt|Ft|vs|v|cf|viz|Phys|Math|Astron|Astrophys|Sci|Int|Nat|Proc|"
    r"Annu|Am|Soc|Univ|Dept|Bros|Msgr|Sr|resp"
)
#: Abbreviations before anything that begins in lower case; a word with a full stop inside is one,
#: too.
_OF_MORE = (
    r"al|etc|Jr|Sr|Inc|Ltd|Co|Corp|ie|eg|approx|est|fl|lit|ft|in|Ph|Bus|Dept|incl|esp|Ing|"
    r"\w+(?:\.\w+)+|[A-Z]"
)
_BEFORE_NUMBER = re.compile(rf"(?:^|[\s.])(?:{_OF_NUMBER}) \.$")
_BEFORE_NAME = re.compile(rf"(?:^|\s)(?:{_OF_NAME}) \.$")
_BEFORE_LOWER = re.compile(rf"(?:^|\s)(?:{_OF_MORE}|{_OF_NAME}|{_OF_NUMBER}) \.(?: \))?$")


def rejoined(sentences: Sequence[str]) -> list[str]:
    """The sentences with those joined that were one; what has no word belongs to what is before.

    Args:
        sentences: tokenised, in the order of the document.
    """
    whole: list[str] = []
    for sentence in sentences:
        if whole and sentence == "." and whole[-1][-1:] in {".", "!", "?"}:
            continue  # a full stop after a full stop
        if whole and _continues(whole[-1], sentence):
            whole[-1] += f" {sentence}"
        else:
            whole.append(sentence)
    return whole


def _continues(before: str, sentence: str) -> bool:
    """Tell whether a sentence goes on with what another splitter would not have cut off."""
    if not any(map(str.isalnum, before)) or not any(map(str.isalnum, sentence)):
        return True
    first = sentence[0]
    if first in ",;:)]}%&":
        return True
    if first.isdigit():
        return _BEFORE_NUMBER.search(before) is not None
    if first.isupper() or first in "([`'":
        return _BEFORE_NAME.search(before) is not None
    return first.islower() and _BEFORE_LOWER.search(before) is not None

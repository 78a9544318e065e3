"""People in a sentence that is put into another text: their names and their gender.

A message that speaks to somebody whom nobody else in the conversation has ever named gives itself
away by the name alone, as nobody's coherence would: names are exchanged, one for one. So does one
about a man in a text about a woman.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from coherencegym.loaders.discourse import Discourse, Mention
from coherencegym.loaders.text.nicknames import PARTICIPANT
from coherencegym.manipulations.probes.sentence import Replacement

_PRONOUN = re.compile(
    r"\b(?:(?P<masculine>[Hh](?:e|im(?:self)?|is))|(?P<feminine>[Ss]he|[Hh]er(?:s|self)?))\b"
)


def exchanged_names(
    source: Discourse, unit: int, host: Discourse, slot: int
) -> tuple[Replacement, ...] | None:
    """Find the names to exchange where a message takes the place of another one.

    Each name becomes one that the host mentions outside the slot, the same one in the whole
    message, and no two become one. A name that the host mentions itself stays. Whoever tells of
    themselves (``ann waves``) becomes whoever speaks in the slot, if that is mentioned; others
    become whom the replaced message names, or else those who are named nearest to it, and the
    speaker of the slot last.

    ``unit`` is the message's index in its document, ``slot`` that of the message that it replaces
    in the host. None where it names more people than the host does outside the slot.
    """
    named = [mention for mention in _participants(source) if mention.span[0][0] == unit]
    if not named:
        return ()
    free = _by_distance(host, slot)
    names = list(dict.fromkeys(mention.chain for mention in named))
    if len(names) > len(free):
        return None
    becomes = _exchange(names, free, source.units[unit].speaker, host.units[slot].speaker)
    return tuple(
        Replacement(start, end, becomes[mention.chain])
        for mention in named
        for _, start, end in mention.span
        if becomes[mention.chain] != mention.chain
    )


def _exchange(
    names: Sequence[str], free: Sequence[str], own: str | None, speaker: str | None
) -> dict[str, str]:
    # ``own`` speaks the message, ``speaker`` in its new place.
    becomes = {name: name for name in names if name in free}
    for name in names:
        if name not in becomes:
            left = [other for other in free if other not in becomes.values()]
            wanted = [other for other in left if (other == speaker) == (name == own)]
            becomes[name] = (wanted or left)[0]
    return becomes


def _participants(discourse: Discourse) -> list[Mention]:
    return [one for one in discourse.mentions if one.features.entity == PARTICIPANT]


def _by_distance(host: Discourse, slot: int) -> list[str]:
    # Whom the slot names first, then the nearest first.
    named = [(mention.span[0][0], mention.chain) for mention in _participants(host)]
    outside = {name for unit, name in named if unit != slot}
    named.sort(key=lambda place: (abs(place[0] - slot), place[0]))
    return list(dict.fromkeys(name for _, name in named if name in outside))


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

"""Mentions of people in a message: nicknames of a chat, as addressees and inside the text.

A nickname is whatever its owner liked, also a word of the language (``ubuntu``). Before a sign at
the beginning of a message (``ann: yes``, ``ann, ben: yes``) it is the one who is addressed,
in any letter case. Elsewhere it counts only as it is spelled, and only where it can be told from a
word: it has something other than letters (``ann_2``), or is more often addressed than not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from coherencegym.loaders.discourse import Features, Mention

#: The value of ``Features.entity`` of a mention of somebody who takes part in the conversation.
PARTICIPANT = "participant"

_ADDRESSEE = re.compile(r"[@(]?(?P<who>[^\s:,>]+)(?:[:,>]+(?=\s|$)| -+(?=\s))\s*")
_WORD = re.compile(r"(?<!\S)[\"'(@]?(?P<who>[^\s\"'(@]\S*?)(?:'s)?[\"'),.:;!?>]*(?!\S)")


class Nicknames:
    """The names of all who take part in a log, and which of them its messages tell from words."""

    def __init__(self, names: Collection[str], messages: Iterable[str]) -> None:
        self._names = frozenset(names)
        self._folded = {name.casefold(): name for name in sorted(names)}
        addressed: Counter[str] = Counter()
        inside: Counter[str] = Counter()
        for message in messages:
            found = list(self._addressees(message))
            addressed.update(name for *_, name in found)
            start = found[-1][1] if found else 0
            inside.update(match["who"] for match in _WORD.finditer(message, start))
        self._certain = {
            name for name in names if not name.isalpha() or addressed[name] > inside[name]
        }

    def mentions(self, message: str, unit: int, speaker: str | None = None) -> Iterator[Mention]:
        """The mentions in a message, in their order.

        ``speaker`` is the name that the message itself begins with (``ann waves``), if it does.
        """
        start = 0
        first = [(0, len(speaker), speaker)] if speaker is not None else self._addressees(message)
        for begin, start, name in first:
            yield _mention(unit, begin, start, name)
        for match in _WORD.finditer(message, start):
            if match["who"] in self._certain:
                yield _mention(unit, *match.span("who"), match["who"])

    def _addressees(self, message: str) -> Iterator[tuple[int, int, str]]:
        at = 0
        while (match := _ADDRESSEE.match(message, at)) is not None:
            name = self._folded.get(match["who"].casefold())
            if name is None:
                return
            yield *match.span("who"), name
            at = match.end()


def _mention(unit: int, start: int, end: int, name: str) -> Mention:
    features = Features(entity=PARTICIPANT)
    return Mention(((unit, start, end),), chain=name, kind="proper", features=features)

"""The difference of two texts: candidates of a Winograd schema already in their place."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"\w+(?:['’]\w+)*|\S")
#: Words that belong to the candidate after them, if they stand before both.
_DETERMINERS = frozenset(("the", "a", "an", "my", "his", "her", "its", "our", "your", "their"))


def difference(one: str, two: str) -> tuple[int, tuple[int, int]] | None:
    """Find where two texts differ, in whole words: the start, and the end in each (characters).

    At least one word of each is in it. A determiner that both have before it belongs to it; other
    words that two candidates share at their ends are told apart by nothing, and stay outside.
    None where the texts have the same words.
    """
    words = [list(_TOKEN.finditer(text)) for text in (one, two)]
    shortest = min(map(len, words))
    if [word[0] for word in words[0]] == [word[0] for word in words[1]]:
        return None
    first = 0
    while first < shortest - 1 and words[0][first][0] == words[1][first][0]:
        first += 1
    last = 0
    while last < shortest - first - 1 and words[0][-1 - last][0] == words[1][-1 - last][0]:
        last += 1
    while first > 0 and words[0][first - 1][0].lower() in _DETERMINERS:
        first -= 1
    start = words[0][first].start()
    if words[1][first].start() != start:  # the same words, spaced otherwise
        return None
    ends = (words[0][len(words[0]) - last - 1].end(), words[1][len(words[1]) - last - 1].end())
    return start, ends

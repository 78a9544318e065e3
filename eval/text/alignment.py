"""Places of tokens in a text where a tokenizer gives none: they are read.

Tokens say their bytes in one of a few ways, and put together the bytes must be the text's, white
space aside. Nothing is guessed: what does not fit to the last byte is not aligned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np

#: SentencePiece's mark for a space.
SPACE_MARK = "\u2581"


_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


_SPACE = ord(" ")


#: Starts and ends (characters) of T tokens; shape (T,) each.
Spans = tuple[np.ndarray, np.ndarray]


@cache
def _byte_level() -> dict[str, int]:
    # Radford et al. 2019
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in shown]
    names = [*map(chr, shown), *(chr(256 + number) for number in range(len(hidden)))]
    return dict(zip(names, [*shown, *hidden], strict=True))


def _sentencepiece(token: str) -> bytes:
    # Marks for spaces, and tokens that are one byte (``<0xE2>``).
    byte = _BYTE.fullmatch(token)
    return bytes([int(byte[1], 16)]) if byte else token.replace(SPACE_MARK, " ").encode()


def _bytes(token: str) -> bytes:
    return bytes(map(_byte_level().__getitem__, token))


def _joined(token: str) -> bytes:
    # Marks of tokens that go on with a word, or that end one.
    return token.removeprefix("##").removesuffix("@@").removesuffix("</w>").encode()


#: Ways in which tokens say their bytes. As they are comes first: characters need no reading.
_READINGS: tuple[Callable[[str], bytes], ...] = (
    str.encode,
    _sentencepiece,
    _bytes,
    _joined,
    partial(str.encode, encoding="latin-1"),
)


def align_tokens(tokens: Sequence[str], text: str) -> Spans | None:
    """Places of tokens, as the vocabulary writes them, that spell a text; None where they do not.

    White space at a token's edge is part of it where the text has it. A token may have no width.
    """
    for reading in _READINGS:
        try:
            said = [reading(token) for token in tokens]
        except (KeyError, UnicodeEncodeError):
            continue
        if (found := _match(said, text)) is not None:
            return found
    return None


def _match(said: Sequence[bytes], text: str) -> Spans | None:
    # None where the pieces are not the text, white space aside.
    whole = text.encode()
    # The character of each byte, and the first byte at or after it that is no white space.
    owner = [place for place, character in enumerate(text) for _ in character.encode()]
    solid_from = [*range(len(whole) + 1)]
    for place in reversed(range(len(whole))):
        if text[owner[place]].isspace():
            solid_from[place] = solid_from[place + 1]
    owner.append(len(text))
    at = 0
    starts, ends = [], []
    for piece in said:
        taken = _taken(piece, whole, at, solid_from)
        if taken is None:
            return None
        starts.append(owner[taken[0] if taken else at])
        ends.append(owner[taken[-1]] + 1 if taken else owner[at])
        at = taken[-1] + 1 if taken else at
    if solid_from[at] < len(whole):
        return None
    return np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64)


def _taken(piece: bytes, whole: bytes, at: int, solid_from: Sequence[int]) -> list[int] | None:
    # None where other bytes stand there.
    taken = []
    for byte in piece:
        if byte != _SPACE and (at == len(whole) or whole[at] != byte):
            at = solid_from[at]
        if at < len(whole) and whole[at] == byte:
            taken.append(at)
            at += 1
        elif byte != _SPACE:
            return None
        # Else a space that the tokenizer added, or wrote for other white space.
    return taken

"""Where tokens stand in a text, found from what the tokens say.

For tokenizers that give no offsets, and for byte tokens that were all given the offsets of a whole
run of characters. Tokens say their bytes in one of a few ways; put together, the bytes must be the
text's, white space aside. Nothing is guessed: what does not fit to the last byte is not aligned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np

#: SentencePiece's mark for a space.
SPACE_MARK = "\u2581"
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_SPACE = ord(" ")


@cache
def _byte_level() -> dict[str, int]:
    """The character that byte-level BPE writes for each byte (Radford et al. 2019)."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {
        **{chr(byte): byte for byte in shown},
        **{chr(256 + number): byte for number, byte in enumerate(hidden)},
    }


def _sentencepiece(token: str) -> bytes:
    """Marks for spaces, and tokens that are one byte (``<0xE2>``)."""
    byte = _BYTE.fullmatch(token)
    return bytes([int(byte[1], 16)]) if byte else token.replace(SPACE_MARK, " ").encode()


def _bytes(token: str) -> bytes:
    table = _byte_level()
    return bytes(table[character] for character in token)


def _joined(token: str) -> bytes:
    """Marks of tokens that go on with a word, or that end one."""
    return token.removeprefix("##").removesuffix("@@").removesuffix("</w>").encode()


#: How tokens may say their bytes. The tokens as they are come first: characters need no reading.
_READINGS: tuple[Callable[[str], bytes], ...] = (
    str.encode,
    _sentencepiece,
    _bytes,
    _joined,
    lambda token: token.encode("latin-1"),
)

Spans = tuple[np.ndarray, np.ndarray]


def align(tokens: Sequence[str], text: str) -> Spans | None:
    """Starts and ends (characters), each of shape (T,), of tokens that spell a text.

    White space at the edge of a token is part of it where the text has it. A token without any
    character of the text has no width.

    Args:
        tokens: T tokens, as the vocabulary writes them.
        text: the text.

    Returns:
        None where the tokens do not spell the text, white space aside.
    """
    for reading in _READINGS:
        try:
            said = [reading(token) for token in tokens]
        except (KeyError, UnicodeEncodeError):
            continue
        found = _match(said, text)
        if found is not None:
            return found
    return None


def _match(said: Sequence[bytes], text: str) -> Spans | None:
    """The characters of each piece of bytes, if the pieces are the text, white space aside."""
    # One entry for each byte of the text: the byte, its character, whether that is white space.
    whole = text.encode()
    owner = [place for place, character in enumerate(text) for _ in character.encode()]
    owner.append(len(text))
    at = 0

    def skip_space() -> None:
        nonlocal at
        while at < len(whole) and text[owner[at]].isspace():
            at += 1

    def take(piece: bytes) -> Iterator[int]:
        nonlocal at
        for byte in piece:
            if at < len(whole) and whole[at] == byte:
                yield at
                at += 1
            elif byte != _SPACE:
                skip_space()
                if at == len(whole) or whole[at] != byte:
                    raise ValueError
                yield at
                at += 1
            # Else a space that the tokenizer added, or wrote for other white space.

    starts, ends = [], []
    for piece in said:
        try:
            taken = list(take(piece))
        except ValueError:
            return None
        starts.append(owner[taken[0]] if taken else owner[at])
        ends.append(owner[taken[-1]] + 1 if taken else owner[at])
    skip_space()
    if at < len(whole):
        return None
    return np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64)

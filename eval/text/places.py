"""Tokens and their places in a text: those that a tokenizer says, checked, or found from tokens.

Starts never decrease, and every character that is not white space is in a token: what a check of
all texts at once shows not to be so is refused. Where there are no offsets, and where byte tokens
were all given those of a whole run of characters, tokens are read: they say their bytes in one of a
few ways, and put together the bytes must be the text's, white space aside. Nothing is guessed: what
does not fit to the last byte is not aligned.

Where tokens begin with the space before a word, whether a word has ended is part of the probability
of what follows it. The correction (Pimentel and Meister 2024, "How to compute the probability of a
word", EMNLP; Oh and Schuler 2024, "Leading whitespaces of language models' subword vocabulary pose
a confound for calculating word probabilities", EMNLP) gives it back. With c(i) the surprisal of
*some* beginning of a word, or the end of the text, at place i:

    a token that begins a word:  its surprisal - c(its place)
    a token that ends a word:    its surprisal + c(the place behind it)

Within a region this cancels but for the region's two ends. The first word of a text has no space
before it, and is corrected at its end only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np

from coherencegym.errors import EvaluationError

#: A mark of beginnings -> what the tokens begin with that stand for any white space.
_MARKS = {
    # Bytes as characters: space, line feed, tab, carriage return.
    "Ġ": ("Ġ", "Ċ", "ĉ", "č"),
    "▁": ("▁", "\n", "\t", "\r", "<0x0A>", "<0x09>", "<0x0D>"),
}


@dataclass(frozen=True)
class WordBeginnings:
    """The tokens that begin a word or end the text, increasing.

    ``end`` is a token to put behind a text so that its end has a place.
    """

    ids: tuple[int, ...]
    end: int

    def needed(self, ids: Sequence[int], positions: Sequence[int]) -> tuple[int, ...]:
        """The places, increasing, whose c(i) corrects the surprisals at some positions."""
        begins = set(self.ids)
        needed = {p for p in positions if ids[p] in begins}
        needed |= {p + 1 for p in positions if p + 1 == len(ids) or ids[p + 1] in begins}
        return tuple(sorted(needed))

    def corrected(
        self, ids: Sequence[int], bits: np.ndarray, starts: Mapping[int, float]
    ) -> np.ndarray:
        """Surprisals (bits, shape (T,), NaN where none was read) by word, from those by token.

        ``starts`` are c(i) in bits, by place.
        """
        begins = set(self.ids)
        result = bits.copy()
        for place, token in enumerate(ids):
            if token in begins and place in starts:
                result[place] -= starts[place]
            if (place + 1 == len(ids) or ids[place + 1] in begins) and place + 1 in starts:
                result[place] += starts[place + 1]
        return result


def word_beginnings(tokenizer: Any, vocabulary: int) -> WordBeginnings:
    """The tokens of a tokenizer that begin a word, or end the text.

    ``vocabulary`` is how many tokens the model knows; later ones are left out.
    """
    tokens = tokenizer.convert_ids_to_tokens(
        tokenizer("a b", add_special_tokens=False)["input_ids"]
    )
    # The space is with the word behind it, or a token of its own before it.
    mark = tokens[1][:1] if len(tokens) > 1 else ""
    if mark not in _MARKS:
        raise EvaluationError(
            f"--word-correction: the tokenizer writes 'a b' as {tokens}; expected one whose tokens "
            "begin with the space before a word (Ġ or ▁)"
        )
    size = min(vocabulary, len(tokenizer))
    names = tokenizer.convert_ids_to_tokens(list(range(size)))
    special = {i for i in tokenizer.all_special_ids if i < size}
    ids = {i for i, name in enumerate(names) if name is not None and name.startswith(_MARKS[mark])}
    end = tokenizer.eos_token_id
    return WordBeginnings(tuple(sorted(ids | special)), int(end) if end is not None else 0)


#: SentencePiece's mark for a space.
SPACE_MARK = "\u2581"
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_SPACE = ord(" ")

#: White space among the characters up to U+3000; one more stands for all beyond: none of those is.
_IS_SPACE = np.array([*(chr(code).isspace() for code in range(0x3001)), False])

#: Starts and ends (characters) of T tokens; shape (T,) each.
Spans = tuple[np.ndarray, np.ndarray]


class TextError(EvaluationError):
    """A text whose tokens cannot be placed; ``text`` is the text, ``reason`` says why."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f"text {text[:40]!r}: {reason}")
        self.text = text
        self.reason = reason


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """T tokens: their ids, and their starts and ends in the text (characters); each shape (T,).

    ``begins``, where it is known, says which begin a word: shape (T,), bool.
    """

    ids: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    begins: np.ndarray | None = None

    def __getitem__(self, chosen: slice) -> Tokens:
        begins = None if self.begins is None else self.begins[chosen]
        return Tokens(self.ids[chosen], self.starts[chosen], self.ends[chosen], begins)

    def shifted(self, by: int) -> Tokens:
        """The same tokens so many characters further on."""
        return Tokens(self.ids, self.starts + by, self.ends + by, self.begins)

    def cross(self, place: int) -> bool:
        """A token reaches over a place (characters)."""
        return bool(((self.starts < place) & (self.ends > place)).any())

    def from_place(self, place: int) -> int:
        """The index of the first token that starts at or after a place (characters)."""
        return int(np.searchsorted(self.starts, place))


def from_lists(
    ids: Sequence[Sequence[int]], spans: Sequence[Sequence[tuple[int, int]]]
) -> list[Tokens]:
    """Tokens of each text from lists of ids and of starts and ends, as libraries give them."""
    flat = np.fromiter(chain.from_iterable(ids), dtype=np.int64)
    edges = np.fromiter(chain.from_iterable(chain.from_iterable(spans)), dtype=np.int64)
    whole = Tokens(flat, edges[0::2], edges[1::2])
    return [whole[a:b] for a, b in pairwise([0, *accumulate(map(len, ids))])]


def joined(pieces: Sequence[Tokens]) -> Tokens:
    """The tokens of some pieces, or of some texts, one after the other; their places stay."""
    if len(pieces) == 1:
        return pieces[0]
    begins = [piece.begins for piece in pieces if piece.begins is not None]
    return Tokens(
        np.concatenate([piece.ids for piece in pieces]),
        np.concatenate([piece.starts for piece in pieces]),
        np.concatenate([piece.ends for piece in pieces]),
        np.concatenate(begins) if len(begins) == len(pieces) else None,
    )


def describe(tokenizer: Any) -> str:
    """A tokenizer in an error: its class, and where it is from if it says."""
    source = getattr(tokenizer, "name_or_path", "")
    return f"the tokenizer ({type(tokenizer).__name__}{f' of {source}' if source else ''})"


def solid(text: str) -> np.ndarray:
    """Characters that are no white space, as ``str.isspace`` says; shape (N,), bool."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    found: np.ndarray = ~_IS_SPACE[np.minimum(codes, len(_IS_SPACE) - 1)]
    return found


def nearest_solid(text: str) -> tuple[np.ndarray, np.ndarray]:
    """Of each character the next and the last place that is no white space, itself included.

    Where there is none, these are the length of the text and -1.
    """
    is_solid, places = solid(text), np.arange(len(text))
    after = np.minimum.accumulate(np.where(is_solid, places, len(text))[::-1])[::-1]
    return after, np.maximum.accumulate(np.where(is_solid, places, -1))


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


def checked(tokenizer: Any, texts: Sequence[str], encoded: Sequence[Tokens]) -> list[Tokens]:
    """The tokens of texts that no normalizer changed, if they stand where they can."""
    if not texts:
        return []
    # All texts are looked at as one, with a line break between two.
    sizes = np.array([len(text) for text in texts])
    bases = np.concatenate(([0], np.cumsum(sizes + 1)[:-1]))
    counts = [len(tokens.ids) for tokens in encoded]
    base, size = np.repeat(bases, counts), np.repeat(sizes, counts)
    whole = joined(encoded)
    if _shared(Tokens(whole.ids, whole.starts + base, whole.ends + base)).any():
        encoded = [
            split_runs(tokenizer, text, text, tokens)
            for text, tokens in zip(texts, encoded, strict=True)
        ]

    def refuse(place: int, what: str) -> TextError:
        text = texts[int(np.searchsorted(bases, place, side="right")) - 1]
        return TextError(
            text,
            f"{describe(tokenizer)} {what}; expected tokens in the order of the text, and every "
            "character that is not white space in one",
        )

    outside = (whole.starts < 0) | (whole.ends < whole.starts) | (whole.ends > size)
    if outside.any():
        token = int(np.argmax(outside))
        span = f"{whole.starts[token]} to {whole.ends[token]} of {size[token]} characters"
        raise refuse(int(base[token]), f"puts a token at {span}")
    split = joined(encoded)
    starts, ends = split.starts + base, split.ends + base
    back = np.diff(starts) < 0
    if back.any():
        token = int(np.argmax(back))
        raise refuse(int(base[token]), f"puts a token before the one that precedes it ({token})")
    text = "\n".join(texts)
    opened = np.bincount(starts, minlength=len(text) + 1)
    closed = np.bincount(ends, minlength=len(text) + 1)
    missed = (np.cumsum(opened - closed)[: len(text)] <= 0) & solid(text)
    if missed.any():
        place = int(np.argmax(missed))
        raise refuse(place, f"has no token for {text[place]!r}")
    return list(encoded)


def split_runs(tokenizer: Any, text: str, string: str, tokens: Tokens) -> Tokens:
    """Tokens that share several characters, each with its own.

    Unigram with byte fallback gives every byte token the whole run of unknown characters. Places
    are in ``string``: the text, or what it was rewritten to.
    """
    shared = _shared(tokens)
    if not shared.any():
        return tokens
    starts, ends = tokens.starts.copy(), tokens.ends.copy()
    # Runs of tokens that each share their characters with the next.
    edges = np.flatnonzero(np.diff(np.concatenate(([False], shared, [False])).astype(int)))
    for first, last in edges.reshape(-1, 2).tolist():
        begin, end = int(tokens.starts[first]), int(tokens.ends[first])
        names = tokenizer.convert_ids_to_tokens(tokens.ids[first : last + 1].tolist())
        spans = align_tokens(names, string[begin:end])
        if spans is None:
            raise TextError(
                text,
                f"{describe(tokenizer)} gives {last - first + 1} tokens the same characters, "
                f"{string[begin:end][:40]!r}, and they do not spell them; expected tokens that can "
                "be told apart",
            )
        starts[first : last + 1], ends[first : last + 1] = spans[0] + begin, spans[1] + begin
    return Tokens(tokens.ids, starts, ends)


def _shared(tokens: Tokens) -> np.ndarray:
    # Of each token but the last: it has the characters, two or more, of the next.
    starts, ends = tokens.starts, tokens.ends
    shared: np.ndarray = (
        (starts[1:] == starts[:-1]) & (ends[1:] == ends[:-1]) & (ends[:-1] - starts[:-1] > 1)
    )
    return shared

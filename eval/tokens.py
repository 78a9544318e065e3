"""Text to tokens with their places in the text, for any tokenizer, or a refusal.

Everything in a text is text: the name of a special token (``<s>``) that stands in it is cut as any
other characters are. What a tokenizer adds by itself is left out, and so is what its file says on
truncation and padding.

Tokens are believed to stand where the tokenizer says only after a check: their starts never
decrease, and every character that is not white space is in a token (or was deleted by the
tokenizer's normalizer; see :mod:`eval.normalised`). A tokenizer without offsets is read by what
its tokens say (:mod:`eval.align`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np

from eval.align import align
from eval.errors import EvaluationError
from eval.normalised import Normaliser
from eval.whitespace import solid

#: Texts that are encoded at once: bounds what the library holds in memory.
_CHUNK = 1000
#: What a continuation is encoded after, to see its tokens without the mark that some tokenizers
#: (SentencePiece) put before the first word of a text. Tried in turn: a token may cross over.
_ANCHORS = (".", "\n", "0", "x")


class TextError(EvaluationError):
    """A text whose tokens cannot be placed; ``text`` is the text, ``reason`` says why."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f"text {text[:40]!r}: {reason}")
        self.text = text
        self.reason = reason


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """T tokens: their ids, and their starts and ends in the text (characters); each shape (T,)."""

    ids: np.ndarray
    starts: np.ndarray
    ends: np.ndarray

    def __getitem__(self, chosen: slice) -> Tokens:
        return Tokens(self.ids[chosen], self.starts[chosen], self.ends[chosen])

    def shifted(self, by: int) -> Tokens:
        """The same tokens so many characters further on."""
        return Tokens(self.ids, self.starts + by, self.ends + by)

    def cross(self, place: int) -> bool:
        """Whether a token reaches over a place (characters)."""
        return bool(((self.starts < place) & (self.ends > place)).any())

    def from_place(self, place: int) -> int:
        """The index of the first token that starts at or after a place (characters)."""
        return int(np.searchsorted(self.starts, place))


def describe(tokenizer: Any) -> str:
    """A tokenizer in an error: its class, and where it is from if it says."""
    source = getattr(tokenizer, "name_or_path", "")
    return f"the tokenizer ({type(tokenizer).__name__}{f' of {source}' if source else ''})"


def special_ids(tokenizer: Any) -> set[int]:
    """Ids of special tokens, those included that no attribute such as ``eos_token`` names."""
    added = getattr(tokenizer, "added_tokens_decoder", {})
    return set(tokenizer.all_special_ids) | {i for i, token in added.items() if token.special}


def encode_texts(
    tokenizer: Any, texts: Sequence[str], *, special_names: bool = False
) -> list[Tokens]:
    """Tokens of each text with their places, without any token that the tokenizer would add.

    Args:
        tokenizer: a tokenizer of transformers.
        texts: the texts.
        special_names: the name of a special token in a text becomes that token.

    Raises:
        TextError: the tokenizer fails on a text, gives a special token for it, or does not let
            its tokens be placed.
    """
    encoded: list[Tokens] = []
    fast = bool(getattr(tokenizer, "is_fast", False))
    backend = tokenizer.backend_tokenizer if fast else None
    normaliser = Normaliser(backend) if fast else None
    splits = getattr(backend, "encode_special_tokens", None)
    try:
        for first in range(0, len(texts), _CHUNK):
            chunk = list(texts[first : first + _CHUNK])
            _refuse_half_characters(tokenizer, chunk)
            if normaliser is not None:
                encoded += _fast(tokenizer, normaliser, chunk, split_special=not special_names)
            else:
                encoded += [_slow(tokenizer, t, split_special=not special_names) for t in chunk]
    finally:
        # The call leaves the caller's tokenizer with this changed.
        if splits is not None:
            backend.encode_special_tokens = splits
    if not special_names:
        _refuse_control_tokens(tokenizer, texts, encoded)
    return encoded


def continuation(tokenizer: Any, text: str, *, special_names: bool = False) -> Tokens:
    """Tokens of a text that goes on after another one (offsets in ``text``).

    Raises:
        TextError: as :func:`encode_texts`.
    """
    for anchor in _ANCHORS:
        try:
            (tokens,) = encode_texts(tokenizer, [anchor + text], special_names=special_names)
        except TextError:
            continue
        if not tokens.cross(len(anchor)):
            return tokens[tokens.from_place(len(anchor)) :].shifted(-len(anchor))
    (tokens,) = encode_texts(tokenizer, [text], special_names=special_names)
    return tokens


def _refuse_half_characters(tokenizer: Any, texts: Sequence[str]) -> None:
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise TextError(
                text,
                f"character {error.start + 1} is half of a surrogate pair, which "
                f"{describe(tokenizer)} cannot read; expected whole characters",
            ) from None


def _refuse_control_tokens(tokenizer: Any, texts: Sequence[str], encoded: Sequence[Tokens]) -> None:
    """Refuse texts in which the tokenizer sees a special token all the same."""
    control = np.array(sorted(_control_ids(tokenizer)), dtype=np.int64)
    if not encoded or not len(control):
        return
    ids = np.concatenate([tokens.ids for tokens in encoded])
    places = np.flatnonzero(np.isin(ids, control))
    if len(places):
        counts = np.cumsum([len(tokens.ids) for tokens in encoded])
        text = texts[int(np.searchsorted(counts, places[0], side="right"))]
        name = tokenizer.convert_ids_to_tokens(int(ids[places[0]]))
        raise TextError(
            text,
            f"{describe(tokenizer)} gives its special token {name!r} for it; expected none within "
            "a text (leave the item out, or use another tokenizer)",
        )


def _control_ids(tokenizer: Any) -> set[int]:
    """Ids that no text should have.

    The token for unknown words is none of them, and neither is a special token of one character: a
    line break that also ends a text.
    """
    model = getattr(getattr(tokenizer, "backend_tokenizer", None), "model", None)
    unknown = {tokenizer.unk_token, getattr(model, "unk_token", None)}
    names = {number: tokenizer.convert_ids_to_tokens(number) for number in special_ids(tokenizer)}
    return {n for n, name in names.items() if name not in unknown and len(str(name)) > 1}


def _call(tokenizer: Any, texts: list[str], **settings: Any) -> Any:
    """Call a tokenizer; its errors, of whatever class, become one line with the text."""
    try:
        return tokenizer(texts, add_special_tokens=False, verbose=False, **settings)
    except Exception as error:
        if len(texts) > 1:
            for text in texts:
                _call(tokenizer, [text], **settings)
        raise TextError(
            texts[0], f"{describe(tokenizer)} fails on it: {_one_line(error)}"
        ) from None


def _one_line(error: Exception) -> str:
    lines = (line.strip() for line in str(error).splitlines())
    return next(filter(None, lines), type(error).__name__)


# ---------------------------------------------------------------- with offsets


def _fast(
    tokenizer: Any, normaliser: Normaliser, texts: list[str], *, split_special: bool
) -> list[Tokens]:
    batch = _call(
        tokenizer,
        texts,
        split_special_tokens=split_special,
        return_offsets_mapping=True,
        return_attention_mask=False,
        return_token_type_ids=False,
    )
    encoded = _from_lists(batch["input_ids"], batch["offset_mapping"])
    rewritten = {
        number: normaliser.rewrite(text)
        for number, text in enumerate(texts)
        if normaliser.changes(text)
    }
    kept = [number for number in range(len(texts)) if number not in rewritten]
    for number, tokens in zip(
        kept,
        _checked(tokenizer, [texts[n] for n in kept], [encoded[n] for n in kept]),
        strict=True,
    ):
        encoded[number] = tokens
    bare = normaliser.encode(list(rewritten.values()), split_special=split_special)
    for (number, string), encoding in zip(rewritten.items(), bare, strict=True):
        (found,) = _from_lists([encoding.ids], [encoding.offsets])
        encoded[number] = _moved(
            tokenizer, normaliser, texts[number], string, encoded[number], found
        )
    return encoded


def _from_lists(
    ids: Sequence[Sequence[int]], spans: Sequence[Sequence[tuple[int, int]]]
) -> list[Tokens]:
    flat = np.fromiter(chain.from_iterable(ids), dtype=np.int64)
    edges = np.fromiter(chain.from_iterable(chain.from_iterable(spans)), dtype=np.int64)
    whole = Tokens(flat, edges[0::2], edges[1::2])
    cuts = [0, *accumulate(map(len, ids))]
    return [whole[a:b] for a, b in pairwise(cuts)]


def _moved(
    tokenizer: Any,
    normaliser: Normaliser,
    text: str,
    rewritten: str,
    tokens: Tokens,
    found: Tokens,
) -> Tokens:
    """The tokens of a text, from where they are ``found`` in what it is rewritten to."""
    spans = None
    if np.array_equal(found.ids, tokens.ids):
        found = _split_runs(tokenizer, text, rewritten, found)
        spans = normaliser.spans(text, rewritten, found.starts, found.ends)
    if spans is None:
        raise TextError(
            text,
            f"{describe(tokenizer)} rewrites it to {rewritten[:40]!r} before it cuts it, and its "
            "tokens cannot be matched with the text's characters; expected a tokenizer whose "
            "tokens can (or leave the item out)",
        )
    return Tokens(tokens.ids, *spans)


def _split_runs(tokenizer: Any, text: str, string: str, tokens: Tokens) -> Tokens:
    """Tokens that share several characters, each with its own.

    Unigram with byte fallback gives every byte token the whole run of unknown characters.
    """
    shared = _shared(tokens)
    if not shared.any():
        return tokens
    starts, ends = tokens.starts.copy(), tokens.ends.copy()
    # shared[i]: tokens i and i + 1 have the same characters.
    first = 0
    while first < len(shared):
        if not shared[first]:
            first += 1
            continue
        last = first
        while last < len(shared) and shared[last] and starts[last + 1] == tokens.starts[first]:
            last += 1
        begin, end = int(tokens.starts[first]), int(tokens.ends[first])
        names = tokenizer.convert_ids_to_tokens(tokens.ids[first : last + 1].tolist())
        spans = align(names, string[begin:end])
        if spans is None:
            raise TextError(
                text,
                f"{describe(tokenizer)} gives {last - first + 1} tokens the same characters, "
                f"{string[begin:end][:40]!r}, and they do not spell them; expected tokens that can "
                "be told apart",
            )
        starts[first : last + 1], ends[first : last + 1] = spans[0] + begin, spans[1] + begin
        first = last + 1
    return Tokens(tokens.ids, starts, ends)


def _shared(tokens: Tokens) -> np.ndarray:
    """Whether each token but the last has the same characters, two or more, as the next."""
    starts, ends = tokens.starts, tokens.ends
    shared: np.ndarray = (
        (starts[1:] == starts[:-1]) & (ends[1:] == ends[:-1]) & (ends[:-1] - starts[:-1] > 1)
    )
    return shared


def _checked(tokenizer: Any, texts: Sequence[str], encoded: Sequence[Tokens]) -> list[Tokens]:
    """The tokens of texts that no normalizer changed, if they stand where they can.

    All texts are looked at as one, with a line break between two.
    """
    if not texts:
        return []
    sizes = np.array([len(text) for text in texts])
    bases = np.concatenate(([0], np.cumsum(sizes + 1)[:-1]))
    counts = [len(tokens.ids) for tokens in encoded]
    base, size = np.repeat(bases, counts), np.repeat(sizes, counts)
    whole = Tokens(
        np.concatenate([tokens.ids for tokens in encoded]),
        np.concatenate([tokens.starts for tokens in encoded]),
        np.concatenate([tokens.ends for tokens in encoded]),
    )
    joined = Tokens(whole.ids, whole.starts + base, whole.ends + base)
    if _shared(joined).any():
        encoded = [
            _split_runs(tokenizer, text, text, tokens)
            for text, tokens in zip(texts, encoded, strict=True)
        ]
        joined = Tokens(
            whole.ids,
            np.concatenate([tokens.starts for tokens in encoded]) + base,
            np.concatenate([tokens.ends for tokens in encoded]) + base,
        )

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
        raise refuse(
            int(base[token]),
            f"puts a token at {whole.starts[token]} to {whole.ends[token]} of "
            f"{size[token]} characters",
        )
    back = np.diff(joined.starts) < 0
    if back.any():
        token = int(np.argmax(back))
        raise refuse(int(base[token]), f"puts a token before the one that precedes it ({token})")
    length = int(bases[-1] + sizes[-1])
    opened = np.bincount(joined.starts, minlength=length + 1)
    closed = np.bincount(joined.ends, minlength=length + 1)
    missed = (np.cumsum(opened - closed)[:length] <= 0) & solid("\n".join(texts))
    if missed.any():
        place = int(np.argmax(missed))
        character = "\n".join(texts)[place]
        raise refuse(place, f"has no token for {character!r}")
    return list(encoded)


# ---------------------------------------------------------------- without offsets


def _slow(tokenizer: Any, text: str, *, split_special: bool) -> Tokens:
    """The tokens of a tokenizer without offsets, where what they say puts them."""
    batch = _call(tokenizer, [text], split_special_tokens=split_special)
    ids = list(batch["input_ids"][0])
    spans = None
    for names in _names(tokenizer, text, ids, split_special=split_special):
        spans = spans or align(names, text)
    if spans is None:
        raise TextError(
            text,
            f"{describe(tokenizer)} gives no character offsets, and its tokens do not spell the "
            "text, so that they cannot be put in regions; expected a fast tokenizer "
            "(tokenizer.json)",
        )
    return Tokens(np.array(ids, dtype=np.int64), *spans)


def _names(
    tokenizer: Any, text: str, ids: list[int], *, split_special: bool
) -> Iterator[Sequence[str]]:
    """What the tokens are called: as they were cut, which says unknown words too; by their ids."""
    try:
        names = tokenizer.tokenize(text, split_special_tokens=split_special)
    except Exception:  # it has encoded the text: its ids are enough
        names = None
    if names is not None and tokenizer.convert_tokens_to_ids(names) == ids:
        yield names
    yield tokenizer.convert_ids_to_tokens(ids)

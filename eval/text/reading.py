"""Text to tokens with their places in the text, for any tokenizer, or a refusal.

Everything in a text is text: the name of a special token (``<s>``) that stands in it is cut as any
other characters are, unless it is to be the token (:mod:`eval.text.sequence`). What a tokenizer
adds by itself is left out, and so is what its file says on truncation and padding.

Tokens stand where the tokenizer says, which is checked, or else where what they say puts them
(:mod:`eval.text.places`). Where its normalizer rewrites a text, their places are found again
(:mod:`eval.text.reading`).

A normalizer (NFKC, lower case, stripped accents, SentencePiece's rules) hands the tokenizer another
string. The library maps offsets back to the text, but not always rightly: after a character that a
precompiled table deletes they are one off, and what was composed loses its later characters. So
they are found again here. The rewritten string is encoded without the normalizer, which must give
the same tokens; and a place of the text corresponds to a place of the rewritten string where the
text before it, rewritten alone, is what the rewritten string begins with. White space is left out
of the comparison, since normalizers add, collapse and strip it.

A token then begins at the first character of what was rewritten together (``e`` and an accent), and
no token covers what the normalizer deletes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from coherencegym.errors import first_line
from coherencegym.eval.text.alignment import SPACE_MARK, Spans, align_tokens
from coherencegym.eval.text.places import (
    TextError,
    Tokens,
    checked,
    describe,
    from_lists,
    split_runs,
)
from coherencegym.eval.text.sequence import special_ids
from coherencegym.eval.text.words import begin_words


class Normaliser:
    """The normalizer of a ``tokenizers.Tokenizer``, and what it does to texts."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        self._rule = backend.normalizer
        self._bare: Any = None
        self._known: dict[str, tuple[str, Sequence[int]]] = {}
        marks = self._rule is not None and SPACE_MARK in self.rewrite(" a")
        self._space = re.compile(rf"[\s{SPACE_MARK if marks else ''}]+")

    def _solid(self, text: str) -> str:
        # Without white space, and without marks for it if the normalizer writes them.
        return self._space.sub("", text)

    def changes(self, text: str) -> bool:
        """More happens to a text than spaces becoming marks, and one before it."""
        if self._rule is None:
            return False
        return self.rewrite(text).replace(SPACE_MARK, " ") not in (text, " " + text)

    def rewrite(self, text: str) -> str:
        """The string that the tokenizer cuts in place of a text."""
        rewritten: str = self._rule.normalize_str(text)
        return rewritten

    def encode(self, rewritten: Sequence[str], *, split_special: bool) -> Sequence[Any]:
        """The encodings (``tokenizers.Encoding``) of rewritten strings, not rewritten again."""
        if not rewritten:
            return []
        if self._bare is None:
            # A copy: the tokenizer is the caller's.
            self._bare = type(self._backend).from_str(self._backend.to_str())
            self._bare.normalizer = None
            self._bare.no_truncation()
            self._bare.no_padding()
        self._bare.encode_special_tokens = split_special
        found: Sequence[Any] = self._bare.encode_batch(list(rewritten), add_special_tokens=False)
        return found

    def spans(
        self, text: str, rewritten: str, starts: np.ndarray, ends: np.ndarray
    ) -> Spans | None:
        """Tokens' places in a text, from their places in the string that it was rewritten to.

        None where the two do not match, or tokens leave out a solid character of ``rewritten``.
        """
        mapped = self._places(text, rewritten)
        if mapped is None:
            return None
        places, before = mapped
        solid = np.array([not self._space.match(character) for character in rewritten], dtype=bool)
        count = np.concatenate(([0], np.cumsum(solid)))
        first, last = count[starts], count[ends]
        reached = np.maximum.accumulate(np.concatenate(([0], last)))
        if (first > reached[:-1]).any() or reached[-1] < count[-1]:
            return None
        # Of several places with as much before them, what begins begins at the last (behind white
        # space and deleted characters), and what ends ends at the first.
        new_starts = places[np.searchsorted(before, first, side="right") - 1]
        new_ends = places[np.searchsorted(before, last, side="left")]
        return new_starts, np.maximum(new_starts, new_ends)

    def _places(self, text: str, rewritten: str) -> tuple[np.ndarray, np.ndarray] | None:
        # With how many characters that are not white space are rewritten before each. A place
        # within what is rewritten together is left out.
        places, before = [0], [0]
        words = re.findall(r"\s+|\S+", text)
        # A normalizer seldom looks beyond a word; where it does, the text is one.
        for parts in (words, [text]):
            known = [self._part(part) for part in parts]
            if "".join(one for one, _ in known) != self._solid(rewritten):
                continue
            for _, sizes in known:
                place, done = places[-1], before[-1]
                for step, size in enumerate(sizes, 1):
                    if size >= 0:
                        places.append(place + step)
                        before.append(done + size)
            if any(b < a for a, b in pairwise(before)):
                return None
            return np.array(places), np.array(before)
        return None

    def _part(self, part: str) -> tuple[str, Sequence[int]]:
        # Each character of the string with how much of the part it ends, white space not counted:
        # -1 where the characters up to this one, rewritten alone, are not what the string begins
        # with.
        if part not in self._known:
            whole = self._solid(self.rewrite(part))
            single = [self._solid(self.rewrite(character)) for character in part]
            if "".join(single) == whole:
                sizes = list(accumulate(map(len, single)))
            else:
                begun = [self._solid(self.rewrite(part[:end])) for end in range(1, len(part))]
                sizes = [len(one) if whole.startswith(one) else -1 for one in (*begun, whole)]
            self._known[part] = whole, sizes
        return self._known[part]


#: Texts that are encoded at once: bounds what the library holds in memory.
_CHUNK = 1000
#: Texts before a continuation, so that its tokens are seen without the mark that some tokenizers
#: (SentencePiece) put before the first word. Tried in turn: a token may cross over.
_ANCHORS = (".", "\n", "0", "x")


class TokenReader:
    """A tokenizer of transformers, with what has been found out about it.

    With ``words`` it says which tokens begin a word; with ``special_names`` the name of a special
    token in a text becomes that token.
    """

    def __init__(self, tokenizer: Any, words: bool = False, special_names: bool = False) -> None:
        self._tokenizer = tokenizer
        self._words = words
        self._split = not special_names
        self._backend: Any = (
            tokenizer.backend_tokenizer if getattr(tokenizer, "is_fast", False) else None
        )
        self._normaliser = None if self._backend is None else Normaliser(self._backend)
        self._control = np.array(sorted(_control_ids(tokenizer)), dtype=np.int64)

    def read(self, texts: Sequence[str]) -> list[Tokens]:
        """Tokens of each text with their places, without any token that the tokenizer would add."""
        encoded: list[Tokens] = []
        splits = getattr(self._backend, "encode_special_tokens", None)
        try:
            for first in range(0, len(texts), _CHUNK):
                chunk = list(texts[first : first + _CHUNK])
                _refuse_half_characters(self._tokenizer, chunk)
                if self._normaliser is not None:
                    encoded += self._fast(self._normaliser, chunk)
                else:
                    encoded += [self._without_offsets(text) for text in chunk]
        finally:
            # The call leaves the caller's tokenizer with this changed.
            if splits is not None:
                self._backend.encode_special_tokens = splits
        if self._split:
            self._refuse_control_tokens(texts, encoded)
        return encoded

    def read_continuation(self, text: str) -> Tokens:
        """Tokens of a text that goes on after another one (places in ``text``)."""
        for anchor in _ANCHORS:
            try:
                (tokens,) = self.read([anchor + text])
            except TextError:
                continue
            if not tokens.cross(len(anchor)):
                return tokens[tokens.from_place(len(anchor)) :].shifted(-len(anchor))
        (tokens,) = self.read([text])
        return tokens

    def _refuse_control_tokens(self, texts: Sequence[str], encoded: Sequence[Tokens]) -> None:
        if not encoded or not len(self._control):
            return
        ids = np.concatenate([tokens.ids for tokens in encoded])
        places = np.flatnonzero(np.isin(ids, self._control))
        if len(places):
            counts = np.cumsum([len(tokens.ids) for tokens in encoded])
            text = texts[int(np.searchsorted(counts, places[0], side="right"))]
            name = self._tokenizer.convert_ids_to_tokens(int(ids[places[0]]))
            raise TextError(
                text,
                f"{describe(self._tokenizer)} gives its special token {name!r} for it; expected "
                "none within a text (leave the item out, or use another tokenizer)",
            )

    def _call(self, texts: list[str], **settings: Any) -> Any:
        # Errors of tokenizers, of whatever class, become one line with the text.
        try:
            return self._tokenizer(texts, add_special_tokens=False, verbose=False, **settings)
        except Exception as error:
            if len(texts) > 1:
                for text in texts:
                    self._call([text], **settings)
            raise TextError(
                texts[0], f"{describe(self._tokenizer)} fails on it: {first_line(error)}"
            ) from None

    def _fast(self, normaliser: Normaliser, texts: list[str]) -> list[Tokens]:
        batch = self._call(
            texts,
            split_special_tokens=self._split,
            return_offsets_mapping=True,
            return_attention_mask=False,
            return_token_type_ids=False,
        )
        encoded = from_lists(batch["input_ids"], batch["offset_mapping"])
        changed = [number for number, text in enumerate(texts) if normaliser.changes(text)]
        kept = sorted({*range(len(texts))}.difference(changed))
        known = [texts[number] for number in kept]
        placed = checked(self._tokenizer, known, [encoded[number] for number in kept])
        for number, tokens in zip(kept, placed, strict=True):
            encoded[number] = tokens
        rewritten = [normaliser.rewrite(texts[number]) for number in changed]
        bare = normaliser.encode(rewritten, split_special=self._split)
        for number, string, encoding in zip(changed, rewritten, bare, strict=True):
            (found,) = from_lists([encoding.ids], [encoding.offsets])
            text, tokens, spans = texts[number], encoded[number], None
            if np.array_equal(found.ids, tokens.ids):
                found = split_runs(self._tokenizer, text, string, found)
                spans = normaliser.spans(text, string, found.starts, found.ends)
            if spans is None:
                raise TextError(
                    text,
                    f"{describe(self._tokenizer)} rewrites it to {string[:40]!r} before it cuts "
                    "it, and its tokens cannot be matched with the text's characters; expected a "
                    "tokenizer whose tokens can (or leave the item out)",
                )
            encoded[number] = Tokens(tokens.ids, *spans)
        if self._words:
            encoded = [
                replace(tokens, begins=begin_words(text, tokens, batch.word_ids(number)))
                for number, (text, tokens) in enumerate(zip(texts, encoded, strict=True))
            ]
        return encoded

    def _without_offsets(self, text: str) -> Tokens:
        batch = self._call([text], split_special_tokens=self._split)
        ids = list(batch["input_ids"][0])
        spans = None
        for names in self._names(text, ids):
            spans = spans or align_tokens(names, text)
        if spans is None:
            raise TextError(
                text,
                f"{describe(self._tokenizer)} gives no character offsets, and its tokens do not "
                "spell the text, so that they cannot be put in regions; expected a fast tokenizer "
                "(tokenizer.json)",
            )
        tokens = Tokens(np.array(ids, dtype=np.int64), *spans)
        return replace(tokens, begins=begin_words(text, tokens)) if self._words else tokens

    def _names(self, text: str, ids: list[int]) -> Iterator[Sequence[str]]:
        # As they were cut, which says unknown words too; then by their ids.
        try:
            names = self._tokenizer.tokenize(text, split_special_tokens=self._split)
        except Exception:  # it has encoded the text: its ids are enough
            names = None
        if names is not None and self._tokenizer.convert_tokens_to_ids(names) == ids:
            yield names
        yield self._tokenizer.convert_ids_to_tokens(ids)


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


def _control_ids(tokenizer: Any) -> set[int]:
    # Not the token for unknown words, nor a special token of one character: a line break that also
    # ends a text.
    model = getattr(getattr(tokenizer, "backend_tokenizer", None), "model", None)
    unknown = {tokenizer.unk_token, getattr(model, "unk_token", None)}
    names = {number: tokenizer.convert_ids_to_tokens(number) for number in special_ids(tokenizer)}
    return {n for n, name in names.items() if name not in unknown and len(str(name)) > 1}

"""Text to tokens with their places in the text, for any tokenizer, or a refusal.

Everything in a text is text: the name of a special token (``<s>``) that stands in it is cut as any
other characters are. What a tokenizer adds by itself is left out, and so is what its file says on
truncation and padding.

Where tokens stand is what the tokenizer says, checked (:mod:`eval.text.offsets`). Where its
normalizer rewrites a text, it is found again (:mod:`eval.text.normalised`); a tokenizer that does
not say is read by what its tokens say (:mod:`eval.text.align`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from coherencegym.eval.text.align import align
from coherencegym.eval.text.normalised import Normaliser
from coherencegym.eval.text.offsets import checked, split_runs
from coherencegym.eval.text.tokens import TextError, Tokens, describe, from_lists, special_ids

#: Texts that are encoded at once: bounds what the library holds in memory.
_CHUNK = 1000
#: What a continuation is encoded after, to see its tokens without the mark that some tokenizers
#: (SentencePiece) put before the first word of a text. Tried in turn: a token may cross over.
_ANCHORS = (".", "\n", "0", "x")


class Reader:
    """A tokenizer of transformers, with what has been found out about it."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._backend: Any = (
            tokenizer.backend_tokenizer if getattr(tokenizer, "is_fast", False) else None
        )
        self._normaliser = None if self._backend is None else Normaliser(self._backend)
        self._control = np.array(sorted(_control_ids(tokenizer)), dtype=np.int64)

    def read(self, texts: Sequence[str], *, special_names: bool = False) -> list[Tokens]:
        """Tokens of each text with their places, without any token that the tokenizer would add.

        Args:
            texts: the texts.
            special_names: the name of a special token in a text becomes that token.

        Raises:
            TextError: the tokenizer fails on a text, gives a special token for it, or does not let
                its tokens be placed.
        """
        encoded: list[Tokens] = []
        splits = getattr(self._backend, "encode_special_tokens", None)
        try:
            for first in range(0, len(texts), _CHUNK):
                chunk = list(texts[first : first + _CHUNK])
                _refuse_half_characters(self._tokenizer, chunk)
                if self._normaliser is not None:
                    encoded += self._fast(self._normaliser, chunk, split_special=not special_names)
                else:
                    encoded += [self._slow(t, split_special=not special_names) for t in chunk]
        finally:
            # The call leaves the caller's tokenizer with this changed.
            if splits is not None:
                self._backend.encode_special_tokens = splits
        if not special_names:
            self._refuse_control_tokens(texts, encoded)
        return encoded

    def read_continuation(self, text: str, *, special_names: bool = False) -> Tokens:
        """Tokens of a text that goes on after another one (places in ``text``).

        Raises:
            TextError: as :meth:`read`.
        """
        for anchor in _ANCHORS:
            try:
                (tokens,) = self.read([anchor + text], special_names=special_names)
            except TextError:
                continue
            if not tokens.cross(len(anchor)):
                return tokens[tokens.from_place(len(anchor)) :].shifted(-len(anchor))
        (tokens,) = self.read([text], special_names=special_names)
        return tokens

    def _refuse_control_tokens(self, texts: Sequence[str], encoded: Sequence[Tokens]) -> None:
        """Refuse texts in which the tokenizer sees a special token all the same."""
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
        """Call a tokenizer; its errors, of whatever class, become one line with the text."""
        try:
            return self._tokenizer(texts, add_special_tokens=False, verbose=False, **settings)
        except Exception as error:
            if len(texts) > 1:
                for text in texts:
                    self._call([text], **settings)
            raise TextError(
                texts[0], f"{describe(self._tokenizer)} fails on it: {_one_line(error)}"
            ) from None

    def _fast(
        self, normaliser: Normaliser, texts: list[str], *, split_special: bool
    ) -> list[Tokens]:
        batch = self._call(
            texts,
            split_special_tokens=split_special,
            return_offsets_mapping=True,
            return_attention_mask=False,
            return_token_type_ids=False,
        )
        encoded = from_lists(batch["input_ids"], batch["offset_mapping"])
        rewritten = {
            number: normaliser.rewrite(text)
            for number, text in enumerate(texts)
            if normaliser.changes(text)
        }
        kept = [number for number in range(len(texts)) if number not in rewritten]
        for number, tokens in zip(
            kept,
            checked(self._tokenizer, [texts[n] for n in kept], [encoded[n] for n in kept]),
            strict=True,
        ):
            encoded[number] = tokens
        bare = normaliser.encode(list(rewritten.values()), split_special=split_special)
        for (number, string), encoding in zip(rewritten.items(), bare, strict=True):
            (found,) = from_lists([encoding.ids], [encoding.offsets])
            encoded[number] = self._moved(normaliser, texts[number], string, encoded[number], found)
        return encoded

    def _moved(
        self,
        normaliser: Normaliser,
        text: str,
        rewritten: str,
        tokens: Tokens,
        found: Tokens,
    ) -> Tokens:
        """The tokens of a text, from where they are ``found`` in what it is rewritten to."""
        spans = None
        if np.array_equal(found.ids, tokens.ids):
            found = split_runs(self._tokenizer, text, rewritten, found)
            spans = normaliser.spans(text, rewritten, found.starts, found.ends)
        if spans is None:
            raise TextError(
                text,
                f"{describe(self._tokenizer)} rewrites it to {rewritten[:40]!r} before it cuts "
                "it, and its tokens cannot be matched with the text's characters; expected a "
                "tokenizer whose tokens can (or leave the item out)",
            )
        return Tokens(tokens.ids, *spans)

    def _slow(self, text: str, *, split_special: bool) -> Tokens:
        """The tokens of a tokenizer without offsets, where what they say puts them."""
        batch = self._call([text], split_special_tokens=split_special)
        ids = list(batch["input_ids"][0])
        spans = None
        for names in self._names(text, ids, split_special=split_special):
            spans = spans or align(names, text)
        if spans is None:
            raise TextError(
                text,
                f"{describe(self._tokenizer)} gives no character offsets, and its tokens do not "
                "spell the text, so that they cannot be put in regions; expected a fast tokenizer "
                "(tokenizer.json)",
            )
        return Tokens(np.array(ids, dtype=np.int64), *spans)

    def _names(self, text: str, ids: list[int], *, split_special: bool) -> Iterator[Sequence[str]]:
        """What tokens are called: as they were cut, which says unknown words too; by their ids."""
        try:
            names = self._tokenizer.tokenize(text, split_special_tokens=split_special)
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
    """Ids that no text should have.

    The token for unknown words is none of them, and neither is a special token of one character: a
    line break that also ends a text.
    """
    model = getattr(getattr(tokenizer, "backend_tokenizer", None), "model", None)
    unknown = {tokenizer.unk_token, getattr(model, "unk_token", None)}
    names = {number: tokenizer.convert_ids_to_tokens(number) for number in special_ids(tokenizer)}
    return {n for n, name in names.items() if name not in unknown and len(str(name)) > 1}


def _one_line(error: Exception) -> str:
    lines = (line.strip() for line in str(error).splitlines())
    return next(filter(None, lines), type(error).__name__)

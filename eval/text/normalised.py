"""Places of tokens in a text that their tokenizer rewrites before it cuts it.

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
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from coherencegym.eval.text.places import SPACE_MARK, Spans


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

"""Words for models whose tokens begin with the space before them.

Such a model gives the space to the next word: whether a word has ended is part of the probability
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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError

if TYPE_CHECKING:
    import numpy as np

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

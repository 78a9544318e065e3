"""Rows that hide some of a text, for models that see all of it.

A masked language model says how probable a token is given all others. Each token that is read is
masked in a row of its own, and its surprisal is read where it stood (``pll``; Salazar et al. 2020,
"Masked language model scoring", ACL), or one place before it, where a model was trained to predict
masked tokens as a decoder predicts the next one (``mntp``: masked next token prediction;
BehnamGhader et al. 2024, "LLM2Vec", COLM; Charpentier and Samuel 2024, "GPT or BERT: why not
both?", CoNLL).

``original`` masks the token alone. Of a word of several tokens the later ones then give it away, so
that rare words look likely. ``within_word_l2r`` masks the later tokens of its word as well: a word
is read from left to right (Kauf and Ivanova 2023, "A better way to do masked language model
scoring", ACL). What a word is the tokenizer says (its pre-tokenizer), but none has white space in
it; where the tokenizer does not say, punctuation stands apart, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from coherencegym.errors import EvaluationError

#: Ways to mask a token: with the rest of its word, or alone.
MaskingChoice = Literal["within_word_l2r", "original"]


@dataclass(frozen=True, slots=True)
class MaskedRow:
    """A row that hides some of a text, and what is asked of it.

    Attributes:
        hidden: places whose tokens are masked, increasing.
        mask: the id that stands there.
        place: the place that is read.
        targets: the ids whose surprisals are read there, increasing.
    """

    hidden: tuple[int, ...]
    mask: int
    place: int
    targets: tuple[int, ...]

    def seen(self, ids: Sequence[int]) -> tuple[int, ...]:
        """The ids as the model sees them."""
        masked = list(ids)
        for place in self.hidden:
            masked[place] = self.mask
        return tuple(masked)


@dataclass(frozen=True, slots=True)
class Masks:
    """A way of masking.

    Attributes:
        mask: id of the mask.
        masking: choice of what is masked beside a token.
        ahead: places from the one that is read to the token that is asked for: 0 or 1.
    """

    mask: int
    masking: MaskingChoice = "within_word_l2r"
    ahead: int = 0

    def row(self, ids: Sequence[int], words: Sequence[int], place: int) -> MaskedRow:
        """The row for the token at a place; ``words`` are the numbers of the tokens' words."""
        end = place + 1
        if self.masking == "within_word_l2r":
            while end < len(ids) and words[end] == words[place]:
                end += 1
        return MaskedRow(tuple(range(place, end)), self.mask, place - self.ahead, (ids[place],))


def mask_of(tokenizer: object) -> int:
    """The id of a tokenizer's mask."""
    found = getattr(tokenizer, "mask_token_id", None)
    if found is None:
        raise EvaluationError(
            "the tokenizer has no mask token (mask_token), without which no token can be masked; "
            "expected the tokenizer of a masked language model"
        )
    return int(found)

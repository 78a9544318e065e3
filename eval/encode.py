"""Text to tokens, and tokens to regions.

The text, separators taken out, is encoded once and whole, so that every token is the one the model
would see; the separators' tokens are then put where they belong. Offsets in characters say which
region a token belongs to:

- the region of its first character that is not white space;
- a token of white space only: the region of the next character that is not white space, and at
  the end of the text the region that it stands in, if any;
- a token of no width, and tokens that share one character (byte fallback): the region of the
  character where they start;
- the start-of-text token and separators: no region, and no metric. (What a tokenizer adds by
  itself is left out, unless :mod:`eval.compat` asks for it: the first and the last region then.)

White space before a separator is removed. The space after it is kept by default, because most
tokenizers write it into the next token: the text after a separator then has the tokens that it has
without one, in every condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from eval.errors import EvaluationError
from eval.regions import SPECIAL, region_map
from eval.rendering import Rendered, take_out_separators
from eval.special import Added, Separator, Start
from eval.suite import Condition

#: What a continuation is encoded after, to see its tokens without the mark that some tokenizers
#: (SentencePiece) put before the first word of a text. Tried in turn: a token may cross over.
_ANCHORS = (".", "\n", "0", "x")


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


@dataclass(frozen=True, slots=True)
class Encoding:
    """One condition as a model sees it, T tokens.

    Attributes:
        ids: token ids, start-of-text token and separators included.
        regions: a region number per token, or :data:`eval.regions.NO_REGION` or
            :data:`eval.regions.SPECIAL`.
        starts, ends: of each token, characters in the condition's content; the same for
            start-of-text and separator tokens.
        spanning: how many tokens reach from one region into another.
        has_start: the first id is a start-of-text token, so the first token of the text can be
            scored.
    """

    ids: tuple[int, ...]
    regions: tuple[int, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    spanning: int
    has_start: bool

    @property
    def offsets(self) -> tuple[tuple[int, int], ...]:
        """Start and end of each token (characters in the condition's content)."""
        return tuple(zip(self.starts, self.ends, strict=True))

    def cut(self, tokens: int) -> Encoding:
        """Without the first ``tokens`` tokens of the text; the start-of-text token stays."""
        first = int(self.has_start)

        def cut(values: tuple[int, ...]) -> tuple[int, ...]:
            return values[:first] + values[first + tokens :]

        return Encoding(
            cut(self.ids),
            cut(self.regions),
            cut(self.starts),
            cut(self.ends),
            self.spanning,
            self.has_start,
        )


def require_offsets(tokenizer: Any) -> None:
    """Refuse a tokenizer that cannot say where in the text a token stands.

    Raises:
        EvaluationError: it is not a fast tokenizer.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise EvaluationError(
            f"the tokenizer ({type(tokenizer).__name__}) gives no character offsets, without which "
            "tokens cannot be assigned to regions; expected a fast tokenizer (tokenizer.json)"
        )


def encode_texts(tokenizer: Any, texts: Sequence[str]) -> list[Tokens]:
    """Tokens with offsets of each text, without any token that the tokenizer would add."""
    if not texts:
        return []
    batch = tokenizer(
        list(texts),
        add_special_tokens=False,
        return_offsets_mapping=True,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,
    )
    encoded = []
    for ids, spans in zip(batch["input_ids"], batch["offset_mapping"], strict=True):
        edges = np.array(spans, dtype=np.int64).reshape(-1, 2)
        encoded.append(Tokens(np.array(ids, dtype=np.int64), edges[:, 0], edges[:, 1]))
    return encoded


def continuation(tokenizer: Any, text: str) -> Tokens:
    """Tokens of a text that goes on after another one (offsets in ``text``)."""
    anchored = encode_texts(tokenizer, [anchor + text for anchor in _ANCHORS])
    for anchor, tokens in zip(_ANCHORS, anchored, strict=True):
        if not tokens.cross(len(anchor)):
            return tokens[tokens.from_place(len(anchor)) :].shifted(-len(anchor))
    (tokens,) = encode_texts(tokenizer, [text])
    return tokens


def _between_breaks(tokenizer: Any, rendered: Rendered, whole: Tokens) -> list[Tokens]:
    """The tokens of the whole text, cut where separators stood.

    Where a token would reach over a separator, each piece is encoded by itself.
    """
    if not any(whole.cross(place) for place in rendered.breaks):
        cuts = [0, *map(whole.from_place, rendered.breaks), len(whole.ids)]
        return [whole[a:b] for a, b in pairwise(cuts)]
    pieces = []
    for start, end in pairwise([0, *rendered.breaks, len(rendered.text)]):
        text = rendered.text[start:end]
        tokens = continuation(tokenizer, text) if start else encode_texts(tokenizer, [text])[0]
        pieces.append(tokens.shifted(start))
    return pieces


def encode(
    tokenizer: Any,
    conditions: Sequence[Condition],
    start: Start,
    separator: Separator | None,
    added: Added | None = None,
) -> list[Encoding | None]:
    """Conditions as a model sees them.

    Args:
        tokenizer: a fast tokenizer.
        conditions: conditions with valid regions.
        start: the start-of-text token.
        separator: how ``[SEP]`` is rendered; None: it is ordinary text.
        added: in place of ``start``: tokens around every text that count to its first and to its
            last region.

    Returns:
        One encoding for each condition; None where the text needs a separator and there is none.

    Raises:
        EvaluationError: the tokenizer gives no offsets.
    """
    require_offsets(tokenizer)
    rendered = [take_out_separators(c.content, separator) for c in conditions]
    texts = list(dict.fromkeys(r.text for r in rendered))
    tokens = dict(zip(texts, encode_texts(tokenizer, texts), strict=True))
    encodings: list[Encoding | None] = []
    for condition, text in zip(conditions, rendered, strict=True):
        if text.breaks and (separator is None or separator.ids is None):
            encodings.append(None)
            continue
        pieces = _between_breaks(tokenizer, text, tokens[text.text])
        separator_ids = (separator.ids if separator else None) or ()
        encodings.append(_assemble(condition, text, pieces, start, separator_ids, added))
    return encodings


def _assemble(
    condition: Condition,
    rendered: Rendered,
    pieces: Sequence[Tokens],
    start: Start,
    separator_ids: Sequence[int],
    added: Added | None,
) -> Encoding:
    places = region_map(condition, rendered)
    # One more place than characters: a token of no width may stand at the very end.
    origin = np.append(rendered.origin, rendered.origin[-1:] + 1 if len(rendered.origin) else 0)
    ids: list[int] = []
    regions: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    spanning = 0

    def special(token_ids: Sequence[int], region: int = SPECIAL) -> None:
        place = ends[-1] if ends else 0
        ids.extend(token_ids)
        regions.extend([region] * len(token_ids))
        starts.extend([place] * len(token_ids))
        ends.extend([place] * len(token_ids))

    if added is not None:
        special(added.before, condition.regions[0].region_number)
    elif start.token_id is not None:
        special([start.token_id])
    has_start = bool(ids)
    for number, piece in enumerate(pieces):
        if number:
            special(separator_ids)
        ids.extend(piece.ids.tolist())
        regions.extend(places.of(piece.starts).tolist())
        starts.extend(origin[piece.starts].tolist())
        # The end is one after the last character, which a separator may have stood behind.
        last = origin[np.maximum(piece.ends - 1, 0)] + 1
        ends.extend(np.where(piece.ends > piece.starts, last, origin[piece.starts]).tolist())
        spanning += places.count_spanning(piece.starts, piece.ends)
    if added is not None:
        special(added.after, condition.regions[-1].region_number)
    return Encoding(
        tuple(ids),
        tuple(regions),
        tuple(starts),
        tuple(ends),
        spanning,
        has_start,
    )

"""Text to tokens, and tokens to regions.

The text, separators taken out, is encoded once and whole, so that every token is the one the model
would see; the separators' tokens are then put where they belong. Offsets in characters say which
region a token belongs to:

- the region of its first character that is not white space;
- a token of white space only: the region of the next character that is not white space, and at
  the end of the text the region that it stands in, if any;
- a token of no width, and tokens that share one character (byte fallback): the region of the
  character where they start, at the very end that of the last character;
- where the tokenizer rewrites the text (an accent composed with its letter): the region of the
  first character of those that were rewritten together;
- the start-of-text token and separators: no region, and no metric. (What a tokenizer adds by
  itself is left out, unless :mod:`eval.kinds.compat` asks for it: the first and the last region
  then.)

White space before a separator is removed. The space after it is kept by default, because most
tokenizers write it into the next token: the text after a separator then has the tokens that it has
without one, in every condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, groupby, pairwise
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.items import Condition
from coherencegym.eval.text.reading import Reader
from coherencegym.eval.text.regions import SPECIAL, Placed, place_tokens
from coherencegym.eval.text.rendering import Rendered, take_out_separators
from coherencegym.eval.text.special import Added, Separator, Start
from coherencegym.eval.text.tokens import TextError, Tokens, joined

#: Conditions whose tokens are placed at once: bounds what is held of their characters.
_CHUNK = 1000


@dataclass(frozen=True)
class Encoding:
    """One condition as a model sees it, T tokens.

    Attributes:
        ids: token ids, start-of-text token and separators included.
        regions: a region number per token, or :data:`eval.text.regions.NO_REGION` or
            :data:`eval.text.regions.SPECIAL`.
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

    @cached_property
    def of_region(self) -> dict[int, Sequence[int]]:
        """Region number -> the indices of its tokens; made once, as several predictions ask.

        Most regions are one stretch of tokens, and their indices a ``range``.
        """
        stretches: dict[int, list[range]] = {}
        end = 0
        for number, own in groupby(self.regions):
            start, end = end, end + len(list(own))
            stretches.setdefault(number, []).append(range(start, end))
        return {
            number: found[0] if len(found) == 1 else list(chain.from_iterable(found))
            for number, found in stretches.items()
        }

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


def _between_breaks(reader: Reader, rendered: Rendered, whole: Tokens) -> list[Tokens]:
    """The tokens of the whole text, cut where separators stood.

    Where a token would reach over a separator, each piece is encoded by itself.
    """
    if not any(whole.cross(place) for place in rendered.breaks):
        cuts = [0, *map(whole.from_place, rendered.breaks), len(whole.ids)]
        return [whole[a:b] for a, b in pairwise(cuts)]
    pieces = []
    for start, end in pairwise([0, *rendered.breaks, len(rendered.text)]):
        text = rendered.text[start:end]
        tokens = reader.read_continuation(text) if start else reader.read([text])[0]
        pieces.append(tokens.shifted(start))
    return pieces


def encode(
    tokenizer: Any,
    conditions: Sequence[Condition],
    start: Start,
    separator: Separator | None,
    added: Added | None = None,
    item_ids: Sequence[str] = (),
) -> list[Encoding | None]:
    """Conditions as a model sees them.

    Args:
        tokenizer: a tokenizer of transformers.
        conditions: conditions with valid regions.
        start: the start-of-text token.
        separator: how ``[SEP]`` is rendered; None: it is ordinary text.
        added: in place of ``start``: tokens around every text that count to its first and to its
            last region.
        item_ids: the item of each condition, for errors; empty: they name the condition only.

    Returns:
        One encoding for each condition; None where the text needs a separator and there is none.

    Raises:
        EvaluationError: a text cannot be encoded, or its tokens cannot be assigned to regions (see
            :mod:`eval.text.reading`).
    """

    def refused(number: int, reason: str) -> EvaluationError:
        item = f"{item_ids[number]}: " if item_ids else ""
        return EvaluationError(
            f"{item}condition {conditions[number].condition_name!r} "
            f"({conditions[number].content[:40]!r}): {reason}"
        )

    reader = Reader(tokenizer)
    rendered = [take_out_separators(c.content, separator) for c in conditions]
    texts = list(dict.fromkeys(r.text for r in rendered))
    try:
        tokens = dict(zip(texts, reader.read(texts), strict=True))
    except TextError as error:
        number = next(n for n, r in enumerate(rendered) if r.text == error.text)
        raise refused(number, error.reason) from None
    separator_ids = (separator.ids if separator else None) or ()
    encodings: list[Encoding | None] = []
    for first in range(0, len(conditions), _CHUNK):
        numbers = range(first, min(first + _CHUNK, len(conditions)))
        pieces: dict[int, list[Tokens]] = {}
        for number in numbers:
            text = rendered[number]
            if text.breaks and (separator is None or separator.ids is None):
                continue
            try:
                pieces[number] = _between_breaks(reader, text, tokens[text.text])
            except TextError as error:
                raise refused(number, error.reason) from None
        placed = place_tokens(
            [conditions[number] for number in pieces],
            [rendered[number] for number in pieces],
            [joined(own) for own in pieces.values()],
        )
        found: dict[int, Encoding] = {}
        for (number, own), one in zip(pieces.items(), placed, strict=True):
            cuts = list(accumulate(len(piece.ids) for piece in own[:-1]))
            found[number] = _assemble(conditions[number], one, cuts, start, separator_ids, added)
        encodings += [found.get(number) for number in numbers]
    return encodings


def _assemble(
    condition: Condition,
    placed: Placed,
    cuts: Sequence[int],
    start: Start,
    separator_ids: Sequence[int],
    added: Added | None,
) -> Encoding:
    """A condition's tokens with what is put before, between and behind them.

    Args:
        condition: the condition.
        placed: its tokens.
        cuts: before which of them separators stand.
        start, added: as for :func:`encode`.
        separator_ids: a separator.
    """
    ids: list[int] = []
    regions: list[int] = []
    starts: list[int] = []
    ends: list[int] = []

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
    for number, (first, last) in enumerate(pairwise([0, *cuts, len(placed.ids)])):
        if number:
            special(separator_ids)
        ids += placed.ids[first:last]
        regions += placed.regions[first:last]
        starts += placed.starts[first:last]
        ends += placed.ends[first:last]
    if added is not None:
        special(added.after, condition.regions[-1].region_number)
    return Encoding(
        tuple(ids),
        tuple(regions),
        tuple(starts),
        tuple(ends),
        placed.spanning,
        has_start,
    )

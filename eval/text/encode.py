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
  itself is left out, unless :mod:`eval.plan.options` asks for it: the first and the last region
  then.)

White space before a separator is removed. The space after it is kept by default, because most
tokenizers write it into the next token: the text after a separator then has the tokens that it has
without one, in every condition.

All texts that are encoded together are placed together: their characters stand in one row, each
text with one more place at its end, which is no white space and belongs to no region.

A token counts whole in the region where it begins. What it adds to that region, and takes from the
others that it has characters of, is fair only where the other side of the comparison has the same
token in the same place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, chain, groupby, pairwise
from typing import Any, TypeVar

import numpy as np

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.formula import RegionRef
from coherencegym.eval.kinds.items import Condition
from coherencegym.eval.text.places import TextError, Tokens, joined, nearest_solid
from coherencegym.eval.text.reading import TokenReader
from coherencegym.eval.text.special import Added, Rendered, Separator, Start, take_out_separators

#: A token of the text that stands in no region, in place of a region number.
NO_REGION = 0
#: A start-of-text or separator token, which no metric reads, in place of a region number.
SPECIAL = -1
#: Stands in the place at the end of each text; anything that is no white space.
_END = "."


#: The other regions that a token has characters of, and how many that are no white space; mostly
#: none.
Reached = tuple[tuple[int, int], ...]
#: A token of a condition: its id, its region or :data:`NO_REGION`, its start and end (characters in
#: the condition's content), and the other regions that it reaches into.
PlacedToken = tuple[int, int, int, int, Reached]


def place_tokens(
    conditions: Sequence[Condition], rendered: Sequence[Rendered], tokens: Sequence[Tokens]
) -> list[list[PlacedToken]]:
    """The tokens of each condition in it.

    ``tokens`` are those of each ``rendered`` text, with places in it.
    """
    counts = [len(own.ids) for own in tokens]
    if not sum(counts):
        return [[] for _ in conditions]
    sizes = np.array([len(each.text) + 1 for each in rendered])
    bases = np.concatenate([[0], sizes.cumsum()[:-1]])
    owner = np.repeat(np.arange(len(tokens)), counts)
    base, end = bases[owner], (bases + sizes - 1)[owner]
    whole = joined(tokens)
    starts, ends = whole.starts + base, whole.ends + base
    final = np.maximum(ends - 1, base)
    after, before = nearest_solid(_END.join([*(each.text for each in rendered), ""]))
    origin = _origins(rendered, bases, sizes)
    region_of, contents = _regions(conditions)

    first = after[starts]
    # Nothing but white space follows: the region that the token stands in, if any. A token of no
    # width may stand at the very end: the region of the last character.
    places = np.where(first < end, first, np.maximum(np.minimum(starts, end - 1), base))
    own = region_of[origin[places] + contents[owner]]
    regions = np.where(end > base, own, NO_REGION)
    last = before[final]
    reaches = np.flatnonzero(first < last)  # no token of no width, or of white space only
    others = region_of[origin[last[reaches]] + contents[owner[reaches]]]
    reached: list[Reached] = [()] * len(owner)
    for token in reaches[others != regions[reaches]].tolist():
        inside = np.arange(first[token], last[token] + 1)
        inside = origin[inside[after[inside] == inside]] + contents[owner[token]]
        held = Counter(region_of[inside].tolist())
        reached[token] = tuple((r, n) for r, n in held.items() if r != regions[token])

    # The end is one after the last character, which a separator may have stood behind.
    opened = origin[starts]
    closed = np.where(ends > starts, origin[final] + 1, opened)
    columns = (column.tolist() for column in (whole.ids, regions, opened, closed))
    placed = list(zip(*columns, reached, strict=True))
    cuts = np.concatenate([[0], np.cumsum(counts)]).tolist()
    return [placed[a:b] for a, b in pairwise(cuts)]


def _origins(rendered: Sequence[Rendered], bases: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    # Of a character in its own content; at the end of a text one more.
    found: np.ndarray = np.arange(sizes.sum()) - np.repeat(bases, sizes)
    for each, base in zip(rendered, bases.tolist(), strict=True):
        if each.breaks and each.text:
            end = base + len(each.text)
            found[base:end] = each.origin
            found[end] = found[end - 1] + 1
    return found


def _regions(conditions: Sequence[Condition]) -> tuple[np.ndarray, np.ndarray]:
    sizes = [len(condition.content) + 1 for condition in conditions]
    bases = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    regions = np.full(sum(sizes), NO_REGION)
    for condition, base in zip(conditions, bases.tolist(), strict=True):
        for region, (start, end) in zip(condition.regions, condition.region_offsets, strict=True):
            regions[base + start : base + end] = region.region_number
    return regions, bases


#: Conditions whose tokens are placed at once: bounds what is held of their characters.
_CHUNK = 1000
_T = TypeVar("_T")


@dataclass(frozen=True)
class Encoding:
    """One condition as a model sees it, T tokens, start-of-text token and separators included.

    Attributes:
        regions: a region number per token, or :data:`eval.text.encode.NO_REGION` or
            :data:`eval.text.encode.SPECIAL`.
        starts, ends: characters in the condition's content; the same for special tokens.
        reached: the other regions that each token has characters of.
        has_start: the first id is a start-of-text token, so that the first token of the text can be
            scored.
        words: the number of each token's word; empty where nobody wants them.
    """

    ids: tuple[int, ...]
    regions: tuple[int, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    reached: tuple[Reached, ...]
    has_start: bool
    words: tuple[int, ...] = ()

    @cached_property
    def of_region(self) -> dict[int, Sequence[int]]:
        """Region number -> the indices of its tokens: mostly one stretch of them, a ``range``."""
        runs: dict[int, list[range]] = {}
        end = 0
        for number, own in groupby(self.regions):
            start, end = end, end + len(list(own))
            runs.setdefault(number, []).append(range(start, end))
        return {
            number: found[0] if len(found) == 1 else list(chain.from_iterable(found))
            for number, found in runs.items()
        }

    @cached_property
    def crossing(self) -> tuple[tuple[int, int, Reached], ...]:
        """The tokens that have characters of several regions: id, own region, and the others."""
        tokens = zip(self.ids, self.regions, self.reached, strict=True)
        return tuple(token for token in tokens if token[2])

    def is_entered(self, region: RegionRef) -> bool:
        """Tell whether a token that begins in another region has characters of this one."""
        return any(region == other for _, _, reached in self.crossing for other, _ in reached)

    @property
    def places_of_text(self) -> range:
        """The indices from the first token of the text to its last."""
        own = [place for place, region in enumerate(self.regions) if region != SPECIAL]
        return range(own[0], own[-1] + 1) if own else range(0)

    @property
    def offsets(self) -> tuple[tuple[int, int], ...]:
        """Start and end of each token (characters in the condition's content)."""
        return tuple(zip(self.starts, self.ends, strict=True))

    def cut(self, tokens: int) -> Encoding:
        """The rest of the text behind its first ``tokens`` tokens; a start-of-text token stays."""
        first = self.places_of_text.start if self.words else int(self.has_start)
        return self.without(range(first, first + tokens))

    def without(self, places: Collection[int]) -> Encoding:
        """The text without some of its tokens, by their indices."""

        def rest(values: tuple[_T, ...]) -> tuple[_T, ...]:
            return tuple(value for place, value in enumerate(values) if place not in places)

        return replace(
            self,
            ids=rest(self.ids),
            regions=rest(self.regions),
            starts=rest(self.starts),
            ends=rest(self.ends),
            reached=rest(self.reached),
            words=rest(self.words),
        )


def encode(
    tokenizer: Any,
    conditions: Sequence[Condition],
    start: Start,
    separator: Separator | None,
    added: Added | None = None,
    item_ids: Sequence[str] = (),
    words: bool = False,
    special_names: bool = False,
) -> list[Encoding | None]:
    """Conditions as a model sees them; None where the text needs a separator and there is none.

    Args:
        tokenizer: a tokenizer of transformers.
        conditions: texts with valid regions.
        start: the start-of-text token.
        separator: the rendering of ``[SEP]``; None: it is ordinary text.
        added: tokens around every text, in place of ``start``.
        item_ids: the item of each condition, for errors; empty: they name the condition only.
        words: number the words, each separator and token around the text being one.
        special_names: the name of a special token in a text becomes that token.
    """

    rendered = [take_out_separators(c.content, separator) for c in conditions]
    separator_ids = () if separator is None else separator.ids
    shown = [
        number for number, r in enumerate(rendered) if separator_ids is not None or not r.breaks
    ]
    reader = TokenReader(tokenizer, words, special_names)
    pieces = _read(reader, conditions, rendered, shown, item_ids)
    encodings: list[Encoding | None] = [None] * len(conditions)
    for first in range(0, len(shown), _CHUNK):
        chunk = shown[first : first + _CHUNK]
        placed = place_tokens(
            [conditions[number] for number in chunk],
            [rendered[number] for number in chunk],
            [joined(pieces[number]) for number in chunk],
        )
        for number, own in zip(chunk, placed, strict=True):
            cuts = accumulate(len(piece.ids) for piece in pieces[number])
            parts = [own[a:b] for a, b in pairwise([0, *cuts])]
            found = _assemble(conditions[number], parts, start, separator_ids or (), added)
            if words:
                found = replace(found, words=_word_numbers(found, pieces[number]))
            encodings[number] = found
    return encodings


def _read(
    reader: TokenReader,
    conditions: Sequence[Condition],
    rendered: Sequence[Rendered],
    shown: Sequence[int],
    item_ids: Sequence[str],
) -> Mapping[int, list[Tokens]]:
    def refused(number: int, error: TextError) -> EvaluationError:
        item = f"{item_ids[number]}: " if item_ids else ""
        return EvaluationError(
            f"{item}condition {conditions[number].condition_name!r} "
            f"({conditions[number].content[:40]!r}): {error.reason}"
        )

    texts = list(dict.fromkeys(each.text for each in rendered))
    try:
        whole = dict(zip(texts, reader.read(texts), strict=True))
    except TextError as error:
        number = next(n for n, each in enumerate(rendered) if each.text == error.text)
        raise refused(number, error) from None
    pieces = {}
    for number in shown:
        try:
            pieces[number] = _between_breaks(reader, rendered[number], whole[rendered[number].text])
        except TextError as error:
            raise refused(number, error) from None
    return pieces


def _between_breaks(reader: TokenReader, rendered: Rendered, whole: Tokens) -> list[Tokens]:
    # Where a token would reach over a separator, each piece is encoded by itself.
    if not any(whole.cross(place) for place in rendered.breaks):
        cuts = [0, *map(whole.from_place, rendered.breaks), len(whole.ids)]
        return [whole[a:b] for a, b in pairwise(cuts)]
    pieces = []
    for start, end in pairwise([0, *rendered.breaks, len(rendered.text)]):
        text = rendered.text[start:end]
        tokens = reader.read_continuation(text) if start else reader.read([text])[0]
        pieces.append(tokens.shifted(start))
    return pieces


def _assemble(
    condition: Condition,
    parts: Sequence[Sequence[PlacedToken]],
    start: Start,
    separator_ids: Sequence[int],
    added: Added | None,
) -> Encoding:
    tokens: list[PlacedToken] = []

    def special(token_ids: Sequence[int], region: int = SPECIAL) -> None:
        end = tokens[-1][3] if tokens else 0
        tokens.extend((token_id, region, end, end, ()) for token_id in token_ids)

    if added is not None:
        special(added.before, condition.regions[0].region_number if added.counts else SPECIAL)
    elif start.token_id is not None:
        special([start.token_id])
    has_start = bool(tokens)
    for number, part in enumerate(parts):
        if number:
            special(separator_ids)
        tokens += part
    if added is not None:
        special(added.after, condition.regions[-1].region_number if added.counts else SPECIAL)
    ids, regions, starts, ends, reached = zip(*tokens, strict=True) if tokens else ((),) * 5
    return Encoding(ids, regions, starts, ends, reached, has_start)


def _word_numbers(encoding: Encoding, pieces: Sequence[Tokens]) -> tuple[int, ...]:
    # A token around or between ``pieces`` is a word by itself.
    begins = joined(pieces).begins
    assert begins is not None
    text = iter(begins.tolist())
    own = (region == SPECIAL or next(text) for region in encoding.regions)
    return tuple(accumulate(map(int, own)))


def crossing_differs(
    encodings: Mapping[str, Encoding],
    times: Mapping[tuple[RegionRef, str], int],
    aggregation: str = "sum",
) -> bool:
    """Tell whether a token crosses the edge of a compared region on one side alone.

    A token within a sum of regions that are added alike crosses none.

    Args:
        encodings: the conditions by name.
        times: counts of how often each region of a condition is added; subtracted: below 0.
        aggregation: makes a value of the bits of a region's tokens.
    """
    found: Counter[tuple[int, int, tuple[tuple[int, int], ...]]] = Counter()
    for name, encoding in encodings.items():
        for token, region, reached in encoding.crossing:
            own = times.get((region, name), 0)
            others = tuple((times.get((other, name), 0), n) for other, n in reached)
            if (own and aggregation != "sum") or any(other != own for other, _ in others):
                found[token, own, others] += 1
    return any(
        found[token, -own, tuple((-other, n) for other, n in others)] != number
        for (token, own, others), number in found.items()
    )

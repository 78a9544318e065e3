"""Token sequences that go through a model once, what is read of them, and how they begin alike.

A name is letters like any other, so that no text can end itself or speak for somebody, and costs
the bits of its letters. Other programs, such as lm-evaluation-harness, read the token in its place,
and so does ``--special-tokens``. ``[SEP]`` alone is no name, but a change of speaker.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from coherencegym.eval.data.notes import Note, caution, first_names
from coherencegym.eval.kinds.items import SEPARATOR
from coherencegym.eval.models.config import Limits
from coherencegym.eval.text.masks import MaskedRow

if TYPE_CHECKING:
    import numpy as np


#: The key of texts with a change of speaker.
TURN = ""


def count_names(tokenizer: Any, texts: Iterable[str], *, separated: bool) -> Counter[str]:
    """Count the texts with a name of a special token, by the first name in each.

    Args:
        separated: ``[SEP]`` is a change of speaker, and counted as :data:`TURN`.
    """
    numbers = special_ids(tokenizer)
    if getattr(tokenizer, "backend_tokenizer", None) is None:
        # A tokenizer in Python writes every added token as letters.
        numbers |= {*getattr(tokenizer, "added_tokens_decoder", ())}
    names = {str(tokenizer.convert_ids_to_tokens(number)) for number in numbers}
    # A single character, such as a line break that also ends a text, is read as the token anyway.
    known = {name: name for name in names if len(name) > 1}
    if separated:
        known[SEPARATOR] = TURN
    name = re.compile("|".join(map(re.escape, sorted(known, key=len, reverse=True))) or "(?!)")
    found = map(name.search, dict.fromkeys(texts))
    return Counter(known[match[0]] for match in found if match)


def name_notes(found: Counter[str], special_tokens: bool) -> Iterator[Note]:
    """Cautions on counted texts; ``special_tokens``: their names are read as these tokens."""
    if turns := found[TURN]:
        yield caution(f"texts with {SEPARATOR}, read as a change of speaker: {turns:,}")
    if named := found.total() - turns:
        names = first_names(sorted(filter(None, found)))
        read = "these tokens" if special_tokens else "letters"
        yield caution(
            f"texts with names of special tokens ({names}), read as {read} "
            f"(see --special-tokens): {named:,}"
        )


#: Ways to share beginnings: not at all, from a cache, or in one row.
Sharing = Literal["none", "cache", "packed"]
#: Fewest tokens that sharing a beginning has to save.
WORTH_SHARING = 8
#: Share of a group's tokens that sharing from a cache has to save: two passes and the cache handed
#: on cost more than a tenth of them (measured on shuffled texts, GPT-2's shape, a CPU).
_WORTH_A_CACHE = 0.2
#: Token ids; all of one call in the same type, as only then they can be put in order.
_Ids = TypeVar("_Ids", list[int], tuple[int, ...])


def common_start(sequences: Sequence[_Ids]) -> int:
    """Number of tokens that all of some sequences begin with."""
    # The least and the greatest in order differ where any two differ.
    first, last = min(sequences), max(sequences)
    pairs = enumerate(zip(first, last, strict=False))
    return next((place for place, (one, other) in pairs if one != other), len(first))


@dataclass(frozen=True, slots=True)
class TokenSequence:
    """Token ids that go through the model once, and what is read of them.

    Those of one ``family``, the conditions of an item, may share what they begin with. The model
    reads ``ids[:length]``; what is read of position p comes from its row ``p - 1``. The
    last token need not be read, unless the text is read ``whole`` as its length counts
    (:mod:`eval.models.config`). Of a text that is masked the one place that is ``masked`` for it
    is read, and nothing else; sequences that are alike then are those that look alike to the model.

    Attributes:
        positions: those of the tokens whose surprisal is read, increasing.
        word_starts: those where the surprisal of any token that begins a word is read
            (:mod:`eval.text.words`), increasing; a last token that is not read may be one of them:
            what follows the text.
        masked: the part that is hidden and read (:mod:`eval.text.masks`); None: nothing is.
    """

    ids: tuple[int, ...]
    positions: tuple[int, ...]
    whole: bool = False
    word_starts: tuple[int, ...] = ()
    masked: MaskedRow | None = None
    family: int = field(default=-1, compare=False)

    def cut(self, limits: Limits) -> TokenSequence:
        """The text up to what is read of it, where a model allows."""
        # Else its positions are those of its whole length.
        if self.masked is not None or limits.side(self.length):
            return self
        last = max(self.positions[-1:] + self.word_starts[-1:])
        ids, family = self.ids[: last + 1], self.family
        return TokenSequence(ids, self.positions, False, self.word_starts, family=family)

    @property
    def seen(self) -> tuple[int, ...]:
        """Token ids as the model sees them."""
        return self.ids if self.masked is None else self.masked.seen(self.ids)

    @property
    def key(self) -> tuple[int, ...] | bytes:
        """The ids, or a digest of a masked row: alike in sequences that can be run as one.

        The digest is the sha256 of the ids as they are seen, and of the place that is read.
        """
        if self.masked is None:
            return self.ids
        import numpy as np

        numbers = np.array((*self.seen, -1 - self.masked.place), "<i8")
        return hashlib.sha256(numbers.tobytes()).digest()

    @property
    def asked(self) -> tuple[int, ...]:
        """Numbers that tell reads of tokens apart: positions; of a masked row the tokens' ids."""
        return self.positions if self.masked is None else self.masked.targets

    @property
    def length(self) -> int:
        """Tokens that the model reads."""
        return len(self.ids) if self.whole else len(self.ids) - 1

    @property
    def count(self) -> int:
        """Surprisals that are read."""
        return len(self.asked) + len(self.word_starts)

    @property
    def places(self) -> Sequence[int]:
        """All positions of which something is read, increasing, each once."""
        if self.masked is not None:
            return (self.masked.place + 1,)
        if not self.word_starts:
            return self.positions
        return sorted({*self.positions, *self.word_starts})

    def united(self, other: TokenSequence) -> TokenSequence:
        """The sequence with what is read of another one of the same tokens as well."""
        if self.masked is not None and other.masked is not None:
            targets = {*self.masked.targets, *other.masked.targets}
            return replace(self, masked=replace(self.masked, targets=tuple(sorted(targets))))
        if (self.positions, self.word_starts) == (other.positions, other.word_starts):
            return self
        return replace(
            self,
            positions=tuple(sorted({*self.positions, *other.positions})),
            word_starts=tuple(sorted({*self.word_starts, *other.word_starts})),
        )

    def parts(self, size: int) -> list[TokenSequence]:
        """The sequence as often as it takes to read at most ``size`` places at a time."""
        places = [self.places[start : start + size] for start in range(0, len(self.places), size)]
        return [
            replace(
                self,
                positions=tuple(place for place in self.positions if place in own),
                word_starts=tuple(place for place in self.word_starts if place in own),
            )
            for own in map(set, places)
        ]

    def reads(self) -> np.ndarray:
        """Rows, and the tokens whose surprisals are read there; -1 for any that begins a word.

        The shape is (reads, 2), in the order of the surprisals: those of tokens, then of words.
        """
        import numpy as np

        ids, words = self.ids, self.word_starts
        if self.masked is not None:
            found = [(self.masked.place, token) for token in self.masked.targets]
        else:
            found = [(place - 1, ids[place]) for place in self.positions]
        found += [(place - 1, -1) for place in words]
        return np.array(found, dtype=np.int64).reshape(-1, 2)


def shared_length(sequences: Sequence[TokenSequence], family: Sequence[int]) -> int:
    """Tokens that all sequences of a family begin with, of those that the model reads.

    At least one token of each sequence is left: a row of logits belongs to a token that is read.
    """
    members = [sequences[index] for index in family]
    most = min(member.length for member in members) - 1
    return max(0, min(most, common_start([member.ids for member in members])))


def alike(
    sequences: Sequence[TokenSequence], family: Sequence[int], sharing: Sharing
) -> list[tuple[int, ...]]:
    """The parts of a family whose shared beginnings save the most tokens, where it is worth it.

    Conditions may begin alike in several ways, as the shuffles of a text that begin with the same
    sentence: all of the family in one part shares what all begin with, several parts more of it.
    """
    if sharing == "none":
        return []
    # In this order those that go on alike are neighbours, and what some of them share is the least
    # that two neighbours among them do.
    ordered = sorted(family, key=lambda index: sequences[index].ids)
    shared = [shared_length(sequences, pair) for pair in pairwise(ordered)]
    _, parts = _best_parts(shared, 0, len(ordered))
    place = {index: number for number, index in enumerate(family)}
    found = [tuple(sorted(ordered[a:b], key=place.__getitem__)) for a, b in parts]
    if sharing == "cache":
        found = [part for part in found if _share_saved(sequences, part) >= _WORTH_A_CACHE]
    return found


def _share_saved(sequences: Sequence[TokenSequence], group: Sequence[int]) -> float:
    tokens = sum(sequences[index].length for index in group)
    return (len(group) - 1) * shared_length(sequences, group) / tokens


def _best_parts(shared: Sequence[int], start: int, end: int) -> tuple[int, list[tuple[int, int]]]:
    # Tokens saved, and the parts as (start, end); ``shared`` are the tokens that each of all
    # sequences, in their order, has in common with the one behind it.
    if end - start < 2:
        return 0, []
    least = min(shared[start : end - 1])
    cuts = [place + 1 for place in range(start, end - 1) if shared[place] == least]
    found = [_best_parts(shared, a, b) for a, b in pairwise([start, *cuts, end])]
    together, apart = (end - start - 1) * least, sum(saved for saved, _ in found)
    if apart > together:
        return apart, [part for _, parts in found for part in parts]
    return (together, [(start, end)]) if together >= WORTH_SHARING else (0, [])


def special_ids(tokenizer: Any) -> set[int]:
    """Ids of special tokens, those included that no attribute such as ``eos_token`` names."""
    added = getattr(tokenizer, "added_tokens_decoder", {})
    return set(tokenizer.all_special_ids) | {i for i, token in added.items() if token.special}

"""Texts and the model's context: what is too long, and what may be cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coherencegym.eval.text.encode import Encoding
from coherencegym.eval.text.sequence import common_start


@dataclass(frozen=True, slots=True)
class Fitted:
    """An item's conditions that can be scored.

    Attributes:
        encodings: by condition; empty for an item that is too long, and without a condition whose
            separator cannot be rendered.
        too_long: a condition is longer than the context, and could not be cut.
        cut: tokens that every condition lost on the left.
    """

    encodings: Mapping[str, Encoding]
    too_long: bool = False
    cut: int = 0


def fit(encodings: Mapping[str, Encoding | None], context: int | None, truncate: bool) -> Fitted:
    """Fit an item's conditions into a context.

    Args:
        encodings: by condition; None for one that cannot be rendered.
        context: most tokens that the model reads, start-of-text token included; None: no limit.
        truncate: cut on the left what is identical in all conditions.
    """
    known = {name: encoding for name, encoding in encodings.items() if encoding is not None}
    longest = max((len(encoding.ids) for encoding in known.values()), default=0)
    excess = longest - context if context is not None else 0
    if excess <= 0:
        return Fitted(known)
    # Every condition loses the same tokens, so that they go on from the same context. Without a
    # start-of-text token one shared token stays, so that the same token goes unscored in each.
    has_start = all(encoding.has_start for encoding in known.values())
    room = _shared_tokens(list(known.values())) - (0 if has_start else 1)
    if not truncate or excess > room:
        return Fitted({}, too_long=True)
    return Fitted({name: encoding.cut(excess) for name, encoding in known.items()}, cut=excess)


def _shared_tokens(encodings: Sequence[Encoding]) -> int:
    """How many tokens of the text all conditions begin with, a start-of-text token not counted."""
    shared = common_start([encoding.ids for encoding in encodings])
    return max(0, shared - int(encodings[0].has_start))

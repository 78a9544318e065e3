"""Plans that several models share: texts are encoded and planned once for all that read them alike.

The checkpoints of a training have one tokenizer, and so have the sizes of most families of models.
What decides is what a tokenizer does, not its name: one that was changed on the way is found out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from coherencegym.eval.models.in_memory import tokenizer_state

_Value = TypeVar("_Value")

#: Most tokens of the texts whose plans are kept (some 110 bytes each); of more they are made again.
MOST_TOKENS = 10_000_000


@dataclass
class CachedPlans:
    """Plans that were made for one model and may serve the next.

    Attributes:
        most_tokens: plans are kept as long as they have no more tokens than this together: the
            first ones, as every model reads everything in the same order.
    """

    most_tokens: int = MOST_TOKENS
    _made: dict[tuple[int, Hashable], tuple[object, Any]] = field(default_factory=dict)
    _tokens: int = 0

    def of(self, tokenizer: Any) -> PlansOf:
        """The plans for models with this tokenizer, as it is now."""
        return PlansOf(self, identity_of(tokenizer))

    def once(
        self,
        thing: object,
        way: Hashable,
        make: Callable[[], _Value],
        tokens: Callable[[_Value], int] = lambda _: 0,
    ) -> _Value:
        """The value that is made of a thing (the very object) in a way, the first time only.

        ``tokens`` is what it costs to keep it.
        """
        key = id(thing), way
        if key in self._made:
            found: _Value = self._made[key][1]
            return found
        made = make()
        if self._tokens + tokens(made) <= self.most_tokens:
            self._tokens += tokens(made)
            # The thing is held too, or another could come to lie at its place.
            self._made[key] = thing, made
        return made


@dataclass(frozen=True)
class PlansOf:
    """The plans for models with one tokenizer; ``tokenizer`` is None where it is like no other."""

    kept: CachedPlans
    tokenizer: str | None


def identity_of(tokenizer: Any) -> str | None:
    """A digest (hex) of what a tokenizer does with a text; None for one that cannot say it.

    A tokenizer in Python may do anything: its vocabulary does not tell.
    """
    if getattr(tokenizer, "backend_tokenizer", None) is None:
        return None
    kind = type(tokenizer)
    added = sorted(getattr(tokenizer, "added_tokens_decoder", {}).items())
    special = tokenizer.all_special_ids, getattr(tokenizer, "chat_template", None)
    about = repr((kind.__module__, kind.__qualname__, len(tokenizer), added, special))
    digest = hashlib.sha256(about.encode("utf-8", "surrogatepass"))
    digest.update(tokenizer_state(tokenizer))
    return digest.hexdigest()

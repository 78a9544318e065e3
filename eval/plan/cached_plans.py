"""Plans that were made for one model and serve the next, whose tokenizer does the same.

The checkpoints of a training have one tokenizer, and so have the sizes of most families of models.
What decides is what a tokenizer does, not its name: one that was changed on the way is found out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from coherencegym.eval.models.in_memory import tokenizer_state

_Value = TypeVar("_Value")


#: Most tokens of the texts whose plans are kept (some 110 bytes each); of more they are made again.
MOST_TOKENS = 10_000_000


@dataclass(frozen=True)
class CachedPlans:
    """Plans that were made for one model and may serve the next.

    Attributes:
        most_tokens: plans are kept as long as they have no more tokens than this together: the
            first ones, as every model reads everything in the same order.
        tokenizer: names what the models' tokenizer does; None where it is like no other.
    """

    most_tokens: int = MOST_TOKENS
    tokenizer: str | None = None
    made: dict[tuple[int, Hashable], tuple[object, Any, int]] = field(default_factory=dict)

    def of(self, tokenizer: Any) -> CachedPlans:
        """The same plans, for models with this tokenizer as it is now."""
        return replace(self, tokenizer=identity_of(tokenizer))

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
        if key in self.made:
            found: _Value = self.made[key][1]
            return found
        made = make()
        if sum(each for *_, each in self.made.values()) + tokens(made) <= self.most_tokens:
            # The thing is held too, or another could come to lie at its place.
            self.made[key] = thing, made, tokens(made)
        return made


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

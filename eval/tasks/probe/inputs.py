"""The features that a classifier gets of the vectors of an example's slots.

The blocks are those of Chen, Chu and Gimpel 2019 (DiscoEval), section 3, in the order of its
repository. A linear classifier of ``order`` or ``position`` can only add up what the slots say one
by one, as their differences are linear in the vectors: whether a sentence looks like a first one,
not how two of them fit. Only products (``pair``, ``neighbours``) see that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherencegym.errors import EvaluationError

if TYPE_CHECKING:
    import numpy as np


def concatenation(x: np.ndarray) -> np.ndarray:
    """The vectors one after another: [x1, ..., xk]."""
    return x.reshape(len(x), -1)


def position(x: np.ndarray) -> np.ndarray:
    """The first vector, and its differences from the others: [x1, x1 - x2, ..., x1 - xk]."""
    import numpy as np

    return np.concatenate([x[:, 0], *(x[:, 0] - x[:, k] for k in range(1, x.shape[1]))], axis=1)


def first(x: np.ndarray) -> np.ndarray:
    """The first vector alone: of a sentence without its context (Chen et al. 2019, Table 6)."""
    return x[:, 0]


def order(x: np.ndarray) -> np.ndarray:
    """Two vectors and their difference: [x1, x2, x1 - x2]."""
    import numpy as np

    return np.concatenate([x[:, 0], x[:, 1], x[:, 0] - x[:, 1]], axis=1)


def pair(x: np.ndarray) -> np.ndarray:
    """Two vectors, their product and their absolute difference: [x1, x2, x1 * x2, |x1 - x2|]."""
    import numpy as np

    first, second = x[:, 0], x[:, 1]
    return np.concatenate([first, second, first * second, abs(first - second)], axis=1)


def products(x: np.ndarray) -> np.ndarray:
    """The products of neighbours: [x1 * x2, x2 * x3, ...]."""
    return concatenation(x[:, :-1] * x[:, 1:])


@dataclass(frozen=True)
class Input:
    """A way to put the vectors of slots together.

    Attributes:
        make: vectors, shape (examples, slots, width) -> features, shape (examples, blocks x width).
        blocks: number of slots -> number of blocks of features.
        slots: the number of slots that it takes; none: any.
    """

    make: Callable[[np.ndarray], np.ndarray]
    blocks: Callable[[int], int]
    slots: int | None = None


#: The inputs of published tasks by name, as a config of a dataset names its own.
INPUTS: Mapping[str, Input] = {
    "concatenation": Input(concatenation, lambda slots: slots),
    "position": Input(position, lambda slots: slots),
    "order": Input(order, lambda slots: 3, 2),
    "pair": Input(pair, lambda slots: 4, 2),
}
#: The choices of ``--input``.
CHOICES = ("published", "pair", "neighbours", "first")


def input_of(choice: str, published: str, slots: int) -> Input:
    """The input for a table whose examples have so many slots.

    Args:
        choice: one of :data:`CHOICES`.
        published: the name of the config's own; empty: ``pair`` for two slots, else
            ``concatenation``.
    """
    if choice == "first":
        return Input(first, lambda slots: 1)
    published = published or ("pair" if slots == 2 else "concatenation")
    name = "pair" if choice == "pair" else published
    if name not in INPUTS:
        raise EvaluationError(f"input {name!r}; expected one of {', '.join(INPUTS)}")
    found = INPUTS[name]
    if found.slots not in (None, slots):
        raise EvaluationError(f"--input {choice}: {name} is of {found.slots} slots, not of {slots}")
    if choice != "neighbours":
        return found
    if slots < 2:
        raise EvaluationError("--input neighbours: an example has one slot, and no neighbours")

    def with_products(x: np.ndarray) -> np.ndarray:
        import numpy as np

        return np.concatenate([found.make(x), products(x)], axis=1)

    return Input(with_products, lambda number: found.blocks(number) + number - 1, found.slots)

"""The study of one table: every layer's probe, the layer that validation chooses, and baselines.

Chen, Chu and Gimpel 2019 chose layers on test and fitted once. Here the layer is chosen on
validation, and beside its test accuracy stands what the number means: the same with random weights,
and the control task.

The blocks are those of Chen, Chu and Gimpel 2019 (DiscoEval), section 3, in the order of its
repository. A linear classifier of ``order`` or ``position`` can only add up what the slots say one
by one, as their differences are linear in the vectors: whether a sentence looks like a first one,
not how two of them fit. Only products (``pair``) see that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.statistics.estimators import one_thread
from coherencegym.eval.tasks.probe.classifiers import Fit, Trainer

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


#: Vectors, shape (examples, slots, width) -> features, shape (examples, dimensions).
Input = Callable[["np.ndarray"], "np.ndarray"]
#: The inputs of published tasks by name, as a config of a dataset names its own.
INPUTS: Mapping[str, Input] = {
    "concatenation": concatenation,
    "position": position,
    "order": order,
    "pair": pair,
}
#: Those that take two slots.
_OF_TWO = ("order", "pair")
#: The choices of ``--input``.
CHOICES = ("published", "pair", "first")


def input_of(choice: str, published: str, slots: int) -> Input:
    """The input for a table whose examples have so many slots.

    Args:
        choice: one of :data:`CHOICES`.
        published: the name of the config's own; empty: ``pair`` for two slots, else
            ``concatenation``.
    """
    if choice == "first":
        return first
    published = published or ("pair" if slots == 2 else "concatenation")
    name = "pair" if choice == "pair" else published
    if name not in INPUTS:
        raise EvaluationError(f"input {name!r}; expected one of {', '.join(INPUTS)}")
    if name in _OF_TWO and slots != 2:
        raise EvaluationError(f"--input {choice}: {name} is of 2 slots, not of {slots}")
    return INPUTS[name]


#: Layers that are fitted at a time: features of more would fill the memory.
AT_A_TIME = 2


@dataclass(frozen=True)
class ProbeRows:
    """The rows of one table as numbers.

    Attributes:
        train, validation, test: the places of the rows of each part among all rows.
        classes: the right class of each row, as numbers from 0, shape (rows,).
        control: the same for the control task.
        number: the number of classes.
    """

    train: slice
    validation: slice
    test: slice
    classes: np.ndarray
    control: np.ndarray
    number: int

    def fit(self, x: np.ndarray, classes: np.ndarray, train: Trainer, **how: Any) -> Fit:
        """Train a probe of features, shape (rows, dimensions), on these classes of the rows."""
        learned, chosen = ((x[part], classes[part]) for part in (self.train, self.validation))
        return train(learned, chosen, x[self.test], self.number, **how)


#: Layer -> its probe; layer 0 is the embeddings.
LayerFits = Mapping[int, Fit]


def best_layer(fits: LayerFits) -> int:
    """The layer whose probe does best on validation, the lowest of equals."""
    return max(fits, key=lambda layer: (fits[layer].validation, -layer))


def is_uncertain(fits: LayerFits, rows: int) -> bool:
    """Say that no layer is outside the 95 % interval of the best, over so many validation rows."""
    best = fits[best_layer(fits)].validation
    least = best - 1.96 * math.sqrt(best * (1 - best) / rows)
    return all(fit.validation >= least for fit in fits.values())


#: Layer -> features of all rows, float32, shape (rows, dimensions).
LayerFeatures = Callable[[int], "np.ndarray"]


def fit_layers(
    features: LayerFeatures,
    rows: ProbeRows,
    layers: Sequence[int],
    train: Trainer,
    *,
    seed: int = 0,
    progress: Callable[[], None] = lambda: None,
) -> LayerFits:
    """The probes of all layers, two at a time, each with one thread of linear algebra."""

    def one(layer: int) -> Fit:
        fit = rows.fit(features(layer), rows.classes, train, seed=seed, in_place=True)
        progress()
        return fit

    with one_thread(), ThreadPoolExecutor(AT_A_TIME) as pool:
        return dict(zip(layers, pool.map(one, layers), strict=True))

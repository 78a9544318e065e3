"""The study of one table: every layer's probe, the layer that validation chooses, and baselines.

Chen, Chu and Gimpel 2019 chose layers on test and fitted once. Here the layer is chosen on
validation, and beside its test accuracy stands what the number means: the same with random weights,
the control task, and the bits that the labels cost.

The online code of Voita and Titov 2020 ("Information-theoretic probing with minimum description
length", section 2.2): labels are sent in blocks, each by the probabilities of a classifier that was
trained on the blocks before it, the first by a uniform code. It needs no size for the probe, and
counts how easily the labels are learned as well as how well.

The blocks are those of Chen, Chu and Gimpel 2019 (DiscoEval), section 3, in the order of its
repository. A linear classifier of ``order`` or ``position`` can only add up what the slots say one
by one, as their differences are linear in the vectors: whether a sentence looks like a first one,
not how two of them fit. Only products (``pair``, ``neighbours``) see that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.statistics.estimators import one_thread
from coherencegym.eval.tasks.probe.classifiers import Fit, Trainer

if TYPE_CHECKING:
    import numpy as np

#: Ends of the blocks, in per cent of the training rows.
BLOCK_ENDS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.25, 12.5, 25, 50, 100)
#: Fewer rows than this are not divided into rows to learn from and rows to choose by.
_FEWEST_TO_DIVIDE = 20


def frequency_compression(y: Any, classes: int) -> float:
    """The compression by a code that knows how frequent each of so many classes is, and no more.

    >>> import numpy as np
    >>> round(frequency_compression(np.repeat([0, 1, 2, 3], [55, 25, 15, 5]), 4), 3)
    1.249
    """
    import numpy as np

    shares = np.bincount(y) / len(y)
    shares = shares[shares > 0]
    entropy = -float((shares * np.log2(shares)).sum())
    return math.log2(classes) / entropy if entropy else math.inf


def compression_of(first: int, block_bits: Sequence[Any], classes: int) -> float:
    """The bits of a uniform code for labels, over those of the online code.

    1 is nothing of labels that are equally frequent, of others :func:`frequency_compression`.

    Args:
        first: labels that are sent uniformly.
        block_bits: the bits of each label of the blocks after them.
        classes: the number of classes.

    >>> import numpy as np
    >>> round(compression_of(2, [np.full(8, math.log2(4 / 3))], 2), 4)
    1.8796
    """
    each = math.log2(classes)
    bits = first * each + sum(float(block.sum()) for block in block_bits)
    number = first + sum(map(len, block_bits))
    return number * each / bits if bits else math.inf


def online_compression(x: Any, y: Any, classes: int, train: Trainer, *, seed: int = 0) -> float:
    """The compression of the classes ``y`` (numbers from 0) by the online code, given features.

    Rows are sent in an order drawn by ``seed``. A tenth of the rows that a classifier learns from
    is held out to choose its penalty, by their likelihood. Its probabilities are mixed with uniform
    ones, which weigh as much as one row for each class: it gives none to a class it has not seen.
    """
    import numpy as np

    mixed = np.random.default_rng(seed).permutation(len(y))
    ends = sorted({min(len(y), math.ceil(len(y) * end / 100)) for end in BLOCK_ENDS})
    # Nothing can be learned from one class: the uniform code goes on until there are two.
    while len(ends) > 1 and len(np.unique(y[mixed[: ends[0]]])) < 2:
        ends.pop(0)
    bits = []
    for known, end in pairwise(ends):
        learned, sent = mixed[:known], mixed[known:end]
        held = max(1, known // 10) if known >= _FEWEST_TO_DIVIDE else 0
        fit, choose = (learned[held:], learned[:held]) if held else (learned, learned)
        if len(np.unique(y[fit])) < 2:
            fit = learned
        rows = (x[fit], y[fit]), (x[choose], y[choose]), x[sent]
        model = train(*rows, classes, seed=seed, by_likelihood=True)
        found = np.exp(model.log_probabilities)[np.arange(len(sent)), y[sent]]
        bits.append(-np.log2((known * found + 1) / (known + classes)))
    return compression_of(ends[0], bits, classes)


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


def control_and_compression(
    x: np.ndarray,
    rows: ProbeRows,
    train: Trainer,
    *,
    seed: int = 0,
    progress: Callable[[], None] = lambda: None,
) -> tuple[np.ndarray, dict[str, float]]:
    """Compute what stands beside a layer, given its features.

    Returns:
        True for each test row of the control task that is right, and figures of a config by their
        names (:func:`eval.tasks.probe.results.probe_figures`).
    """
    import numpy as np

    # Labels of training rows come first; of others, that stand in test rows alone, no code knows.
    known = int(rows.classes[rows.train].max()) + 1
    learned = rows.classes[rows.train]

    def control() -> np.ndarray:
        named = rows.fit(x, rows.control, train, seed=seed).log_probabilities.argmax(axis=1)
        progress()
        return np.asarray(named == rows.control[rows.test])

    def code() -> float:
        found = online_compression(x[rows.train], learned, known, train, seed=seed)
        progress()
        return found

    with one_thread(), ThreadPoolExecutor(AT_A_TIME) as pool:
        by_type, bits = pool.submit(control), pool.submit(code)
        figures = {
            "compression": bits.result(),
            "frequency_compression": frequency_compression(learned, known),
        }
        return by_type.result(), figures

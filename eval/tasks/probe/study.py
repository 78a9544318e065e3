"""The study of one table: every layer's probe, the layer that validation chooses, and baselines.

Chen, Chu and Gimpel 2019 chose layers on test and fitted once. Here the layer is chosen on
validation, and beside its test accuracy stands what the number means: the same with random weights,
the control task, subsamples of the training rows, the bits that the labels cost, and what the layer
adds to the embeddings.

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
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.statistics.estimators import one_thread
from coherencegym.eval.tasks.probe.classifiers import Classifier, Trainer, accuracy_of

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
        model = train(
            (x[fit], y[fit]), (x[choose], y[choose]), classes, seed=seed, by_likelihood=True
        )
        found = np.exp(model.log_probabilities(x[sent]))[np.arange(len(sent)), y[sent]]
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


#: Subsamples of the training rows: how many, and the share of the rows in each.
SUBSAMPLES, SUBSAMPLE = 5, 0.9
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


@dataclass(frozen=True)
class LayerFit:
    """The outcome of one layer's probe.

    Attributes:
        layer: its number; 0 is the embeddings.
        setting: the weight of the penalty that validation chose.
        validation, test: accuracies, from 0 to 1.
        log_probabilities: those of the test rows, shape (rows, classes).
        constant: nothing varies in this layer.
        finished: its fit got to an end.
    """

    layer: int
    setting: float
    validation: float
    test: float
    log_probabilities: np.ndarray = field(repr=False)
    constant: bool = False
    finished: bool = True


@dataclass(frozen=True)
class Curve:
    """The fits of all layers, in their order."""

    fits: tuple[LayerFit, ...]

    @property
    def best(self) -> LayerFit:
        """The fit that does best on validation, the lowest layer of equals."""
        return max(self.fits, key=lambda fit: (fit.validation, -fit.layer))

    def near_best(self, rows: int, errors: float = 1.0) -> list[int]:
        """The layers within so many standard errors of the best, over so many validation rows."""
        best = self.best.validation
        near = best - errors * math.sqrt(best * (1 - best) / rows)
        return [fit.layer for fit in self.fits if fit.validation >= near]

    @property
    def expected_layer(self) -> float | None:
        """The mean number of the layers, weighted by what each gains over the one before it.

        Of accuracies on validation; None where no layer gains anything.
        """
        gains = [
            (later.layer, max(0.0, later.validation - earlier.validation))
            for earlier, later in zip(self.fits, self.fits[1:], strict=False)
        ]
        whole = math.fsum(gain for _, gain in gains)
        return math.fsum(layer * gain for layer, gain in gains) / whole if whole else None


#: Layer -> features of all rows, float32, shape (rows, dimensions).
LayerFeatures = Callable[[int], "np.ndarray"]


def fit_features(
    x: np.ndarray,
    rows: ProbeRows,
    classes: np.ndarray,
    train: Trainer,
    layer: int,
    *,
    seed: int = 0,
    learned: Any = None,
    in_place: bool = False,
) -> LayerFit:
    """Train a probe of features on the rows ``learned`` (None: all of the training rows).

    With ``in_place`` the features are overwritten.
    """
    known = rows.train if learned is None else learned
    chosen_by = x[rows.validation], classes[rows.validation]
    learning = x[known], classes[known]
    model: Classifier = train(learning, chosen_by, rows.number, seed=seed, in_place=in_place)
    found = model.log_probabilities(x[rows.test])
    test = accuracy_of(found, classes[rows.test])
    about = model.setting, model.validation, test, found, model.constant, model.finished
    return LayerFit(layer, *about)


def curve(
    features: LayerFeatures,
    rows: ProbeRows,
    layers: Sequence[int],
    train: Trainer,
    *,
    seed: int = 0,
    progress: Callable[[], None] = lambda: None,
) -> Curve:
    """The probes of all layers, two at a time, each with one thread of linear algebra."""

    def one(layer: int) -> LayerFit:
        about = rows, rows.classes, train, layer
        fit = fit_features(features(layer), *about, seed=seed, in_place=True)
        progress()
        return fit

    with one_thread(), ThreadPoolExecutor(AT_A_TIME) as pool:
        return Curve(tuple(pool.map(one, layers)))


def figures_beside(
    features: LayerFeatures,
    rows: ProbeRows,
    chosen: LayerFit,
    train: Trainer,
    *,
    convex: bool,
    embeddings: bool,
    seed: int = 0,
    seeds: int = SUBSAMPLES,
    progress: Callable[[], None] = lambda: None,
) -> tuple[np.ndarray, dict[str, Any]]:
    """Compute what stands beside the layer that was chosen.

    Args:
        convex: a seed changes nothing, so that the spread is that over subsamples of the rows.
        embeddings: their layer was read.

    Returns:
        True for each test row of the control task that is right, and figures of a config by their
        names (:func:`eval.tasks.probe.results.probe_figures`).
    """
    import numpy as np

    x = features(chosen.layer)

    def fit(classes: np.ndarray, **more: Any) -> LayerFit:
        found = fit_features(x, rows, classes, train, chosen.layer, **{"seed": seed} | more)
        progress()
        return found

    def control() -> np.ndarray:
        named = fit(rows.control).log_probabilities.argmax(axis=1)
        return np.asarray(named == rows.control[rows.test])

    def sample(number: int) -> float:
        if not convex:
            return fit(rows.classes, seed=seed + number).test
        every = np.arange(rows.train.start, rows.train.stop)
        mixed = np.random.default_rng([seed, number]).permutation(every)
        return fit(rows.classes, learned=np.sort(mixed[: max(2, int(len(mixed) * SUBSAMPLE))])).test

    # Labels of training rows come first; of others, that stand in test rows alone, no code knows.
    known = int(rows.classes[rows.train].max()) + 1

    def code(classes: np.ndarray) -> float:
        found = online_compression(x[rows.train], classes[rows.train], known, train, seed=seed)
        progress()
        return found

    with one_thread(), ThreadPoolExecutor(AT_A_TIME) as pool:
        by_type = pool.submit(control)
        samples = [pool.submit(sample, number) for number in range(1, seeds + 1)]
        codes = [pool.submit(code, classes) for classes in (rows.classes, rows.control)]
        figures: dict[str, Any] = {
            "subsamples": tuple(each.result() for each in samples),
            "compression": codes[0].result(),
            "control_compression": codes[1].result(),
            "frequency_compression": frequency_compression(rows.classes[rows.train], known),
        }
        if embeddings and chosen.layer != 0:
            # Conditional probing (Hewitt et al. 2021): embeddings alone, and with the layer.
            base = features(0)
            both = np.concatenate([x, base], axis=1)
            for name, own, layer in (("", base, 0), ("with_", both, chosen.layer)):
                of = fit_features(own, rows, rows.classes, train, layer, seed=seed)
                figures[f"{name}embeddings"] = of.test
        return by_type.result(), figures

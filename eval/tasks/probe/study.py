"""The study of one table: every layer's probe, the layer that validation chooses, and baselines.

Chen, Chu and Gimpel 2019 chose layers on test and fitted once. Here the layer is chosen on
validation, and beside its test accuracy stands what the number means: the same with random weights,
the control task, subsamples of the training rows, the bits that the labels cost, and what the layer
adds to the embeddings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coherencegym.eval.statistics.threads import one_thread
from coherencegym.eval.tasks.probe.classifiers import Classifier, Trainer, accuracy_of
from coherencegym.eval.tasks.probe.description import (
    Description,
    description_length,
    frequency_compression,
)

if TYPE_CHECKING:
    import numpy as np

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


def fit_layer(
    features: LayerFeatures, rows: ProbeRows, train: Trainer, layer: int, *, seed: int = 0
) -> LayerFit:
    """Train the probe of one layer, and ask it about the test rows."""
    x = features(layer)
    return fit_features(x, rows, rows.classes, train, layer, seed=seed, in_place=True)


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
        fit = fit_layer(features, rows, train, layer, seed=seed)
        progress()
        return fit

    with one_thread(), ThreadPoolExecutor(AT_A_TIME) as pool:
        return Curve(tuple(pool.map(one, layers)))


@dataclass(frozen=True)
class Baselines:
    """The figures beside the accuracy of the chosen layer.

    Attributes:
        control: test rows of the control task that are right.
        subsamples: test accuracies of probes trained on nine tenths of the rows, or by other seeds.
        described, described_control: the bits that the labels cost, of the task and of its control.
        frequencies: the compression by a code that knows the frequencies of the labels alone.
        beyond: test accuracies of the embeddings alone, and of the layer together with them; None
            where the layer is the embeddings, or they were not read.
    """

    control: np.ndarray
    subsamples: tuple[float, ...]
    described: Description
    described_control: Description
    frequencies: float
    beyond: tuple[float, float] | None


def probe_baselines(
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
) -> Baselines:
    """Compute what stands beside the layer that was chosen.

    ``convex``: a seed changes nothing, so that the spread is that over subsamples of the rows.
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

    def code(classes: np.ndarray) -> Description:
        found = description_length(x[rows.train], classes[rows.train], known, train, seed=seed)
        progress()
        return found

    with one_thread(), ThreadPoolExecutor(AT_A_TIME) as pool:
        by_type = pool.submit(control)
        samples = [pool.submit(sample, number) for number in range(1, seeds + 1)]
        codes = [pool.submit(code, classes) for classes in (rows.classes, rows.control)]
        return Baselines(
            control=by_type.result(),
            subsamples=tuple(each.result() for each in samples),
            described=codes[0].result(),
            described_control=codes[1].result(),
            frequencies=frequency_compression(rows.classes[rows.train], known),
            beyond=_beyond(features, x, rows, chosen, train, seed) if embeddings else None,
        )


def _beyond(
    features: LayerFeatures, x: Any, rows: ProbeRows, chosen: LayerFit, train: Trainer, seed: int
) -> tuple[float, float] | None:
    # Conditional probing (Hewitt et al. 2021): embeddings alone, and with the layer's features.
    import numpy as np

    if chosen.layer == 0:
        return None
    base = features(0)
    alone = fit_features(base, rows, rows.classes, train, 0, seed=seed)
    both = np.concatenate([x, base], axis=1)
    together = fit_features(both, rows, rows.classes, train, chosen.layer, seed=seed)
    return alone.test, together.test

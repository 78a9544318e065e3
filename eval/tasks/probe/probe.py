"""Ask which of a model's layers know the labels of examples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count, pairwise
from typing import Any, cast

from coherencegym.errors import ConfigError, EvaluationError
from coherencegym.eval.hidden_states import Pool, States, states
from coherencegym.eval.kinds.documents import LabelledExample
from coherencegym.eval.models.in_memory import body_of, initialise_randomly
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.plan.requests import prepare_passages
from coherencegym.eval.statistics.estimators import one_thread
from coherencegym.eval.tasks.probe.classifiers import (
    TRAINERS,
    Fit,
    Readings,
    Trainer,
    readings,
)
from coherencegym.eval.tasks.probe.controls import control_labels, type_of
from coherencegym.eval.tasks.probe.data import ProbeTable
from coherencegym.eval.tasks.probe.options import LAST, MEAN_LAYER, ProbeOptions
from coherencegym.eval.tasks.probe.published_protocol import protocol_of, published_trainer
from coherencegym.eval.tasks.probe.study import (
    Input,
    LayerFeatures,
    LayerFits,
    ProbeRows,
    best_layer,
    fit_layers,
    input_of,
)
from coherencegym.eval.tasks.task import TaskContext
from coherencegym.eval.text.sequence import Passage


@dataclass(frozen=True)
class Probed:
    """The outcome of a probe on one table.

    Attributes:
        table: the rows.
        fits: the probes of all layers.
        control: true for each test row of the control task that is right; None under ``compat``.
        random: the probes of randomly initialised models.
        left_out: the reason why each row has no vectors; empty where it has.
        normed: layers that come after the model's final norm.
    """

    table: ProbeTable
    fits: LayerFits
    control: Any
    random: tuple[LayerFits, ...]
    left_out: tuple[str, ...]
    normed: frozenset[int] = frozenset()

    @property
    def layer(self) -> int:
        """The layer that validation chooses."""
        return best_layer(self.fits)

    @property
    def chosen(self) -> Fit:
        """The probe of that layer."""
        return self.fits[self.layer]

    @cached_property
    def tested(self) -> tuple[LabelledExample, ...]:
        """The test rows that have vectors."""
        tested = zip(self.table.table.rows, self.left_out_of_test, strict=True)
        return tuple(row for row, reason in tested if not reason)

    @property
    def left_out_of_test(self) -> tuple[str, ...]:
        """The reason why each test row has no vectors."""
        return self.left_out[len(self.left_out) - len(self.table.table.rows) :]

    def predict(self, fit: Fit) -> list[str]:
        """The label that a probe gives each row of :attr:`tested`."""
        return [self.table.labels[number] for number in fit.log_probabilities.argmax(axis=1)]

    def right(self, predicted: Iterable[str]) -> list[float]:
        """1 for each row of :attr:`tested` that is named rightly, 0 for the others."""
        named = zip(self.tested, predicted, strict=True)
        return [float(label in (row.label, *row.also)) for row, label in named]


def probed(context: TaskContext, table: ProbeTable, options: ProbeOptions) -> Probed:
    """Probe a model on one table."""
    work, model = _Work(table, options, context), context.model
    vectors = work.states(model, "reading")
    left_out = work.readings.left_out(vectors)
    rows, kept = _labelled(table, left_out, options.seed)
    fits = work.fits(vectors, rows, kept, "probes")
    control = None
    if not options.compat:
        with one_thread():
            told = work.features(vectors, kept)(best_layer(fits)), rows.control, work.trainer
            named = rows.fit(*told, seed=options.seed, in_place=True).log_probabilities
        control = named.argmax(axis=1) == rows.control[rows.test]
    random = []
    for number in range(1, options.random_init + 1):
        what = f"random init, {number} of {options.random_init}"
        untrained = initialise_randomly(model, options.seed + number)
        read = work.states(untrained, f"{what}: reading")
        random.append(work.fits(read, rows, kept, f"{what}: probes"))
    return Probed(table, fits, control, tuple(random), tuple(left_out), vectors.normed)


def settled(options: ProbeOptions, model: LoadedModel) -> ProbeOptions:
    """The options for a model: ``compat`` takes [CLS] where there is one, unless one was chosen."""
    if options.pool != "auto":
        return options
    takes_first = bool(options.compat) and _pools_first_token(model)
    return replace(options, pool="cls" if takes_first else "mean")


def _pools_first_token(model: LoadedModel) -> bool:
    # Its vector is of the whole text, as BERT has.
    passage = Passage.whole("a")
    causal = body_of(model.model).causal
    try:
        prepare_passages(model.tokenizer, model.model.config, [passage], "cls", causal=causal)
    except EvaluationError:
        return False
    return True


@dataclass(frozen=True)
class _Work:
    # A table with the choices of a run, and what follows from both.
    table: ProbeTable
    options: ProbeOptions
    context: TaskContext

    @cached_property
    def readings(self) -> Readings:
        return readings(self.table.rows, self.options.encoding)

    @cached_property
    def input(self) -> Input:
        whole = self.options.encoding == "whole"
        published = "concatenation" if whole else self.table.input
        choice = "published" if whole else self.options.input
        try:
            return input_of(choice, published, 1 if whole else self.table.slots)
        except EvaluationError as error:
            raise ConfigError(f"{self.table.table.name}: {error}") from None

    @cached_property
    def trainer(self) -> Trainer:
        if self.options.compat:
            return published_trainer(protocol_of(self.table.protocol))
        return TRAINERS[self.options.probe]

    def steps(self, what: str, total: int) -> Callable[[], None]:
        # They may be done in several threads.
        done = count(1)
        return lambda: self.context.step(what, next(done), total)

    def states(self, model: LoadedModel, what: str) -> States:
        _ = self.input, self.trainer  # what does not fit is said before the model reads
        options = self.options
        layers = options.layers
        if layers == LAST:
            layers = (body_of(model.model).layers,)
        return states(
            model.model,
            model.tokenizer,
            self.readings.passages,
            layers=layers or None,
            pool="last" if options.encoding == "whole" else cast(Pool, options.pool),
            folder=self.context.vectors,
            identity=model.identity(),
            batch_tokens=options.batch_tokens,
            progress=lambda done, total: self.context.step(what, done, total),
        )

    def features(self, vectors: States, kept: Sequence[int]) -> LayerFeatures:
        def of_layer(layer: int) -> Any:
            # Nothing keeps the vectors of all spans while features are made of them.
            return self.input(self.readings.vectors(_of_layer(vectors, layer), kept))

        return of_layer

    def fits(self, vectors: States, rows: ProbeRows, kept: Sequence[int], what: str) -> LayerFits:
        layers = (MEAN_LAYER,) if self.options.compat else vectors.layers
        about = self.features(vectors, kept), rows, layers, self.trainer
        return fit_layers(*about, seed=self.options.seed, progress=self.steps(what, len(layers)))


def _of_layer(vectors: States, layer: int) -> Any:
    if layer != MEAN_LAYER:
        return vectors.layer(layer)
    total = vectors.layer(vectors.layers[0]).copy()
    for layer in vectors.layers[1:]:
        total += vectors.layer(layer)
    return total / len(vectors.layers)


def _labelled(
    table: ProbeTable, left_out: Sequence[str], seed: int
) -> tuple[ProbeRows, tuple[int, ...]]:
    # The rows that have vectors, and their places among all.
    import numpy as np

    kept = tuple(number for number, reason in enumerate(left_out) if not reason)
    ends = np.searchsorted(kept, np.cumsum([len(table.train), len(table.validation)]))
    learned, chosen, tested = (
        slice(int(start), int(end)) for start, end in pairwise([0, *ends, len(kept)])
    )
    for part, what in zip(
        (learned, chosen, tested), ("to learn from", "to choose by", "to test on"), strict=True
    ):
        if part.start == part.stop:
            raise ConfigError(
                f"{table.table.name}: no row {what} has vectors "
                f"({', '.join(sorted({*filter(None, left_out)}))}); expected some"
            )
    rows = [table.rows[number] for number in kept]
    number_of = {label: number for number, label in enumerate(table.labels)}
    types = [type_of(row, table.about) for row in rows]
    labels = [row.label for row in rows[learned]]
    if len({*labels}) < 2:
        raise ConfigError(
            f"{table.table.name}: the training rows that have vectors have one label; expected two"
        )
    drawn = control_labels(types, labels, seed)
    classes = np.array([number_of[row.label] for row in rows])
    control = np.array([number_of[drawn[name]] for name in types])
    return ProbeRows(learned, chosen, tested, classes, control, len(table.labels)), kept

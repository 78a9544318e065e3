"""Ask which of a model's layers know the labels of examples: every layer's probe, and baselines.

Chen, Chu and Gimpel 2019 chose layers on test and fitted once. Here the layer is chosen on
validation, and beside its test accuracy stands what the number means: the same with random weights,
and the control task.

Control tasks are what a probe learns where there is nothing to learn. Hewitt and Liang 2019
("Designing and interpreting probes with control tasks"): a label is drawn for each *type* once,
from the distribution of the training labels, and learned as the task is. A probe that does as well
has memorised types; selectivity is the difference. Sentences do not recur, so the type is something
that does: the first word, in lower case, of the segment that the answer is about (of Chinese its
first two characters).

``isolated``: every segment is a text of its own, as in Chen, Chu and Gimpel 2019. ``in-context``:
the text is read once as it stands, and each slot's vector is pooled over its tokens there; under
causal attention it depends on what comes before it and nothing after. ``whole``: one vector, of the
last token of the text.

The inputs are those of Chen, Chu and Gimpel 2019 (DiscoEval), section 3, in the order of its
repository. A linear classifier of ``order`` or ``position`` can only add up what the slots say one
by one, as their differences are linear in the vectors: whether a sentence looks like a first one,
not how two of them fit. Only products (``pair``) see that.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any, cast

from coherencegym.errors import ConfigError, EvaluationError
from coherencegym.eval.hidden_states import States, states
from coherencegym.eval.kinds.documents import NO_PLACE, LabelledExample
from coherencegym.eval.models.in_memory import body_of, initialise_randomly
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.plan.options import Pool
from coherencegym.eval.plan.passages import Passage
from coherencegym.eval.statistics.estimators import one_thread
from coherencegym.eval.tasks.probe.classifiers import Fit, as_published, linear, protocol_of
from coherencegym.eval.tasks.probe.data import ProbeTable
from coherencegym.eval.tasks.probe.options import LAST, MEAN_LAYER, ProbeOptions
from coherencegym.eval.tasks.task import TaskContext
from coherencegym.eval.text.special import begins_with_cls
from coherencegym.words import join_texts, place_texts, with_spaces

if TYPE_CHECKING:
    import numpy as np


def type_of(example: LabelledExample, slot: int) -> str:
    """The first word of a slot, in lower case; of Chinese its first two characters."""
    return with_spaces(example.slots[slot].segments[0]).split()[0].lower()


def control_labels(
    types: Sequence[str], train_labels: Sequence[str], seed: int = 0
) -> dict[str, str]:
    """A label for each type, drawn from the training labels by (seed, type) and nothing else."""
    choices, drawn = sorted(train_labels), {}
    for name in {*types}:
        key = json.dumps([seed, "probe", "control", name], ensure_ascii=False)
        number = int.from_bytes(hashlib.sha256(key.encode()).digest(), "big")
        drawn[name] = choices[number % len(choices)]
    return drawn


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


def input_of(choice: str, published: str, slots: int) -> Input:
    """The input for a table whose examples have so many slots.

    Args:
        choice: one of :data:`eval.tasks.probe.options.INPUT_CHOICES`.
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
#: A function with the arguments of :func:`eval.tasks.probe.classifiers.linear`.
Trainer = Callable[..., Fit]


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

    def fit(self, x: np.ndarray, classes: np.ndarray, train: Trainer) -> Fit:
        """Train a probe on these classes of the rows.

        The features, shape (rows, dimensions), are overwritten.
        """
        learned, chosen = ((x[part], classes[part]) for part in (self.train, self.validation))
        return train(learned, chosen, x[self.test], self.number, in_place=True)


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
    progress: Callable[[], None] = lambda: None,
) -> LayerFits:
    """The probes of all layers, two at a time, each with one thread of linear algebra."""

    def one(layer: int) -> Fit:
        fit = rows.fit(features(layer), rows.classes, train)
        progress()
        return fit

    with one_thread(), ThreadPoolExecutor(AT_A_TIME) as pool:
        return dict(zip(layers, pool.map(one, layers), strict=True))


#: The reason why an example has no vectors where a slot of it is nowhere in its text.
NO_TEXT = "no_text"


@dataclass(frozen=True)
class Readings:
    """Passages, and the spans that each slot of each example is the mean of.

    Attributes:
        passages: distinct texts.
        spans: the numbers of the spans, counted over all passages, of each slot of each example;
            none where the slot is nowhere in the text.
    """

    passages: list[Passage]
    spans: list[list[list[int]]]

    def left_out(self, states: States) -> list[str]:
        """The reason why each example has no vectors; empty where it has."""
        return [
            next(
                (
                    reason
                    for slot in slots
                    for reason in (
                        [states.left_out.get(span, "") for span in slot] if slot else [NO_TEXT]
                    )
                    if reason
                ),
                "",
            )
            for slots in self.spans
        ]

    def vectors(self, of_layer: Any, examples: Sequence[int]) -> Any:
        """The vectors of the slots of some examples.

        Args:
            of_layer: the vectors of all spans in one layer, shape (spans, width).
            examples: their numbers; each has vectors, and all have equally many slots.

        Returns:
            float32, shape (examples, slots, width).
        """
        import numpy as np

        slots = [slot for number in examples for slot in self.spans[number]]
        starts = np.cumsum([0, *map(len, slots)])[:-1]
        flat = np.fromiter((span for slot in slots for span in slot), dtype=np.int64)
        if len(flat) == len(slots):
            found = of_layer[flat]
        else:
            found = np.add.reduceat(of_layer[flat], starts, axis=0)
            found /= np.fromiter(map(len, slots), dtype=np.float32)[:, None]
        return found.reshape(len(examples), -1, of_layer.shape[1])


def readings(examples: Sequence[LabelledExample], encoding: str) -> Readings:
    """The passages of examples, each distinct one once."""
    firsts: dict[Passage, int] = {}
    total = 0

    def number_of(text: str, *places: tuple[int, int]) -> int:
        nonlocal total
        passage = Passage(text, places or ((0, len(text)),))
        if passage not in firsts:
            firsts[passage] = total
            total += len(passage.spans)
        return firsts[passage]

    spans = []
    for example in examples:
        if encoding == "isolated":
            spans.append([[*map(number_of, slot.segments)] for slot in example.slots])
        elif encoding == "whole":
            spans.append([[number_of(join_texts(example.text or example.segments))]])
        else:
            spans.append(_in_context(example, number_of))
    return Readings(list(firsts), spans)


def _in_context(example: LabelledExample, number_of: Callable[..., int]) -> list[list[int]]:
    if NO_PLACE in example.places:
        return [[] for _ in example.slots]
    ends = place_texts(example.text)
    places = sorted({*example.places})
    first = number_of(join_texts(example.text), *(ends[place] for place in places))
    return [[first + places.index(place)] for place in example.places]


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
        tested = zip(self.table.rows, self.left_out_of_test, strict=True)
        return tuple(row for row, reason in tested if not reason)

    @property
    def left_out_of_test(self) -> tuple[str, ...]:
        """The reason why each test row has no vectors."""
        return self.left_out[len(self.left_out) - len(self.table.rows) :]

    def predict(self, fit: Fit) -> list[str]:
        """The label that a probe gives each row of :attr:`tested`."""
        return [self.table.labels[number] for number in fit.log_probabilities.argmax(axis=1)]

    def right(self, predicted: Iterable[str]) -> list[float]:
        """1 for each row of :attr:`tested` that is named rightly, 0 for the others."""
        named = zip(self.tested, predicted, strict=True)
        return [float(label in (row.label, *row.also)) for row, label in named]


def probed(context: TaskContext, table: ProbeTable, options: ProbeOptions) -> Probed:
    """Probe a model on one table."""
    model, is_whole = context.model, options.encoding == "whole"
    combined, train = _input(table, options), _trainer(table, options)
    passages = readings(table.every, options.encoding)
    layers: tuple[int, ...] | None = options.layers or None

    def read(of: LoadedModel, what: str) -> States:
        return states(
            of.model,
            of.tokenizer,
            passages.passages,
            layers=(body_of(of.model).layers,) if layers == LAST else layers,
            pool="last" if is_whole else cast(Pool, options.pool),
            folder=context.vectors,
            identity=of.identity(),
            batch_tokens=options.batch_tokens,
            progress=lambda done, total: context.step(what, done, total),
        )

    def features(vectors: States) -> LayerFeatures:
        # Nothing keeps the vectors of all spans while features are made of them.
        return lambda layer: combined(passages.vectors(_of_layer(vectors, layer), kept))

    def fits_of(vectors: States, what: str) -> LayerFits:
        chosen = (MEAN_LAYER,) if options.compat else vectors.layers
        done = count(1)  # they may be done in several threads
        how = features(vectors), rows, chosen, train
        return fit_layers(*how, lambda: context.step(what, next(done), len(chosen)))

    vectors = read(model, "reading")
    left_out = passages.left_out(vectors)
    rows, kept = _labelled(table, left_out, options.seed)
    fits = fits_of(vectors, "probes")
    control = None
    if not options.compat:
        with one_thread():
            fit = rows.fit(features(vectors)(best_layer(fits)), rows.control, train)
        control = fit.log_probabilities.argmax(axis=1) == rows.control[rows.test]
    random = []
    for number in range(1, options.random_init + 1):
        what = f"random init, {number} of {options.random_init}"
        untrained = initialise_randomly(model, options.seed + number)
        random.append(fits_of(read(untrained, f"{what}: reading"), f"{what}: probes"))
    return Probed(table, fits, control, tuple(random), tuple(left_out), vectors.normed)


def _input(table: ProbeTable, options: ProbeOptions) -> Input:
    try:
        if options.encoding == "whole":
            return input_of("published", "concatenation", 1)
        return input_of(options.input, table.input, table.slots)
    except EvaluationError as error:
        raise ConfigError(f"{table.name}: {error}") from None


def _trainer(table: ProbeTable, options: ProbeOptions) -> Trainer:
    return partial(as_published, protocol_of(table.protocol)) if options.compat else linear


def settled(options: ProbeOptions, model: LoadedModel) -> ProbeOptions:
    """The options for a model: ``compat`` takes [CLS] where there is one, unless one was chosen."""
    if options.pool != "auto":
        return options
    takes_first = bool(options.compat) and not body_of(model.model).causal
    takes_first = takes_first and begins_with_cls(model.tokenizer)
    return replace(options, pool="cls" if takes_first else "mean")


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
                f"{table.name}: no row {what} has vectors "
                f"({', '.join(sorted({*filter(None, left_out)}))}); expected some"
            )
    rows = [table.every[number] for number in kept]
    number_of = {label: number for number, label in enumerate(table.labels)}
    types = [type_of(row, table.about) for row in rows]
    labels = [row.label for row in rows[learned]]
    if len({*labels}) < 2:
        raise ConfigError(
            f"{table.name}: the training rows that have vectors have one label; expected two"
        )
    drawn = control_labels(types, labels, seed)
    classes = np.array([number_of[row.label] for row in rows])
    control = np.array([number_of[drawn[name]] for name in types])
    return ProbeRows(learned, chosen, tested, classes, control, len(table.labels)), kept

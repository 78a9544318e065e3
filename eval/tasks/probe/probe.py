"""Ask which of a model's layers know the labels of examples."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import count, pairwise
from pathlib import Path
from typing import Any, cast

from coherencegym.errors import ConfigError, EvaluationError
from coherencegym.eval.hidden_states import Pool, States, states
from coherencegym.eval.kinds.examples import LabelledExample
from coherencegym.eval.kinds.items import Condition, Region
from coherencegym.eval.models.in_memory import body_of, initialise_randomly
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.plan.explain import operations_per_second
from coherencegym.eval.plan.options import Options
from coherencegym.eval.plan.requests import Query, prepare_passages
from coherencegym.eval.statistics.estimators import one_thread
from coherencegym.eval.tasks.probe.classifiers import (
    INVERSE_PENALTIES,
    TRAINERS,
    Readings,
    Trainer,
    readings,
)
from coherencegym.eval.tasks.probe.controls import control_labels, type_of
from coherencegym.eval.tasks.probe.data import ProbeTable
from coherencegym.eval.tasks.probe.options import LAST, MEAN_LAYER, ProbeOptions
from coherencegym.eval.tasks.probe.published_protocol import protocol_of, published_trainer
from coherencegym.eval.tasks.probe.study import (
    AT_A_TIME,
    Baselines,
    Curve,
    Input,
    LayerFeatures,
    LayerFit,
    ProbeRows,
    curve,
    fit_features,
    input_of,
    probe_baselines,
)
from coherencegym.eval.tasks.task import Loader
from coherencegym.eval.text.sequence import Passage
from coherencegym.words.scripts import join_texts


@dataclass(frozen=True)
class Probed:
    """The outcome of a probe on one table.

    Attributes:
        table: the rows.
        curve: the probes of all layers.
        baselines: the figures beside the chosen layer; None under ``compat``.
        random: the curves of randomly initialised models.
        surprisal: a probe that sees only the mean surprisal of each slot, where slots are read in
            context by a causal model; None elsewhere.
        left_out: the reason why each row has no vectors; empty where it has.
        normed: layers that come after the model's final norm.
        tokens: the number that the model read.
    """

    table: ProbeTable
    curve: Curve
    baselines: Baselines | None
    random: tuple[Curve, ...]
    surprisal: LayerFit | None
    left_out: tuple[str, ...]
    normed: frozenset[int] = frozenset()
    tokens: int = 0

    @property
    def chosen(self) -> LayerFit:
        """The probe of the layer that validation chooses."""
        return self.curve.best

    @cached_property
    def tested(self) -> tuple[LabelledExample, ...]:
        """The test rows that have vectors."""
        tested = zip(self.table.table.rows, self.left_out_of_test, strict=True)
        return tuple(row for row, reason in tested if not reason)

    @property
    def left_out_of_test(self) -> tuple[str, ...]:
        """The reason why each test row has no vectors."""
        return self.left_out[len(self.left_out) - len(self.table.table.rows) :]

    def predict(self, fit: LayerFit) -> list[str]:
        """The label that a probe gives each row of :attr:`tested`."""
        return [self.table.labels[number] for number in fit.log_probabilities.argmax(axis=1)]


#: Called with what is being done, how much of it is done, and how much there is.
ProbeProgress = Callable[[str, int, int], None]


def probed(
    model: LoadedModel,
    table: ProbeTable,
    options: ProbeOptions,
    *,
    folder: Path | None = None,
    progress: ProbeProgress = lambda what, done, total: None,
) -> Probed:
    """Probe a model on one table.

    ``folder`` keeps vectors from run to run; None: they are thrown away.
    """
    work = _Work(table, options, folder, progress)
    vectors = work.states(model, "reading")
    left_out = work.readings.left_out(vectors)
    rows, kept = _labelled(table, left_out, options.seed)
    fits = partial(_curve, work, rows, kept)
    found = fits(vectors, "probes")
    layered = None
    if not options.compat:
        layered = probe_baselines(
            *(work.features(vectors, kept), rows, found.best, work.trainer),
            convex=options.probe == "linear",
            embeddings=0 in vectors.layers,
            seed=options.seed,
            seeds=options.seeds,
            progress=_steps(progress, "control, subsamples, description", options.seeds + 3),
        )
    random = []
    for number in range(1, options.random_init + 1):
        what = f"random init, {number} of {options.random_init}"
        untrained = initialise_randomly(model, options.seed + number)
        random.append(fits(work.states(untrained, f"{what}: reading"), f"{what}: probes"))
    return Probed(
        table=table,
        curve=found,
        baselines=layered,
        random=tuple(random),
        surprisal=_by_surprisal(model, work, rows, kept),
        left_out=tuple(left_out),
        normed=vectors.normed,
        tokens=vectors.tokens,
    )


def trainer_of(table: ProbeTable, options: ProbeOptions) -> Trainer:
    """The trainer of the classifiers of a table."""
    if options.compat:
        return published_trainer(protocol_of(table.protocol))
    return TRAINERS[options.probe]


def load_to_probe(options: ProbeOptions, loader: Loader) -> LoadedModel:
    """The model: loaded as one that scores texts where surprisals are read too, if it does that."""
    if _reads_surprisals(options):
        try:
            return loader.scores()
        except EvaluationError:  # no causal language model, which it need not be
            pass
    return loader.vectors()


def settled(options: ProbeOptions, model: LoadedModel) -> ProbeOptions:
    """The options for a model: ``compat`` takes [CLS] where there is one, unless one was chosen."""
    if options.pool != "auto":
        return options
    takes_first = bool(options.compat) and _pools_first_token(model)
    return replace(options, pool="cls" if takes_first else "mean")


def _reads_surprisals(options: ProbeOptions) -> bool:
    return options.encoding == "in-context" and not options.compat


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
    folder: Path | None
    progress: ProbeProgress

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
        return trainer_of(self.table, self.options)

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
            folder=self.folder,
            identity=model.identity(),
            name=model.name,
            batch_tokens=options.batch_tokens,
            progress=lambda done, total: self.progress(what, done, total),
        )

    def features(self, vectors: States, kept: Sequence[int]) -> LayerFeatures:
        def of_layer(layer: int) -> Any:
            # Nothing keeps the vectors of all spans while features are made of them.
            return self.input.make(self.readings.vectors(_of_layer(vectors, layer), kept))

        return of_layer


def _of_layer(vectors: States, layer: int) -> Any:
    if layer != MEAN_LAYER:
        return vectors.layer(layer)
    total = vectors.layer(vectors.layers[0]).copy()
    for layer in vectors.layers[1:]:
        total += vectors.layer(layer)
    return total / len(vectors.layers)


def _curve(work: _Work, rows: ProbeRows, kept: Sequence[int], vectors: States, what: str) -> Curve:
    layers = (MEAN_LAYER,) if work.options.compat else vectors.layers
    steps = _steps(work.progress, what, len(layers))
    features = work.features(vectors, kept)
    return curve(features, rows, layers, work.trainer, seed=work.options.seed, progress=steps)


def _steps(progress: ProbeProgress, what: str, total: int) -> Callable[[], None]:
    # They may be done in several threads.
    done = count(1)
    return lambda: progress(what, next(done), total)


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


def _by_surprisal(
    model: LoadedModel, work: _Work, rows: ProbeRows, kept: Sequence[int]
) -> LayerFit | None:
    # It sees the mean surprisal (bits per token) of each slot in its text alone. That ties what
    # layers know to what the model finds surprising: where it does as well as they do, their
    # vectors may say no more than that.
    if not _reads_surprisals(work.options):
        return None
    if model.model.get_output_embeddings() is None or model.scorer != "causal":
        return None
    import numpy as np

    from coherencegym.eval.surprisal import surprisals

    queries = [_query(work.table.rows[number]) for number in kept]
    options = Options(batch_tokens=work.options.batch_tokens)
    read = surprisals(model.model, model.tokenizer, queries, options, uses_separator=False)
    x = np.zeros((len(kept), work.table.slots), dtype=np.float32)
    for number, (row, answer) in enumerate(zip(kept, read.items, strict=True)):
        for slot, place in enumerate(work.table.rows[row].places):
            bits = answer.conditions[_TEXT].region_bits(place + 1)
            x[number, slot] = bits.mean() if len(bits) else 0.0
    return fit_features(x, rows, rows.classes, work.trainer, MEAN_LAYER, seed=work.options.seed)


#: The condition in which a text is read.
_TEXT = "text"


def _query(row: LabelledExample) -> Query:
    # A region for each of the row's units, those of slots read.
    regions = tuple(Region(number, unit) for number, unit in enumerate(row.text, start=1))
    read = frozenset(place + 1 for place in row.places)
    return Query(row.item_id, [Condition(_TEXT, join_texts(row.text), regions)], {_TEXT: read})


#: Rows of the fit that is tried.
_TRIED = 500
#: Codes of description length, each about as much as one fit; embeddings alone and with a layer.
_CODES, _BEYOND = 2, 3


@dataclass(frozen=True)
class Cost:
    """The work on one table.

    Attributes:
        name: config and split.
        rows, texts, tokens: rows of all splits, distinct texts that are read, their tokens.
        layers, fits: layers, and classifiers that are trained.
        reading, fitting: seconds, roughly, on the processor of this machine.
    """

    name: str
    rows: int
    texts: int
    tokens: int
    layers: int
    fits: int
    reading: float
    fitting: float


def costs(
    tables: Sequence[ProbeTable], options: ProbeOptions, config: Any, tokenizer: Any
) -> Iterator[Cost]:
    """The work on each table; only the model's config and tokenizer are needed."""
    parameters, width, blocks = _shape(config)
    rate = operations_per_second()
    for table in tables:
        passages = readings(table.rows, options.encoding).passages
        ids = tokenizer([one.text for one in passages])["input_ids"]
        tokens = sum(map(len, ids))
        layers = len(options.layers) if options.layers not in ((), LAST) else blocks + 1
        layers = 1 if options.layers == LAST or options.compat else layers
        models = 1 + options.random_init
        beside = 0 if options.compat else 1 + options.seeds + _CODES + _BEYOND
        fits = layers * models + beside
        slots = 1 if options.encoding == "whole" else table.slots
        choice = "published" if options.encoding == "whole" else options.input
        published = "concatenation" if options.encoding == "whole" else table.input
        dimensions = width * input_of(choice, published, slots).blocks(slots)
        yield Cost(
            table.table.name,
            len(table.rows),
            len(passages),
            tokens,
            layers,
            fits * len(INVERSE_PENALTIES),
            models * tokens * 2 * parameters / rate,
            fits * _seconds_of_fit(table, options, dimensions) / AT_A_TIME,
        )


def _shape(config: Any) -> tuple[int, int, int]:
    # Parameters without embeddings, width and number of layers.
    import torch
    from transformers import AutoModel

    text = config.get_text_config()
    with torch.device("meta"):
        model = AutoModel.from_config(text)
    embeddings = model.get_input_embeddings().weight.numel()
    return model.num_parameters() - embeddings, text.hidden_size, text.num_hidden_layers


def _seconds_of_fit(table: ProbeTable, options: ProbeOptions, dimensions: int) -> float:
    # That of a trial with random numbers, of some of the rows, by one thread.
    import numpy as np

    rows = min(len(table.train), _TRIED)
    random = np.random.default_rng(0)
    x = random.standard_normal((rows + 100, dimensions), dtype=np.float32)
    y = random.permutation(np.arange(rows + 100) % len(table.labels))
    trainer = trainer_of(table, options)
    with one_thread():
        start = time.perf_counter()
        trainer((x[:rows], y[:rows]), (x[rows:], y[rows:]), len(table.labels), seed=0)
        seconds = time.perf_counter() - start
    return seconds * len(table.train) / rows

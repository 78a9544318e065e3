"""The work of a probe, before it is done: texts, tokens, fits, seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.eval.plan.explain import operations_per_second
from coherencegym.eval.statistics.threads import one_thread
from coherencegym.eval.tasks.probe.classifiers import INVERSE_PENALTIES
from coherencegym.eval.tasks.probe.data import ProbeTable
from coherencegym.eval.tasks.probe.encoding import readings
from coherencegym.eval.tasks.probe.inputs import input_of
from coherencegym.eval.tasks.probe.options import LAST, ProbeOptions
from coherencegym.eval.tasks.probe.probe import trainer_of
from coherencegym.eval.tasks.probe.study import AT_A_TIME

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

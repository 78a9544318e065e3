"""The work of a probe, before it is done: texts, tokens, fits, minutes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.eval.tasks.probe.classifiers import INVERSE_PENALTIES
from coherencegym.eval.tasks.probe.data import ProbeTable
from coherencegym.eval.tasks.probe.encoding import readings
from coherencegym.eval.tasks.probe.inputs import input_of
from coherencegym.eval.tasks.probe.options import LAST, ProbeOptions

#: Seconds of a fit for each row, dimension and class, as measured with scikit-learn on features
#: with a power-law spectrum: 20,000 rows of 3,072 dimensions, 12 classes, take about 6.
_SECONDS = 0.9e-8
#: Codes of description length, each about as much as one fit; embeddings alone and with a layer.
_CODES, _BEYOND = 2, 3


@dataclass(frozen=True)
class Cost:
    """The work on one table.

    Attributes:
        name: config and split.
        rows, texts, tokens: rows of all splits, distinct texts that are read, their tokens.
        layers, fits: layers, and classifiers that are trained.
        reading, fitting: minutes, roughly, on the processor of this machine.
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
    rate = _multiplications()
    for table in tables:
        passages = readings(table.rows, options.encoding).passages
        ids = tokenizer([one.text for one in passages])["input_ids"]
        tokens = sum(map(len, ids))
        layers = len(options.layers) if options.layers not in ((), LAST) else blocks + 1
        layers = 1 if options.layers == LAST or options.compat else layers
        models = 1 + options.random_init
        beside = 0 if options.compat else 1 + options.seeds + _CODES + _BEYOND
        fits = (layers * models + beside) * len(INVERSE_PENALTIES)
        slots = 1 if options.encoding == "whole" else table.slots
        choice = "published" if options.encoding == "whole" else options.input
        published = "concatenation" if options.encoding == "whole" else table.input
        dimensions = width * input_of(choice, published, slots).blocks(slots)
        classes = len(table.labels) if len(table.labels) > 2 else 1
        yield Cost(
            table.table.name,
            len(table.rows),
            len(passages),
            tokens,
            layers,
            fits,
            models * tokens * 2 * parameters / rate / 60,
            fits * _SECONDS * len(table.train) * dimensions * classes / 60,
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


def _multiplications() -> float:
    # Additions included; those of a second, about.
    import torch

    x = torch.ones(512, 512)
    x @ x
    start, done = time.perf_counter(), 0
    while time.perf_counter() < start + 0.05:
        x @ x
        done += 2 * 512**3
    return done / (time.perf_counter() - start)

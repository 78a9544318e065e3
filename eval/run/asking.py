"""A model that is asked: one in memory, or loaded by its name, with what is cached of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError, shown_value
from coherencegym.eval.forward.cache import Cache
from coherencegym.eval.forward.distributed import World, join_processes, own_device
from coherencegym.eval.models.in_memory import evaluating, in_memory, tokenizer_of
from coherencegym.eval.models.kind import ScorerChoice
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.plan.options import Options
from coherencegym.eval.run.cache import open_cache
from coherencegym.eval.run.options import ModelOptions, OutputOptions

_EXPECTED = "expected a model id, a folder, a loaded model, or a list of these"


def described_model(
    options: ModelOptions, where: str, reads: Callable[[Any], bool], scorer: ScorerChoice
) -> ModelOptions:
    """The options of a model by name, or with what results say of one that is in memory.

    Args:
        options: those of one model.
        where: the function that was called, for errors.
        reads: tells whether surprisals are read of a model of transformers.
        scorer: the way in which they are read.

    Raises:
        EvaluationError: it is no model.
    """
    model, tokenizer = options.model, None
    if isinstance(model, str | Path):
        return replace(options, model=str(model))
    if isinstance(model, LoadedModel):
        return options
    if isinstance(model, tuple) and len(model) == 2:
        model, tokenizer = model
    if not hasattr(model, "config") or not hasattr(model, "forward"):
        raise EvaluationError(f"{where}: {shown_value(model)}; {_EXPECTED}")
    tokenizer = tokenizer_of(model) if tokenizer is None else tokenizer
    with evaluating(model):  # it is asked whether it sees ahead, which dropout looks like
        loaded = in_memory(model, tokenizer, scores=reads(model), scorer=scorer)
    return replace(options, model=loaded)


@contextmanager
def reading_model(
    options: ModelOptions, reading: Options, output: OutputOptions, processes: World
) -> Iterator[tuple[LoadedModel, Options, Cache | None]]:
    """A model that reads texts, in as many processes as there are, how it does, and its cache.

    Raises:
        EvaluationError: it cannot be loaded, or an option has no meaning for its scorer.
    """
    loaded: LoadedModel = options.model
    if options.is_loaded and reading.is_masked and loaded.scorer == "causal":
        raise EvaluationError(
            f"model {loaded.name!r} is loaded as a causal one; expected load_model(..., "
            f"scorer={reading.scorer!r}), or scorer='causal'"
        )
    with join_processes(processes):
        if not options.is_loaded:
            device = own_device(options.device, processes)
            loaded = replace(options, device=device).load(reading.scorer)
        reading = reading.settled(loaded.scorer)
        with (
            evaluating(loaded.model) if options.is_loaded else nullcontext(),
            open_cache(output, loaded, reading.identity()) or nullcontext() as cache,
        ):
            yield loaded, reading, cache

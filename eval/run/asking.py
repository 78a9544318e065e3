"""A model that is asked: one in memory, or loaded by its name, with what is cached of it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError, one_line, shown_value
from coherencegym.eval.forward.cache import Cache, cache_folder
from coherencegym.eval.forward.distributed import World, join_processes, own_device
from coherencegym.eval.models.in_memory import evaluating, in_memory, tokenizer_of
from coherencegym.eval.models.kind import ScorerChoice
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.plan.options import Options
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
    """A model that reads texts, in as many processes as there are, how it does, and its cache."""
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


def open_cache(
    options: OutputOptions, model: LoadedModel, settings: Mapping[str, Any]
) -> Cache | None:
    """The cache of a model, or None where nobody wants one or nothing says which weights it has.

    The latter is said on standard error. ``settings`` are what else surprisals depend on.
    """
    if options.no_cache:
        return None
    if model.commit == "unknown":
        if os.environ.get("RANK", "0") == "0":
            print(
                f"coherencegym: {one_line(model.name)}: its commit is not known, so its "
                "surprisals are not kept",
                file=sys.stderr,
            )
        return None
    from coherencegym.eval.data.signature import versions

    # ``cuda`` for ``cuda:0`` and for ``cuda:0+cuda:1``: a run may go on where it finds room.
    devices = sorted({device.partition(":")[0] for device in model.device.split("+")})
    found = versions(model.about())
    # Not the model's name: a folder that was moved, or an alias on the Hub, has the same weights.
    description = {
        "identity": json.loads(model.identity()),
        "remote_code": model.remote_code,
        "device": "+".join(devices),
        "settings": dict(settings),
        "versions": {name: number for name, number in found.items() if name != "coherencegym"},
    }
    return Cache(cache_folder(options.cache), description, model.name)


def in_bytes(count: int) -> str:
    """A size for people: ``12.3 MB``."""
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def print_cache(cache: Cache, known: int, texts: int, is_masked: bool) -> None:
    """Say how many of the texts of a run earlier ones had cached, and where."""
    size = sum(path.stat().st_size for path in cache.files() if path.is_file())
    what = "copies of texts with masks" if is_masked else "texts"
    where = f"{cache.path.parent}, {in_bytes(size)}"
    print(f"{known:,} of {texts:,} {what} were cached by earlier runs ({where})")
    if cache.corrupt:
        print(f"{cache.corrupt:,} damaged entries of the cache were computed again")
    for note in cache.notes:
        print(note)

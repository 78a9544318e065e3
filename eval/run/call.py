"""The options of a task, and the model that is asked: its cache and the progress included.

The words of a shell and the arguments of Python are read by the same function. Progress is on
standard error: bars on a terminal, else a line a table.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import options_in
from coherencegym.errors import EvaluationError, one_line, shown_value
from coherencegym.eval.backends import backend_of
from coherencegym.eval.forward.cache import Cache, cache_folder
from coherencegym.eval.models.config import ScorerChoice
from coherencegym.eval.models.in_memory import evaluating, in_memory, tokenizer_of
from coherencegym.eval.models.load import LoadedModel, Unloaded
from coherencegym.eval.models.machine import World, join_processes, own_device
from coherencegym.eval.plan.options import INPUT, RUNNING, Options
from coherencegym.eval.run.options import (
    CHECKPOINTS,
    DataOptions,
    ItemOptions,
    ModelOptions,
    OutputOptions,
)
from coherencegym.eval.tasks.options import CommandLine, options_from, refuse_unknown
from coherencegym.terminal import shown_console

if TYPE_CHECKING:
    from coherencegym.eval.tasks.task import StepProgress, Task


#: The name of what a cache knows of weights, which are not loaded where it knows all texts.
_WEIGHTS = "weights"
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
    caches: dict[tuple[str, str], Cache | None] = {}

    def cache_of(model: LoadedModel) -> Cache | None:
        key = model.identity(), model.device
        if key not in caches:
            settings = reading.settled(model.scorer).identity()
            opened = open_cache(output, model, settings) or nullcontext()
            caches[key] = open_together.enter_context(opened)
        return caches[key]

    def known(model: LoadedModel) -> dict[str, int] | None:
        # Of several processes one may find what another has just kept: what they exchange would
        # differ.
        cache = cache_of(model) if processes.size == 1 else None
        return None if cache is None else cache.recall(_WEIGHTS)

    with join_processes(processes), ExitStack() as open_together:
        if options.is_loaded:
            open_together.enter_context(evaluating(loaded.model))
        else:
            device = own_device(options.device, processes)
            loaded = replace(options, device=device).load(reading.scorer, known)
        cache = cache_of(loaded)
        if cache is not None and not isinstance(loaded.model, Unloaded):
            size = backend_of(loaded.model).vocabulary(loaded.model)
            cache.remember(_WEIGHTS, {"parameters": loaded.parameters, "vocabulary": size})
        yield loaded, reading.settled(loaded.scorer), cache


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
    return Cache(cache_folder(options.cache), description)


def print_cache(cache: Cache, known: int, texts: int, is_masked: bool, verbose: bool) -> None:
    """Say what was wrong with the cache of a run; ``verbose``: how many texts it had, and where."""
    what = "copies of texts with masks" if is_masked else "texts"
    if verbose:
        print(f"{known:,} of {texts:,} {what} were cached ({cache.path.parent})")
    if cache.corrupt:
        print(f"{cache.corrupt:,} damaged entries of the cache were computed again")
    for note in cache.notes:
        print(note)


def options_of_command(command: CommandLine) -> list[tuple[type[Any], Collection[str]]]:
    """The dataclasses of a command's options, and the names that it takes of each.

    They are those of model, data, reading, of the task's own and of output.
    """
    own = options_in(command.options)
    reading: Collection[str] = options_in(Options)
    if not command.several:
        reading = (*INPUT, *RUNNING) if command.reads_bits else ()
    model = [
        name for name in options_in(ModelOptions) if command.several or name not in CHECKPOINTS
    ]
    data = ItemOptions if command.several else DataOptions
    return [
        (ModelOptions, model),
        (data, options_in(data)),
        (Options, [name for name in reading if name not in own]),
        (command.options, own),
        (OutputOptions, options_in(OutputOptions)),
    ]


def task_options(
    task: Task[Any, Any, Any], given: Mapping[str, Any], where: str = ""
) -> tuple[ModelOptions, DataOptions, Options, Any, OutputOptions]:
    """The options of a task, checked; ``where`` is that of :func:`parse_options`.

    They are those of model, data, reading, of the task's own and of output.
    """
    usual: dict[str, Any] = {"scorer": "auto"} if task.command.several else {}
    kinds = options_of_command(task.command)
    model, data, reading, own, output = parse_options(kinds, given, where, usual)
    reading.check()
    return model, data, reading, task.check(own), output


def parse_options(
    kinds: Sequence[tuple[type[Any], Collection[str]]],
    given: Mapping[str, Any],
    where: str,
    usual: Mapping[str, Any],
) -> list[Any]:
    """The dataclasses of a command's options, of the names that it takes of each.

    Args:
        kinds: the dataclasses, and the names.
        given: the options that were given.
        where: the function of Python that was called; empty in the shell.
        usual: values by default, where they are not those of the dataclass.
    """
    if where:
        # In Python nothing is said of progress, and nothing is kept unless a folder is named.
        usual = {**usual, "quiet": True, "no_cache": given.get("cache") is None}
    begin = f"{where}: " if where else ""
    refuse_unknown(begin, given, {name for _, names in kinds for name in names})
    values = {**usual, **given}
    return [
        options_from(kind, {name: values[name] for name in names if name in values}, begin)
        for kind, names in kinds
    ]


@contextmanager
def timed(what: str, number: int, units: str, is_quiet: bool) -> Iterator[None]:
    """Say on standard error what was done, and how long it took, where no bar has shown it.

    ``number`` and ``units`` count it: ``sample (test): 234 items in 1.2 s``, without a time that
    is none. What fails has a line of its own.
    """
    began = time.monotonic()
    yield
    if not is_quiet and not sys.stderr.isatty():
        said = _counted(what, number, units)
        # What the cache knows takes no time, beside what takes the rest of the run.
        taken = time.monotonic() - began
        print(said + (f" in {taken:,.1f} s" if taken >= 0.05 else ""), file=sys.stderr)


def _counted(what: str, number: int, units: str) -> str:
    return f"{what}: {number:,} {units if number != 1 else units.removesuffix('s')}"


@contextmanager
def progress_bar(what: str, number: int, units: str, is_quiet: bool) -> Iterator[StepProgress]:
    """A bar for each step of a task, on a terminal; else what :func:`timed` says.

    A step without a name is that of reading texts, whose tokens are counted.
    """
    if is_quiet or not sys.stderr.isatty():
        with timed(what, number, units, is_quiet):
            yield lambda step, done, total: None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column

    # Where there is little room, the bar is what gets shorter.
    last = MofNCompleteColumn(), TimeRemainingColumn(table_column=Column(no_wrap=True))
    shown = (TextColumn("{task.description}", markup=False), BarColumn(), *last)
    with Progress(*shown, console=shown_console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def show(step: str, done: int, total: int) -> None:
            if step not in tasks:
                said = f"{what}: {step}"
                if not step:
                    said = f"{_counted(what, number, units)}, {total:,} tokens"
                tasks[step] = bar.add_task(said, total=total)
            bar.update(tasks[step], completed=done, total=total)

        yield show

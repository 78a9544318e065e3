"""A model on the tables of a run, or the plan of it: what tasks have alike."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherencegym.errors import one_line
from coherencegym.eval.commands.options import (
    load_model,
    model_config,
)
from coherencegym.eval.forward.cache import Cache, cache_folder
from coherencegym.eval.forward.distributed import World, join_processes, own_device, world
from coherencegym.eval.tasks.options import flag_of
from coherencegym.terminal import shown_console

if TYPE_CHECKING:
    from coherencegym.eval.models.kind import Scorer
    from coherencegym.eval.models.load import LoadedModel
    from coherencegym.eval.plan.batches import Budget
    from coherencegym.eval.plan.options import Options
    from coherencegym.eval.plan.requests import Query
    from coherencegym.eval.tasks.task import StepProgress


@dataclass(frozen=True)
class Running:
    """A loaded model, with cache and processes of the run, and the options as they are for it.

    ``is_quiet``: nothing is said of what is being read.
    """

    loaded: LoadedModel
    cache: Cache | None
    processes: World
    options: Options
    is_quiet: bool = False

    @contextmanager
    def reading(self, what: str, number: int, units: str) -> Iterator[dict[str, Any]]:
        """Arguments for the reading of one table, of so many units, whose progress is shown."""
        is_quiet = self.is_quiet or not self.processes.is_first
        said = _counted(what, number, units)
        with timed(what, number, units, is_quiet), _progress_bar(said, is_quiet) as progress:
            yield {"store": self.cache, "progress": progress, "world": self.processes}

    def print_cache(self, known: int, texts: int) -> None:
        """Say how many of the texts of a run earlier ones had cached, and where."""
        if self.cache is None:
            return
        size = sum(path.stat().st_size for path in self.cache.files() if path.is_file())
        where = f"{self.cache.path.parent}, {in_bytes(size)}"
        what = "copies of texts with masks" if self.options.is_masked else "texts"
        print(f"{known:,} of {texts:,} {what} were cached by earlier runs ({where})")
        if self.cache.corrupt:
            print(f"{self.cache.corrupt:,} damaged entries of the cache were computed again")
        for note in self.cache.notes:
            print(note)


@contextmanager
def running(arguments: argparse.Namespace, options: Options) -> Iterator[Running]:
    """The model that the options name, in as many processes as were launched.

    Raises:
        EvaluationError: it cannot be loaded, or an option has no meaning for its scorer.
    """
    processes = world()
    arguments.device = own_device(arguments.device, processes)
    with join_processes(processes):
        loaded = load_model(arguments, scorer=options.scorer)
        settled = options.settled(loaded.scorer, flag_of)
        with open_cache(arguments, loaded, settled.identity()) or nullcontext() as cache:
            yield Running(loaded, cache, processes, settled, arguments.quiet)


def open_cache(
    arguments: argparse.Namespace, model: LoadedModel, settings: Mapping[str, Any]
) -> Cache | None:
    """The cache of a model, or None where nobody wants one or nothing says which weights it has.

    The latter is said on standard error. ``settings`` are what else surprisals depend on.
    """
    if arguments.no_cache:
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
    return Cache(cache_folder(arguments.cache), description, model.name)


def in_bytes(count: int) -> str:
    """A size for people: ``12.3 MB``."""
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


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
def _progress_bar(what: str, is_quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    if is_quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    # Where there is little room, the bar is what gets shorter.
    left = TimeRemainingColumn(table_column=Column(no_wrap=True))
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), left)
    with Progress(*columns, console=shown_console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def show(done: int, total: int) -> None:
            if not done:
                bar.update(task, description=f"{what}, {total:,} tokens")
            bar.update(task, completed=done, total=total)

        yield show


@contextmanager
def step_bars(what: str, number: int, units: str, is_quiet: bool) -> Iterator[StepProgress]:
    """Progress bars on standard error if that is a terminal; else what :func:`timed` says."""
    if is_quiet or not sys.stderr.isatty():
        with timed(what, number, units, is_quiet):
            yield lambda step, done, total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=shown_console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def show(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bar.add_task(f"{what}: {step}", total=total)
            bar.update(tasks[step], completed=done, total=total)

        yield show


@dataclass(frozen=True)
class Work:
    """The cost of a run that was not made: rows of its table, and lines under it."""

    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


def planned_work(
    arguments: argparse.Namespace,
    texts: Iterable[tuple[str, Sequence[Query], bool]],
    options: Options,
    *,
    in_chat: bool = False,
    known: MutableMapping[object, Work] | None = None,
) -> Work:
    """The work of a run; only the model's config and tokenizer are read.

    Args:
        arguments: the options of the model.
        texts: the name of each table, what is read of it, and whether ``[SEP]`` is a separator.
        options: reading and running.
        in_chat: they are read where the tokenizer's chat template lets the model speak.
        known: the work on these very texts with other models. That of one alike is taken from
            there, and the texts are not read; that of another is kept there.

    Raises:
        EvaluationError: they cannot be read, or a text cannot be encoded.
    """
    from coherencegym.eval.models.kind import class_for, scorer_of
    from coherencegym.eval.models.limits import limits_of
    from coherencegym.eval.plan.cached import identity_of
    from coherencegym.eval.plan.explain import (
        explain_row,
        operations,
        operations_per_second,
        shape_of,
        time_text,
    )
    from coherencegym.eval.plan.memory import default_budget
    from coherencegym.eval.plan.plan import make_plan
    from coherencegym.eval.plan.requests import prepare
    from coherencegym.eval.text.chat import chat_of
    from coherencegym.eval.text.words import word_beginnings

    config, tokenizer = model_config(arguments, scorer=options.scorer)
    about = {**config.to_dict(), "_name_or_path": None}
    # A tokenizer that cannot say what it does is like no other.
    alike = identity_of(tokenizer) or object(), json.dumps(about, sort_keys=True, default=str)
    if known is not None and alike in known:
        return known[alike]
    scorer = scorer_of(config) if options.scorer == "auto" else options.scorer
    options = options.settled(scorer, flag_of)
    how: dict[str, Any] = {"chat": chat_of(tokenizer) if in_chat else None}
    if options.word_correction:
        how["words"] = word_beginnings(tokenizer, config.get_text_config().vocab_size)
    device = "cpu" if arguments.device in ("auto", "cpu") else arguments.device.partition(":")[0]
    budget = default_budget(device, options.batch_tokens)
    shape = shape_of(config, class_for(config, scorer, arguments.trust_remote_code))
    shares = options.share and not options.is_masked
    rows, shared, work = [], False, 0
    for name, queries, uses_separator in texts:
        how["uses_separator"] = uses_separator
        prepared = prepare(tokenizer, config, queries, options, **how)
        plain = make_plan(prepared.requests, budget, limits=limits_of(config))
        plan = plain.batched(budget, sharing="packed") if shares else plain
        rows.append(explain_row(name, plain, plan, shape))
        shared |= plan.shares
        work += operations(plan, shape)
    notes = [*_plan_notes(shared, budget, device, scorer)]
    if device == "cpu":
        notes.append(
            f"about {time_text(work / operations_per_second())} on this machine's processor, "
            "without loading the model; a small model may take several times as long, because "
            "arithmetic is a small part of its time"
        )
    found = Work(tuple(rows), tuple(notes))
    if known is not None:
        known[alike] = found
    return found


def print_work(work: Work) -> None:
    """Print what a run would cost."""
    from coherencegym.eval.plan.explain import explain_table

    shown = shown_console()
    table = explain_table(work.rows)
    # Numbers that are cut off are worse than lines that wrap.
    wide = shown_console(width=10_000).measure(table).maximum
    shown_console(width=max(shown.width, wide)).print(table)
    for note in work.notes:
        shown.print(f"· {note}", markup=False, highlight=False, soft_wrap=True)


def _plan_notes(shares: bool, budget: Budget, device: str, scorer: Scorer) -> Iterator[str]:
    from coherencegym.eval.plan.explain import MEANING

    yield from (f"{name}: {meaning}" for name, meaning in MEANING.items())
    if scorer != "causal":
        yield f"{scorer}: every token that is read is a text of its own, with that token masked"
    if shares:
        yield "beginnings are shared if a trial shows that the model can: in rows, or from a cache"
    yield (
        f"batches on {device}: at most {budget.tokens:,} tokens and {budget.head_rows:,} rows of "
        "logits in a forward pass"
    )

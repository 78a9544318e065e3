"""The work of a run that is not made: what it would cost, from config and tokenizer alone."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from coherencegym.errors import one_line
from coherencegym.eval.data.notes import first_names
from coherencegym.eval.kinds.items import joined_condition
from coherencegym.terminal import shown_console

if TYPE_CHECKING:
    from coherencegym.eval.forward.execute import BatchProgress
    from coherencegym.eval.plan.options import Options
    from coherencegym.eval.plan.requests import Query
    from coherencegym.eval.run.options import ModelOptions
    from coherencegym.eval.tasks.task import StepProgress
    from coherencegym.eval.text.sequence import Sharing


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
def _bars(*columns: Any) -> Iterator[Any]:
    from rich.progress import BarColumn, Progress, TextColumn

    shown = (TextColumn("{task.description}", markup=False), BarColumn(), *columns)
    with Progress(*shown, console=shown_console(stderr=True), transient=True) as bar:
        yield bar


@contextmanager
def batch_bar(what: str, number: int, units: str, is_quiet: bool) -> Iterator[BatchProgress | None]:
    """A bar for the tokens of one table, on a terminal; else what :func:`timed` says."""
    if is_quiet or not sys.stderr.isatty():
        with timed(what, number, units, is_quiet):
            yield None
        return
    from rich.progress import TimeRemainingColumn
    from rich.table import Column

    said = _counted(what, number, units)
    # Where there is little room, the bar is what gets shorter.
    with _bars(TimeRemainingColumn(table_column=Column(no_wrap=True))) as bar:
        task = bar.add_task(said, total=None)

        def show(done: int, total: int) -> None:
            if not done:
                bar.update(task, description=f"{said}, {total:,} tokens")
            bar.update(task, completed=done, total=total)

        yield show


@contextmanager
def step_bars(what: str, number: int, units: str, is_quiet: bool) -> Iterator[StepProgress]:
    """A bar for each step of a task, on a terminal; else what :func:`timed` says."""
    if is_quiet or not sys.stderr.isatty():
        with timed(what, number, units, is_quiet):
            yield lambda step, done, total: None
        return
    from rich.progress import MofNCompleteColumn

    with _bars(MofNCompleteColumn()) as bar:
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
    model: ModelOptions,
    texts: Iterable[tuple[str, Sequence[Query], bool]],
    options: Options,
    *,
    in_chat: bool = False,
    known: MutableMapping[object, Work] | None = None,
) -> Work:
    """The work of a run; only the model's config and tokenizer are read.

    Args:
        model: its options.
        texts: the name of each table, what is read of it, and whether ``[SEP]`` is a separator.
        options: reading and running.
        in_chat: they are read where the tokenizer's chat template lets the model speak.
        known: the work on these very texts with other models. That of one alike is taken from
            there, and the texts are not read; that of another is kept there.
    """
    from coherencegym.eval.models.kind import scorer_of
    from coherencegym.eval.plan.explain import MEANING, default_budget
    from coherencegym.eval.plan.plan import identity_of
    from coherencegym.eval.plan.requests import prepare
    from coherencegym.eval.text.places import word_beginnings
    from coherencegym.eval.text.special import chat_of

    config, tokenizer = model.config(scorer=options.scorer)
    about = {**config.to_dict(), "_name_or_path": None}
    # A tokenizer that cannot say what it does is like no other.
    alike = identity_of(tokenizer) or object(), json.dumps(about, sort_keys=True, default=str)
    if known is not None and alike in known:
        return known[alike]
    scorer = scorer_of(config) if options.scorer == "auto" else options.scorer
    options = options.settled(scorer)
    how: dict[str, Any] = {"chat": chat_of(tokenizer) if in_chat else None}
    if options.word_correction:
        how["words"] = word_beginnings(tokenizer, config.get_text_config().vocab_size)
    device = "cpu" if model.device in ("auto", "cpu") else model.device.partition(":")[0]
    budget = default_budget(device, options.batch_tokens)
    sharing: Sharing = "packed" if options.share and not options.is_masked else "none"
    rows, shared = [], False
    for name, queries, uses_separator in texts:
        if options.rules.joins_regions:
            queries = [_joined(query) for query in queries]
        how["uses_separator"] = uses_separator
        prepared = prepare(tokenizer, config, queries, options, **how)
        plan = prepared.plan.batched(budget, sharing=sharing)
        counted = len(plan.sequences), plan.tokens, plan.tokens_once
        rows.append((name, *(f"{number:,}" for number in counted)))
        shared |= plan.shares
    notes = [f"{name}: {meaning}" for name, meaning in MEANING.items()]
    if scorer != "causal":
        notes.append(f"{scorer}: each token that is read is a text of its own, and masked in it")
    if shared:
        notes.append("beginnings are shared if a trial shows that the model can")
    found = Work(tuple(rows), tuple(notes))
    if known is not None:
        known[alike] = found
    return found


def _joined(query: Query) -> Query:
    # As a mode reads them; see :func:`eval.plan.options.with_joined_regions`.
    joined = [joined_condition(one.condition_name, one.regions) for one in query.conditions]
    return replace(query, conditions=joined)


def print_works(alike: Mapping[Work, Sequence[str]]) -> None:
    """Print what runs would cost, each plan once, with the models that have it."""
    *_, last = alike
    several = sum(map(len, alike.values())) > 1
    for work, names in alike.items():
        if several:
            counted = f"each of {len(names):,} models" if len(names) > 1 else "one model"
            print(one_line(f"the plan of {counted}: {first_names(names)}"))
        # What is under the last plan, too, is said there alone.
        own = [note for note in work.notes if work == last or note not in last.notes]
        _print_work(replace(work, notes=tuple(own)))


def _print_work(work: Work) -> None:
    from coherencegym.eval.plan.explain import MEANING
    from coherencegym.eval.report import grid

    console = grid.console_for()
    table = grid.made("config", tuple(MEANING), [grid.GridRow(row) for row in work.rows])
    console.print(grid.in_width(table, width=console.width))
    grid.print_below(console, work.notes)

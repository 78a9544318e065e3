"""The progress of a run on standard error: bars on a terminal, else a line a table."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from coherencegym.terminal import shown_console

if TYPE_CHECKING:
    from coherencegym.eval.forward.execute import BatchProgress
    from coherencegym.eval.tasks.task import StepProgress


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

"""A loaded model that a task may ask, with what shows how far it is."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.eval.commands import options
from coherencegym.eval.commands.running import Running, running, step_bars
from coherencegym.eval.forward.cache import cache_folder

if TYPE_CHECKING:
    from coherencegym.eval.models.load import LoadedModel
    from coherencegym.eval.plan.cached import PlansOf
    from coherencegym.eval.plan.options import Options
    from coherencegym.eval.tasks.task import Task, TaskContext

#: The settings of the data that results record.
RECORDED = ("configs", "split", "max_items")


@dataclass(frozen=True)
class Asker:
    """A model that a task may ask.

    Attributes:
        task: the task.
        model: the model.
        reading: options of reading, as they came to for the model.
        running: cache and processes, where texts are read; None: vectors or heads are asked.
        vectors: the folder of vectors that are kept; None: they are thrown away.
        is_quiet: nothing is said of progress.
        memo: see :class:`eval.tasks.task.TaskContext`.
    """

    task: Task[Any, Any, Any]
    model: LoadedModel
    reading: Options
    running: Running | None = None
    vectors: Path | None = None
    is_quiet: bool = False
    memo: dict[Any, Any] = field(default_factory=dict)

    @property
    def is_first(self) -> bool:
        """Say that this process is the one that writes."""
        return self.running is None or self.running.processes.is_first

    def settings(self, arguments: argparse.Namespace) -> dict[str, Any]:
        """The settings of a run as results record them."""
        if self.running is None:
            return options.model_settings(arguments, RECORDED)
        return options.settings_of(arguments, self.reading, RECORDED)

    def context(
        self, plans: PlansOf | None = None, folder: Path | None = None, above: str = ""
    ) -> TaskContext:
        """The means of the task for one dataset.

        Args:
            plans: those of earlier models on these very texts.
            folder: that of the run.
            above: the beginning of names where progress is shown.
        """
        from coherencegym.eval.tasks.task import TaskContext

        @contextmanager
        def showing(name: str, number: int) -> Iterator[Mapping[str, Any]]:
            what, units = above + name, self.task.command.units
            if self.running is not None:
                with self.running.reading(what, number, units) as how:
                    yield how
            else:
                with step_bars(what, number, units, self.is_quiet) as step:
                    yield {"step": step}

        about: dict[str, Any] = {"vectors": self.vectors, "memo": self.memo, "showing": showing}
        return TaskContext(self.model, self.reading, plans=plans, folder=folder, **about)


@contextmanager
def asking(
    task: Task[Any, Any, Any], arguments: argparse.Namespace, own: Any, chosen: Options
) -> Iterator[Asker]:
    """The model that options name, loaded as a task needs it.

    Raises:
        EvaluationError: it cannot be loaded, or an option has no meaning for its scorer.
    """
    from coherencegym.eval.tasks.task import Loader

    if task.texts is not None and task.reads(own):
        with running(arguments, chosen) as run_:
            yield Asker(task, run_.loaded, run_.options, run_)
        return
    loader = Loader(
        lambda: options.load_model(arguments),
        lambda: options.load_model(arguments, scores=False),
        lambda head: options.load_head(arguments, head),
    )
    vectors = None if arguments.no_cache else cache_folder(arguments.cache)
    yield Asker(task, task.load(own, loader), chosen, None, vectors, arguments.quiet)

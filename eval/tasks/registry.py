"""The tasks, each a package: a new one is one line here.

Those of other packages come by their entry points (:mod:`coherencegym.extensions`).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from coherencegym.extensions import added, load_extension, package_of

if TYPE_CHECKING:
    from coherencegym.eval.tasks.options import CommandLine
    from coherencegym.eval.tasks.task import Task

#: Subcommand -> what it is for, and the package: its module ``options``, which is imported to show
#: help, has the ``COMMAND``, and its module ``task`` the ``TASK``.
TASKS: dict[str, tuple[str, str]] = {
    "score": (
        "score models on suites of minimal pairs",
        "coherencegym.eval.tasks.score",
    ),
    "detect": (
        "find the sentence of a document that does not belong there",
        "coherencegym.eval.tasks.detect",
    ),
    "probe": (
        "test which layers of a model encode the labels of examples",
        "coherencegym.eval.tasks.probe",
    ),
    "spans": (
        "test whether a model is right about the parts of texts, too",
        "coherencegym.eval.tasks.spans",
    ),
    "correlate": (
        "correlate the scores of texts with people's ratings of their coherence",
        "coherencegym.eval.tasks.correlate",
    ),
}


def all_tasks() -> dict[str, str]:
    """All tasks and what they are for, those of other packages last."""
    own = {name: summary for name, (summary, _) in TASKS.items()}
    others = added("tasks", own)
    return {**own, **{name: f"a task of {package_of(entry)}" for name, entry in others.items()}}


def command_line_of(name: str) -> CommandLine:
    """The subcommand of a task."""
    if name not in TASKS:
        return task_named(name).command
    command: CommandLine = importlib.import_module(f"{TASKS[name][1]}.options").COMMAND
    return command


def task_named(name: str) -> Task[Any, Any, Any]:
    """The task of that name, which is one of :func:`all_tasks`."""
    task: Task[Any, Any, Any]
    if name not in TASKS:
        from coherencegym.eval.tasks.task import Task

        task = load_extension(added("tasks", TASKS)[name], Task)
        return task
    task = importlib.import_module(f"{TASKS[name][1]}.task").TASK
    return task

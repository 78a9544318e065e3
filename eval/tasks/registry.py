"""The tasks that need no more than :class:`eval.tasks.task.Task`: a new one is one line here."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coherencegym.eval.tasks.task import Task

#: Subcommand -> what it is for, and the module that has its ``TASK``.
TASKS: dict[str, tuple[str, str]] = {}


def task_named(name: str) -> Task[Any]:
    """The task of that name, which is in the registry."""
    task: Task[Any] = importlib.import_module(TASKS[name][1]).TASK
    return task

"""Discourses to drafts, in one process or several: the result does not depend on how many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from coherencegym.builders.suite import Drafter
from coherencegym.eval.kinds.items import SEPARATOR
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context

#: Discourses that one task of a worker process holds.
CHUNK = 200


def draft(
    drafter: Drafter,
    discourses: Sequence[Discourse],
    *,
    seed: int,
    suite: str,
    num_proc: int = 1,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[list[Any], Counter[str]]:
    """The drafts that ``drafter`` makes of the discourses, in their order, and what it skipped.

    A discourse whose own text holds ``[SEP]`` is skipped everywhere, so that configs with and
    without separators have the same items. ``progress`` is told how many discourses are done.
    """
    chunks = [list(discourses[i : i + CHUNK]) for i in range(0, len(discourses), CHUNK)]
    tasks = [(drafter, chunk, seed, suite) for chunk in chunks]
    drafts: list[Any] = []
    skipped: Counter[str] = Counter()
    for number, (made, counted) in enumerate(_map(tasks, num_proc), start=1):
        drafts += made
        skipped += counted
        progress(min(number * CHUNK, len(discourses)))
    return drafts, skipped


def _map(
    tasks: list[tuple[Drafter, list[Discourse], int, str]], num_proc: int
) -> Iterator[tuple[list[Any], Counter[str]]]:
    if num_proc <= 1 or len(tasks) <= 1:
        yield from map(_draft_chunk, tasks)
        return
    with ProcessPoolExecutor(max_workers=min(num_proc, len(tasks))) as pool:
        yield from pool.map(_draft_chunk, tasks)


def _draft_chunk(
    task: tuple[Drafter, list[Discourse], int, str],
) -> tuple[list[Any], Counter[str]]:
    drafter, discourses, seed, suite = task
    context = Context(seed, suite)
    drafts: list[Any] = []
    for discourse in discourses:
        if any(SEPARATOR in text for text in discourse.texts):
            context.skipped[f"the text itself contains {SEPARATOR}"] += 1
            continue
        drafts += drafter(discourse, context)
    return drafts, context.skipped

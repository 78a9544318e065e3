"""Items from discourses, config by config: spread over genres, in one process or several."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

from coherencegym.builders.suite import Config, ItemGenerator
from coherencegym.engines import ALONE_IN_PROCESS, Engine
from coherencegym.eval.kinds.items import SEPARATOR
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context

#: Discourses of a block: what one worker holds.
CHUNK = 200


@cache
def part_name(value: str) -> str:
    """A value as a part of a config's name: lower-case letters, digits and ``_``.

    >>> part_name("Trains 93"), part_name("bio")
    ('trains_93', 'bio')
    """
    return re.sub(r"[^a-z0-9]+", "_", value.lower()).strip("_")


def spread(config: Config, discourses: Iterable[Discourse]) -> list[Config]:
    """The config for each value of ``meta[config.by]`` that the discourses have, in their order.

    Which genres a corpus has only its documents say: a suite declares one config with
    ``by="genre"``. The value goes before the config's own name (``gum_bio_spillover``); a discourse
    without the property is of the config without a value (``arrau_spillover``). A config that is
    not ``by`` anything comes back as it is.
    """
    if not config.by:
        return [config]

    def value_of(discourse: Discourse) -> str:
        return part_name(discourse.meta.get(config.by, ""))

    def part(value: str) -> Config:
        return replace(
            config,
            name="_".join(filter(None, (value, config.name))),
            select=lambda discourse: value_of(discourse) == value and config.takes(discourse),
            by="",
        )

    return [part(value) for value in sorted({value_of(d) for d in discourses if config.takes(d)})]


def generate_items(
    generator: ItemGenerator,
    discourses: Sequence[Discourse],
    *,
    seed: int,
    suite: str,
    engine: Engine = ALONE_IN_PROCESS,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[list[Any], Counter[str]]:
    """The items that ``generator`` makes of the discourses, in their order, and what it skipped.

    A discourse whose own text holds ``[SEP]`` is skipped everywhere, so that configs with and
    without separators have the same items. ``progress`` is told how many
    discourses are done. The result does not depend on the engine.
    """
    chunks = [(discourses[i : i + CHUNK],) for i in range(0, len(discourses), CHUNK)]
    work = partial(generate_block, generator, seed, suite)
    generated: list[Any] = []
    skipped: Counter[str] = Counter()
    done = 0
    for (some,), (made, counted) in zip(chunks, engine.run(work, chunks), strict=True):
        generated += made
        skipped += Counter(counted)
        done += len(some)
        progress(done)
    return generated, skipped


def generate_block(
    generator: ItemGenerator, seed: int, suite: str, discourses: Sequence[Discourse]
) -> tuple[list[Any], dict[str, int]]:
    """The items of a block of discourses, and what was skipped."""
    context = Context(seed, suite)
    generated: list[Any] = []
    for discourse in discourses:
        if any(SEPARATOR in text for text in discourse.texts):
            context.skipped[f"the text itself contains {SEPARATOR}"] += 1
        else:
            generated += generator(discourse, context)
    return generated, dict(context.skipped)

"""The cost of a build on a cluster, foretold from its documents and a first block of each work."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from coherencegym.builders.pipeline.generation import CHUNK, generate_block, spread
from coherencegym.builders.pipeline.options import BuildOptions
from coherencegym.builders.pipeline.reading import read_source, without_separators
from coherencegym.builders.pipeline.sources import Sources
from coherencegym.builders.suite import Config, Suite
from coherencegym.engines.blocks import WorkFolder, core_time
from coherencegym.engines.engine import ALONE_IN_PROCESS, timed
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.intruders.intruder_candidates import IntruderSettings
from coherencegym.manipulations.intruders.neighbours import product_cost


@dataclass(frozen=True, slots=True)
class PlannedWork:
    """A piece of work.

    Attributes:
        what: its name.
        blocks: their number; 0 where the machine that begins the build does it.
        seconds: core time for all of it.
        sent: bytes to the workers and back, or into the object store.
        memory: bytes that a worker takes for a block.
    """

    what: str
    blocks: int
    seconds: float
    sent: float = 0.0
    memory: float = 0.0

    def __str__(self) -> str:
        """The line that is shown."""
        if not self.blocks:
            return f"{self.what}: here, and not spread"
        parts = [f"{self.blocks:,} block{'s' * (self.blocks != 1)}", core_time(self.seconds)]
        if self.sent:
            parts.append(f"{self.sent / 1e6:,.1f} MB sent")
        if self.memory:
            parts.append(f"{self.memory / 1e6:,.0f} MB a worker")
        return f"{self.what}: {', '.join(parts)}"


def plan_build(
    suite: Suite,
    sources: Sources,
    options: BuildOptions,
    progress: Callable[[str], None] = lambda message: None,
) -> list[str]:
    """Lines that say what a build would cost; everything is read for it, and nothing is built.

    Raises:
        CorpusError: a source cannot be read.
    """
    work, planned, fitted = WorkFolder(), list[PlannedWork](), set[tuple[Any, str]]()
    for source in sources.found:
        progress(f"{suite.name}: reading {source.corpus.name}")
        found = read_source(suite, source, options, False, ALONE_IN_PROCESS, work, progress)
        everything = [discourse for own in found.by_split.values() for discourse in own]
        for config in found.configs:
            for one in spread(config, everything):
                name = one.full_name(source.corpus.name)
                progress(f"{suite.name}: {name}, a first block")
                for split, own in found.by_split.items():
                    chosen = list(filter(one.takes, own))
                    key = getattr(one.generator, "operator", None), split
                    planned += _planned(suite, one, name, split, chosen, options, key in fitted)
                    fitted.add(key)
    seconds, sent = sum(one.seconds for one in planned), sum(one.sent for one in planned)
    total = f"about {core_time(seconds)} and {sent / 1e6:,.1f} MB"
    return [
        *map(str, planned),
        f"{suite.name}: {total}, by the time that a first block of each takes here, without "
        "reading, writing and measuring; dry run: nothing was built",
    ]


def _planned(
    suite: Suite,
    config: Config,
    name: str,
    split: str,
    discourses: Sequence[Discourse],
    options: BuildOptions,
    is_fitted: bool,
) -> Iterator[PlannedWork]:
    # ``is_fitted``: its operator was counted already.
    number, generator = len(discourses), config.generator
    if not number:
        return
    if not (hasattr(generator, "fit") or hasattr(generator, "fit_corpus")):
        first = discourses[:CHUNK]
        made, seconds = timed(generate_block, generator, options.seed, suite.name, first)
        share = number / len(first)
        what = f"{name} {split}, {number:,} discourses"
        sent = len(pickle.dumps(first)) + len(pickle.dumps(made))
        yield PlannedWork(what, ceil(number / CHUNK), seconds * share, sent * share)
        return
    yield PlannedWork(f"{name} {split}, {number:,} discourses", 0, 0.0)
    operator = getattr(generator, "operator", None)
    if isinstance(operator, IntruderSettings) and operator.strategy == "similar" and not is_fitted:
        texts = [discourse.texts for discourse in without_separators(list(discourses))]
        cost = product_cost(texts, operator.share, operator.neighbours, operator.features)
        rows = round(number * operator.share)
        what = f"neighbours of {rows:,} of {number:,} documents, {split}"
        yield PlannedWork(what, cost.blocks, cost.reading + cost.product, cost.sent, cost.memory)

"""The documents of a source by split, as a build gets them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from coherencegym.builders.pipeline.options import BuildOptions
from coherencegym.builders.pipeline.sources import PlannedCorpus
from coherencegym.builders.suite import Config, Suite
from coherencegym.engines import Engine
from coherencegym.eval.kinds.table_kind import SEPARATOR
from coherencegym.licence import may_republish
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.read import Quota, Reading, ReadingCache, read

#: The split of a suite that does not divide its corpora.
ONE_SPLIT = "test"


@dataclass(frozen=True)
class SourceRead:
    """A source as it was read: its configs, and its discourses by split.

    Of a limited build a config selects no more than so many. ``withheld`` were left out for the
    licence of their texts.
    """

    configs: tuple[Config, ...]
    reading: Reading
    by_split: dict[str, list[Discourse]]
    withheld: int


def read_source(
    suite: Suite,
    source: PlannedCorpus,
    options: BuildOptions,
    withhold: bool,
    engine: Engine,
    progress: Callable[[str], None],
    cache: ReadingCache | None = None,
) -> SourceRead:
    """Read a source; ``withhold``: without documents of texts that no licence lets one publish.

    Raises:
        CorpusError: it cannot be read.
    """
    splits = source.corpus.splits if "all" in options.splits else options.splits
    reading = read(
        source.corpus,
        data_dir=options.data_dir,
        splits=splits or None,
        skip_bad_rows=options.skip_bad_rows,
        limit=options.limit,
        uses=[config.takes for config in source.configs],
        found=None if splits else source.found,
        engine=engine,
        progress=lambda done, shards: progress(
            f"reading {source.corpus.name}, {done:,} of {shards:,} shards"
        ),
        cache=cache,
    )
    by_split: dict[str, list[Discourse]] = defaultdict(list)
    one_split = suite.one_split or not any(one.divided for one in source.configs)
    withheld, texts = 0, source.corpus.licence_of_texts
    # A corpus that is closed as a whole is built for whoever builds it, and left out of a push.
    withhold = withhold and source.corpus.republishable
    read_ones = list(reading)
    configs = tuple(_limited(one, read_ones, options.limit) for one in source.configs)
    for discourse in read_ones:
        if withhold and not may_republish(discourse.licence or texts):
            withheld += 1
            continue
        by_split[ONE_SPLIT if one_split else discourse.meta["split"]].append(discourse)
    if suite.divide is not None and not one_split:
        everything = [discourse for own in by_split.values() for discourse in own]
        return SourceRead(configs, reading, suite.divide(everything, options.seed), withheld)
    return SourceRead(configs, reading, dict(by_split), withheld)


def _limited(config: Config, discourses: Sequence[Discourse], limit: int | None) -> Config:
    if limit is None:
        return config
    quotas: dict[str, Quota] = defaultdict(lambda: Quota(limit, [config.takes]))
    taken = {one.id for one in discourses if quotas[one.meta["split"]].takes(one)}
    return replace(config, select=lambda discourse: discourse.id in taken)


def without_separators(discourses: list[Discourse]) -> list[Discourse]:
    """The discourses that are not left out because their own text holds the separator."""
    return [d for d in discourses if not any(SEPARATOR in text for text in d.texts)]

"""The corpora that a build reads: those named, or all that are found, and the project's sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from coherencegym.builders.crossing.drafter import Crossed
from coherencegym.builders.suite import Config, Suite
from coherencegym.command_line import did_you_mean
from coherencegym.eval.kinds.table_kind import SAMPLE
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusNotFoundError
from coherencegym.loaders.find import Found, find
from coherencegym.loaders.registry import corpus as registered
from coherencegym.loaders.registry import sample_of


@dataclass(frozen=True)
class PlannedCorpus:
    """A corpus to read, the suite's configs that are built from it, and its files if found."""

    corpus: Corpus
    configs: tuple[Config, ...]
    found: Found | None = None


@dataclass
class Sources:
    """The corpora that will be read, and, by name, why the rest will not.

    Attributes:
        found: the corpora that are there.
        missing: corpus -> why it cannot be read.
        empty: config -> why no item came of it; filled by the build.
    """

    found: list[PlannedCorpus] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    empty: dict[str, str] = field(default_factory=dict)


def find_sources(
    suite: Suite,
    names: Sequence[str] = (),
    data_dir: Path | None = None,
    extra: Mapping[str, Corpus] | None = None,
    settled: Mapping[str, Corpus] | None = None,
) -> Sources:
    """Look for the corpora of a suite.

    Args:
        suite, names: the suite, and the corpora to build from; none: every one that is found.
        data_dir: the folder to look in first.
        extra: corpora that are not registered (Hugging Face datasets), by genre.
        settled: corpora to read in place of the registered ones of their names.

    Raises:
        CorpusError: a named corpus is not one of the suite's.
        CorpusNotFoundError: a named corpus has no files.
    """
    extra, settled = extra or {}, {**suite.readings, **(settled or {})}
    _check_names(suite, names, [corpus.name for corpus in extra.values()])
    sources = Sources()
    for name, configs in suite.natives.items():
        if names and name not in names:
            continue
        corpus = settled.get(name) or registered(name)
        try:
            sources.found.append(PlannedCorpus(corpus, configs, find(corpus, data_dir)))
        except CorpusNotFoundError as error:
            if names:
                raise
            sources.missing[name] = str(error)
    sources.found += [_of_genre(suite, genre, corpus) for genre, corpus in extra.items()]
    if SAMPLE in names or not (names or extra):
        sources.found += _samples(suite)
    return sources


def only_crossed(suite: Suite, sources: Sources) -> Sources:
    """The sources with those configs alone in which contexts and targets are crossed.

    Raises:
        CorpusError: there is none of them.
    """
    crossed = tuple(config for config in suite.configs if isinstance(config.drafter, Crossed))
    if not crossed:
        raise CorpusError(f"--crossed: {suite.name} has no crossed config; expected no --crossed")
    found = [
        replace(source, configs=tuple(config for config in source.configs if config in crossed))
        for source in sources.found
    ]
    left = [source for source in found if source.configs]
    if not left:
        corpora = dict.fromkeys(name for config in crossed for name in config.corpora)
        raise CorpusError(
            f"--crossed: {suite.name} has no crossed config of these corpora; expected one of "
            f"{', '.join(corpora)}"
        )
    return replace(sources, found=left)


def _check_names(suite: Suite, names: Sequence[str], others: Sequence[str]) -> None:
    allowed = (*suite.natives, SAMPLE, *others)
    for name in names:
        if name not in allowed:
            raise CorpusError(
                f"{suite.name} is not built from corpus {name!r}; expected one of "
                f"{', '.join(allowed)}{did_you_mean(name, allowed)}"
            )


def _of_genre(suite: Suite, genre: str, corpus: Corpus) -> PlannedCorpus:
    fitting = tuple(config for config in suite.configs if config.genre == genre)
    if not fitting:
        raise CorpusError(
            f"{suite.name} cannot be built from a column of {genre} texts: they do not hold what "
            "it needs"
        )
    return PlannedCorpus(corpus, fitting)


def _samples(suite: Suite) -> Iterator[PlannedCorpus]:
    # A config is built from the sample of its best corpus that has any.
    done: list[Config] = []
    for name, configs in suite.natives.items():
        fitting = tuple(config for config in configs if config not in done)
        if fitting and (sample := sample_of(registered(name))) is not None:
            yield PlannedCorpus(sample, fitting)
            done += fitting

"""The corpora that a build reads: those named, or all that are found, and the project's sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from coherencegym.builders.crossing.generator import Crossed
from coherencegym.builders.suite import Config, Suite
from coherencegym.command_line import did_you_mean
from coherencegym.eval.kinds.table_kind import SAMPLE
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusNotFoundError
from coherencegym.loaders.find import Found, find
from coherencegym.loaders.languages.registry import language
from coherencegym.loaders.registry import corpus as registered
from coherencegym.loaders.registry import sample_of
from coherencegym.suites import SUITES

#: The corpus of plain articles; what is made of it, any plain text gives.
ARTICLES = "documents"
#: The genres of plain text.
PLAIN_GENRES = ("narration", ARTICLES)
#: The genre of texts with headings.
SECTIONED = "sections"
#: Files of a folder that a message names.
_NAMED = 5


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
    own: PlannedCorpus | None = None,
) -> Sources:
    """Look for the corpora of a suite.

    Args:
        suite, names: the suite, and the corpora to build from; none: every one that is found.
        data_dir: the folder to look in first.
        extra: corpora that are not registered (Hugging Face datasets), by genre.
        settled: corpora to read in place of the registered ones of their names.
        own: the user's own texts. With them no corpus is read that is not named.

    Raises:
        CorpusError: a named corpus is not one of the suite's, or in a language that the suite does
            not know, or nothing in ``data_dir`` was read.
        CorpusNotFoundError: a named corpus has no files.
    """
    extra, settled = extra or {}, {**suite.readings, **(settled or {})}
    _check_names(suite, names, [corpus.name for corpus in extra.values()])
    sources = Sources()
    for name, configs in suite.natives.items():
        if name not in names and (names or own):
            continue
        corpus = settled.get(name) or registered(name)
        try:
            sources.found.append(PlannedCorpus(corpus, configs, find(corpus, data_dir)))
        except CorpusNotFoundError as error:
            if names:
                raise
            sources.missing[name] = str(error)
    sources.found += [_of_genre(suite, genre, corpus) for genre, corpus in extra.items()]
    if own:
        sources.found.append(own)
    if SAMPLE in names or not (names or extra or own):
        sources.found += _samples(suite)
    sources.found = [_in_its_language(suite, each) for each in sources.found]
    return sources


def _in_its_language(suite: Suite, source: PlannedCorpus) -> PlannedCorpus:
    code = source.corpus.language
    able = tuple(config for config in source.configs if config.is_in(code))
    if not able:
        known = dict.fromkeys(code for config in source.configs for code in config.languages)
        raise CorpusError(
            f"{suite.name}: the texts of {source.corpus.name} are in {language(code).name} "
            f"({code}), and what it makes of them is in {', '.join(known)} only"
        )
    return replace(source, configs=able)


def check_was_read(data_dir: Path, suites: Sequence[Suite], sources: Sequence[Sources]) -> None:
    """Refuse a folder of corpora in which no source was found.

    Raises:
        CorpusError: so it is; says what was looked for, and what is there.
    """
    places = [
        (each.found or find(each.corpus, data_dir)).place for one in sources for each in one.found
    ]
    if any(place is not None and place.is_relative_to(data_dir) for place in places):
        return
    wanted = dict.fromkeys(name for suite in suites for name in suite.natives)
    inside = sorted(path.name for path in data_dir.iterdir() if not path.name.startswith("."))
    more = f", {len(inside) - _NAMED} more" * (len(inside) > _NAMED)
    raise CorpusError(
        f"--data-dir {data_dir}: nothing in it was read; looked for files of "
        f"{', '.join(wanted)} (`coherencegym corpora show NAME` says their names); there is "
        f"{', '.join(inside[:_NAMED]) or 'nothing'}{more}; texts of your own: expected --texts "
        f"{data_dir}"
    )


def own_configs(
    suite: Suite, language: str, corpora: Sequence[str] = (), genre: str | None = None
) -> tuple[Config, ...]:
    """The suite's configs that texts of one's own can give.

    Args:
        suite: the suite.
        language: that of the texts (ISO 639-1).
        corpora: the corpora that are annotated as the texts are; none: they are plain.
        genre: one of :data:`PLAIN_GENRES`, where only its configs are wanted.
    """
    # What the best of several corpora gives, and what the others give beside it.
    found: dict[str, Config] = {}
    for config in _own_configs(suite, corpora, genre):
        if config.is_in(language):
            found.setdefault(config.full_name(""), config)
    return tuple(found.values())


def own_languages(
    suite: Suite, corpora: Sequence[str] = (), genre: str | None = None
) -> tuple[str, ...]:
    """The languages in which texts of one's own can give a config that some language cannot.

    Args:
        suite, corpora, genre: those of :func:`own_configs`.
    """
    configs = _own_configs(suite, corpora, genre)
    return tuple(dict.fromkeys(code for config in configs for code in config.languages))


def _own_configs(suite: Suite, corpora: Sequence[str], genre: str | None) -> Iterator[Config]:
    if corpora:
        yield from (config for name in corpora for config in suite.natives.get(name, ()))
        return
    genres = (genre,) if genre else PLAIN_GENRES
    for config in suite.configs:
        if config.genre in genres or (not genre and ARTICLES in config.corpora):
            yield config


def no_genre(suite: Suite, genres: Sequence[str]) -> str:
    """Reason why a suite of the user's own takes no texts of these genres; else empty."""
    if suite.name in SUITES:
        return ""
    return f"no Config of it has {' or '.join(f'genre={genre!r}' for genre in genres)}"


def only_crossed(suite: Suite, sources: Sources) -> Sources:
    """The sources with those configs alone in which contexts and targets are crossed.

    Raises:
        CorpusError: there is none of them.
    """
    crossed = tuple(config for config in suite.configs if isinstance(config.generator, Crossed))
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
            f"{suite.name} cannot be built from a column of {genre} texts: "
            f"{no_genre(suite, [genre]) or 'they do not hold what it needs'}"
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

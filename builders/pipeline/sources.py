"""The corpora that a build reads: those named, or all that are found, and the project's sample."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coherencegym.builders.pipeline.options import BuildOptions
from coherencegym.builders.registry import load_declared
from coherencegym.builders.suite import Column, Config, Genre, Suite
from coherencegym.command_line import did_you_mean
from coherencegym.eval.kinds.table_kind import FAMILY, SAMPLE, Clustered
from coherencegym.eval.statistics.effective_size import WITH
from coherencegym.licence import SUITES
from coherencegym.loaders.corpora.hub import hub_corpus
from coherencegym.loaders.corpora.own import (
    FORMATS,
    NoTextsError,
    OwnTexts,
    annotated_texts,
    documents_corpus,
    format_option,
    own_texts,
    sectioned_texts,
)
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusNotFoundError
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.languages.registry import language
from coherencegym.loaders.read import Found, find
from coherencegym.loaders.registry import CORPORA, is_extension, sample_of
from coherencegym.loaders.registry import corpus as registered

#: The column of a config that has none of families, where a text of its corpus is repeated.
REPEATS = {
    FAMILY: Column(
        "string",
        "the first document with the same text, if that is another; rows of one family form one "
        "cluster in intervals",
    )
}


def in_families(generated: list[Any], discourses: Iterable[Discourse]) -> list[Any]:
    """The items made of some discourses, those of the same text in one family."""
    first: dict[tuple[str, ...], str] = {}
    known = {each.id: first.setdefault(each.texts, each.id) for each in discourses}
    if len(first) == len(known):
        return generated
    return [_in_family(made, known) for made in generated]


def _in_family(made: Any, first: Mapping[str, str]) -> Any:
    holder = next((name for name in ("item", "document") if hasattr(made, name)), None)
    if holder is not None:
        return replace(made, **{holder: _in_family(getattr(made, holder), first)})
    if not isinstance(made, Clustered):
        return made
    family = WITH.join(first.get(part, part) for part in made.cluster.split(WITH))
    if family == made.cluster:
        return made
    return replace(made, extra={**made.extra, FAMILY: family})  # type: ignore[type-var]


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


def find_sources(suite: Suite, options: BuildOptions) -> tuple[list[PlannedCorpus], dict[str, str]]:
    """Look for the corpora of a suite.

    Returns:
        Those that are there; and, by the names of the others, why they cannot be read.
    """
    genre: Genre = options.genre or "narration"
    other = hub_dataset(options)
    settled = {**suite.readings, ARTICLES: documents_corpus(options.shape, options.licence)}
    names = []
    for given in options.corpora:
        corpus = _declared(suite, given)
        names.append(given if corpus is None else corpus.name)
        if corpus is None:
            continue
        if corpus.name in suite.natives:
            settled[corpus.name] = corpus
        elif other is not None:
            raise CorpusError(
                f"--corpus {corpus.name}: {other.name} is read as {genre} already; expected one "
                "corpus of a genre"
            )
        else:
            other = corpus
    own = _own_source(suite, options)
    _check_names(suite, names, other.name if other else "")
    sources, missing = [], {}
    for name, configs in suite.natives.items():
        # With texts of one's own no corpus is read that is not named.
        if name not in names and (names or own):
            continue
        corpus = settled.get(name) or registered(name)
        try:
            sources.append(PlannedCorpus(corpus, configs, find(corpus, options.data_dir)))
        except CorpusNotFoundError as error:
            if names:
                raise
            missing[name] = str(error)
    if other is not None:
        fitting = tuple(config for config in suite.configs if config.genre == genre)
        if not fitting:
            known = suite.name in SUITES
            reason = "they do not hold what it needs" if known else _no_genre([genre])
            message = f"{suite.name} cannot be built from a column of {genre} texts: {reason}"
            raise CorpusError(message)
        sources.append(PlannedCorpus(other, fitting))
    sources += [own] if own else []
    if SAMPLE in names or not (names or other or own):
        sources += _samples(suite)
    return [_in_its_language(suite, each) for each in sources], missing


def _declared(suite: Suite, name: str) -> Corpus | None:
    # A corpus that is not one of this project's, by its name or the file that declares it.
    if name.endswith(".py"):
        return load_declared(Path(name), "CORPUS", Corpus)
    if is_extension(name) and name not in suite.natives:
        return registered(name)
    path = Path(name)
    if name not in CORPORA and (os.sep in name or path.exists()):
        answer = "no such file or folder; expected the name of a corpus, or --texts FILE or FOLDER"
        if path.exists():
            answer = f"is a {'folder' if path.is_dir() else 'file'}; expected --texts {path}"
        raise CorpusError(f"--corpus {name}: {answer}")
    return None


def hub_dataset(options: BuildOptions) -> Corpus | None:
    """The Hugging Face dataset that was named, if any was."""
    if options.hub_dataset is None:
        return None
    if options.language:
        raise CorpusError(
            f"--language {options.language}: the card of {options.hub_dataset} says its language; "
            "expected no --language"
        )
    given = Path(options.hub_dataset)
    if given.is_file() or (given.is_dir() and any(given.glob("*.txt"))):
        what = "a file" if given.is_file() else "a folder of text files"
        raise CorpusError(f"--hub-dataset {given}: is {what}; expected --texts {given}")
    return hub_corpus(
        options.hub_dataset,
        config=options.hub_config,
        split=options.hub_split,
        column=options.text_column,
        revision=options.hub_revision,
        genre=options.genre or "narration",
        shape=options.shape,
        licence=options.licence,
    )


def texts_of(options: BuildOptions) -> OwnTexts | None:
    """The user's own texts, if any were named."""
    genre, column, form = options.genre, options.text_column, options.format
    if (path := options.texts) is None:
        # A corpus of the user's own has a genre as well, and articles have a licence.
        with_genre = any(name not in (SAMPLE, *CORPORA) for name in options.corpora)
        with_articles = ARTICLES in options.corpora
        for name, given, is_used in (
            ("format", form, False),
            ("text-column", column, options.hub_dataset),
            ("genre", genre, options.hub_dataset or with_genre),
            ("licence", options.licence, options.hub_dataset or with_articles),
            ("language", options.language, with_articles),
        ):
            if given and not is_used:
                only = "only for your own texts; expected --texts with it"
                # A dataset of the Hub says its language itself.
                hub = ", or --hub-dataset" * (name not in ("format", "language"))
                raise CorpusError(f"--{name} {given}: {only}{hub}")
        return None
    if options.language and language(options.language).name == options.language:
        raise CorpusError(
            f"--language {options.language}: no such language; expected an ISO 639-1 code, such as "
            "nl or zh"
        )
    if genre not in (None, SECTIONED, *PLAIN_GENRES):
        raise CorpusError(
            f"--genre {genre}: --texts are plain; expected {', '.join(PLAIN_GENRES)} or "
            f"{SECTIONED}, or --hub-dataset in place of --texts"
        )
    licence = options.licence
    if form is None and genre == SECTIONED:
        return sectioned_texts(path, options.shape, licence=licence)
    if form is None:
        try:
            return own_texts(path, options.shape, column=column, licence=licence)
        except NoTextsError as error:
            annotated = f"{format_option(path)} for annotated texts"
            raise CorpusError(f"{error}, or {annotated}") from None
    if column or genre:
        option = "--text-column" if column else "--genre"
        raise CorpusError(f"{option}: only for plain texts; expected no --format {form}")
    return annotated_texts(path, form, options.shape.language, licence=licence)


def own_configs(suite: Suite, options: BuildOptions) -> tuple[Config, ...]:
    """The suite's configs that the user's own texts can give."""
    # What the best of several corpora gives, and what the others give beside it.
    found: dict[str, Config] = {}
    for config in _in_any_language(suite, options):
        if config.is_in(options.shape.language):
            found.setdefault(config.full_name(""), config)
    return tuple(found.values())


def own_languages(suite: Suite, options: BuildOptions) -> tuple[str, ...]:
    """The languages (ISO 639-1) in which texts such as the user's own can give a config."""
    configs = _in_any_language(suite, options)
    return tuple(dict.fromkeys(code for config in configs for code in config.languages))


def _in_any_language(suite: Suite, options: BuildOptions) -> list[Config]:
    if options.format:
        corpora = FORMATS[options.format].corpora
        return [config for name in corpora for config in suite.natives.get(name, ())]
    genres = (options.genre,) if options.genre else PLAIN_GENRES
    return [
        config
        for config in suite.configs
        if config.genre in genres or (not options.genre and ARTICLES in config.corpora)
    ]


def _own_source(suite: Suite, options: BuildOptions) -> PlannedCorpus | None:
    if (own := texts_of(options)) is None:
        return None
    if configs := own_configs(suite, options):
        return PlannedCorpus(own.corpus, configs, find(own.corpus))
    kind = f"texts in {options.format}" if options.format else f"plain {options.genre or 'text'}"
    kind += f" in {language(options.language).name}" * bool(options.language)
    if known := own_languages(suite, options):
        reason = f": it has rules for {', '.join(known)} only"
    elif not options.format and suite.name not in SUITES:
        genres = [options.genre] if options.genre else PLAIN_GENRES
        reason = f": {_no_genre(genres)}"
    else:
        reason = ", which does not hold what it needs"
    able = [name for name in FORMATS if own_configs(suite, replace(options, format=name))]
    annotated = f"expected annotated texts, with --format {' or '.join(able)}; "
    raise CorpusError(
        f"{suite.name} cannot be built from {kind}{reason}; {annotated * bool(able)}"
        "`coherencegym build --texts` with no suite lists those that can"
    )


def _no_genre(genres: Sequence[str]) -> str:
    return f"no Config of it has {' or '.join(f'genre={genre!r}' for genre in genres)}"


def check_was_read(
    data_dir: Path, suites: Sequence[Suite], sources: Sequence[PlannedCorpus]
) -> None:
    """Refuse a folder of corpora in which no source was found."""
    places = [(each.found or find(each.corpus, data_dir)).place for each in sources]
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


def _check_names(suite: Suite, names: Sequence[str], other: str) -> None:
    allowed = tuple(filter(None, (*suite.natives, SAMPLE, other)))
    for name in names:
        if name not in allowed:
            raise CorpusError(
                f"{suite.name} is not built from corpus {name!r}; expected one of "
                f"{', '.join(allowed)}{did_you_mean(name, allowed)}"
            )


def _samples(suite: Suite) -> Iterator[PlannedCorpus]:
    # A config is built from the sample of its best corpus that has any.
    done: list[Config] = []
    for name, configs in suite.natives.items():
        fitting = tuple(config for config in configs if config not in done)
        if fitting and (sample := sample_of(registered(name))) is not None:
            yield PlannedCorpus(sample, fitting)
            done += fitting

"""Run builds as they are asked for: build, publish, export."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from coherencegym.builders.command.declared import load_declared
from coherencegym.builders.command.errors import finished
from coherencegym.builders.command.push import check_rights_of, push_build, resolve_target
from coherencegym.builders.command.show import (
    build_record,
    human_lines,
    missing_lines,
    print_build,
    print_lines,
    spinner,
)
from coherencegym.builders.export.write import Exports, export_build
from coherencegym.builders.judgement.match import Matcher
from coherencegym.builders.pipeline.build import BuildOptions, NoItemsError, build
from coherencegym.builders.pipeline.entries import toolkit_version
from coherencegym.builders.pipeline.licences import LicenceShare
from coherencegym.builders.pipeline.sources import (
    PLAIN_GENRES,
    SECTIONED,
    PlannedCorpus,
    Sources,
    check_was_read,
    find_sources,
    no_genre,
    only_crossed,
    own_configs,
    own_languages,
)
from coherencegym.builders.release.changes import Version
from coherencegym.builders.release.manifest import MANIFEST, Manifest
from coherencegym.builders.release.publish import (
    PublishOptions,
    closed_configs,
)
from coherencegym.builders.release.remote import PublishError
from coherencegym.builders.release.scored import add_scores, read_scores
from coherencegym.builders.release.stand_off import without_texts, write_release
from coherencegym.builders.suite import NO_OWNER, Config, Genre, Suite
from coherencegym.command_line import SIGNALLED, USER_ERROR
from coherencegym.engines import Engine, started
from coherencegym.errors import EvaluationError
from coherencegym.eval.data.notes import first_names
from coherencegym.eval.data.source import BUILDS, read_manifest
from coherencegym.eval.kinds.table_kind import SAMPLE
from coherencegym.eval.report.formats import json_text
from coherencegym.files.checksums import checksums, read_checksums, strange_part
from coherencegym.files.folders import check_apart, check_folder, written_beside
from coherencegym.hub.commits import check_target
from coherencegym.licence import CLOSED, OTHER, closed_line
from coherencegym.loaders.corpora.documents import documents_corpus
from coherencegym.loaders.corpora.hub.texts import hub_corpus
from coherencegym.loaders.corpora.own.annotated import FORMATS, annotated_texts, format_option
from coherencegym.loaders.corpora.own.sections import sectioned_texts
from coherencegym.loaders.corpora.own.texts import NoTextsError, OwnTexts, own_texts
from coherencegym.loaders.corpus import Corpus, CorpusError
from coherencegym.loaders.find import check_splits, find
from coherencegym.loaders.languages.english import ENGLISH
from coherencegym.loaders.languages.registry import language
from coherencegym.loaders.read import ReadingCache, read
from coherencegym.loaders.registry import CORPORA, is_extension
from coherencegym.loaders.registry import corpus as registered
from coherencegym.loaders.text.articles import Shape
from coherencegym.terminal import data_output


@dataclass(frozen=True, kw_only=True)
class BuildRequest(BuildOptions, PublishOptions):
    """All that can be asked of a build, by the names that the command line has for it.

    Attributes:
        corpora: the corpora to build from; none: every one that is found, and the sample.
        hub_dataset: a Hugging Face dataset to build from, with texts of ``hub_genre``, which is
            also the genre of a corpus that the suite does not name; without it narration.
        texts: a file or folder of one's own texts to build from: plain, with the column
            ``text_column`` where it is a table, or annotated in ``format``.
        excerpt, sentences: the documents that are made of articles.
        language: ISO 639-1, that of one's own texts; none: English.
        crossed: build only configs in which contexts and targets are crossed.
        output: the folder of the build, or of one for each of several suites.
        judgements: files with what people said of the suite's items.
        scores: folders of results that the card shows.
        stand_off_folder: gets what a push with ``stand_off`` would publish without texts.
    """

    corpora: Sequence[str] = ()
    hub_dataset: str | None = None
    hub_config: str | None = None
    hub_split: str | None = None
    hub_revision: str | None = None
    hub_column: str | None = None
    hub_genre: Genre | None = None
    texts: Path | None = None
    text_column: str | None = None
    format: str | None = None
    excerpt: str = "auto"
    sentences: Sequence[int] = (3, 8)
    spacy_pipeline: str | None = None
    licence: str = ""
    language: str = ""
    crossed: bool = False
    output: Path | None = None
    overwrite: bool = False
    judgements: Sequence[Path] = ()
    scores: Sequence[Path] = ()
    export_syntaxgym: Path | None = None
    export_pairs: Path | None = None
    export_babylm: Path | None = None
    export_inspect: Path | None = None
    stand_off_folder: Path | None = None
    push_to_hub: bool = False

    @property
    def data_folders(self) -> Sequence[Path]:
        """The folder of corpora, where one was named."""
        return [] if self.data_dir is None else [self.data_dir]

    @property
    def inputs(self) -> Sequence[Path]:
        """The folders and files that are read, in which no output may lie."""
        return [*self.scores, *filter(None, [self.texts])]

    @property
    def shape(self) -> Shape:
        """The documents that are made of articles."""
        fewest, most = self.sentences
        code = language(self.language or ENGLISH.code).code
        return Shape(self.excerpt, fewest, most, code, self.spacy_pipeline)

    @property
    def genre(self) -> Genre:
        """The genre of a dataset or corpus that the suite does not name."""
        return self.hub_genre or "narration"

    def own_texts(self) -> OwnTexts | None:
        """The user's own texts, if any were named.

        Raises:
            CorpusError, EvaluationError: nothing of that kind is there.
        """
        if self.texts is None:
            for option, given in (("--text-column", self.text_column), ("--format", self.format)):
                if given:
                    raise CorpusError(
                        f"{option} {given}: only for your own texts; expected --texts with it"
                    )
            return None
        if self.hub_genre not in (None, SECTIONED, *PLAIN_GENRES):
            raise CorpusError(
                f"--genre {self.hub_genre}: --texts are plain; expected "
                f"{', '.join(PLAIN_GENRES)} or {SECTIONED}, or --hub-dataset in place of --texts"
            )
        if self.hub_genre == SECTIONED and self.format is None:
            return sectioned_texts(self.texts, self.shape, licence=self.licence)
        if self.format is None:
            column, licence = self.text_column, self.licence
            try:
                return own_texts(self.texts, self.shape, column=column, licence=licence)
            except NoTextsError as error:
                annotated = f"{format_option(self.texts)} for annotated texts"
                raise CorpusError(f"{error}, or {annotated}") from None
        if self.format not in FORMATS:
            raise CorpusError(f"--format {self.format}: expected one of {', '.join(FORMATS)}")
        if self.text_column or self.hub_genre:
            option = "--text-column" if self.text_column else "--genre"
            raise CorpusError(f"{option}: only for plain texts; expected no --format {self.format}")
        return annotated_texts(self.texts, self.format, self.shape.language, licence=self.licence)

    def configs_of_own(self, suite: Suite) -> tuple[Config, ...]:
        """The configs of a suite that the user's own texts can give."""
        return own_configs(suite, self.shape.language, self._native, self.hub_genre)

    def languages_of_own(self, suite: Suite) -> tuple[str, ...]:
        """The languages that a suite knows, of texts such as the user's own (ISO 639-1)."""
        return own_languages(suite, self._native, self.hub_genre)

    @property
    def _native(self) -> tuple[str, ...]:
        return FORMATS[self.format].corpora if self.format else ()

    def planned_texts(self, suite: Suite) -> PlannedCorpus | None:
        """The user's own texts as a source of a suite.

        Raises:
            CorpusError, EvaluationError: there are none, or the suite cannot be built from them.
        """
        if (own := self.own_texts()) is None:
            return None
        if not (configs := self.configs_of_own(suite)):
            kind = f"texts in {self.format}" if self.format else f"plain {self.hub_genre or 'text'}"
            kind += f" in {language(self.language).name}" * bool(self.language)
            known = self.languages_of_own(suite)
            reason = ", which does not hold what it needs"
            genres = [self.hub_genre] if self.hub_genre else PLAIN_GENRES
            if not self.format and (lacking := no_genre(suite, genres)):
                reason = f": {lacking}"
            if known:
                reason = f": it has rules for {', '.join(known)} only"
            code = self.shape.language
            able = [name for name, one in FORMATS.items() if own_configs(suite, code, one.corpora)]
            annotated = f"expected annotated texts, with --format {' or '.join(able)}; "
            raise CorpusError(
                f"{suite.name} cannot be built from {kind}{reason}; {annotated * bool(able)}"
                "`coherencegym build --texts` with no suite lists those that can"
            )
        return PlannedCorpus(own.corpus, configs, find(own.corpus))

    def hub_corpora(self) -> dict[str, Any]:
        """The Hugging Face dataset that was named, by genre."""
        if self.hub_dataset is None:
            return {}
        if self.language:
            raise CorpusError(
                f"--language {self.language}: the card of {self.hub_dataset} says its language; "
                "expected no --language"
            )
        given = Path(self.hub_dataset)
        if given.is_file() or (given.is_dir() and any(given.glob("*.txt"))):
            what = "a file" if given.is_file() else "a folder of text files"
            raise CorpusError(f"--hub-dataset {given}: is {what}; expected --texts {given}")
        corpus = hub_corpus(
            self.hub_dataset,
            config=self.hub_config,
            split=self.hub_split,
            column=self.hub_column,
            revision=self.hub_revision,
            pipeline=self.spacy_pipeline,
            articles=self.shape if self.genre == "documents" else None,
            papers=self.genre == "papers",
            spans=self.genre == "spans",
            sections=self.genre == SECTIONED,
            licence=self.licence,
        )
        return {self.genre: corpus}

    def declared_corpora(self, suite: Suite) -> tuple[list[str], dict[str, Corpus]]:
        """The corpora that the suite knows by name, and those of the user's own, by name.

        Raises:
            EvaluationError: a Python file declares no corpus.
        """
        names, own = [], {}
        for name in self.corpora:
            if name.endswith(".py"):
                corpus = load_declared(Path(name), "CORPUS", Corpus)
            elif is_extension(name) and name not in suite.natives:
                corpus = registered(name)
            elif name not in CORPORA and (os.sep in name or Path(name).exists()):
                raise CorpusError(f"--corpus {name}: {_path_answer(Path(name))}")
            else:
                names.append(name)
                continue
            own[corpus.name] = corpus
            if corpus.name in suite.natives:
                names.append(corpus.name)
        return names, own

    def own_corpora(self) -> dict[str, Any]:
        """The registered corpora that a request has settings of, with these, by name."""
        return {"documents": documents_corpus(self.shape, self.licence)}

    def sources_of(self, suite: Suite) -> Sources:
        """The corpora that a suite is built from.

        Raises:
            CorpusError, EvaluationError: one that was named is not there, or does not fit.
        """
        names, declared = self.declared_corpora(suite)
        settled = {**self.own_corpora(), **declared}
        by_genre = self.hub_corpora()
        for name, corpus in declared.items():
            if name not in suite.natives:
                if self.genre in by_genre:
                    raise CorpusError(
                        f"--corpus {name}: {by_genre[self.genre].name} is read as "
                        f"{self.genre} already; expected one corpus of a genre"
                    )
                by_genre[self.genre] = corpus
                names.append(name)
        own = self.planned_texts(suite)
        return find_sources(suite, names, self.data_dir, by_genre, settled, own)


@dataclass
class BuildJob:
    """The build of one suite as a request has it, refused here if anything stands against it.

    Attributes:
        alone: false where it is one of several, which have folders in those that are named.
        lost_answers: a line on answers that only the earlier build has, where it is replaced.
        preview: the lines of a dry run on what a push and an export would do.
        is_there: the build that :meth:`make` was asked for was there already, and stays.
        samples_alone: why a first release would hold the package's samples alone, which nobody
            asked for by name; else empty.

    Raises:
        CorpusError, PublishError, OSError, ValueError: before any work is done.
    """

    suite: Suite
    request: BuildRequest
    alone: bool = True
    output_option: str = "--output"
    lost_answers: list[str] = field(default_factory=list)
    preview: list[str] = field(default_factory=list)
    is_there: bool = False
    samples_alone: str = ""

    def __post_init__(self) -> None:
        repo_id = self.request.repo_id or self.suite.repo_id
        self.request = request = replace(self.request, repo_id=repo_id)
        self.destination = self._part(request.output) or BUILDS / self.suite.name
        self.exports = Exports(
            syntaxgym=self._part(request.export_syntaxgym),
            pairs=self._part(request.export_pairs),
            babylm=self._part(request.export_babylm),
            inspect=self._part(request.export_inspect),
            overwrite=request.overwrite,
        )
        if request.version:
            Version.parse(request.version)
        # Names come first, then folders that are written, then the Hub.
        if request.push_to_hub:
            if repo_id.startswith(f"{NO_OWNER}/"):
                raise PublishError(
                    f"{self.suite.name} is a suite of your own; expected --repo-id with the "
                    f"repository to push to, such as {repo_id}"
                )
            check_target(repo_id)
        self.sources = request.sources_of(self.suite)
        for source in self.sources.found if "all" not in request.splits else ():
            check_splits(source.corpus, request.splits)
        if self.alone and request.data_dir is not None:
            check_was_read(request.data_dir, [self.suite], [self.sources])
        if request.crossed:
            self.sources = only_crossed(self.suite, self.sources)
        may_stay = not request.dry_run and not request.overwrite
        self.may_be_there = may_stay and _made_so(self.destination, self.suite, request) is not None
        if request.overwrite:
            self.lost_answers = _lost_answers(self.destination, request)
        if not request.dry_run:
            place = self.destination, request.overwrite or self.may_be_there, self.output_option
            check_folder(*place, inputs=request.inputs, around=request.data_folders)
            self.exports.check(self.destination)
        self.private, has_release = True, False
        if request.push_to_hub:
            self.private, has_release = resolve_target(request)
            if not self.private:
                _refuse_partial(request)
                _refuse_answers(request)
            if not request.dry_run:
                check_rights_of(request)
        if (bare := self._part(request.stand_off_folder)) is not None:
            _refuse_answers(replace(request, stand_off=True))
            check_folder(bare, request.overwrite, "--stand-off-folder")
            check_apart(bare, self.destination, "--stand-off-folder", "--output")
        self.matcher = None
        if request.judgements:
            self.matcher = Matcher(request.judgements, request.skip_bad_rows)
        self.runs = read_scores(request.scores, self.suite.name, alone=self.alone)
        if not self.private and (request.corpora or request.hub_dataset or request.texts):
            _refuse_closed(self.sources, request.stand_off)
        if request.push_to_hub and not request.corpora and not has_release:
            self.samples_alone = self._samples_alone()

    def _samples_alone(self) -> str:
        others = [source.corpus for source in self.sources.found if source.corpus.name != SAMPLE]
        takes_closed = self.private or self.request.stand_off
        if any(takes_closed or corpus.republishable for corpus in others):
            return ""
        what = f"a first release to {self.request.repo_id} would hold the package's samples alone"
        closed = (closed_line(corpus.name) for corpus in others)
        return "; ".join([what, *missing_lines(self.sources), *closed])

    def refuse_samples(self) -> NoReturn:
        """Refuse a first release of samples alone with ``PublishError``."""
        how = "--data-dir with a corpus, or --corpus sample"
        if self.request.data_dir is not None:
            how = "--corpus sample in place of --data-dir"
        raise PublishError(f"{self.samples_alone}; expected {how} to publish the samples")

    def _part(self, folder: Path | None) -> Path | None:
        return folder if folder is None or self.alone else folder / self.suite.name

    def make(
        self,
        progress: Callable[[str], None],
        engine: Engine | None = None,
        cache: ReadingCache | None = None,
    ) -> Manifest:
        """Build, into :attr:`destination` but in a dry run.

        Raises:
            EvaluationError: something else is there, and may not be replaced.
        """
        with self._folder() as folder:
            manifest = self._build(self.sources, folder, progress, engine, cache)
            if self.runs:
                manifest = add_scores(manifest, self.runs, folder)
            if self.request.dry_run:
                self.preview, _ = self.push(folder, manifest, progress, engine, cache)
                if self.samples_alone:
                    self.preview.append(
                        f"{self.samples_alone}; a push asks before, or needs --corpus sample"
                    )
                self.preview += export_build(folder, self.exports, dry_run=True)
        return manifest

    @contextmanager
    def _folder(self) -> Iterator[Path]:
        if self.request.dry_run or self.may_be_there:
            with tempfile.TemporaryDirectory() as folder:
                yield Path(folder)
                if not self.request.dry_run:
                    if checksums(Path(folder)) != read_checksums(self.destination):
                        check_folder(self.destination, False, self.output_option)
                    self.is_there = True
        else:
            with written_beside(self.destination, self.request.overwrite) as work:
                yield work

    def push(
        self,
        folder: Path,
        manifest: Manifest,
        progress: Callable[[str], None],
        engine: Engine | None = None,
        cache: ReadingCache | None = None,
    ) -> tuple[list[str], str]:
        """Publish a build if it was asked for: lines for the user, and the version it has there."""
        if not self.request.push_to_hub:
            return [], ""
        found = [source for source in self.sources.found if source.corpus.republishable]

        def build_share(part: Path, share: LicenceShare) -> Manifest:
            return self._build(Sources(found), part, progress, engine, cache, share)

        return push_build(self.request, folder, manifest, self.private, progress, build_share)

    def _build(
        self,
        sources: Sources,
        folder: Path,
        progress: Callable[[str], None],
        engine: Engine | None,
        cache: ReadingCache | None,
        share: LicenceShare | None = None,
    ) -> Manifest:
        return build(
            self.suite,
            sources,
            self.request,
            folder,
            self.matcher,
            withhold=not self.private,
            progress=progress,
            engine=engine,
            cache=cache,
            share=share,
        )

    def write_stand_off(self, folder: Path, manifest: Manifest) -> list[str]:
        """Write a build without its texts, if that was asked for: lines for the user."""
        bare = self._part(self.request.stand_off_folder)
        if bare is None or self.request.dry_run:
            return []
        closed = closed_configs(manifest)
        with written_beside(bare, self.request.overwrite, "--stand-off-folder") as work:
            write_release(folder, without_texts(folder, manifest, closed), closed, work)
        return [f"without texts, written to {bare}: {first_names(closed)}"]


def _made_so(folder: Path, suite: Suite, given: BuildRequest) -> Mapping[str, Any] | None:
    # The manifest of a build that was asked for so. It says too little to be sure of the rows, but
    # enough to refuse another build before any work.
    if strange_part(folder):
        return None
    try:
        made = read_manifest(folder / MANIFEST)
    except (EvaluationError, OSError):
        return None
    expected = {
        "seed": given.seed,
        "limit": given.limit,
        "settings": dict(suite.settings),
        "splits_asked": [] if "all" in given.splits else list(given.splits),
        "suite_version": suite.version,
        "toolkit_version": toolkit_version(),
    }
    # A corpus of the user's own has another name than what it is asked for by.
    is_own = given.hub_dataset or given.texts or any(name.endswith(".py") for name in given.corpora)
    corpora = () if is_own else given.corpora
    is_so = made.get("suite") == suite.name and all(
        expected.items() <= entry.items()
        and (not corpora or entry.get("corpus", {}).get("name") in corpora)
        for entry in made["configs"].values()
    )
    return made if is_so else None


def _lost_answers(folder: Path, request: BuildRequest) -> list[str]:
    # The answers are in files of the user's: what is lost comes back with these.
    try:
        entries = read_manifest(folder / MANIFEST)["configs"].values()
    except (EvaluationError, OSError):
        return []
    splits = [quality for entry in entries for quality in entry.get("quality", {}).values()]
    judged = any(quality.get("human", {}).get("answers_sha256") for quality in splits)
    if not judged or request.judgements:
        return []
    return [
        f"the earlier build in {folder} had answers of --judgements, and this build has none; "
        "build again with --judgements and their files to have them back"
    ]


def is_current(folder: Path, suite: Suite, request: BuildRequest) -> bool:
    """Tell by a folder's manifest whether a build would make it again: options, toolkit, files.

    Raises:
        CorpusError: files of a corpus are not there, or cannot be read.
    """
    if (made := _made_so(folder, suite, request)) is None:
        return False
    sources = request.sources_of(suite).found
    now = [
        file.named
        for source in sources
        for file in read(source.corpus, data_dir=request.data_dir, found=source.found).files
    ]
    then = [file for entry in made["configs"].values() for file in entry["corpus"]["files"]]
    return {*map(str, now)} == {*map(str, then)}


def _path_answer(path: Path) -> str:
    if not path.exists():
        return "no such file or folder; expected the name of a corpus, or --texts FILE or FOLDER"
    return f"is a {'folder' if path.is_dir() else 'file'}; expected --texts {path}"


def _refuse_partial(request: BuildRequest) -> None:
    chosen = request.splits and "all" not in request.splits
    for option, given in (("--limit", request.limit), ("--split", chosen)):
        if given and not request.allow_partial:
            raise PublishError(
                f"{option}: a part of the suite would be published for all to see as "
                f"{request.repo_id}; build it without {option}, push it with --private, or pass "
                "--allow-partial (its card says what was read)"
            )


def _refuse_answers(request: BuildRequest) -> None:
    if request.judgements and request.stand_off:
        raise PublishError(
            "--stand-off: others cannot rebuild rows that depend on the answers of --judgements; "
            "build without --judgements, or push with --private"
        )


def _refuse_closed(sources: Sources, stand_off: bool) -> None:
    for corpus in [source.corpus for source in sources.found]:
        if not corpus.republishable and not stand_off:
            annotation, texts = (
                corpus.licence_name if corpus.licence == OTHER else corpus.licence,
                corpus.text_licence_name if corpus.text_licence == OTHER else corpus.text_licence,
            )
            raise PublishError(
                f"corpus {closed_line(corpus.name)} (annotation: {annotation}; texts: "
                f"{texts}{'; closed by its name' * (corpus.name in CLOSED)}); expected --private, "
                "--stand-off, which publishes no texts, or no --push-to-hub"
            )


def run(
    suites: Sequence[Suite], request: BuildRequest, *, as_json: bool = False, every: bool = False
) -> int:
    """Build (and publish) the suites; the exit code: see :func:`finished`.

    A suite that fails does not keep the others from being built. ``as_json``: standard output has
    :func:`build_record` of the suite, or a list of several, and nothing where one of them failed.
    ``every``: the suites are all that there are; one of which the texts give no row is skipped.
    """
    made: list[dict[str, Any]] = []
    with data_output(as_json) as out:
        code = _run(suites, request, made, every)
    if as_json and made and code == 0:
        out.write(json_text(made[0] if len(suites) == 1 else made))
    return code


def _run(
    suites: Sequence[Suite], request: BuildRequest, made: list[dict[str, Any]], every: bool
) -> int:
    def work() -> int:
        if (own := request.own_texts()) is not None:
            print_lines([own.said])
        jobs: list[BuildJob] = []

        def check(suite: Suite) -> int:
            jobs.append(BuildJob(suite, request, len(suites) == 1))
            return 0

        # Whatever can be refused of any suite is refused before the first one is built.
        code = _each((suite.name, partial(check, suite)) for suite in suites)
        if request.data_dir is not None and len(suites) > 1 and jobs:
            check_was_read(request.data_dir, suites, [job.sources for job in jobs])
        asked = [] if request.dry_run else [job for job in jobs if job.samples_alone]
        if asked and not _agreed(asked):
            code = max(code, _each((job.suite.name, job.refuse_samples) for job in asked))
            jobs = [job for job in jobs if not job.samples_alone]
        if code > SIGNALLED or not jobs:
            return code
        with started(request.engine, request.num_proc, request.address) as engine:
            # A push may build again what is under each class of licences.
            again = len(suites) > 1 or request.push_to_hub
            cache = ReadingCache() if again else None
            one = partial(_run_one, engine=engine, cache=cache, made=made, every=every)
            code = max(code, _each((job.suite.name, partial(one, job)) for job in jobs))
            return code if code or made else USER_ERROR

    return finished("build", work)


def _each(steps: Iterable[tuple[str, Callable[[], int]]]) -> int:
    # The greatest exit code of all steps, by their names; a signal ends them, an error does not.
    code = 0
    for name, step in steps:
        ended = finished(name, step)
        if ended > SIGNALLED:
            return ended
        code = max(code, ended)
    return code


def _agreed(jobs: Sequence[BuildJob]) -> bool:
    if not sys.stdin.isatty():
        return False
    print_lines(f"{job.suite.name}: {job.samples_alone}" for job in jobs)
    try:
        return input("publish the samples? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _run_one(
    job: BuildJob,
    *,
    engine: Engine,
    cache: ReadingCache | None,
    made: list[dict[str, Any]],
    every: bool,
) -> int:
    try:
        with spinner() as progress:
            manifest = job.make(progress, engine, cache)
    except NoItemsError as error:
        if not every:
            raise
        print_lines([f"{job.suite.name}: skipped: {error}"])
        return 0
    # From here on the build is in its place: a push that fails does not lose it.
    dry_run = job.request.dry_run
    if job.is_there:
        print_lines(
            [f"{job.suite.name}: {job.destination} is there already, as this build makes it"]
        )
    else:
        where = None if dry_run else job.destination
        print_build(job.suite, manifest, job.sources, where, brief=not job.alone)
        if job.matcher is not None:
            print_lines([*job.matcher.lines(), *human_lines(manifest)])
    print_lines([*job.lost_answers, *job.preview])
    if not dry_run:
        with spinner() as progress:
            lines, version = job.push(job.destination, manifest, progress, engine, cache)
        print_lines(lines)
        print_lines(job.write_stand_off(job.destination, manifest))
        # Last, as tasks read the version that was published.
        print_lines(export_build(job.destination, job.exports, version))
    made.append(build_record(manifest, None if dry_run else job.destination))
    return 0

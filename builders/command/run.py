"""Run builds as they are asked for: check, build, publish."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from coherencegym.builders.command.show import (
    COMMAND,
    explain,
    missing_lines,
    print_build,
    print_lines,
    spinner,
)
from coherencegym.builders.judgement.answers import Matcher
from coherencegym.builders.pipeline.build import NoItemsError, build
from coherencegym.builders.pipeline.options import BuildOptions
from coherencegym.builders.pipeline.sources import (
    PlannedCorpus,
    check_was_read,
    find_sources,
    texts_of,
)
from coherencegym.builders.release.changes import PublishError, Version
from coherencegym.builders.release.manifest import MANIFEST, Manifest, hashes_path, toolkit_version
from coherencegym.builders.release.publish import (
    LicenceShare,
    closed_configs,
    licence_classes,
    look_at_target,
    publish,
    publishable,
    without_texts,
)
from coherencegym.builders.suite import NO_OWNER, Suite
from coherencegym.command_line import SIGNALLED, USER_ERROR, finish, flag_of
from coherencegym.engines import Engine, started
from coherencegym.errors import EvaluationError
from coherencegym.eval.data.source import BUILDS, published_part, read_manifest
from coherencegym.eval.kinds.table_kind import SAMPLE
from coherencegym.files.folders import (
    check_folder,
    checksums,
    read_checksums,
    strange_part,
    written_beside,
)
from coherencegym.hub import check_rights, check_target, hub_answers
from coherencegym.licence import CLOSED, OTHER, closed_line
from coherencegym.loaders.read import ReadingCache, check_splits, read

#: Options that only a push has a use for.
_OF_PUSHES = ("private", "stand_off", "allow_partial", "message")
#: Builds the share of one class of licences into an empty folder.
BuildShare = Callable[[Path, LicenceShare], Manifest]
#: The folder and manifest of what goes into one repository, which the manifest names.
_Release = tuple[Path, Manifest]


def push_build(
    options: BuildOptions,
    folder: Path,
    manifest: Manifest,
    private: bool,
    progress: Callable[[str], None],
    build_share: BuildShare | None = None,
) -> list[str]:
    """Publish a build, or in a dry run say what publishing would do, in lines.

    Texts of each class of licences go into a repository of their own; in a private one they are
    together. Whatever can be refused is refused before the first of several repositories changes.
    Where a push breaks off, those before it are published whole, and the error says which.

    Args:
        options, folder, manifest, private: the place, the build, and who sees the place.
        progress: told what is being done.
        build_share: builds what goes into one of several repositories; none: all go into one.
    """
    from huggingface_hub.errors import OfflineModeIsEnabled
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    if not sys.stderr.isatty():
        disable_progress_bars()  # the client's own bars, silent in a pipe as ours are
    if options.stand_off and not private:
        manifest = without_texts(folder, manifest, closed_configs(manifest))
    public, held = publishable(manifest, private)
    lines = [
        f"left out of the push: {closed_line(name, published_part(manifest, name))} (pass "
        "--private for a private one, or --stand-off to publish no texts)"
        for name in held
    ]
    with tempfile.TemporaryDirectory() as work:
        releases = [(folder, public)]
        if build_share is not None and not private and public["configs"]:
            releases = _divided(folder, public, options.repo_id, Path(work), build_share)
        try:
            if len(releases) > 1 and not options.dry_run:
                _push_all(replace(options, dry_run=True), releases, progress)
            said = _push_all(options, releases, progress)
        except OfflineModeIsEnabled:
            if not options.dry_run:
                raise
            names = ", ".join(made["repo_id"] for _, made in releases)
            said = [f"repository {names}: changes unknown (HF_HUB_OFFLINE is set)"]
    return lines + said


def _divided(
    folder: Path, manifest: Manifest, repo_id: str, work: Path, build_share: BuildShare
) -> list[_Release]:
    # By class of licences, the freest first; what has no texts is in the first repository.
    configs = manifest["configs"]
    bare = {name: config for name, config in configs.items() if config.get("stand_off")}
    texts = {name: config for name, config in configs.items() if name not in bare}
    classes = licence_classes(texts.values())
    parts: dict[str, _Release] = {}
    if len(classes) == 1:
        parts[classes[0]] = folder, manifest | {"configs": texts}
    for name in classes if len(classes) > 1 else ():
        part = work / f"texts{name}"
        part.mkdir()
        made = build_share(part, LicenceShare(name))
        if made["configs"]:
            parts[name] = part, made
    if bare:
        place, made = parts.pop("", (folder, manifest | {"configs": {}}))
        for name, config in bare.items() if place != folder else ():
            for path in (hashes_path(name, split) for split in config["splits"]):
                shutil.copy(folder / path, place / path)
        parts = {"": (place, made | {"configs": {**made["configs"], **bare}}), **parts}
    if not parts:  # no two texts of an item go together
        return [(folder, manifest | {"configs": {}})]
    names = [repo_id + name for name in parts]
    return [
        (place, made | {"repo_id": own} | ({"beside": others} if others else {}))
        for own, (place, made) in zip(names, parts.values(), strict=True)
        for others in [[name for name in names if name != own]]
    ]


def _push_all(
    options: BuildOptions, releases: Sequence[_Release], progress: Callable[[str], None]
) -> list[str]:
    from huggingface_hub import HfApi

    names = [str(made["repo_id"]) for _, made in releases]
    lines: list[str] = []
    for number, (folder, manifest) in enumerate(releases):
        of_one = replace(options, repo_id=names[number])
        try:
            with hub_answers():
                lines += publish(HfApi(), folder, manifest, of_one, progress)
        except Exception as error:
            if number and not options.dry_run:
                error.add_note(
                    f"published: {', '.join(names[:number])}; not published: "
                    f"{', '.join(names[number:])}"
                )
            raise
    return lines


class CheckedBuild:
    """A build of one suite: its corpora are there, and what can be refused before any work is not.

    Attributes:
        missing: corpus -> why it cannot be read.
        destination: the folder, of a dry run too.
        private: the build is pushed to nobody but its owners, or not at all.
        may_be_there: the folder has a build that was asked for so.
    """

    def __init__(
        self,
        suite: Suite,
        options: BuildOptions,
        alone: bool = True,
        output_option: str = "--output",
    ) -> None:
        """Look for the corpora, and at the folder and the repository.

        ``alone``: false where it is one of several, which have folders in the one that is named;
        ``output_option`` names the folder in messages.
        """
        self.suite, self.output_option = suite, output_option
        self.options = options = replace(options, repo_id=options.repo_id or suite.repo_id)
        destination = options.output if alone else options.output and options.output / suite.name
        self.destination = destination or BUILDS / suite.name
        if options.version:
            Version.parse(options.version)
        for name in _OF_PUSHES if not options.push_to_hub else ():
            if getattr(options, name):
                raise PublishError(
                    f"{flag_of(name)}: says how a build is published, and changes no folder; "
                    "expected --push-to-hub with it"
                )
        # Names come first, then folders that are written, then the Hub.
        if options.push_to_hub:
            if options.repo_id.startswith(f"{NO_OWNER}/"):
                raise PublishError(
                    f"{suite.name} is a suite of your own; expected --repo-id with the repository "
                    f"to push to, such as {options.repo_id}"
                )
            check_target(options.repo_id)
        self.sources, self.missing = find_sources(suite, options)
        for source in self.sources if "all" not in options.splits else ():
            check_splits(source.corpus, options.splits)
        if alone and options.data_dir is not None:
            check_was_read(options.data_dir, [suite], self.sources)
        self.may_be_there = False
        if not options.dry_run:
            self._check_folder()
        self.private = True
        if options.push_to_hub:
            self.private = _check_push(options, self.sources, self.missing)
        self.matcher: Matcher | None = None
        if options.judgements:
            self.matcher = Matcher(options.judgements, options.skip_bad_rows)
        if not self.private and (options.corpora or options.hub_dataset or options.texts):
            _refuse_closed(self.sources, options.stand_off)

    def _check_folder(self) -> None:
        options, destination = self.options, self.destination
        is_lost = options.overwrite and not (options.judgements or options.prune)
        if is_lost and _is_judged(destination):
            raise PublishError(
                f"{destination}: has people's answers, which this build would remove; expected "
                "--judgements with the files of answers, or --prune to remove them"
            )
        if not options.overwrite:
            self.may_be_there = _made_so(destination, self.suite, options) is not None
        check_folder(
            destination,
            options.overwrite or self.may_be_there,
            self.output_option,
            inputs=[options.texts] if options.texts else [],
            around=[options.data_dir] if options.data_dir else [],
        )

    @contextmanager
    def _folder(self) -> Iterator[Path]:
        # An empty folder, which is in its place in the end; of a dry run it is nowhere.
        dry_run = self.options.dry_run
        if not dry_run and not self.may_be_there:
            with written_beside(self.destination, self.options.overwrite) as work:
                yield work
            return
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
            if not dry_run and checksums(Path(folder)) != read_checksums(self.destination):
                check_folder(self.destination, False, self.output_option)

    def build(
        self,
        engine: Engine,
        cache: ReadingCache | None = None,
        *,
        quiet: bool = False,
        brief: bool = False,
    ) -> Manifest:
        """Build, put what was built in its place, and publish it if that was asked for.

        Args:
            engine, cache: as :func:`coherencegym.builders.pipeline.build.build` takes them.
            quiet: say nothing of it.
            brief: of the build itself say one line; see :func:`print_build`.
        """
        options = self.options
        empty: dict[str, str] = {}
        if options.push_to_hub:  # which may build again what is under each class of licences
            cache = cache or ReadingCache()

        def make(folder: Path, share: LicenceShare | None = None) -> Manifest:
            return build(
                self.suite,
                [one for one in self.sources if share is None or one.corpus.republishable],
                options,
                folder,
                matcher=self.matcher,
                withhold=not self.private,
                progress=progress,
                engine=engine,
                cache=cache,
                share=share,
                empty=empty if share is None else {},
            )

        def push(folder: Path) -> list[str]:
            if not options.push_to_hub:
                return []
            return push_build(options, folder, manifest, self.private, progress, make)

        with spinner(quiet) as progress, self._folder() as folder:
            manifest = make(folder)
            if options.dry_run:
                lines = ["dry run: nothing was written", *push(folder)]
            elif self.may_be_there:
                lines = [f"{self.destination} is there already, as this build makes it"]
            else:
                lines = [f"written to {self.destination}"]
        # From here on the build is in its place: a push that fails does not lose it.
        if not quiet:
            written = not options.dry_run
            print_build(manifest, self.missing, empty, lines, brief=brief, written=written)
            if self.matcher is not None:
                print_lines(self.matcher.lines())
        if not options.dry_run:
            with spinner(quiet) as progress:
                said = push(self.destination)
            print_lines(() if quiet else said)
        return manifest


def _check_push(
    options: BuildOptions, sources: Sequence[PlannedCorpus], missing: Mapping[str, str]
) -> bool:
    # Says whether the repository is private.
    from huggingface_hub import HfApi

    private, has_release = look_at_target(options)
    if not private:
        _refuse_partial(options)
        if options.judgements and options.stand_off:
            raise PublishError(
                "--stand-off: others cannot rebuild rows that depend on the answers of "
                "--judgements; build without --judgements, or push with --private"
            )
    if not options.dry_run:
        # A token that cannot push there is refused before minutes of building.
        check_target(options.repo_id, needs_token=True)
        with hub_answers():
            check_rights(HfApi(), options.repo_id)
    others = [source.corpus for source in sources if source.corpus.name != SAMPLE]
    takes_closed = private or options.stand_off
    if not (
        options.corpora
        or has_release
        or any(takes_closed or corpus.republishable for corpus in others)
    ):
        closed = (closed_line(corpus.name) for corpus in others)
        how = "--data-dir with a corpus, or --corpus sample"
        if options.data_dir is not None:
            how = "--corpus sample in place of --data-dir"
        what = f"a first release to {options.repo_id} would hold the package's samples alone"
        said = "; ".join([what, *missing_lines(missing), *closed])
        raise PublishError(f"{said}; expected {how} to publish the samples")
    return private


def _refuse_partial(options: BuildOptions) -> None:
    for option, given in (("--limit", options.limit), ("--split", options.splits_asked)):
        if given and not options.allow_partial:
            raise PublishError(
                f"{option}: a part of the suite would be published for all to see as "
                f"{options.repo_id}; build it without {option}, push it with --private, or pass "
                "--allow-partial (its card says what was read)"
            )


def _refuse_closed(sources: Sequence[PlannedCorpus], stand_off: bool) -> None:
    for corpus in (source.corpus for source in sources):
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


def _manifest_in(folder: Path) -> Mapping[str, Any] | None:
    try:
        return read_manifest(folder / MANIFEST)
    except (EvaluationError, OSError):
        return None


def _is_judged(folder: Path) -> bool:
    # Answers of people whom `judge` asked; those of a corpus are in every build of it.
    configs = (_manifest_in(folder) or {"configs": {}})["configs"].values()
    figures = (quality.get("human") for one in configs for quality in one["quality"].values())
    return any(human and human["answers_sha256"] for human in figures)


def _made_so(folder: Path, suite: Suite, options: BuildOptions) -> Mapping[str, Any] | None:
    # The manifest of a build that was asked for so. It says too little to be sure of the rows, but
    # enough to refuse another build before any work.
    if strange_part(folder) or (made := _manifest_in(folder)) is None:
        return None
    expected = {
        "seed": options.seed,
        "limit": options.limit,
        "settings": dict(suite.settings),
        "splits_asked": options.splits_asked,
        "suite_version": suite.version,
        "toolkit_version": toolkit_version(),
    }
    # A corpus of the user's own has another name than what it is asked for by.
    is_own = bool(options.hub_dataset or options.texts)
    is_own = is_own or any(name.endswith(".py") for name in options.corpora)
    corpora = () if is_own else options.corpora
    is_so = made.get("suite") == suite.name and all(
        expected.items() <= entry.items()
        and (not corpora or entry.get("corpus", {}).get("name") in corpora)
        for entry in made["configs"].values()
    )
    return made if is_so else None


def is_current(folder: Path, suite: Suite, options: BuildOptions) -> bool:
    """Tell by a folder's manifest whether a build would make it again: options, toolkit, files."""
    if (made := _made_so(folder, suite, options)) is None:
        return False
    now = [
        file
        for source in find_sources(suite, options)[0]
        for file in read(source.corpus, data_dir=options.data_dir, found=source.found).files
    ]
    then = [file for entry in made["configs"].values() for file in entry["corpus"]["files"]]
    return {*map(str, now)} == {*map(str, then)}


def run(suites: Sequence[Suite], options: BuildOptions, *, every: bool = False) -> int:
    """Build (and publish) the suites; the exit code: see :func:`explain`.

    A suite that fails does not keep the others from being built. ``every``: the suites are all that
    there are; one of which the texts give no row is skipped.
    """
    alone = len(suites) == 1
    checked: list[CheckedBuild] = []
    made: list[str] = []

    def check_one(suite: Suite) -> int:
        checked.append(CheckedBuild(suite, options, alone))
        return 0

    def run_one(one: CheckedBuild, engine: Engine, cache: ReadingCache | None) -> int:
        from coherencegym.eval.report.grid import console_for, plain_text

        try:
            one.build(engine, cache, brief=not alone)
        except NoItemsError as error:
            if not every:
                raise
            console_for().print(plain_text(f"{one.suite.name}: skipped: {error}"))
            return 0
        made.append(one.suite.name)
        return 0

    def work() -> int:
        if (own := texts_of(options)) is not None:
            print_lines([own.said])
        # Whatever can be refused of any suite is refused before the first one is built.
        code = _each((suite.name, partial(check_one, suite)) for suite in suites)
        if options.data_dir is not None and not alone and checked:
            found = [source for one in checked for source in one.sources]
            check_was_read(options.data_dir, suites, found)
        if code > SIGNALLED or not checked:
            return code
        with started(options.engine, options.num_proc, options.address) as engine:
            cache = None if alone else ReadingCache()
            steps = ((one.suite.name, partial(run_one, one, engine, cache)) for one in checked)
            code = max(code, _each(steps))
            return code if code or made else USER_ERROR

    return finish(COMMAND, work, explain)


def _each(steps: Iterable[tuple[str, Callable[[], int]]]) -> int:
    # The greatest exit code of all steps, by their names; a signal ends them, an error does not.
    code = 0
    for name, step in steps:
        ended = finish(f"{COMMAND} {name}", step, explain)
        if ended > SIGNALLED:
            return ended
        code = max(code, ended)
    return code

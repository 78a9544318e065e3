"""Run builds as the command line asks: build, publish, summarise, and turn errors into one line."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.builders.suite import Suite

if TYPE_CHECKING:
    from coherencegym.builders.judgement.match import Matcher

#: The folder of builds when nobody names one: no package has this name.
OUTPUT = Path("suites")

#: The file by which a folder is known as a build.
MARKER = "manifest.json"


def run(suites: Sequence[Suite], arguments: argparse.Namespace) -> int:
    """Build (and publish) the suites; the exit code: 0 done, 2 the user can mend it, 1 not.

    A suite that fails does not keep the others from being built.
    """
    from coherencegym.builders.errors import explain

    stop_cleanly()
    code = 0
    for suite in suites:
        failed = 0
        try:
            run_one(suite, arguments, alone=len(suites) == 1)
        except KeyboardInterrupt:
            print(f"{suite.name}: interrupted; nothing half-written is left", file=sys.stderr)
            return 130
        except Exception as error:
            if (explained := explain(error)) is None:
                raise  # nothing that the user or the Hub did: a mistake of ours, shown whole
            failed, text = explained
            print(f"{suite.name}: {text}", file=sys.stderr)
        code = max(code, failed)
    return code


def stop_cleanly() -> None:
    """Let a polite kill and Ctrl-C raise ``KeyboardInterrupt``, after which all is cleaned up."""
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def _interrupt(number: int, frame: Any) -> None:
    """Let a polite kill clean up as Ctrl-C does, and both without a word from destructors."""
    # A half-written parquet file complains when its writer is thrown away; it is deleted anyway.
    sys.unraisablehook = lambda _: None
    raise KeyboardInterrupt


def run_one(suite: Suite, arguments: argparse.Namespace, alone: bool) -> None:
    """Build one suite, publish it if asked, and print what was made.

    Raises:
        CorpusError, PublishError, OSError, ValueError: see :func:`run`.
    """
    from coherencegym.builders.export.write import Exports
    from coherencegym.builders.export.write import export_build as export
    from coherencegym.builders.making.build import Options, build
    from coherencegym.builders.making.progress import spinner
    from coherencegym.builders.making.sources import find_sources
    from coherencegym.builders.making.summary import print_build, print_lines
    from coherencegym.builders.release.version import Version
    from coherencegym.files.folders import check_folder, written_beside
    from coherencegym.hub.commits import check_target

    destination = output_folder(suite, arguments, alone)
    exports = Exports(
        part(arguments.export_syntaxgym, suite, alone),
        part(arguments.export_pairs, suite, alone),
        arguments.overwrite,
    )
    if arguments.version:
        Version.parse(arguments.version)
    if not arguments.dry_run:
        check_folder(destination, arguments.overwrite, MARKER)
        exports.check(destination)
    private = True
    if arguments.push_to_hub:
        check_target(repo_id(suite, arguments))
        private = resolve_privacy(suite, arguments)
    matcher = read_judgements(suite, arguments)
    sources = find_sources(
        suite,
        arguments.corpus,
        arguments.data_dir,
        hub_corpora(arguments),
        own_corpora(arguments),
    )
    if not private:
        named = arguments.corpus or arguments.hub_dataset
        for source in sources.found:
            if named and not source.corpus.republishable:
                from coherencegym.builders.release.remote import PublishError

                raise PublishError(
                    f"corpus {source.corpus.name} may not be republished "
                    f"(licence: {source.corpus.licence_name or source.corpus.licence}); "
                    "push to a private repository with --private, or build without --push-to-hub"
                )
    with ExitStack() as stack:
        if arguments.dry_run:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        else:
            folder = stack.enter_context(written_beside(destination, arguments.overwrite, MARKER))
        progress = stack.enter_context(spinner())
        options = Options(
            seed=arguments.seed,
            limit=arguments.limit,
            splits=tuple(arguments.split),
            data_dir=arguments.data_dir,
            skip_bad_rows=arguments.skip_bad_rows,
            num_proc=arguments.num_proc,
            withhold=not private,
            repo_id=arguments.repo_id or "",
            version=arguments.version,
            progress=progress,
        )
        manifest = build(suite, sources, options, folder, matcher)
        lines: list[str] = []
        if arguments.dry_run:
            if arguments.push_to_hub:
                lines, _ = push(suite, arguments, folder, manifest, private, progress)
            lines += export(folder, exports, dry_run=True)
        stack.close()
        # From here on the build is in its place: a push that fails does not lose it.
    print_build(suite, manifest, sources, None if arguments.dry_run else destination)
    if matcher is not None:
        print_lines(matcher.lines())
    if not arguments.dry_run:
        version = ""
        if arguments.push_to_hub:
            with spinner() as progress:
                lines, version = push(suite, arguments, destination, manifest, private, progress)
        print_lines(lines)
        # Last, as tasks read the version that was published.
        lines = export(destination, exports, version)
    print_lines(lines)


def read_judgements(suite: Suite, arguments: argparse.Namespace) -> Matcher | None:
    """The answers of the command line's files, read before any work is done for them.

    Raises:
        CorpusError, OSError: a file is not what annotators give back, or cannot be read.
    """
    if not arguments.judgements:
        return None
    from coherencegym.builders.judgement.match import Matcher
    from coherencegym.builders.judgement.read import read_answers

    answers = read_answers(arguments.judgements, arguments.skip_bad_rows, suite.questions)
    return Matcher(suite.name, answers)


def output_folder(suite: Suite, arguments: argparse.Namespace, alone: bool) -> Path:
    """Name the folder of a build: ``--output`` itself for one suite, a folder in it for several."""
    return part(arguments.output, suite, alone) or OUTPUT / suite.name


def part(folder: Path | None, suite: Suite, alone: bool) -> Path | None:
    """A folder named on the command line; a folder in it where there are several suites."""
    return folder if folder is None or alone else folder / suite.name


def repo_id(suite: Suite, arguments: argparse.Namespace) -> str:
    """The repository that a push goes to."""
    return str(arguments.repo_id or f"coherencegym/{suite.name}")


def resolve_privacy(suite: Suite, arguments: argparse.Namespace) -> bool:
    """Tell whether the push goes to a private repository; offline, what the command line says."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import OfflineModeIsEnabled

    from coherencegym.builders.release.publish import PublishOptions, target_is_private
    from coherencegym.hub.answers import hub_answers

    options = PublishOptions(repo_id(suite, arguments), private=arguments.private)
    try:
        with hub_answers():
            return target_is_private(HfApi(), options)
    except OfflineModeIsEnabled:
        if not arguments.dry_run:
            raise
        return bool(arguments.private)


def push(
    suite: Suite,
    arguments: argparse.Namespace,
    folder: Path,
    manifest: dict[str, Any],
    private: bool,
    progress: Any,
) -> tuple[list[str], str]:
    """Publish a build, or in a dry run say what publishing would do.

    Returns:
        Lines for the user, and the version that it is published as.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import OfflineModeIsEnabled
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    from coherencegym.builders.release.publish import PublishOptions, publish, publishable
    from coherencegym.hub.answers import hub_answers

    options = PublishOptions(
        repo_id(suite, arguments),
        version=arguments.version,
        private=arguments.private,
        create_pr=arguments.create_pr,
        message=arguments.message,
        prune=arguments.prune,
        dry_run=arguments.dry_run,
    )
    if not sys.stderr.isatty():
        disable_progress_bars()  # the client's own bars, silent in a pipe as ours are
    public, held = publishable(manifest, private)
    lines = [
        f"left out of the push, may not be republished: {name} (pass --private for a private one)"
        for name in held
    ]
    try:
        with hub_answers():
            outcome = publish(HfApi(), folder, public, options, progress)
    except OfflineModeIsEnabled:
        if not arguments.dry_run:
            raise
        lines.append(f"repository {options.repo_id}: changes unknown (HF_HUB_OFFLINE is set)")
        return lines, str(manifest["version"])
    assert outcome.release is not None
    return lines + outcome.lines, str(outcome.release.manifest["version"])


def hub_corpora(arguments: argparse.Namespace) -> dict[str, Any]:
    """The Hugging Face dataset named on the command line, by genre."""
    if arguments.hub_dataset is None:
        return {}
    from coherencegym.loaders.corpora.hub import hub_corpus

    return {
        arguments.hub_genre: hub_corpus(
            arguments.hub_dataset,
            config=arguments.hub_config,
            split=arguments.hub_split,
            column=arguments.hub_column,
            revision=arguments.hub_revision,
            pipeline=arguments.spacy_pipeline,
            articles=document_shape(arguments) if arguments.hub_genre == "documents" else None,
            licence=arguments.licence,
        )
    }


def own_corpora(arguments: argparse.Namespace) -> dict[str, Any]:
    """The registered corpora that the command line has settings of, with these, by name."""
    from coherencegym.loaders.corpora.documents import documents_corpus

    return {"documents": documents_corpus(document_shape(arguments), arguments.licence)}


def document_shape(arguments: argparse.Namespace) -> Any:
    """Make the document's shape from the command line's options."""
    from coherencegym.loaders.text.articles import Shape

    fewest, most = arguments.sentences
    return Shape(arguments.excerpt, fewest, most, pipeline=arguments.spacy_pipeline)

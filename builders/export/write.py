"""Write a build for other tools, each export a folder that appears whole or not at all."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from coherencegym.builders.export.babylm import (
    BabylmRow,
    BabylmTable,
    babylm_table,
    fast_items,
    group_name,
)
from coherencegym.builders.export.harness import (
    FEWEST_ITEMS,
    ExportedRelease,
    harness_files,
    in_no_task,
    rendered,
    tasks,
)
from coherencegym.builders.export.inspect_tasks import (
    QuestionTable,
    question_tables,
    report,
    tasks_file,
)
from coherencegym.builders.export.pairs import PairTable, pair_table
from coherencegym.builders.export.syntaxgym import SuiteTable, item_records, suite_json, suite_table
from coherencegym.errors import EvaluationError
from coherencegym.eval.data.dataset import ItemTable, tables
from coherencegym.eval.data.source import Source, find_dataset
from coherencegym.files.folders import check_apart, check_folder, written_beside
from coherencegym.files.strict_json import held

#: The reports of exports.
SUITES_REPORT, PAIRS_REPORT, BABYLM_REPORT = "SUITES.md", "PAIRS.md", "BABYLM.md"
INSPECT_REPORT = "INSPECT.md"

#: The command-line options.
SUITES_OPTION, PAIRS_OPTION = "--export-syntaxgym", "--export-pairs"
BABYLM_OPTION, INSPECT_OPTION = "--export-babylm", "--export-inspect"


class ExportError(EvaluationError):
    """An export that was asked for and cannot be made; the message says why in one line."""


@dataclass(frozen=True)
class Exports:
    """The folders that exports go to; None: not asked for."""

    syntaxgym: Path | None = None
    pairs: Path | None = None
    babylm: Path | None = None
    inspect: Path | None = None
    overwrite: bool = False

    @property
    def folders(self) -> Iterator[tuple[str, Path]]:
        """Option and folder of each that was asked for."""
        if self.syntaxgym is not None:
            yield SUITES_OPTION, self.syntaxgym
        if self.pairs is not None:
            yield PAIRS_OPTION, self.pairs
        if self.babylm is not None:
            yield BABYLM_OPTION, self.babylm
        if self.inspect is not None:
            yield INSPECT_OPTION, self.inspect

    def check(self, build: Path | None = None, named: str = "--output") -> None:
        """Refuse folders that would be lost, before any work is done for them.

        Args:
            build: the folder of the build itself.
            named: the option that names it on the command line.

        Raises:
            EvaluationError: two of the folders are the same, or one is inside the other, or see
                :func:`coherencegym.files.folders.check_folder`.
        """
        places = [(named, build)] if build is not None else []
        for option, folder in self.folders:
            for other, place in places:
                check_apart(folder, place, option, other)
            places.append((option, folder))
            check_folder(folder, self.overwrite, option)


@dataclass(frozen=True)
class _Corpus:
    title: str
    language: str
    citation: str = ""


@dataclass(frozen=True)
class _Config:
    corpus: _Corpus
    licences: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Exported:
    configs: dict[str, _Config]


def release_of(source: Source, version: str = "") -> ExportedRelease:
    """The published dataset that a build is, or will be, at a version (empty: the manifest's).

    Raises:
        ExportError: there is no manifest, or it names no suite, or not the corpora behind it.
    """
    manifest = source.manifest
    if not manifest:
        raise ExportError(f"{source.name}: no manifest.json; expected a build or a release of one")
    suite = str(manifest.get("suite", ""))
    # It becomes part of file names, and a manifest from the Hub is anybody's.
    if not re.fullmatch(r"\w+", suite):
        raise ExportError(f"{source.name}: manifest.json: {suite!r} is no name of a suite")
    try:
        held(manifest, _Exported)
    except EvaluationError as error:
        raise ExportError(f"{source.name}: manifest.json: {error}") from None
    published, version = bool(version), version or str(manifest.get("version", ""))
    return ExportedRelease(
        repo=source.repo or str(manifest.get("repo_id", "")),
        revision=source.revision or f"v{version}",
        version=version,
        suite=suite,
        configs=manifest["configs"],
        citation=str(manifest.get("citation", "")),
        title=str(manifest.get("title", "")),
        description=str(manifest.get("description", "")),
        hypothesis=str(manifest.get("hypothesis", "")),
        is_benchmark=bool(manifest.get("published")),
        is_local=not (source.repo or published),
    )


def export_build(
    folder: Path, exports: Exports, version: str = "", dry_run: bool = False
) -> list[str]:
    """Write what was asked for of a build in a folder: see :func:`export`."""
    return (
        export(find_dataset(str(folder)), exports, version, dry_run) if any(exports.folders) else []
    )


def export(source: Source, exports: Exports, version: str = "", dry_run: bool = False) -> list[str]:
    """Write what was asked for; on a dry run leave nothing, and say what would be written.

    Returns:
        Lines for the user: what was written, and how much was left out and why.

    Raises:
        ExportError: see :func:`release_of`.
        EvaluationError: the rows cannot be read or are not those that were published, or a folder
            is there and may not be overwritten.
    """
    release = release_of(source, version)
    # What says nothing of a suite's hypothesis would count in the means of other programs.
    diagnostics = release.diagnostics
    read = [one for one in tables(source) if one.config not in diagnostics]
    lines: list[str] = []
    for option, destination in exports.folders:
        write = _WRITERS[option]
        with (
            tempfile.TemporaryDirectory()
            if dry_run
            else written_beside(destination, exports.overwrite, option)
        ) as folder:
            what, *left_out = write(read, release, Path(folder))
        done = "would be written to" if dry_run else "written to"
        lines += [f"{what}, {done} {destination}", *left_out]
    if diagnostics:
        names = ", ".join(diagnostics)
        lines.append(f"left out, because these configs do not test coherence: {names}")
    lines += [f"{line}: what is exported of it is for yourself" for line in release.closed]
    return lines


def _write_suites(read: Sequence[ItemTable], release: ExportedRelease, folder: Path) -> list[str]:
    made = [suite_table(table) for table in read]
    suites = [(table, suite) for table in made for suite in table.suites]
    if twice := _twice(suite.name for _, suite in suites):
        raise ExportError(f"two suites would be called {twice}.json")
    for table, suite in suites:
        about = release.configs[table.config]
        comment = f"CoherenceGym {release.suite} {release.version}: {about.get('summary', '')}"
        found = suite_json(suite, about.get("regions", ()), comment, release.citation)
        text = json.dumps(found, ensure_ascii=False, indent=4) + "\n"
        (folder / f"{suite.name}.json").write_text(text, encoding="utf-8")
    _write_lines(folder / "items.jsonl", (r for _, suite in suites for r in item_records(suite)))
    _write_report(folder / SUITES_REPORT, made, release, suites=suites)
    items = sum(table.items for table in made)
    return [
        f"for SyntaxGym: {_number(items, 'item')} in {_number(len(suites), 'suite')}",
        *_refusals("left out for SyntaxGym", made),
    ]


def _write_pairs(read: Sequence[ItemTable], release: ExportedRelease, folder: Path) -> list[str]:
    made = [pair_table(table, release.suite) for table in read]
    asked = [(table, tasks(table, release)) for table in made]
    every = [task for _, found in asked for task in found]
    if twice := _twice(task.name for task in every):
        raise ExportError(f"two tasks would be called {twice}")
    for table in made:
        if table.records:
            _write_lines(folder / f"{table.config}-{table.split}.jsonl", table.records)
    for path, text in harness_files(every, release).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    rows = [(table, found, in_no_task(table, found)) for table, found in asked]
    few = [task for task in every if task.items < FEWEST_ITEMS]
    _write_report(folder / PAIRS_REPORT, made, release, pairs=rows, few=few, fewest=FEWEST_ITEMS)
    pairs = sum(len(table.records) for table in made)
    return [
        f"as texts: {_number(pairs, 'pair')}, and {_number(len(every), 'task')} for "
        "lm-evaluation-harness",
        *_refusals("left out as pairs", made),
        *(
            f"in no task, {table.config} ({table.split}): {_number(count, 'pair')}, "
            "in groups that no aggregate has"
            for table, _, count in rows
            if count
        ),
    ]


def _write_babylm(read: Sequence[ItemTable], release: ExportedRelease, folder: Path) -> list[str]:
    made = [babylm_table(table, release.suite) for table in read]
    rows = [row for table in made for row in table.rows]
    if twice := _twice(group_name(group) for group in {row.group for row in rows}):
        raise ExportError(f"two groups would both be called {twice}")
    fast = fast_items(release.suite, made)
    files: dict[str, list[BabylmRow]] = {}
    for row in rows:
        for version in ("full", "fast") if row.place in fast else ("full",):
            files.setdefault(row.path(version), []).append(row)
    for path, own in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        # In ASCII, as the pipeline reads a file in whatever encoding its machine prefers.
        _write_lines(folder / path, (row.fields for row in own), ascii_only=True)
    _write_report(folder / BABYLM_REPORT, made, release, files=sorted(files.items()))
    items = sum(len(table.items) for table in made)
    folders = len({Path(path).parent for path in files if path.startswith("full")})
    means = sum(table.same_words for table in made)
    return [
        f"for the BabyLM pipeline: {_number(len(rows), 'row')} of {_number(items, 'item')} in "
        f"{_number(folders, 'folder')}" + ", and a fast version" * bool(rows),
        *(
            [f"by sum as by mean, over the same words: {_number(means, 'prediction')}"]
            * (means > 0)
        ),
        *_refusals("left out for the BabyLM pipeline", made),
    ]


def _write_inspect(read: Sequence[ItemTable], release: ExportedRelease, folder: Path) -> list[str]:
    tables = question_tables(read, release.configs)
    made = [table for table in tables if table.records]
    if not made:
        raise ExportError(
            f"{INSPECT_OPTION}: {release.suite} has no headline config with an incoherent text to "
            "ask about; expected another suite"
        )
    for table in made:
        _write_lines(folder / table.file, table.records)
    (folder / "questions.py").write_text(tasks_file(made), encoding="utf-8")
    text = report(made, release.suite, release.version, release.origin)
    (folder / INSPECT_REPORT).write_text(text, encoding="utf-8")
    number = sum(len(table.records) for table in made)
    return [
        f"for Inspect: {_number(number, 'question')} in {_number(len(made), 'task')}",
        *_refusals("left out for Inspect", tables),
    ]


#: The writers of exports, by option: they give lines for the user.
_WRITERS = {
    SUITES_OPTION: _write_suites,
    PAIRS_OPTION: _write_pairs,
    BABYLM_OPTION: _write_babylm,
    INSPECT_OPTION: _write_inspect,
}


def _twice(names: Iterable[str]) -> str:
    return next((name for name, count in Counter(names).items() if count > 1), "")


def _write_report(
    path: Path,
    made: Sequence[SuiteTable] | Sequence[PairTable] | Sequence[BabylmTable],
    release: ExportedRelease,
    **rows: Any,
) -> None:
    refused = [
        (table, reason, count) for table in made for reason, count in table.refused.most_common()
    ]
    text = rendered(path.name, release=release, refused=refused, **rows)
    path.write_text(text, encoding="utf-8")


def _number(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _write_lines(path: Path, records: Iterable[dict[str, Any]], ascii_only: bool = False) -> None:
    import jsonlines

    dumps = partial(json.dumps, ensure_ascii=ascii_only)
    with (
        path.open("w", encoding="utf-8", newline="\n") as file,
        jsonlines.Writer(file, dumps=dumps) as writer,
    ):
        writer.write_all(records)


def _refusals(
    what: str,
    made: Sequence[SuiteTable | PairTable | BabylmTable | QuestionTable],
) -> Iterator[str]:
    for table in made:
        for reason, count in table.refused.most_common():
            yield f"{what}, {table.config} ({table.split}): {count}, {reason}"

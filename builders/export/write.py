"""Write a build for other tools, each export a folder that appears whole or not at all.

An export is a module of this folder with a function ``write(tables, release, folder)``, which
writes the tables of items of a release into a new folder and returns lines for the user, and a line
of :data:`EXPORTS` with the module's name.
"""

from __future__ import annotations

import importlib
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from coherencegym.builders.release.manifest import diagnostic_configs
from coherencegym.errors import EvaluationError
from coherencegym.escapes import markdown_filters, templates_of
from coherencegym.eval.data.dataset import ItemTable, tables
from coherencegym.eval.data.source import Source, published_part
from coherencegym.files.folders import check_folder, written_beside
from coherencegym.licence import YES, closed_line

_T = TypeVar("_T")

#: The exports by name, and what each writes.
EXPORTS = {
    "syntaxgym": "suites in SyntaxGym's JSON",
    "pairs": "pairs of texts (JSON lines), and tasks for lm-evaluation-harness",
    "babylm": "rows for the zero-shot tasks of the BabyLM pipeline",
    "inspect": "pairs as questions in words, and tasks for Inspect (inspect-ai)",
}


class ExportError(EvaluationError):
    """An export that was asked for and cannot be made; the message says why in one line."""


@dataclass(frozen=True)
class ExportedRelease:
    """The published dataset that an export is of.

    ``configs`` has the manifest's entries, ``citation`` the BibTeX of the work behind the suite;
    ``is_local``: it is a build, which may not be published yet.
    """

    repo: str
    revision: str
    version: str
    suite: str
    configs: Mapping[str, Any]
    citation: str = ""
    is_local: bool = False

    @property
    def origin(self) -> str:
        """Words for where the rows come from."""
        if self.is_local:
            return "a local build, which this export did not publish"
        return f"`{self.repo}` at `{self.revision}`"

    @property
    def diagnostics(self) -> list[str]:
        """The configs of pairs that say nothing of the hypothesis, and are not exported."""
        return diagnostic_configs(self.configs)

    @property
    def closed(self) -> list[str]:
        """Sentences on the configs of which not all may be passed on."""
        answers = {name: self.published_part(name) for name in self.configs}
        return [closed_line(name, answer) for name, answer in answers.items() if answer != YES]

    def published_part(self, config: str) -> str:
        """Say whether a config may be passed on: see :func:`eval.data.source.published_part`."""
        return published_part({"configs": self.configs}, config)


def release_of(source: Source) -> ExportedRelease:
    """The published dataset that a build is, or will be."""
    manifest = source.manifest
    if not manifest:
        raise ExportError(f"{source.name}: no manifest.json; expected a build or a release of one")
    suite = str(manifest.get("suite", ""))
    # It becomes part of file names, and a manifest from the Hub is anybody's.
    if not re.fullmatch(r"\w+", suite):
        raise ExportError(f"{source.name}: manifest.json: {suite!r} is no name of a suite")
    version = str(manifest.get("version", ""))
    return ExportedRelease(
        repo=source.repo or str(manifest.get("repo_id", "")),
        revision=source.revision or f"v{version}",
        version=version,
        suite=suite,
        configs=manifest["configs"],
        citation=str(manifest.get("citation", "")),
        is_local=not source.repo,
    )


@dataclass
class Exported(Generic[_T]):
    """What was made of a table, and how much of it was left out, by reason."""

    table: ItemTable
    made: list[_T] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)

    @property
    def config(self) -> str:
        """The table's config."""
        return self.table.config

    @property
    def split(self) -> str:
        """The table's split."""
        return self.table.split


def things(count: int, thing: str) -> str:
    """A number of things.

    >>> things(1, "pair"), things(2, "pair")
    ('1 pair', '2 pairs')
    """
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def refusals(what: str, made: Sequence[Exported[Any]]) -> list[str]:
    """Lines on what was left out of each table, and why; they begin with ``what``."""
    return [
        f"{what}, {one.config} ({one.split}): {count}, {reason}"
        for one in made
        for reason, count in one.refused.most_common()
    ]


def refuse_twice(names: Iterable[str], message: str) -> None:
    """Refuse names that stand for two things: ``message`` has ``{}`` for the first of them."""
    twice = next((name for name, count in Counter(names).items() if count > 1), "")
    if twice:
        raise ExportError(message.format(twice))


def rendered(template: str, **values: Any) -> str:
    """The text of a template for a file of an export."""
    environment = templates_of("builders.export")
    environment.filters |= markdown_filters() | {"json": json.dumps}
    text: str = environment.get_template(f"{template}.jinja").render(values)
    return text


def write_report(
    path: Path, made: Sequence[Exported[Any]], release: ExportedRelease, **values: Any
) -> None:
    """Write what was exported and what was left out: the template has the name of the file.

    Where nothing was exported, that is refused.
    """
    if not any(one.made for one in made):
        why = "; ".join(refusals("left out", made)) or "no table can be exported"
        raise ExportError(f"{release.suite}: nothing to write; {why}; expected another suite")
    refused = [(one, reason, n) for one in made for reason, n in one.refused.most_common()]
    text = rendered(path.name, release=release, refused=refused, **values)
    path.write_text(text, encoding="utf-8")


def write_lines(path: Path, records: Iterable[Any], ascii_only: bool = False) -> None:
    """Write JSON lines, the folder of the file too."""
    import jsonlines

    path.parent.mkdir(parents=True, exist_ok=True)
    dumps = partial(json.dumps, ensure_ascii=ascii_only)
    with (
        path.open("w", encoding="utf-8", newline="\n") as file,
        jsonlines.Writer(file, dumps=dumps) as writer,
    ):
        writer.write_all(records)


def export(
    source: Source,
    name: str,
    destination: Path | None = None,
    *,
    overwrite: bool = False,
    dry_run: bool = False,
) -> list[str]:
    """Write a dataset for another tool; on a dry run leave nothing, and say what would be written.

    Args:
        source: the dataset.
        name: one of :data:`EXPORTS`.
        destination: the folder; None: ``SUITE_NAME`` in this one.
        overwrite: replace an earlier export in it.
        dry_run: write nothing.

    Returns:
        Lines for the user: what was written, and how much was left out and why.
    """
    release = release_of(source)
    destination = destination or Path(f"{release.suite}_{name}")
    check_folder(destination, overwrite, inputs=[source.folder])
    # What says nothing of a suite's hypothesis would count in the means of other programs.
    diagnostics = release.diagnostics
    read = [table for table in tables(source) if table.config not in diagnostics]
    write = importlib.import_module(f"coherencegym.builders.export.{name}").write
    with (
        tempfile.TemporaryDirectory() if dry_run else written_beside(destination, overwrite)
    ) as folder:
        what, *left_out = write(read, release, Path(folder))
    done = "would be written to" if dry_run else "written to"
    lines = [f"{what}, {done} {destination}", *left_out]
    if diagnostics:
        names = ", ".join(diagnostics)
        lines.append(f"left out, because these configs do not test coherence: {names}")
    return lines + [f"{line}: what is exported of it is for yourself" for line in release.closed]

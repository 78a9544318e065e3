"""Results in a dataset repository on the Hub: every run of a repository, and one card of them all.

A run is a folder there (``runs/<suite>/<version>/<model>/<digest>``, the digest of its signature),
so that runs of several models, and of one model in several ways, stand beside each other. A push is
one commit on the head that was read: readers see the runs of before or those of after. Nothing that
is pushed holds the text of an item: ``report.html`` and ``tokens.parquet`` do, and stay.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.notes import first_names
from coherencegym.eval.hub.push_changes import Pushed, push_changes
from coherencegym.eval.hub.results_card import RUNS, TABLES, render_results_card
from coherencegym.eval.results.folder import MARKER
from coherencegym.eval.results.labels import local_names_line
from coherencegym.eval.results.read import read_results, run_folders
from coherencegym.eval.tasks.results import Results
from coherencegym.hub.commits import Head, fetch

#: Files of a results folder that are pushed, where they are there.
_PUSHED = (
    MARKER,
    *(f"{kind}.parquet" for kind in TABLES),
    "scores.png",
    "heatmap.png",
    "layers.png",
)
_CARD = "README.md"
#: A file of a run: its folder, and its name there.
RUN_FILE = re.compile(rf"({RUNS}/[\w.-]+/[\w.-]+/[\w.-]+/[0-9a-f]{{12}})/([\w.-]+)", re.ASCII)


def run_folder(run: Results) -> str:
    """The folder of a run in the repository."""
    digest = hashlib.sha256(run.signature.encode()).hexdigest()[:12]
    # Of a folder its own name: the digest tells it from others of that name.
    model = Path(run.model_name).name if Path(run.model_name).is_absolute() else run.model_name
    names = map(_name, (run.suite, run.version or "unversioned", model))
    return "/".join((RUNS, *names, digest))


def push_results(
    api: Any,
    folders: Sequence[Path],
    repo_id: str,
    *,
    private: bool = False,
    dry_run: bool = False,
) -> Pushed:
    """Push results to a dataset repository, which is made if it is not there: all in one commit.

    Args:
        api: a client of the Hub.
        folders: results of runs, or folders of those of several, at least one.
        repo_id: USER/NAME.
        private: make it private, if it is made.
        dry_run: say what would be pushed; asks for reading only.
    """
    runs, files = _read(folders)
    names = (name for run in runs.values() for name in (run.model_name, run.data))
    local = [name for name in dict.fromkeys(names) if Path(name).is_absolute()]

    def changes(head: Head) -> dict[str, bytes]:
        return _changed(api, repo_id, head, runs, files)

    message = _message(list(runs.values()))
    pushed = push_changes(api, repo_id, changes, message, private=private, dry_run=dry_run)
    if local and (dry_run or pushed.commit):
        *lines, last = pushed.lines
        pushed = replace(pushed, lines=[*lines, f"  {local_names_line(local)}", last])
    return pushed


def _read(folders: Sequence[Path]) -> tuple[dict[str, Results], dict[str, bytes]]:
    runs: dict[str, Results] = {}
    files: dict[str, bytes] = {}
    for folder in run_folders(folders):
        run = read_results(folder)
        place = run_folder(run)
        if place in runs:
            raise EvaluationError(
                f"{folder}: results of the same run as {runs[place].folder}; expected each once"
            )
        runs[place] = run
        there = (name for name in _PUSHED if (folder / name).is_file())
        files |= {f"{place}/{name}": (folder / name).read_bytes() for name in there}
    return runs, files


def _message(runs: Sequence[Results]) -> str:
    models, suites = (
        first_names(list(dict.fromkeys(names)))
        for names in (
            [run.model_name for run in runs],
            [f"{run.suite or 'a suite'} {run.version}".rstrip() for run in runs],
        )
    )
    return f"{models} on {suites}"


def _changed(
    api: Any, repo_id: str, head: Head, pushed: Mapping[str, Results], files: Mapping[str, bytes]
) -> dict[str, bytes]:
    # What the repository does not hold now: of the runs pushed, and the card of all.
    there = head.digests
    runs = dict(pushed)
    tables: dict[str, list[str]] = {place: [] for place in pushed}
    for path in sorted([*there, *files]):
        if found := RUN_FILE.fullmatch(path):
            own, name = found.groups()
            kind = name.removesuffix(".parquet")
            tables.setdefault(own, [])
            if name.endswith(".parquet") and kind in TABLES and kind not in tables[own]:
                tables[own].append(kind)
            if name == MARKER and own not in pushed:
                runs[own] = _read_other(api, repo_id, path, head.sha)
    old = ""
    if _CARD in there:
        card = fetch(api, repo_id, _CARD, head.sha)
        try:
            # As it is, line ends included.
            old = card.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise EvaluationError(
                f"{repo_id}: {_CARD} is not UTF-8; nothing was pushed: save it as UTF-8 first"
            ) from None
    tables = {own: kinds for own, kinds in tables.items() if own in runs}
    contents = {**files}
    contents[_CARD] = render_results_card(repo_id, runs, tables, old).encode()
    return {path: content for path, content in contents.items() if not head.has(path, content)}


def _read_other(api: Any, repo_id: str, path: str, commit: str) -> Results:
    # From the client's cache, if it was read before.
    file = fetch(api, repo_id, path, commit)
    try:
        return read_results(file.parent)
    except EvaluationError as error:
        raise EvaluationError(
            f"{repo_id}: {str(error).replace(str(file), path)}; nothing was pushed"
        ) from None


def _name(text: str) -> str:
    return re.sub(r"[^\w.-]+", "__", text, flags=re.ASCII).strip("._") or "unnamed"

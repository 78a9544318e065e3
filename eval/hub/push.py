"""Results in a dataset repository on the Hub: every run of a repository, and one card of them all.

A run is a folder there (``runs/<suite>/<version>/<model>/<digest>``, the digest of its signature),
so that runs of several models, and of one model in several ways, stand beside each other. A push is
one commit on the head that was read, or a proposal: readers see the runs of before or those of
after. Nothing that is pushed holds the text of an item: ``report.html`` and ``tokens.parquet`` do,
and stay.

The program writes what stands between two marks, and its own tags and configs in the metadata. The
rest is the owner's, a licence for instance, and stays as it was written.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from textwrap import indent
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.escapes import fenced
from coherencegym.eval.data.notes import first_names
from coherencegym.eval.report.formats import render_document
from coherencegym.eval.results.folder import MARKER, read_results, run_folders
from coherencegym.eval.results.run_table import table_of
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.views.overview import overview_document
from coherencegym.hub import (
    TRIES,
    Head,
    commit,
    fetch,
    open_proposals,
    open_repository,
    read_head,
)


@dataclass(frozen=True)
class Pushed:
    """Lines for people on a push, and its commit; empty where there is none."""

    lines: list[str]
    commit: str = ""


def push_changes(
    api: Any,
    repo_id: str,
    changes: Callable[[Head], Mapping[str, bytes]],
    message: str,
    *,
    repo_type: str = "dataset",
    private: bool | None = None,
    create_pr: bool = False,
    dry_run: bool = False,
) -> Pushed:
    """Push what a repository does not have yet.

    Args:
        api: a client of the Hub.
        changes: gives the files to be written on a head by their paths; none where all is there.
        message: that of the commit, and the title of the pull request.
        repo_type: ``model`` or ``dataset``.
        private: a dataset's repository is made if it is not there, private or not; None: it has to
            be there.
        create_pr: open a pull request, unless one of this title that is open has all of it.
        dry_run: say what would be pushed; asks for reading only.
    """
    for _ in range(TRIES):
        if private is None:
            head, lines = read_head(api, repo_id, repo_type), list[str]()
        else:
            head, lines = open_repository(api, repo_id, private, dry_run)
        if private is None and not head.exists:
            raise EvaluationError(
                f"{repo_id}: no {repo_type} repository of this name that this account may read"
            )
        files = changes(head)
        if not files:
            return Pushed([f"{repo_id} has these results already"])
        for number, proposed in (
            open_proposals(api, repo_id, message, repo_type) if create_pr else ()
        ):
            if not changes(proposed):
                return Pushed([f"{repo_id} has these results in pull request {number} already"])
        lines += [
            f"  {'change' if path in head.digests else 'add'} {path} ({len(content):,} bytes)"
            for path, content in sorted(files.items())
        ]
        if dry_run:
            return Pushed(
                [*lines, f"would be {'proposed' if create_pr else 'pushed'} to {repo_id}"]
            )
        how: dict[str, Any] = {"create_pr": create_pr, "repo_type": repo_type}
        done = commit(api, repo_id, head.sha, files, message=message, **how)
        if done is not None:
            what = f"proposed to {repo_id}: {done.pr_url}" if create_pr else f"pushed to {repo_id}"
            return Pushed([*lines, f"{what} ({done.oid[:10]})"], done.oid)
    raise EvaluationError(
        f"{repo_id}: somebody else committed {TRIES} times meanwhile; nothing was pushed: run the "
        "command again"
    )


FIRST_MARK = "<!-- scores: written by python -m eval push, replaced by the next push -->"
LAST_MARK = "<!-- end of scores -->"
_TAGS = ("coherencegym", "evaluation", "discourse", "coherence")
_FRONT = re.compile(r"(\s*---[ \t]*\r?\n)(.*?)(^---[ \t]*\r?(?:\n|\Z))", re.S | re.M)
#: Tables of a run that have a config each, so that ``load_dataset`` reads one run, not a mixture.
TABLES = (
    *("predictions", "regions", "units", "systems", "outcomes"),
    *("documents", "layers"),
)
#: The folder of runs in a repository.
RUNS = "runs"

_EXPLANATION = (
    "Scores of [CoherenceGym](https://github.com/coherencegym/coherencegym). The CD score is the "
    "share of items whose prediction about surprisal holds. A model has to beat the partial-input "
    "baseline, that of a classifier which does not read, to show more than habits of position or "
    "wording. The headline is a suite's one number: the mean over the configs that it names, "
    "however many items each has; the files that it leads to have every config. "
    "`coherencegym compare` tells two runs apart, item by item.",
    "The texts of the items are not here. They are in the datasets, under the terms of those; no "
    "licence is stated for these numbers unless the metadata of this card has one.",
)
_TABLES = (
    "Each run has a config for each of its tables: `outcomes`, the value of every unit of `units` "
    "(predictions, documents, ...) by every system of `systems` under every metric; `regions`, the "
    "surprisal (bits) of every region that a prediction reads; `documents`, the scores of their "
    "sentences; `layers`, the accuracies of classifiers of every layer, and `predictions`, what "
    "they say of every row:"
)


def config_name(kind: str, place: str) -> str:
    """The config that holds a table of the run at ``place``."""
    return "-".join((kind, *place.split("/")[1:]))


def render_results_card(
    repo_id: str, runs: Mapping[str, Results], tables: Mapping[str, Sequence[str]], old: str = ""
) -> str:
    """The card of a repository of results, which replaces an old one.

    Runs, and the :data:`TABLES` that they have, are known by their folders.
    """
    start, block, end, text = _parts(repo_id, old)
    metadata = _metadata(repo_id, block, tables)
    block = f"{FIRST_MARK}\n\n{_scores(repo_id, runs, tables)}\n\n{LAST_MARK}"
    if not text.strip():
        text = (
            f"\n# How often models find the incoherent version the more surprising one\n\n{block}\n"
        )
    else:
        before, _, rest = text.partition(FIRST_MARK)
        # The last one, as what a run is called may have such a mark in it.
        text = before + block + rest.rpartition(LAST_MARK)[2]
    return start + metadata + end + text


def _parts(repo_id: str, card: str) -> tuple[str, str, str, str]:
    # The line before the metadata, the metadata, the line after, and the text.
    where = f"{repo_id}: README.md"
    found = _FRONT.match(card)
    start, block, end = found.groups() if found else ("---\n", "", "---\n")
    text = card[found.end() :] if found else card
    marks = [text.find(FIRST_MARK), text.find(LAST_MARK)]
    if text.strip() and not 0 <= marks[0] < marks[1]:
        raise EvaluationError(
            f"{where}: somebody's own card, without the place for scores; name another repository, "
            f"or put the two lines {FIRST_MARK} and {LAST_MARK} where the scores should stand"
        )
    return start, block, end if end.endswith("\n") else f"{end}\n", text


def _metadata(repo_id: str, block: str, tables: Mapping[str, Sequence[str]]) -> str:
    import yaml

    where = f"{repo_id}: README.md: its metadata cannot be"
    try:
        about = yaml.safe_load(block)
    except (yaml.YAMLError, ValueError, RecursionError):
        about = block
    if not isinstance(about, dict | None):
        raise EvaluationError(f"{where} read; expected YAML between two lines of ---")
    block, about = block if about != {} else "", about or {}
    tags, configs = (about.get(key) or [] for key in ("tags", "configs"))
    name = {"pretty_name": f"Results in {repo_id}"}
    block += yaml.safe_dump(name, width=float("inf")) if "pretty_name" not in about else ""
    own = _configs(tables)
    try:
        block = with_list(block, "tags", _TAGS, lambda tag: tag not in _TAGS)
        block = with_list(block, "configs", own, lambda config: not _is_ours(config))
        is_made = yaml.safe_load(block) == {
            **name,
            **about,
            "tags": [*_TAGS, *(tag for tag in tags if tag not in _TAGS)],
            "configs": [*own, *(config for config in configs if not _is_ours(config))],
        }
    except (yaml.YAMLError, ValueError, TypeError):
        is_made = False
    if not is_made:
        raise EvaluationError(
            f"{where} gone on with; expected lists of tags and configs, each key in a line of its "
            "own and without braces"
        )
    return block


def _is_ours(config: Any) -> bool:
    files = config.get("data_files") if isinstance(config, dict) else None
    return f"'path': '{RUNS}/" in str(files)


def _configs(tables: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    return [
        {
            "config_name": config_name(kind, place),
            "data_files": [{"split": "test", "path": f"{place}/{kind}.parquet"}],
        }
        for place in sorted(tables)
        for kind in TABLES
        if kind in tables[place]
    ]


def _scores(repo_id: str, runs: Mapping[str, Results], tables: Mapping[str, Sequence[str]]) -> str:
    places = sorted(runs)
    table = table_of(replace(runs[place], folder=Path(place)) for place in places)
    document = overview_document(table, {Path(place): f"{place}/{MARKER}" for place in places})
    lines = ["\n\n".join(_EXPLANATION), "", render_document(document, "markdown").rstrip()]
    loads = [
        f'load_dataset("{repo_id}", "{config_name(kind, place)}", split="test")'
        for place in places
        for kind in TABLES
        if kind in tables[place]
    ]
    if loads:
        loading = ["from datasets import load_dataset", "", *loads]
        lines += ["", _TABLES, "", fenced("\n".join(loading), "python")]
    signatures = [f"{place}: {' '.join(runs[place].signature.split())}" for place in places]
    lines += ["", "What each run was, from which its scores can be reproduced:", ""]
    return "\n".join([*lines, fenced("\n".join(signatures), "text")])


#: Files of a results folder that are pushed, where they are there.
_PUSHED = (
    MARKER,
    *(f"{kind}.parquet" for kind in TABLES),
)
_CARD = "README.md"
#: A file of a run: its folder, and its name there.
RUN_FILE = re.compile(rf"({RUNS}/[\w.-]+/[\w.-]+/[\w.-]+/[0-9a-f]{{12}})/([\w.-]+)", re.ASCII)


def public_name(run: Results) -> str:
    """The name of a run's model; of a folder its own, as where it lies says nothing to others."""
    return Path(run.model_name).name if Path(run.model_name).is_absolute() else run.model_name


def run_folder(run: Results) -> str:
    """The folder of a run in the repository."""
    digest = hashlib.sha256(run.signature.encode()).hexdigest()[:12]
    names = map(_name, (run.suite, run.version or "unversioned", public_name(run)))
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
        said = (
            f"  names of folders of this machine are in it: {', '.join(local)}; to publish other "
            "names, score again with Hub ids or relative paths in --model and --dataset"
        )
        pushed = replace(pushed, lines=[*lines, said, last])
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


def with_list(
    text: str, key: str, new: Sequence[Any], stays: Callable[[Any], bool] = lambda _: True
) -> str:
    """A mapping in YAML, in whose list under a key ``new`` items stand before those that stay.

    The key comes last where it is not there. The caller looks whether the YAML is as it should be:
    not every layout is known here.
    """
    import yaml

    root = yaml.compose(text, yaml.SafeLoader)
    node = next((value for own, value in root.value if own.value == key), None) if root else None
    if isinstance(node, yaml.SequenceNode):
        kept = [stays(one) for one in yaml.safe_load(text)[key]]
        return _edited_list(text, node, kept, new)
    if node is None:
        return text + dump_yaml({key: list(new)})
    place = node.end_mark.index
    return f"{text[:place]}\n{dump_yaml(list(new))}" + text[place:].lstrip("\n")


def _edited_list(text: str, node: Any, kept: Sequence[bool], new: Sequence[Any]) -> str:
    # The text with new items of a list, which is a node in it, and some of the others after them.
    start, end = node.start_mark.index, node.end_mark.index
    if node.flow_style:
        spans = [text[one.start_mark.index : one.end_mark.index] for one in node.value]
        spans = [span for span, stays in zip(spans, kept, strict=True) if stays]
        whole = ", ".join([*map(json.dumps, new), *spans])
        return f"{text[:start]}[{whole}]{text[end:]}"
    margin = " " * node.start_mark.column
    start -= len(margin)
    items = [start + found.start() for found in re.finditer(f"^{margin}-", text[start:end], re.M)]
    spans = [text[one:other] for one, other in pairwise([*items, end])]
    spans = [span if stays else _remarks(span) for span, stays in zip(spans, kept, strict=True)]
    whole = (indent(dump_yaml(list(new)), margin) if new else "") + "".join(spans) or " []\n"
    return text[:start] + whole + text[end:]


def dump_yaml(value: Any) -> str:
    """YAML with keys in their order, a line a value however long."""
    import yaml

    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=float("inf")))


def _remarks(span: str) -> str:
    # Of an item that goes: what follows it is somebody's.
    lines = span.splitlines(keepends=True)
    return "".join(line for line in lines if not line.strip() or line.lstrip().startswith("#"))

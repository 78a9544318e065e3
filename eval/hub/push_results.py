"""Results in a dataset repository on the Hub: every run of a repository, and one card of them all.

A run is a folder there (``runs/<suite>/<version>/<model>/<digest>``, the digest of its signature),
so that runs of several models, and of one model in several ways, stand beside each other. A push is
one commit on the head that was read: readers see the runs of before or those of after. Nothing that
is pushed holds the text of an item: ``report.html`` and ``tokens.parquet`` do, and stay.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.hub.results_card import FOLDER, KINDS, render_card
from coherencegym.eval.results.runs import MARKER, Run, read_run
from coherencegym.hub.answers import dataset_info

#: Files of a results folder that are pushed, where they are there.
PUSHED = (MARKER, *(f"{kind}.parquet" for kind in KINDS), "scores.png", "heatmap.png")
#: How often a push is worked out anew after somebody else's commit came between.
TRIES = 3
CARD = "README.md"
_RUN = re.compile(rf"({FOLDER}/[\w.-]+/[\w.-]+/[\w.-]+/[0-9a-f]{{12}})/([\w.-]+)", re.ASCII)


@dataclass(frozen=True)
class Pushed:
    """What a push did, or would do: lines for people, the commit (empty where there is none)."""

    lines: list[str]
    commit: str = ""


@dataclass(frozen=True)
class Head:
    """The head of a repository: its commit, whether only its owners see it, its files' digests."""

    commit: str
    private: bool
    digests: Mapping[str, str] = field(default_factory=dict)


def run_folder(run: Run) -> str:
    """Where a run lies in the repository."""
    digest = hashlib.sha256(run.signature.encode()).hexdigest()[:12]
    # Of a folder its own name: the digest tells it from others of that name.
    model = Path(run.model).name if Path(run.model).is_absolute() else run.model
    names = map(_name, (run.suite, run.version or "unversioned", model))
    return "/".join((FOLDER, *names, digest))


def push(
    api: Any, folder: Path, repo_id: str, *, private: bool = False, dry_run: bool = False
) -> Pushed:
    """Push a folder of results.

    Args:
        api: a client of the Hub.
        folder: that ``python -m eval score`` wrote.
        repo_id: the dataset repository, USER/NAME; made if it is not there.
        private: make it private, if it is made.
        dry_run: say what would be pushed; asks for reading only.

    Raises:
        EvaluationError: the folder is none of results, the repository is public where a private one
            was asked for, or holds a card or a run that cannot be read, or somebody else kept
            committing.
        AnswerError: something else than the Hub answered.
        huggingface_hub.errors.HfHubHTTPError: the Hub refused or failed.
    """
    from huggingface_hub import CommitOperationAdd
    from huggingface_hub.errors import HfHubHTTPError

    run = read_run(folder)
    files = {name: (folder / name).read_bytes() for name in PUSHED if (folder / name).is_file()}
    place = run_folder(run)
    for _ in range(TRIES):
        head = read_head(api, repo_id)
        lines = [] if head else [f"{repo_id} is not there: made{', private' if private else ''}"]
        if head is None and not dry_run:
            api.create_repo(repo_id, repo_type="dataset", private=private or None, exist_ok=True)
            # Somebody else may have made it, and pushed: what is there is read in any case.
            head = read_head(api, repo_id)
        if private and head is not None and not head.private:
            raise EvaluationError(
                f"--private: {repo_id} exists and is public; make it private on the Hub first, or "
                "name another repository"
            )
        changed = _changed(api, repo_id, head, run, place, files)
        if not changed:
            return Pushed([f"{repo_id} has this run already: {place}"])
        known = head.digests if head else {}
        lines += [
            f"  {'replace' if path in known else 'add'} {path} ({len(content):,} bytes)"
            for path, content in sorted(changed.items())
        ]
        lines += _remarks(run)
        if dry_run or head is None:
            return Pushed([*lines, f"would be pushed to {repo_id}"])
        try:
            commit = api.create_commit(
                repo_id,
                [CommitOperationAdd(path, content) for path, content in sorted(changed.items())],
                commit_message=f"{run.model} on {run.suite or 'a suite'} {run.version}".rstrip(),
                repo_type="dataset",
                parent_commit=head.commit,
            )
        except HfHubHTTPError as error:
            # The head has moved: what is there now is read again.
            if error.response is not None and error.response.status_code in (409, 412):
                continue
            raise
        return Pushed([*lines, f"pushed to {repo_id} ({commit.oid[:10]})"], commit.oid)
    raise EvaluationError(
        f"{repo_id}: somebody else committed {TRIES} times meanwhile; nothing was pushed: run the "
        "command again"
    )


def read_head(api: Any, repo_id: str) -> Head | None:
    """The head of a repository; None where there is no repository, or none that one may see."""
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        info = dataset_info(api, repo_id, files_metadata=True)
    except RepositoryNotFoundError:
        return None
    digests = {
        file.rfilename: file.lfs["sha256"] if file.lfs else file.blob_id for file in info.siblings
    }
    return Head(info.sha, info.private, digests)


def _changed(
    api: Any, repo_id: str, head: Head | None, run: Run, place: str, files: Mapping[str, bytes]
) -> dict[str, bytes]:
    """What the repository will hold that it does not hold now: the run, and the card of all."""
    there = head.digests if head else {}
    runs = {place: run}
    tables: dict[str, list[str]] = {place: []}
    for path in sorted([*there, *(f"{place}/{name}" for name in files)]):
        if found := _RUN.fullmatch(path):
            own, name = found.groups()
            kind = name.removesuffix(".parquet")
            tables.setdefault(own, [])
            if name.endswith(".parquet") and kind in KINDS and kind not in tables[own]:
                tables[own].append(kind)
            if name == MARKER and own != place and head is not None:
                runs[own] = _read_other(api, repo_id, path, head.commit)
    old = ""
    if head is not None and CARD in there:
        card = api.hf_hub_download(repo_id, CARD, repo_type="dataset", revision=head.commit)
        # As it is, line ends included.
        old = Path(card).read_bytes().decode("utf-8-sig", "replace")
    tables = {own: kinds for own, kinds in tables.items() if own in runs}
    contents = {f"{place}/{name}": content for name, content in files.items()}
    contents[CARD] = render_card(repo_id, runs, tables, old).encode()
    return {
        path: content
        for path, content in contents.items()
        if there.get(path) not in (_git_digest(content), hashlib.sha256(content).hexdigest())
    }


def _read_other(api: Any, repo_id: str, path: str, commit: str) -> Run:
    """Another run of the repository; from the client's cache, if it was read before."""
    file = Path(api.hf_hub_download(repo_id, path, repo_type="dataset", revision=commit))
    try:
        return read_run(file.parent)
    except EvaluationError as error:
        raise EvaluationError(
            f"{repo_id}: {str(error).replace(str(file), path)}; nothing was pushed"
        ) from None


def _remarks(run: Run) -> list[str]:
    """What somebody may not know to be in a run."""
    folders = [name for name in (run.model, run.data) if Path(name).is_absolute()]
    return [f"  names of folders of this machine are in it: {', '.join(folders)}"] * bool(folders)


def _git_digest(content: bytes) -> str:
    """What git calls a file of this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _name(text: str) -> str:
    """Part of a path from a name that may hold anything."""
    return re.sub(r"[^\w.-]+", "__", text, flags=re.ASCII).strip("._") or "unnamed"

"""Results in a dataset repository on the Hub: every run of a repository, and one card of them all.

A run is a folder there (``runs/<suite>/<model>/<digest>``, the digest of its signature), so that
runs of several models, and of one model in several ways, stand beside each other. A push is one
commit on the head that was read: readers see the runs of before or those of after.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.errors import EvaluationError
from eval.runs import FILE, Run, read_run
from eval.summary import Score

#: Files of a results folder that are pushed, where they are there. None holds texts of items.
PUSHED = (FILE, "regions.parquet", "predictions.parquet", "scores.png", "heatmap.png")
#: How often a push is worked out anew after somebody else's commit came between.
TRIES = 3
CARD = "README.md"


@dataclass(frozen=True)
class Pushed:
    """What a push did, or would do: lines for people, the commit (empty where there is none)."""

    lines: list[str]
    commit: str = ""


def run_folder(run: Run) -> str:
    """Where a run lies in the repository."""
    digest = hashlib.sha256(run.signature.encode()).hexdigest()[:12]
    return f"runs/{_name(run.suite)}/{_name(run.model)}/{digest}"


def push(
    api: Any, folder: Path, repo_id: str, *, private: bool = False, dry_run: bool = False
) -> Pushed:
    """Push a folder of results.

    Args:
        api: a client of the Hub.
        folder: that ``python -m eval score`` wrote.
        repo_id: the dataset repository; made if it is not there.
        private: make it private, if it is made.
        dry_run: say what would be pushed, and ask for reading only.

    Raises:
        EvaluationError: the folder is none of results, a run in the repository cannot be read, or
            somebody else kept committing.
        huggingface_hub.errors.HfHubHTTPError: the Hub refused or failed.
    """
    from huggingface_hub import CommitOperationAdd
    from huggingface_hub.errors import HfHubHTTPError

    run = read_run(folder)
    files = {name: folder / name for name in PUSHED if (folder / name).is_file()}
    place = run_folder(run)
    for _ in range(TRIES):
        head, there = _head(api, repo_id)
        runs = {**_other_runs(api, repo_id, head, there, place), place: run}
        card = render_card(repo_id, runs).encode()
        contents = {f"{place}/{name}": path.read_bytes() for name, path in files.items()}
        contents[CARD] = card
        changed = {
            path: content
            for path, content in contents.items()
            if there.get(path) not in (_git_digest(content), hashlib.sha256(content).hexdigest())
        }
        if not changed:
            return Pushed([f"{repo_id} has this run already"])
        lines = [f"{path} ({len(content):,} bytes)" for path, content in sorted(changed.items())]
        if dry_run:
            return Pushed([*lines, f"would be pushed to {repo_id}"])
        if head is None:
            api.create_repo(repo_id, repo_type="dataset", private=private, exist_ok=True)
            head, _ = _head(api, repo_id)
        try:
            commit = api.create_commit(
                repo_id,
                [CommitOperationAdd(path, content) for path, content in sorted(changed.items())],
                commit_message=f"{run.model} on {run.suite or 'a suite'} {run.version}".rstrip(),
                repo_type="dataset",
                parent_commit=head,
            )
        except HfHubHTTPError as error:
            # The head has moved: what is there now is read again.
            if error.response is not None and error.response.status_code in (409, 412):
                continue
            raise
        return Pushed([*lines, f"pushed to {repo_id} ({place})"], commit.oid)
    raise EvaluationError(
        f"{repo_id}: somebody else committed {TRIES} times meanwhile; nothing was pushed: run the "
        "command again"
    )


def _head(api: Any, repo_id: str) -> tuple[str | None, dict[str, str]]:
    """The commit at the head, and the digest of each file there; None for no repository."""
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        info = api.dataset_info(repo_id, files_metadata=True)
    except RepositoryNotFoundError:
        return None, {}
    digests = {}
    for file in info.siblings or ():
        digests[file.rfilename] = file.lfs["sha256"] if file.lfs else file.blob_id
    return info.sha, digests


def _git_digest(content: bytes) -> str:
    """What git calls a file of this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _other_runs(
    api: Any, repo_id: str, head: str | None, there: dict[str, str], place: str
) -> dict[str, Run]:
    """The runs that the repository has beside this one."""
    runs = {}
    paths = [
        path
        for path in sorted(there)
        if re.fullmatch(rf"runs/[\w.-]+/[\w.-]+/[0-9a-f]{{12}}/{re.escape(FILE)}", path)
    ]
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            own = path.rpartition("/")[0]
            if own == place:
                continue
            api.hf_hub_download(repo_id, path, repo_type="dataset", revision=head, local_dir=folder)
            try:
                runs[own] = read_run(Path(folder) / own)
            except EvaluationError as error:
                reason = str(error).replace(f"{folder}/", "")
                raise EvaluationError(f"{repo_id}: {reason}") from None
    return runs


def render_card(repo_id: str, runs: dict[str, Run]) -> str:
    """The card of a repository of results.

    Args:
        repo_id: its name.
        runs: by their folders.
    """
    from huggingface_hub import DatasetCardData

    about: dict[str, Any] = {
        "pretty_name": f"Results in {repo_id}",
        "tags": ["coherencegym", "evaluation", "discourse", "coherence"],
        "configs": [
            {"config_name": kind, "data_files": f"runs/*/*/*/{kind}.parquet", "default": default}
            for kind, default in (("predictions", True), ("regions", False))
        ],
    }
    lines = [
        "---",
        DatasetCardData(**about).to_yaml(),
        "---",
        "",
        "# How often models find the incoherent version the more surprising one",
        "",
        "Scores of [CoherenceGym](https://github.com/coherencegym/coherencegym): the CD score is "
        "the share of items of which a prediction about surprisal holds, with its 95 % interval; "
        "chance is 50 %. `predictions.parquet` has every prediction of every item, "
        "`regions.parquet` the surprisal (bits) of every region that was read. The texts of the "
        "items are in the datasets, not here.",
        "",
        "| suite | version | config | model | items | CD | 95 % interval | artefact | run |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for place, run in sorted(runs.items(), key=lambda pair: (pair[1].suite, pair[1].model)):
        lines += [_row(place, run, score) for score in run.scores if score.level == "all"]
    lines += ["", "The signature of each run, from which its scores can be reproduced:", ""]
    lines += [f"- `{place}`: `{_cell(run.signature)}`" for place, run in sorted(runs.items())]
    return "\n".join(lines) + "\n"


def _row(place: str, run: Run, score: Score) -> str:
    config = score.config + (f" ({score.split})" if score.split else "")
    interval = "–"
    if score.ci_low is not None and score.ci_high is not None:
        interval = f"{100 * score.ci_low:.1f} to {100 * score.ci_high:.1f} %"
    cells: Sequence[str] = (
        run.suite,
        run.version,
        config,
        run.model,
        f"{score.n:,}",
        "–" if score.score is None else f"{100 * score.score:.1f} %",
        interval,
        "–" if score.artefact_score is None else f"{100 * score.artefact_score:.1f} %",
    )
    return f"| {' | '.join(map(_cell, cells))} | [files]({place}) |"


def _cell(text: str) -> str:
    """Text that stays in its cell, whatever it holds: names come from models and datasets."""
    escaped = re.sub(r"([\\|`*_<>\[\]])", r"\\\1", " ".join(text.split()))
    return escaped if "`" not in text else escaped.replace("`", "'")


def _name(text: str) -> str:
    """Part of a path from a name that may hold anything."""
    return re.sub(r"[^\w.-]+", "__", text, flags=re.ASCII).strip("._") or "unnamed"

"""Results that others pushed: the runs of a results repository of the Hub, at its head."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.hub.push_results import RUN_FILE
from coherencegym.eval.hub.results_card import TABLES
from coherencegym.eval.results.folder import MARKER
from coherencegym.hub.commits import read_head

#: Files of a run that are read; pictures are not.
_READ = (MARKER, *(f"{kind}.parquet" for kind in TABLES))


@dataclass(frozen=True)
class FetchedResults:
    """Folders of runs on this machine, and the commit that they are of."""

    folders: tuple[Path, ...]
    commit: str


def fetch_results(api: Any, repo_id: str) -> FetchedResults:
    """Fetch the runs of a results repository, those that are not in the client's cache yet.

    Raises:
        EvaluationError: there is no such repository, or no run in it.
        AnswerError: something else than the Hub answered.
        huggingface_hub.errors.HfHubHTTPError: the Hub refused or failed.
    """
    head = read_head(api, repo_id)
    if not head.exists:
        raise EvaluationError(
            f"{repo_id}: no such folder, and no dataset repository that this account may read; "
            "expected folders of results, or what `coherencegym push` made"
        )
    found = {
        path: match
        for path in head.digests
        if (match := RUN_FILE.fullmatch(path)) and ".." not in path.split("/")
    }
    files = [path for path, match in found.items() if match[2] in _READ]
    places = sorted(match[1] for match in found.values() if match[2] == MARKER)
    if not places:
        raise EvaluationError(f"{repo_id}: no runs in it; expected what `coherencegym push` made")
    root = Path(
        api.snapshot_download(
            repo_id, repo_type="dataset", revision=head.sha, allow_patterns=sorted(files)
        )
    )
    return FetchedResults(tuple(root / place for place in places), head.sha)

"""Runs in the format of Every Eval Ever in a dataset repository: one commit or pull request."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coherencegym.eval.hub.every_eval_ever import EvaluationSource, evaluation_files
from coherencegym.eval.hub.push_changes import push_changes
from coherencegym.eval.hub.push_results import Pushed
from coherencegym.hub.commits import Head


def push_evaluations(
    api: Any,
    folders: Sequence[Path],
    repo_id: str,
    *,
    source: EvaluationSource,
    create_pr: bool = False,
    dry_run: bool = False,
) -> Pushed:
    """Push runs; those that the repository has are not pushed again.

    Args:
        api: a client of the Hub.
        folders: results of runs, or folders of those of several.
        repo_id: a dataset repository, which has to be there.
        source: see :func:`eval.hub.every_eval_ever.evaluation_files`.
        create_pr: open a pull request, unless one that is open has them all.
        dry_run: say what would be pushed; asks for reading only.
    """
    files = evaluation_files(folders, source)

    def new(head: Head) -> dict[str, bytes]:
        return {path: content for path, content in files.items() if not head.has(path, content)}

    collections = ", ".join(sorted({path.split("/")[1] for path in files}))
    how: dict[str, Any] = {"repo_type": "dataset", "create_pr": create_pr, "dry_run": dry_run}
    return push_changes(api, repo_id, new, f"[Submission] {collections}", **how)

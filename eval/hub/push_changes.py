"""Files into a repository: one commit on the head that was read, or a proposal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.hub import (
    TRIES,
    Head,
    commit,
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

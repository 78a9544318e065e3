"""A repository on the Hub: its name, its head, its tags, and one commit on that head.

It is one of a dataset where nothing else is said.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.hub.answers import AnswerError, endpoint_host, repository_info

#: Tries to work a commit out anew after somebody else's came between.
TRIES = 3
#: Answers to a commit whose parent is no longer the head.
_MOVED = (409, 412)


def check_target(repo_id: str, needs_token: bool = False) -> None:
    """Refuse with ``EvaluationError`` what no push could come of: no name, or no token."""
    from huggingface_hub import get_token
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    is_name = repo_id.count("/") == 1
    try:
        validate_repo_id(repo_id)
    except HFValidationError:
        is_name = False
    if not is_name:
        raise EvaluationError(f"{repo_id!r} is no name of a repository; expected USER/NAME")
    if needs_token and get_token() is None:
        raise EvaluationError(
            f"to push to {repo_id} log in with `hf auth login`, or set HF_TOKEN to a token with "
            "write access"
        )


def check_rights(api: Any, repo_id: str) -> None:
    """Refuse a push that the Hub would refuse, as far as it says beforehand whose token it is.

    A token of fine grain may do what only a try shows. Where the Hub does not say, nothing is
    refused: people are told of that by the push.
    """
    from huggingface_hub.errors import HfHubHTTPError

    try:
        about = api.whoami()
    except HfHubHTTPError as error:
        if error.response is not None and error.response.status_code in (401, 403):
            raise
        return
    token = about.get("auth", {}).get("accessToken", {})
    role, user = token.get("role"), about.get("name")
    if role == "read":
        raise EvaluationError(
            f"to push to {repo_id}: this token may not write there, only read; log in with "
            "`hf auth login`, or set HF_TOKEN to a token with write access"
        )
    owners = [user, *(organisation["name"] for organisation in about.get("orgs", ()))]
    owner = repo_id.partition("/")[0]
    if role == "write" and owner not in owners:
        raise EvaluationError(
            f"to push to {repo_id}: this token is of {user}, who is no member of {owner}; expected "
            f"--repo-id with one of {', '.join(owners)} before the slash, or another token"
        )


@dataclass(frozen=True)
class Head:
    """The head of a repository.

    Attributes:
        private: true where only its owners see it.
        sha: commit of the main branch; empty where there is no repository.
        digests: path in it -> sha256 of a large file, git's name of another.
    """

    private: bool = False
    sha: str = ""
    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def exists(self) -> bool:
        """True where the repository is there, and one may see it."""
        return bool(self.sha)

    def has(self, path: str, content: bytes) -> bool:
        """Tell whether it holds a file of this content there."""
        by_git = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        return self.digests.get(path) in (by_git, hashlib.sha256(content).hexdigest())


def read_head(
    api: Any, repo_id: str, repo_type: str = "dataset", revision: str | None = None
) -> Head:
    """Read a repository's head, or an empty one where there is no repository.

    Args:
        revision: that of a pull request; None: the main branch.
    """
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        info = repository_info(api, repo_id, repo_type, files_metadata=True, revision=revision)
    except RepositoryNotFoundError:
        return Head()
    digests = {
        file.rfilename: file.lfs["sha256"] if file.lfs else file.blob_id for file in info.siblings
    }
    return Head(info.private, info.sha, digests)


def open_proposals(
    api: Any, repo_id: str, title: str, repo_type: str
) -> Iterator[tuple[str, Head]]:
    """The pull requests of a title that are open: the number of each (``#3``), and its head."""
    about = {"discussion_type": "pull_request", "discussion_status": "open"}
    for pull in api.get_repo_discussions(repo_id, repo_type=repo_type, **about):
        if pull.title == title:
            yield f"#{pull.num}", read_head(api, repo_id, repo_type, f"refs/pr/{pull.num}")


def fetch(api: Any, repo_id: str, path: str, revision: str, repo_type: str = "dataset") -> Path:
    """A file of a repository at a commit, from the client's cache if it is there."""
    return Path(api.hf_hub_download(repo_id, path, repo_type=repo_type, revision=revision))


def make_repository(api: Any, repo_id: str, private: bool) -> None:
    """Make a dataset's repository, unless somebody else just did."""
    api.create_repo(repo_id, repo_type="dataset", private=private or None, exist_ok=True)


def open_repository(api: Any, repo_id: str, private: bool, dry_run: bool) -> tuple[Head, list[str]]:
    """The head of a dataset's repository, made where it is not there, and what is said of that.

    Args:
        private: make it private; refuse one that is public.
        dry_run: make none.
    """
    head = read_head(api, repo_id)
    lines = []
    if not head.exists:
        made = "would be made" if dry_run else "made"
        lines.append(f"{repo_id} is not there: {made}{', private' if private else ''}")
        if not dry_run:
            make_repository(api, repo_id, private)
            # Somebody else may have made it, and pushed: what is there is read in any case.
            head = read_head(api, repo_id)
    if private and head.exists and not head.private:
        raise EvaluationError(
            f"--private: {repo_id} exists and is public; make it private on the Hub first, or "
            "name another repository"
        )
    return head, lines


def commit(
    api: Any,
    repo_id: str,
    parent: str,
    adds: Mapping[str, Path | bytes],
    deletes: Sequence[str] = (),
    *,
    message: str,
    create_pr: bool = False,
    repo_type: str = "dataset",
) -> Any:
    """Commit on the head that was read; none where somebody else's commit came first (409, 412).

    Args:
        adds: path in the repository -> local file or content.
        deletes: paths that go.
        create_pr: open a pull request instead.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete
    from huggingface_hub.errors import HfHubHTTPError

    try:
        return api.create_commit(
            repo_id,
            [
                *(CommitOperationAdd(path, content) for path, content in sorted(adds.items())),
                *(CommitOperationDelete(path) for path in sorted(deletes)),
            ],
            commit_message=message,
            repo_type=repo_type,
            parent_commit=parent,
            create_pr=create_pr,
        )
    except HfHubHTTPError as error:
        if error.response is not None and error.response.status_code in _MOVED:
            return None
        raise


def read_tags(api: Any, repo_id: str) -> dict[str, str]:
    """Tag name -> commit, also where a tag is annotated."""
    refs = api.list_repo_refs(repo_id, repo_type="dataset")
    return {tag.name: tag.target_commit for tag in refs.tags}


def make_tag(api: Any, repo_id: str, tag: str, revision: str, message: str) -> None:
    """Tag a commit, and see the tag stand."""
    api.create_tag(repo_id, tag=tag, revision=revision, tag_message=message, repo_type="dataset")
    # The client reads no answer here, so any would do: the tag has to be seen.
    if read_tags(api, repo_id).get(tag) != revision:
        raise AnswerError(
            f"{endpoint_host(api)} took the tag {tag} of {repo_id} and does not have it"
        )

"""Writing with `huggingface_hub`: repositories, commits, tags, branches, pull requests."""

from __future__ import annotations

import hashlib
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from huggingface_hub import (
    CommitInfo,
    CommitOperationAdd,
    CommitOperationDelete,
    HfApi,
)
from huggingface_hub.errors import (
    EntryNotFoundError,
    HfHubHTTPError,
    RevisionNotFoundError,
)
from support.hub import uploads
from support.hub.server import HubServer
from support.hub.store import Blob

REPO = "coherencegym/demo"
PARQUET = b"PAR1 not really PAR1"


def commit(
    api: HfApi, files: dict[str, bytes], parent: str | None = None, revision: str | None = None
) -> CommitInfo:
    return api.create_commit(
        REPO,
        [CommitOperationAdd(path, data) for path, data in files.items()],
        commit_message="a commit",
        repo_type="dataset",
        parent_commit=parent,
        revision=revision,
    )


def test_a_new_repository_has_one_commit_of_the_hubs_own(hub: HubServer, hub_api: HfApi) -> None:
    url = hub_api.create_repo(REPO, repo_type="dataset")
    assert str(url) == f"{hub.url}/datasets/{REPO}"
    assert url.repo_id == REPO
    (first,) = hub.commits(REPO)
    assert list(first.files) == [".gitattributes"]
    assert hub_api.dataset_info(REPO).sha == first.sha

    assert hub_api.create_repo(REPO, repo_type="dataset", exist_ok=True) == url
    with pytest.raises(HfHubHTTPError, match="409"):
        hub_api.create_repo(REPO, repo_type="dataset")
    assert len(hub.commits(REPO)) == 1


def test_a_commit_holds_regular_and_lfs_files(hub: HubServer, hub_api: HfApi) -> None:
    hub.seed(REPO, {"README.md": b"---\n---\nold"})
    before = hub.commits(REPO)[0].sha
    files = {"README.md": b"---\n---\nnew", "data/a/train.parquet": PARQUET, "data/empty.txt": b""}
    made = commit(hub_api, files)

    assert made.oid == hub.commits(REPO)[0].sha
    assert made.commit_url == f"{hub.url}/datasets/{REPO}/commit/{made.oid}"
    assert hub.files(REPO).items() > files.items()
    assert hub.files(REPO, before)["README.md"] == b"---\n---\nold", "older commits are frozen"
    assert hub.lfs_objects(REPO) == {hashlib.sha256(PARQUET).hexdigest()}

    puts = [r for r in hub.requests if r.method == "PUT"]
    assert [(r.origin, r.account, r.status) for r in puts] == [("storage", "", 200)]
    described = hub.requests[-1].body
    assert described.startswith("'a commit'; ")
    assert "file README.md" in described
    assert "lfsFile data/a/train.parquet" in described


def test_git_takes_neither_binary_nor_big_files(
    hub: HubServer, hub_api: HfApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "REGULAR_LIMIT", 100)
    hub.seed(REPO, {})
    commit(hub_api, {"binary": b"\0", "long.txt": b"x" * 101, "short.txt": b"x" * 100})
    assert hub.lfs_objects(REPO) == {hashlib.sha256(d).hexdigest() for d in (b"\0", b"x" * 101)}


def test_an_unchanged_commit_is_none(hub: HubServer, hub_api: HfApi) -> None:
    files = {"README.md": b"---\n---\ntext", "data/train.parquet": PARQUET}
    hub.seed(REPO, files)
    again = commit(hub_api, files)
    assert again.oid == hub.commits(REPO)[0].sha
    assert len(hub.commits(REPO)) == 2
    assert not [r for r in hub.requests if r.method == "PUT" or "/commit/" in r.path]


def test_deletions(hub: HubServer, hub_api: HfApi) -> None:
    hub.seed(REPO, {"data/a/1.txt": b"1", "data/a/2.txt": b"2", "data/ab.txt": b"3", "x": b"4"})
    gone = [CommitOperationDelete("data/a/"), CommitOperationDelete("x")]
    hub_api.create_commit(REPO, gone, commit_message="delete", repo_type="dataset")
    assert set(hub.files(REPO)) == {".gitattributes", "data/ab.txt"}
    with pytest.raises(EntryNotFoundError, match="doesn't exist"):
        hub_api.delete_file("x", REPO, repo_type="dataset")


def test_a_stale_parent_is_refused(hub: HubServer, hub_api: HfApi) -> None:
    stale = hub.seed(REPO, {"a.txt": b"one"})
    head = hub.seed(REPO, {"a.txt": b"two"})
    with pytest.raises(HfHubHTTPError, match="A commit has happened since") as caught:
        commit(hub_api, {"a.txt": b"three", "a.parquet": PARQUET}, parent=stale)
    assert caught.value.response.status_code == 412
    assert hub.commits(REPO)[0].sha == head
    assert hub.lfs_objects(REPO), "what was uploaded stays, so a second try is cheap"
    commit(hub_api, {"a.txt": b"three", "a.parquet": PARQUET}, parent=head)
    assert hub.commits(REPO)[0].parent == head


def test_of_concurrent_commits_on_one_parent_one_wins(
    hub: HubServer, hub_api: HfApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow_apply(*args: Any) -> dict[str, Blob]:
        time.sleep(0.02)  # between the look at the head and the move of the branch
        return apply(*args)

    apply = uploads.apply
    monkeypatch.setattr(uploads, "apply", slow_apply)
    parent = hub.seed(REPO, {"a.txt": b"zero"})

    def attempt(number: int) -> int:
        try:
            commit(hub_api, {f"{number}.txt": b"text"}, parent)
        except HfHubHTTPError as error:
            return error.response.status_code
        return 200

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(attempt, range(6))) == [200] + [412] * 5
    assert len(hub.commits(REPO)) == 3


def test_tags(hub: HubServer, hub_api: HfApi) -> None:
    first = hub.seed(REPO, {"a.txt": b"one"})
    second = hub.seed(REPO, {"a.txt": b"two"})
    hub_api.create_tag(REPO, tag="v1.0.0", revision=first, tag_message="first", repo_type="dataset")
    assert hub.tags(REPO)["v1.0.0"].message == "first"
    refs = hub_api.list_repo_refs(REPO, repo_type="dataset")
    assert [(t.name, t.ref, t.target_commit) for t in refs.tags] == [
        ("v1.0.0", "refs/tags/v1.0.0", first)
    ]
    assert [(b.name, b.target_commit) for b in refs.branches] == [("main", second)]

    with pytest.raises(HfHubHTTPError, match="409"):
        hub_api.create_tag(REPO, tag="v1.0.0", repo_type="dataset")
    hub_api.create_tag(REPO, tag="v1.0.0", repo_type="dataset", exist_ok=True)
    assert hub.tags(REPO)["v1.0.0"].target == first, "exist_ok hides the clash, nothing moves"
    with pytest.raises(RevisionNotFoundError):
        hub_api.create_tag(REPO, tag="v9", revision="no-such", repo_type="dataset")

    hub_api.delete_tag(REPO, tag="v1.0.0", repo_type="dataset")
    hub_api.create_tag(REPO, tag="v1.0.0", repo_type="dataset")
    assert hub.tags(REPO)["v1.0.0"].target == second
    assert hub.tags(REPO)["v1.0.0"].message == ""


def test_revisions_have_many_names(hub: HubServer, hub_api: HfApi) -> None:
    sha = hub.seed(REPO, {"a.txt": b"one"}, tag="v1.0.0")
    main = hub.seed(REPO, {"a.txt": b"newer"})
    hub_api.create_branch(REPO, branch="feature/x", revision="v1.0.0", repo_type="dataset")
    head = commit(hub_api, {"a.txt": b"two"}, revision="feature/x").oid
    for expected, names in {
        sha: ["v1.0.0", sha, sha[:7], "refs/tags/v1.0.0"],
        main: ["main", "refs/heads/main"],
        head: ["feature/x", "refs/heads/feature/x"],
    }.items():
        assert {hub_api.dataset_info(REPO, revision=name).sha for name in names} == {expected}
    assert hub.commits(REPO, "feature/x")[1].sha == sha, "a branch starts where it was told to"
    with pytest.raises(RevisionNotFoundError):
        hub_api.dataset_info(REPO, revision="v2")
    with pytest.raises(HfHubHTTPError, match="409"):
        hub_api.create_branch(REPO, branch="feature/x", repo_type="dataset")


def test_a_pull_request_leaves_main_alone(hub: HubServer, hub_api: HfApi) -> None:
    head = hub.seed(REPO, {"a.txt": b"one"})
    add = CommitOperationAdd("a.txt", b"two")
    made = hub_api.create_commit(
        REPO, [add], commit_message="proposal", repo_type="dataset", create_pr=True
    )
    assert made.pr_url == f"{hub.url}/datasets/{REPO}/discussions/1"
    assert made.pr_revision == "refs/pr/1"
    assert hub.commits(REPO)[0].sha == head
    assert hub.files(REPO, "refs/pr/1")["a.txt"] == b"two"
    refs = hub_api.list_repo_refs(REPO, repo_type="dataset", include_pull_requests=True)
    assert [(p.ref, p.target_commit) for p in refs.pull_requests or []] == [("refs/pr/1", made.oid)]
    commit(hub_api, {"a.txt": b"three"}, revision="refs/pr/1")
    assert hub.files(REPO, "refs/pr/1")["a.txt"] == b"three"

"""Reading with `huggingface_hub`: history, listings, snapshots."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from huggingface_hub import HfApi, RepoFile, repo_exists, snapshot_download
from huggingface_hub.errors import (
    EntryNotFoundError,
    RemoteEntryNotFoundError,
    RevisionNotFoundError,
)
from support.hub.server import HubServer
from support.hub.store import git_oid

REPO = "coherencegym/demo"
PARQUET = b"PAR1 not really PAR1"


def test_history_and_listings(hub: HubServer, hub_api: HfApi) -> None:
    hub.seed(REPO, {"README.md": b"text", "data/a/train.parquet": PARQUET})
    history = hub_api.list_repo_commits(REPO, repo_type="dataset")
    assert [c.title for c in history] == ["seed", "initial commit"]
    assert [c.commit_id for c in history] == [c.sha for c in hub.commits(REPO)]
    assert history[0].created_at > history[1].created_at

    def listed(folder: str | None, recursive: bool) -> set[str]:
        tree = hub_api.list_repo_tree(REPO, folder, recursive=recursive, repo_type="dataset")
        return {entry.path for entry in tree}

    assert listed(None, False) == {".gitattributes", "README.md", "data"}
    assert listed("data", False) == {"data/a"}
    assert listed("data", True) == {"data/a", "data/a/train.parquet"}
    assert listed("data/a", False) == {"data/a/train.parquet"}
    assert hub.requests[-1].path.endswith("/tree/main/data/a"), "unquoted, for the reader"
    with pytest.raises(EntryNotFoundError):
        listed("nowhere", False)

    paths = ["README.md", "data", "data/a/train.parquet", "absent"]
    infos = {i.path: i for i in hub_api.get_paths_info(REPO, paths, repo_type="dataset")}
    assert set(infos) == {"README.md", "data", "data/a/train.parquet"}
    pointer = hub.commits(REPO)[0].files["data/a/train.parquet"].pointer
    readme, train = infos["README.md"], infos["data/a/train.parquet"]
    assert isinstance(readme, RepoFile)
    assert isinstance(train, RepoFile)
    assert (readme.blob_id, readme.lfs) == (git_oid(b"text"), None)
    assert (train.blob_id, train.size) == (git_oid(pointer), len(PARQUET))
    assert train.lfs is not None
    assert train.lfs.sha256 == hashlib.sha256(PARQUET).hexdigest()
    described = hub_api.dataset_info(REPO, files_metadata=True).siblings or []
    lfs = {s.rfilename: s.lfs.sha256 for s in described if s.lfs}
    assert lfs == {"data/a/train.parquet": hashlib.sha256(PARQUET).hexdigest()}


def test_an_absent_file_is_told_from_an_absent_revision(hub: HubServer, hub_api: HfApi) -> None:
    sha = hub.seed(REPO, {"README.md": b"text"})
    with pytest.raises(RemoteEntryNotFoundError) as caught:
        hub_api.hf_hub_download(REPO, "absent", repo_type="dataset")
    assert caught.value.response.headers["X-Repo-Commit"] == sha  # the client remembers it by this
    with pytest.raises(RevisionNotFoundError):
        hub_api.hf_hub_download(REPO, "README.md", repo_type="dataset", revision="absent")


def test_a_snapshot_at_a_tag(hub_clients: HubServer) -> None:
    """With the clients' module-level functions, which take the endpoint from the environment."""
    hub = hub_clients
    assert not repo_exists(REPO, repo_type="dataset")
    old = {"README.md": b"old", "data/a/train.parquet": PARQUET, "data/b/train.parquet": b"b"}
    sha = hub.seed(REPO, old, tag="v1.0.0")
    hub.seed(REPO, {"data/a/train.parquet": b"new"})
    place = Path(
        snapshot_download(
            REPO,
            repo_type="dataset",
            revision="v1.0.0",
            allow_patterns=["README.md", "data/a/*"],
        )
    )
    assert place.name == sha
    found = {str(p.relative_to(place)): p.read_bytes() for p in place.rglob("*") if p.is_file()}
    assert found == {"README.md": b"old", "data/a/train.parquet": PARQUET}
    # The storage origin refuses whoever brings a token, so this download came without one.
    assert [r.path for r in hub.requests if r.origin == "storage"] == [
        f"/{REPO}/{hashlib.sha256(PARQUET).hexdigest()}"
    ]

"""What a dataset repository on the Hub holds now: its head, its tags, its manifest, its hashes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coherencegym.builders.release.manifest import Manifest, read_manifest
from coherencegym.errors import EvaluationError
from coherencegym.hub.answers import dataset_info


class PublishError(Exception):
    """A release that cannot be made; one line that says why and what to do."""


@dataclass(frozen=True)
class Head:
    """The head of a repository.

    Attributes:
        exists: whether the repository is there.
        private: whether only its owners see it.
        sha: commit of the main branch.
        files: paths in it.
        manifest: the parsed manifest, if it holds one.
        card: the text of its README, if it holds one.
        tags: tag name -> commit.
    """

    exists: bool = False
    private: bool = False
    sha: str = ""
    files: frozenset[str] = frozenset()
    manifest: Manifest | None = None
    manifest_text: str = ""
    card: str = ""
    tags: dict[str, str] = field(default_factory=dict)


def read_head(api: Any, repo_id: str) -> Head:
    """Read a repository's head, or an empty one where there is no repository.

    Raises:
        PublishError: it holds a dataset that no build of this project made.
        AnswerError: something else than the Hub answered.
    """
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        info = dataset_info(api, repo_id)
    except RepositoryNotFoundError:
        return Head()
    files = frozenset(sibling.rfilename for sibling in info.siblings)
    tags = read_tags(api, repo_id)
    texts = dict.fromkeys(("manifest.json", "README.md"), "")
    manifest: Manifest | None = None
    for name in texts:
        if name in files:
            path = fetch(api, repo_id, name, info.sha)
            if name == "manifest.json":
                manifest = _manifest(path, f"{repo_id}/{name}")
            texts[name] = path.read_text(encoding="utf-8")
    if manifest is None and (
        "README.md" in files or any(path.startswith("data/") for path in files)
    ):
        raise PublishError(
            f"{repo_id} holds a dataset without manifest.json, so not one that this project made; "
            "name another repository with --repo-id"
        )
    return Head(
        exists=True,
        private=info.private,
        sha=info.sha,
        files=files,
        manifest=manifest,
        manifest_text=texts["manifest.json"],
        card=texts["README.md"],
        tags=tags,
    )


def _manifest(path: Path, where: str) -> Manifest:
    try:
        return read_manifest(path)
    except EvaluationError as error:
        raise PublishError(str(error).replace(str(path), where)) from None


def read_tags(api: Any, repo_id: str) -> dict[str, str]:
    """Tag name -> commit, also where a tag is annotated."""
    refs = api.list_repo_refs(repo_id, repo_type="dataset")
    return {tag.name: tag.target_commit for tag in refs.tags}


def fetch(api: Any, repo_id: str, path: str, revision: str) -> Path:
    """A file of the repository at a commit, from the client's cache if it is there."""
    return Path(api.hf_hub_download(repo_id, path, repo_type="dataset", revision=revision))


def read_hashes(path: Path) -> dict[str, str]:
    """Item id -> row hash, from a file of row hashes."""
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    return dict(
        zip(table.column("item_id").to_pylist(), table.column("sha256").to_pylist(), strict=True)
    )

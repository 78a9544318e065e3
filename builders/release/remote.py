"""The Hub as a release finds it: the head of its repository, its manifest, its hashes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coherencegym.builders.release.documents import RELEASE_DOCUMENTS
from coherencegym.builders.release.manifest import Manifest
from coherencegym.errors import EvaluationError
from coherencegym.eval.data.source import read_manifest
from coherencegym.files.strict_json import Name
from coherencegym.hub import commits


class PublishError(EvaluationError):
    """A release that cannot be made; one line that says why and what to do."""


@dataclass(frozen=True)
class _Split:
    content_hash: str
    rows: int
    num_bytes: int
    download_size: int


@dataclass(frozen=True)
class _Corpus:
    name: Name
    files: str | tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class _Config:
    kind: Name
    rank: int
    republishable: bool
    licences: dict[str, int]
    corpus: _Corpus
    features: dict[str, Any]
    splits: dict[Name, _Split]
    quality: dict[str, dict[str, Any]]
    skipped: dict[str, dict[str, int]]
    stand_off: bool = False


@dataclass(frozen=True)
class _Earlier:
    suite: Name
    version: Name
    configs: dict[Name, _Config]


@dataclass(frozen=True)
class DatasetHead(commits.Head):
    """The head of a repository of a suite.

    Attributes:
        manifest: the parsed manifest, if it holds one.
        texts: path -> text of the documents (manifest, card, ...) that it holds.
        tags: tag name -> commit.
    """

    manifest: Manifest | None = None
    texts: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)


def dataset_head(api: Any, repo_id: str) -> DatasetHead:
    """Read a repository's head, or an empty one where there is no repository."""
    head = commits.read_head(api, repo_id)
    if not head.exists:
        return DatasetHead()
    tags = commits.read_tags(api, repo_id)
    files = {
        name: commits.fetch(api, repo_id, name, head.sha)
        for name in RELEASE_DOCUMENTS
        if name in head.digests
    }
    manifest = None
    if (path := files.get("manifest.json")) is not None:
        try:
            manifest = dict(read_manifest(path, _Earlier))
        except EvaluationError as error:
            where = f"{repo_id}/manifest.json"
            raise PublishError(str(error).replace(str(path), where)) from None
    elif files or any(path.startswith("data/") for path in head.digests):
        raise PublishError(
            f"{repo_id} holds a dataset without manifest.json, so not one that this project made; "
            "name another repository with --repo-id"
        )
    texts = {name: path.read_text("utf-8", "replace") for name, path in files.items()}
    return DatasetHead(**vars(head), manifest=manifest, texts=texts, tags=tags)


def read_hashes(path: Path) -> dict[str, str]:
    """Item id -> row hash, from a file of row hashes."""
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    return dict(
        zip(*(table.column(name).to_pylist() for name in ("item_id", "sha256")), strict=True)
    )

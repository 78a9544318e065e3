"""The Hub as a release finds it: the head of its repository, its manifest, its hashes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coherencegym.builders.release.manifest import Manifest, read_manifest
from coherencegym.errors import EvaluationError
from coherencegym.hub import commits
from coherencegym.hub.commits import fetch


class PublishError(Exception):
    """A release that cannot be made; one line that says why and what to do."""


@dataclass(frozen=True)
class DatasetHead(commits.Head):
    """The head of a repository of a suite.

    Attributes:
        manifest: the parsed manifest, if it holds one.
        manifest_text: the text of its file.
        card: the text of its README, if it holds one.
        tags: tag name -> commit.
    """

    manifest: Manifest | None = None
    manifest_text: str = ""
    card: str = ""
    tags: dict[str, str] = field(default_factory=dict)


def read_head(api: Any, repo_id: str) -> DatasetHead:
    """Read a repository's head, or an empty one where there is no repository.

    Raises:
        PublishError: it holds a dataset that no build of this project made.
        AnswerError: something else than the Hub answered.
    """
    head = commits.read_head(api, repo_id)
    if not head.exists:
        return DatasetHead()
    tags = commits.read_tags(api, repo_id)
    texts = dict.fromkeys(("manifest.json", "README.md"), "")
    manifest: Manifest | None = None
    for name in texts:
        if name in head.digests:
            path = fetch(api, repo_id, name, head.sha)
            if name == "manifest.json":
                manifest = _manifest(path, f"{repo_id}/{name}")
            texts[name] = path.read_text(encoding="utf-8")
    if manifest is None and (
        "README.md" in head.digests or any(path.startswith("data/") for path in head.digests)
    ):
        raise PublishError(
            f"{repo_id} holds a dataset without manifest.json, so not one that this project made; "
            "name another repository with --repo-id"
        )
    return DatasetHead(
        **vars(head),
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


def read_hashes(path: Path) -> dict[str, str]:
    """Item id -> row hash, from a file of row hashes."""
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    return dict(
        zip(table.column("item_id").to_pylist(), table.column("sha256").to_pylist(), strict=True)
    )

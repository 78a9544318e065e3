"""The plan of a release: what a build changes in a repository, and the version that it needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

from coherencegym import hub
from coherencegym.builders.release.manifest import (
    MANIFEST,
    RELEASE_DOCUMENTS,
    Manifest,
    hashes_path,
    in_order,
    read_hashes,
    release_documents,
)
from coherencegym.errors import EvaluationError
from coherencegym.eval.data.dataset import baselines_path
from coherencegym.eval.data.source import read_manifest
from coherencegym.files.strict_json import Name


class PublishError(EvaluationError):
    """A release that cannot be made; one line that says why and what to do."""


@dataclass(frozen=True)
class _Split:
    content_hash: str
    rows: int


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
class DatasetHead(hub.Head):
    """The head of a repository of a suite.

    Attributes:
        manifest: the parsed manifest, if it holds one.
        tags: tag name -> commit.
    """

    manifest: Manifest | None = None
    tags: dict[str, str] = field(default_factory=dict)


def dataset_head(api: Any, repo_id: str) -> DatasetHead:
    """Read a repository's head, or an empty one where there is no repository."""
    head = hub.read_head(api, repo_id)
    if not head.exists:
        return DatasetHead()
    tags = hub.read_tags(api, repo_id)
    manifest = None
    if MANIFEST in head.digests:
        path = hub.fetch(api, repo_id, MANIFEST, head.sha)
        try:
            manifest = dict(read_manifest(path, _Earlier))
        except EvaluationError as error:
            where = f"{repo_id}/manifest.json"
            raise PublishError(str(error).replace(str(path), where)) from None
    elif any(one in RELEASE_DOCUMENTS or one.startswith("data/") for one in head.digests):
        raise PublishError(
            f"{repo_id} holds a dataset without manifest.json, so not one that this project made; "
            "name another repository with --repo-id"
        )
    return DatasetHead(**vars(head), manifest=manifest, tags=tags)


class Change(IntEnum):
    """The kinds of change that a release means for its readers, the least first."""

    NONE = 0
    CARD = 1
    ADDED = 2
    ROWS = 3

    @property
    def level(self) -> str:
        """The part of the version that it raises."""
        return ("none", "patch", "minor", "major")[self]


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A semantic version of three numbers."""

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> Version:
        """The version written ``1.2.3`` or ``v1.2.3``."""
        match = re.fullmatch(r"v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", text)
        if match is None:
            raise PublishError(f"version {text!r}; expected three numbers such as 1.2.0")
        return cls(*map(int, match.groups()))

    def raised(self, change: Change) -> Version:
        """The least version that a change of this kind needs."""
        return {
            Change.ROWS: Version(self.major + 1, 0, 0),
            Change.ADDED: Version(self.major, self.minor + 1, 0),
            Change.CARD: Version(self.major, self.minor, self.patch + 1),
            Change.NONE: self,
        }[change]

    def __str__(self) -> str:
        """The version as it is written, without a ``v``."""
        return f"{self.major}.{self.minor}.{self.patch}"


@dataclass(frozen=True, slots=True)
class RowChanges:
    """The numbers of rows of a split that were added, changed and removed, by id."""

    added: int = 0
    changed: int = 0
    removed: int = 0

    @property
    def change(self) -> Change:
        """The change that they mean for the version."""
        if self.changed or self.removed:
            return Change.ROWS
        return Change.ADDED if self.added else Change.NONE

    def __str__(self) -> str:
        """The counts in words, ``no row changed`` where all are 0."""
        counts = {"added": self.added, "changed": self.changed, "removed": self.removed}
        return ", ".join(f"{n} {name}" for name, n in counts.items() if n) or "no row changed"


def compare_rows(old: Mapping[str, str], new: Mapping[str, str]) -> RowChanges:
    """The changes between two splits, each a mapping from item id to row hash."""
    return RowChanges(
        added=len(new.keys() - old.keys()),
        changed=sum(old[item] != new[item] for item in old.keys() & new.keys()),
        removed=len(old.keys() - new.keys()),
    )


@dataclass
class PlannedRelease:
    """A release as it would be committed.

    Attributes:
        manifest: ours merged with what stays.
        adds: path in the repository -> local file or text.
        deletes: paths that go.
        rows: (config, split) -> what changes in it; only those that this build made.
        kept, removed: configs of head that this build did not make.
        unknown: data of head that would stay and that no manifest describes.
    """

    manifest: Manifest
    adds: dict[str, Path | bytes] = field(default_factory=dict)
    deletes: list[str] = field(default_factory=list)
    rows: dict[tuple[str, str], RowChanges] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    @property
    def change(self) -> Change:
        """The greatest change in it."""
        changes = [rows.change for rows in self.rows.values()]
        if self.removed:
            changes.append(Change.ROWS)
        if self.adds or self.deletes:
            changes.append(Change.CARD)
        return max(changes, default=Change.NONE)


def plan_release(
    folder: Path,
    manifest: Manifest,
    head: DatasetHead,
    *,
    prune: bool,
    fetch_hashes: Callable[[str], Path],
) -> PlannedRelease:
    """Work out a release of the configs in ``manifest``, whose files are in ``folder``.

    A split whose rows are head's is not uploaded again, whatever its parquet bytes: they change
    with the version of pyarrow.

    Args:
        folder, manifest: the build, without the configs that may not be published.
        head: the head of the repository, and what it holds.
        prune: drop the configs and splits of head that this build did not make.
        fetch_hashes: path of a hashes file at head -> local file.
    """
    theirs = head.manifest
    if theirs is not None and theirs["suite"] != manifest["suite"]:
        raise PublishError(
            f"the repository holds the suite {theirs['suite']}, this is {manifest['suite']}; "
            "name another one with --repo-id"
        )
    old: dict[str, Any] = {} if theirs is None else theirs["configs"]
    merged = {} if prune else dict(old)
    release = PlannedRelease(manifest)
    here = [path.relative_to(folder).as_posix() for path in folder.rglob("*.parquet")]
    gone: list[tuple[str, str]] = []
    for name, config in manifest["configs"].items():
        before = old.get(name, {"splits": {}})
        if before.get("stand_off") != config.get("stand_off"):
            before = {"splits": {}}  # with or without texts all of its files are others
        if not prune:
            _check_splits(name, config, before)
        for split, counts in config["splits"].items():
            was, hashes = before["splits"].get(split), hashes_path(name, split)
            if was is not None and was["content_hash"] == counts["content_hash"]:
                release.rows[name, split] = RowChanges()
                path, now = baselines_path(name, split), counts.get("baselines")
                if now and now != was.get("baselines"):
                    release.adds[path] = folder / path
                elif was.get("baselines") and not now:
                    release.deletes.append(path)
                continue
            rows = {} if was is None else read_hashes(fetch_hashes(hashes))
            release.rows[name, split] = compare_rows(rows, read_hashes(folder / hashes))
            release.adds |= {path: folder / path for path in _files_of(here, name, split, config)}
            gone.append((name, split))
        merged[name] = config
    others = sorted(old.keys() - manifest["configs"].keys())
    release.removed, release.kept = (others, []) if prune else ([], others)
    for name, before in old.items():
        left = merged[name]["splits"] if name in merged else {}
        dropped = sorted(before["splits"].keys() - left.keys())
        gone += [(name, split) for split in dropped]
        release.removed += [f"{name}/{split}" for split in dropped if name in merged]
    for name, split in gone:
        paths = _files_of(head.digests, name, split)
        release.deletes += [path for path in paths if path not in release.adds]
    known = {*release.adds, *release.deletes}
    for name, config in merged.items():
        for split in config["splits"]:
            known |= {*_files_of(head.digests, name, split, config)}
    of_data = [path for path in head.digests if path.startswith(("data/", "hashes/", "baselines/"))]
    unknown = [path for path in of_data if path not in known]
    release.unknown = [] if prune else unknown
    release.deletes += unknown if prune else []
    release.manifest = in_order(manifest | {"configs": merged})
    texts = release_documents(release.manifest).items()
    documents = {path: text.encode("utf-8") for path, text in texts}
    release.adds |= {path: own for path, own in documents.items() if not head.has(path, own)}
    release.deletes += sorted({*RELEASE_DOCUMENTS} & head.digests.keys() - documents.keys())
    return release


def _files_of(
    paths: Iterable[str], name: str, split: str, config: Mapping[str, Any] | None = None
) -> list[str]:
    # Those of a split among paths; of a config without its texts there is only one.
    if config is not None and config.get("stand_off"):
        return [hashes_path(name, split)]
    beside = (hashes_path(name, split), baselines_path(name, split))
    return sorted(
        path for path in paths if path.startswith(f"data/{name}/{split}-") or path in beside
    )


def _check_splits(name: str, config: dict[str, Any], old: dict[str, Any]) -> None:
    if others := sorted(old["splits"].keys() - config["splits"].keys()):
        raise PublishError(
            f"config {name}: the release also has its split {', '.join(others)}, which this build "
            "does not make; build all its splits, or pass --prune to drop them"
        )
    for split in config["splits"]:
        judged = ["human" in side.get("quality", {}).get(split, {}) for side in (config, old)]
        if judged == [False, True]:
            raise PublishError(
                f"config {name}: people judged the {split} split of the release, and this build "
                "has nothing from them; pass --judgements with their answers, or --prune to drop "
                "them and all else that this build does not make"
            )

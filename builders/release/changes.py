"""The plan of a release: what a build changes in a repository, and the version that it needs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

from coherencegym.builders.release.documents import RELEASE_DOCUMENTS, release_documents
from coherencegym.builders.release.manifest import BY_SPLIT, Manifest, in_order
from coherencegym.builders.release.rows import hashes_path
from coherencegym.errors import EvaluationError
from coherencegym.eval.data.dataset import baselines_path
from coherencegym.eval.data.source import may_be_published, read_manifest
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


class VersionError(EvaluationError):
    """A version that is not written as versions are."""


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
            raise VersionError(f"version {text!r}; expected three numbers such as 1.2.0")
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
        prune: drop the configs of head that this build did not make.
        fetch_hashes: path of a hashes file at head -> local file.
    """
    theirs = head.manifest
    if theirs is not None and theirs["suite"] != manifest["suite"]:
        raise PublishError(
            f"the repository holds the suite {theirs['suite']}, this is {manifest['suite']}; "
            "name another one with --repo-id"
        )
    old: dict[str, Any] = {} if theirs is None else theirs["configs"]
    release = PlannedRelease(manifest)
    plan = _Plan(release, folder, head, fetch_hashes)
    merged = {} if prune else dict(old)
    for name, config in manifest["configs"].items():
        before = old.get(name, {"splits": {}})
        if before.get("stand_off") != config.get("stand_off"):
            before = {"splits": {}}  # with or without texts all of its files are others
        merged[name] = config if prune else _with_others(name, config, before, theirs or {})
        merged[name] = merged[name] | {
            "splits": merged[name]["splits"]
            | {
                split: plan.put(name, split, config, before["splits"].get(split))
                for split in config["splits"]
            }
        }
    others = sorted(old.keys() - manifest["configs"].keys())
    release.removed, release.kept = (others, []) if prune else ([], others)
    for name, before in old.items():
        left = merged[name]["splits"] if name in merged else {}
        for split in sorted(before["splits"].keys() - left.keys()):
            plan.drop(name, split)
            if name in merged:
                release.removed.append(f"{name}/{split}")
    release.manifest = in_order(manifest | {"configs": merged})
    unknown = plan.undescribed(merged)
    if prune:
        release.deletes += unknown
    else:
        release.unknown = unknown
    documents = release_documents(release.manifest)
    release.adds |= {
        path: text.encode("utf-8")
        for path, text in documents.items()
        if text != head.texts.get(path, "")
    }
    release.deletes += sorted(head.texts.keys() - documents.keys())
    return release


@dataclass
class _Plan:
    release: PlannedRelease
    folder: Path
    head: DatasetHead
    fetch_hashes: Callable[[str], Path]

    def put(
        self, name: str, split: str, config: dict[str, Any], was: dict[str, Any] | None
    ) -> dict[str, Any]:
        release = self.release
        counts: dict[str, Any] = config["splits"][split]
        if was is not None and was["content_hash"] == counts["content_hash"]:
            release.rows[name, split] = RowChanges()
            self._put_baselines(name, split, counts.get("baselines"), was.get("baselines"))
            return counts | {key: was[key] for key in ("num_bytes", "download_size")}
        hashes = hashes_path(name, split)
        before = {} if was is None else read_hashes(self.fetch_hashes(hashes))
        release.rows[name, split] = compare_rows(before, read_hashes(self.folder / hashes))
        paths = (
            path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*.parquet")
        )
        files = _split_files(paths, name, split, config)
        release.adds |= {path: self.folder / path for path in files}
        self.drop(name, split)
        return counts

    def _put_baselines(self, name: str, split: str, now: Any, before: Any) -> None:
        path = baselines_path(name, split)
        if now and now != before:
            self.release.adds[path] = self.folder / path
        elif before and not now:
            self.release.deletes.append(path)

    def undescribed(self, configs: Mapping[str, Any]) -> list[str]:
        going = {*self.release.adds, *self.release.deletes}
        for name, config in configs.items():
            for split in config["splits"]:
                going |= {*_split_files(self.head.digests, name, split, config)}
        folders = ("data/", "hashes/", "baselines/")
        return [
            path for path in self.head.digests if path.startswith(folders) and path not in going
        ]

    def drop(self, name: str, split: str) -> None:
        paths = _split_files(self.head.digests, name, split)
        self.release.deletes += [path for path in paths if path not in self.release.adds]


def _split_files(
    paths: Iterable[str], name: str, split: str, config: Mapping[str, Any] | None = None
) -> list[str]:
    if config is not None and config.get("stand_off"):
        return [hashes_path(name, split)]
    start, others = f"data/{name}/{split}-", (hashes_path, baselines_path)
    beside = {path(name, split) for path in others}
    return sorted(path for path in paths if path.startswith(start) or path in beside)


def _with_others(
    name: str, config: dict[str, Any], old: dict[str, Any], theirs: Manifest
) -> dict[str, Any]:
    others = old["splits"].keys() - config["splits"].keys()
    if others and old["features"] != config["features"]:
        raise PublishError(
            f"config {name}: its columns have changed, and this build does not make its split "
            f"{', '.join(sorted(others))}; build all its splits, or pass --prune to drop them"
        )
    for split in config["splits"]:
        judged = ["human" in side.get("quality", {}).get(split, {}) for side in (config, old)]
        if judged == [False, True]:
            raise PublishError(
                f"config {name}: people judged the {split} split of the release, and this build "
                "has nothing from them; pass --judgements with their answers, or --prune to drop "
                "them and all else that this build does not make"
            )
    if not others:
        return config
    files = config["corpus"]["files"]
    more = [file for file in old["corpus"]["files"] if file not in files]
    merged = {
        key: {**{s: old[key][s] for s in others if s in old[key]}, **config[key]}
        for key in BY_SPLIT
    }
    # Of a licence that both have the greater number counts: some of head's discourses are replaced.
    licences = Counter(old["licences"]) | Counter(config["licences"])
    return (
        config
        | merged
        | {
            "corpus": config["corpus"] | {"files": files + more},
            "licences": dict(sorted(licences.items())),
            "republishable": config["republishable"] and may_be_published(theirs, name),
        }
    )

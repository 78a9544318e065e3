"""The plan of a release: what a build adds, replaces, deletes and keeps in a repository."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coherencegym.builders.release.manifest import BY_SPLIT, Manifest, dump_manifest, merge
from coherencegym.builders.release.remote import DatasetHead, PublishError, read_hashes
from coherencegym.builders.release.rows import hashes_path
from coherencegym.builders.release.version import Change, RowChanges, compare_rows


@dataclass
class Release:
    """A release as it would be committed.

    Attributes:
        manifest: ours merged with what stays.
        adds: path in the repository -> local file or text.
        deletes: paths that go.
        rows: (config, split) -> what changes in it; only those that this build made.
        kept, removed: configs of head that this build did not make.
    """

    manifest: Manifest
    adds: dict[str, Path | bytes] = field(default_factory=dict)
    deletes: list[str] = field(default_factory=list)
    rows: dict[tuple[str, str], RowChanges] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)

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
) -> Release:
    """Work out a release of the configs in ``manifest``, whose files are in ``folder``.

    A split whose rows are head's is not uploaded again, whatever its parquet bytes: they change
    with the version of pyarrow.

    Args:
        folder: the build.
        manifest: its manifest, without the configs that may not be published.
        head: the head of the repository, and what it holds.
        prune: drop the configs of head that this build did not make.
        fetch_hashes: path of a hashes file at head -> local file.

    Raises:
        PublishError: head is of another suite, a config's columns changed while a split of it was
            not built, or what people said of a split would be lost.
    """
    theirs = head.manifest
    if theirs is not None and theirs["suite"] != manifest["suite"]:
        raise PublishError(
            f"the repository holds the suite {theirs['suite']}, this is {manifest['suite']}; "
            "name another one with --repo-id"
        )
    old_configs: dict[str, Any] = {} if theirs is None else theirs["configs"]
    release = Release(manifest)
    others = sorted(old_configs.keys() - manifest["configs"].keys())
    release.removed, release.kept = (others, []) if prune else ([], others)

    configs: dict[str, Any] = {}
    for name, config in manifest["configs"].items():
        old = old_configs.get(name, {"splits": {}})
        configs[name] = _merge_splits(name, config, old, prune)
        for split, counts in config["splits"].items():
            was = old["splits"].get(split)
            if not prune:
                _keep_judgements(name, split, config, old)
            if was is not None and was["content_hash"] == counts["content_hash"]:
                release.rows[name, split] = RowChanges()
                configs[name]["splits"][split] = counts | {
                    key: was[key] for key in ("num_bytes", "download_size")
                }
                continue
            hashes = hashes_path(name, split)
            before = {} if was is None else read_hashes(fetch_hashes(hashes))
            release.rows[name, split] = compare_rows(before, read_hashes(folder / hashes))
            release.adds |= {
                path: folder / path for path in _split_files(_local_files(folder), name, split)
            }
            release.deletes += [
                path for path in _split_files(head.digests, name, split) if path not in release.adds
            ]
        if prune:
            for split in old["splits"].keys() - config["splits"].keys():
                release.deletes += _split_files(head.digests, name, split)
                release.removed.append(f"{name}/{split}")
    for name in release.removed:
        if name in old_configs:
            for split in old_configs[name]["splits"]:
                release.deletes += _split_files(head.digests, name, split)
    release.manifest = merge(manifest | {"configs": configs}, None if prune else theirs)
    _add_documents(release, head)
    return release


def _keep_judgements(name: str, split: str, ours: dict[str, Any], old: dict[str, Any]) -> None:
    """Refuse to put a split that nobody judged in the place of one that people judged.

    Raises:
        PublishError: it would be.
    """
    judged = ["human" in side.get("quality", {}).get(split, {}) for side in (ours, old)]
    if judged == [False, True]:
        raise PublishError(
            f"config {name}: people judged the {split} split of the release, and this build has "
            "nothing from them; pass --judgements with their answers, or --prune to drop them and "
            "all else that this build does not make"
        )


def _merge_splits(
    name: str, config: dict[str, Any], old: dict[str, Any], prune: bool
) -> dict[str, Any]:
    """Our config with the splits of head's that this build did not make."""
    others = old["splits"].keys() - config["splits"].keys()
    if prune or not others:
        return config | {"splits": dict(config["splits"])}
    if old["features"] != config["features"]:
        raise PublishError(
            f"config {name}: its columns have changed, and this build does not make its split "
            f"{', '.join(sorted(others))}; build all its splits, or pass --prune to drop them"
        )
    files = config["corpus"]["files"]
    more = [file for file in old["corpus"]["files"] if file not in files]
    merged = {
        key: {**{s: old[key][s] for s in others if s in old[key]}, **config[key]}
        for key in BY_SPLIT
    }
    return config | merged | {"corpus": config["corpus"] | {"files": files + more}}


def _add_documents(release: Release, head: DatasetHead) -> None:
    """Add manifest and card where they differ from head's."""
    from coherencegym.cards.render import render_card

    for path, text, old in (
        ("manifest.json", dump_manifest(release.manifest), head.manifest_text),
        ("README.md", render_card(release.manifest), head.card),
    ):
        if text != old:
            release.adds[path] = text.encode("utf-8")


def _local_files(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def _split_files(paths: Any, config: str, split: str) -> list[str]:
    """The data and hash files of a split among paths, sorted."""
    start = f"data/{config}/{split}-"
    return sorted(
        path for path in paths if path.startswith(start) or path == hashes_path(config, split)
    )

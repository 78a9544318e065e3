"""The manifest: everything a card prints and a merge needs, as one JSON file.

A release is always rendered from its manifest, so it can be merged from builds made on different
machines by people with different corpora.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.files import strict_json

#: Raised when a reader of older manifests could misread a newer one.
FORMAT = 1

#: Parts of a config's entry that have a key for each split.
BY_SPLIT = ("splits", "quality", "skipped")

Manifest = dict[str, Any]


@dataclass(frozen=True)
class _Split:
    content_hash: str
    rows: int
    num_bytes: int
    download_size: int


@dataclass(frozen=True)
class _Corpus:
    name: str
    files: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class _Config:
    kind: str
    rank: int
    republishable: bool
    corpus: _Corpus
    features: dict[str, Any]
    splits: dict[str, _Split]
    quality: dict[str, dict[str, Any]]
    skipped: dict[str, dict[str, int]]


@dataclass(frozen=True)
class _Schema:
    """The part of the earlier release's manifest that a release reads."""

    suite: str
    version: str
    configs: dict[str, _Config]


@dataclass(frozen=True)
class _Format:
    format: int


def read_manifest(path: Path) -> Manifest:
    """The manifest in a file, its keys in their order.

    Raises:
        EvaluationError: the file is no manifest, or of a newer format.
    """
    found = strict_json.read(path, _Format).format
    if found != FORMAT:
        raise EvaluationError(
            f"{path}: manifest format {found}; this version of coherencegym "
            f"reads format {FORMAT}: install a newer one"
        )
    strict_json.read(path, _Schema)
    manifest: Manifest = strict_json.read(path, dict[str, Any])
    return manifest


def dump_manifest(manifest: Manifest) -> str:
    """The manifest as the text of its file.

    Keys keep their order, which carries meaning (the columns of a table), so what is written must
    be in the order of :func:`in_order`.
    """
    return json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"


def merge(ours: Manifest, theirs: Manifest | None) -> Manifest:
    """Our manifest with the configs of theirs that ours does not have.

    Ours decides what the suite is; theirs keeps its configs. Exactly one config is the default.
    """
    kept = {} if theirs is None else theirs["configs"]
    return in_order(ours | {"configs": {**kept, **ours["configs"]}})


def in_order(manifest: Manifest) -> Manifest:
    """The manifest with configs by rank and name, splits by name, and the first config the default.

    However a manifest was put together (built, merged, read back), equal content gives equal text.
    """
    configs = manifest["configs"]
    ordered = sorted(configs, key=lambda name: (configs[name]["rank"], name))
    return manifest | {
        "configs": {
            name: configs[name]
            | {key: dict(sorted(configs[name][key].items())) for key in BY_SPLIT}
            | {"default": number == 0}
            for number, name in enumerate(ordered)
        }
    }

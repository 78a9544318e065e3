"""Datasets of a few rows of any kind, written as the builders write them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coherencegym.builders.release.rows import to_table, write_split
from coherencegym.eval.kinds.table_kind import TableKind


def write_table(
    folder: Path,
    kind: TableKind[Any],
    suite: str,
    splits: Mapping[str, Sequence[Any]],
    config: str,
    *,
    extra: Mapping[str, Any] | None = None,
    **about: Any,
) -> Path:
    """A config in a dataset folder, beside those that are there; ``about`` is its entry."""
    rows = {split: [kind.to_row(one) for one in own] for split, own in splits.items()}
    features = kind.features(extra, [row for own in rows.values() for row in own])
    sizes = {
        split: {"rows": write_split(folder, config, split, to_table(own, features)).rows}
        for split, own in rows.items()
    }
    path = folder / "manifest.json"
    known = json.loads(path.read_text())["configs"] if path.exists() else {}
    described = {
        "kind": kind.name,
        "splits": sizes,
        "features": features.to_dict(),
        "quality": {},
        "breakdowns": [],
        **about,
    }
    manifest = {
        "format": 1,
        "suite": suite,
        "version": "1.0.0",
        "toolkit_version": "0.1.0",
        "configs": {**known, config: described},
    }
    path.write_text(json.dumps(manifest))
    return folder

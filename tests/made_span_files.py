"""Datasets of texts with spans, written as the builders write them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coherencegym.builders.release.rows import to_table, write_split
from coherencegym.eval.kinds.spans import SPANS, SpanText


def write_spans_dataset(
    folder: Path, splits: Mapping[str, Sequence[SpanText]], config: str, **about: Any
) -> Path:
    """A config of texts with spans in a dataset folder, beside those that are there."""
    rows = {split: [SPANS.to_row(one) for one in own] for split, own in splits.items()}
    features = SPANS.features()
    sizes = {
        split: {"rows": write_split(folder, config, split, to_table(own, features)).rows}
        for split, own in rows.items()
    }
    path = folder / "manifest.json"
    known = json.loads(path.read_text())["configs"] if path.exists() else {}
    described = {
        "kind": "spans",
        "splits": sizes,
        "features": features.to_dict(),
        "quality": {},
        "breakdowns": [],
        **about,
    }
    manifest = {
        "format": 1,
        "suite": "span_coherence",
        "version": "1.0.0",
        "toolkit_version": "0.1.0",
        "configs": {**known, config: described},
    }
    path.write_text(json.dumps(manifest))
    return folder

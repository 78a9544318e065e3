"""Datasets of texts with spans, written as the builders write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from made_tables import write_table

from coherencegym.eval.kinds.spans import SPANS, SpanText


def write_spans_dataset(
    folder: Path, splits: Mapping[str, Sequence[SpanText]], config: str, **about: Any
) -> Path:
    """A config of texts with spans in a dataset folder, beside those that are there."""
    return write_table(folder, SPANS, "span_coherence", splits, config, **about)

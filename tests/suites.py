"""Suites built from the project's own texts or from real corpora, and their rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from coherencegym.builders.making.build import BuildOptions, build
from coherencegym.builders.making.sources import find_sources
from coherencegym.builders.release.rows import data_path
from coherencegym.builders.suite import Suite


def build_from(suite: Suite, corpus: str, folder: Path, **options: Any) -> dict[str, Any]:
    """Build a suite from one corpus, by default its sample, into a folder; its manifest."""
    made = BuildOptions(**options)
    return build(suite, find_sources(suite, [corpus], made.data_dir), made, folder)


def rows(folder: Path, config: str, split: str = "test") -> list[dict[str, Any]]:
    """The rows of a split of a build."""
    found: list[dict[str, Any]] = pq.read_table(folder / data_path(config, split)).to_pylist()
    return found

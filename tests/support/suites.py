"""Suites built from the project's own texts or from real corpora, and their rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from coherencegym.builders.pipeline.build import BuildOptions, build
from coherencegym.builders.pipeline.sources import find_sources
from coherencegym.builders.release import quality
from coherencegym.builders.release.manifest import data_path
from coherencegym.builders.suite import Suite
from coherencegym.eval.statistics import pair_baselines

#: Suites that have no pairs.
WITHOUT_PAIRS = (*("coherence_ratings", "discourse_tasks", "document_structure", "span_coherence"),)
#: The fixture ``built_sample``: a suite's name -> the build of its sample, and the manifest.
Sample = Callable[[str], tuple[Path, dict[str, Any]]]


def build_from(suite: Suite, corpus: str, folder: Path, **options: Any) -> dict[str, Any]:
    """Build a suite from one corpus, by default its sample, into a folder; its manifest."""
    made = BuildOptions(corpora=[corpus], **options)
    return build(suite, find_sources(suite, made)[0], made, folder)


def no_classifiers(patched: pytest.MonkeyPatch) -> None:
    """Let builds train no partial-input classifiers: they take most of the time."""
    patched.setattr(pair_baselines, "FEWEST_DISCOURSES", 10**9)
    patched.setattr(quality, "FEWEST_INTRUDED", 10**9)
    patched.setattr(quality, "FEWEST_ROWS", 10**9)


def rows(folder: Path, config: str, split: str = "test") -> list[dict[str, Any]]:
    """The rows of a split of a build."""
    found: list[dict[str, Any]] = pq.read_table(folder / data_path(config, split)).to_pylist()
    return found

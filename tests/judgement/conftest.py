"""Builds of samples to draw pairs from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from coherencegym.builders.pipeline.build import BuildOptions, build
from coherencegym.builders.pipeline.sources import find_sources
from coherencegym.builders.registry import load_suite


@pytest.fixture(scope="session")
def sample_build(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """``sample_build(suite)``: the folder of a build of the sample, made once."""
    made: dict[str, Path] = {}

    def make(name: str) -> Path:
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            suite = load_suite(name)
            limit = 40 if name == "sentence_order" else None
            build(suite, find_sources(suite, ["sample"]), BuildOptions(limit=limit), folder)
            made[name] = folder
        return made[name]

    return make

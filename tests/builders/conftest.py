"""The loopback Hub, and builds of the toy suite."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.hub.fixtures import hub, hub_api, hub_clients, hub_env, hub_sleeps, portal
from support.toy import REPO, SUITE, stories, toy_corpus
from support.toy_shapes import SHAPES, shapes_corpus

from coherencegym.builders.export.write import export
from coherencegym.builders.pipeline.build import BuildOptions, build
from coherencegym.builders.pipeline.sources import PlannedCorpus
from coherencegym.eval.data.source import find_dataset
from coherencegym.loaders.corpus import Corpus

__all__ = ["hub", "hub_api", "hub_clients", "hub_env", "hub_sleeps", "portal"]


@pytest.fixture
def make_build(tmp_path: Path) -> Callable[..., tuple[Path, dict[str, Any]]]:
    """``make_build(corpus, ...)`` builds the toy suite from corpora: folder and manifest."""
    count = iter(range(1000))

    def make(*corpora: Corpus, **options: Any) -> tuple[Path, dict[str, Any]]:
        folder = tmp_path / f"build{next(count)}"
        folder.mkdir()
        sources = [PlannedCorpus(corpus, SUITE.configs) for corpus in corpora]
        own = {name: options.pop(name) for name in ("matcher", "withhold") if name in options}
        made = BuildOptions(**{"repo_id": REPO, **options})
        return folder, build(SUITE, sources, made, folder, **own)

    return make


@pytest.fixture(scope="session")
def toy_build(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[int], tuple[Path, dict[str, Any]]]:
    """``toy_build(n)``: a build of the toy suite from n stories, made once; nobody changes it."""

    @cache
    def make(number: int) -> tuple[Path, dict[str, Any]]:
        folder = tmp_path_factory.mktemp("toy")
        corpus = toy_corpus("toy", {"test": stories(0, number)})
        sources = [PlannedCorpus(corpus, SUITE.configs)]
        return folder, build(SUITE, sources, BuildOptions(repo_id=REPO), folder)

    return make


@pytest.fixture(scope="session")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of the suite whose rows are hard to export."""
    folder = tmp_path_factory.mktemp("shapes")
    build(SHAPES, [PlannedCorpus(shapes_corpus(), SHAPES.configs)], BuildOptions(), folder)
    return folder


@pytest.fixture(scope="session")
def exported(shapes: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its pairs."""
    folder = tmp_path_factory.mktemp("pairs") / "out"
    export(find_dataset(str(shapes)), "pairs", folder)
    return folder

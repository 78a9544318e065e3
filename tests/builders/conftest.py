"""The loopback Hub, and builds of the toy suite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hub.fixtures import hub, hub_api, hub_clients, hub_env, hub_sleeps, portal
from toy import SUITE

from coherencegym.builders.making.build import BuildOptions, build
from coherencegym.builders.making.sources import PlannedCorpus, Sources
from coherencegym.loaders.corpus import Corpus

__all__ = ["hub", "hub_api", "hub_clients", "hub_env", "hub_sleeps", "portal"]


@pytest.fixture
def make_build(tmp_path: Path) -> Callable[..., tuple[Path, dict[str, Any]]]:
    """``make_build(corpus, ...)`` builds the toy suite from corpora: folder and manifest."""
    count = iter(range(1000))

    def make(*corpora: Corpus, **options: Any) -> tuple[Path, dict[str, Any]]:
        folder = tmp_path / f"build{next(count)}"
        folder.mkdir()
        sources = Sources([PlannedCorpus(corpus, SUITE.configs) for corpus in corpora])
        own = {name: options.pop(name) for name in ("matcher", "withhold") if name in options}
        return folder, build(SUITE, sources, BuildOptions(**options), folder, **own)

    return make

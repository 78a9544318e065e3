"""Corpora made of small files, for the tests of the loaders."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.small_corpora import OfFile

from coherencegym.loaders.corpus import Corpus, FilePattern


@pytest.fixture(autouse=True)
def no_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees what the person running it has in the folder for caches."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "no-cache"))


@pytest.fixture
def of_file(tmp_path: Path) -> OfFile:
    """Writes content to a file and returns the corpus with that file as its only one."""

    def write(corpus: Corpus, content: bytes | str) -> Corpus:
        path = tmp_path / "data" / "file.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return replace(corpus, patterns=(FilePattern("file.txt", "test"),), folder=path.parent)

    return write

"""Examples run in a folder of their own, with one torch thread."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.set_num_threads(1)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def examples(repository: Path) -> Path:
    return repository / "examples"

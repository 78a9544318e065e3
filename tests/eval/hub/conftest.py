"""A run that is pushed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from coherencegym.eval.commands.cli import main
from coherencegym.eval.kinds.items import Item


@pytest.fixture(scope="session")
def scored(
    tmp_path_factory: pytest.TempPathFactory,
    pair_items: list[Item],
    write_dataset: Callable[..., Path],
) -> Path:
    """Results of the demo model."""
    from datasets import Value

    folder = tmp_path_factory.mktemp("scored")
    data = write_dataset(folder / "data", pair_items, extra={"moved": Value("bool")})
    argv = ["--model", "demo", "--dataset", str(data), "--output", str(folder / "results")]
    assert main(argv) == 0
    return folder / "results"

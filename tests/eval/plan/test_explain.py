"""What a run would cost, without running it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoModelForCausalLM

from coherencegym.eval.commands.cli import main
from coherencegym.eval.kinds.items import Item


def test_the_command_prints_and_loads_nothing(
    tmp_path: Path,
    pair_items: list[Item],
    write_dataset: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from datasets import Value

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("weights were loaded")

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", refuse)
    data = write_dataset(tmp_path / "data", pair_items, extra={"moved": Value("bool")})
    argv = ["--model", "demo", "--dataset", str(data), "--output", str(tmp_path / "out")]
    for more in ([], ["--no-sharing"], ["--word-correction"]):
        assert main([*argv, "--dry-run", *more]) == 0
        out = capsys.readouterr().out
        assert "toy_context (test)" in out
        assert "…" not in out
        assert "read once: tokens that the model reads" in out
    assert not (tmp_path / "out").exists()

"""The cache through the command line: nothing is run twice, and what is kept can be seen."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from eval.backends.logits import Forward
from eval.cache import SUFFIX
from eval.cli import main
from eval.suite import Item


@pytest.fixture
def command(
    tmp_path: Path, pair_items: list[Item], write_dataset: Callable[..., Path]
) -> Callable[..., int]:
    """``command(name, *options)`` scores the demo model into a folder of this name."""
    from datasets import Value

    data = write_dataset(tmp_path / "data", pair_items, extra={"moved": Value("bool")})

    def run(name: str, *more: str) -> int:
        argv = ["--model", "demo", "--dataset", str(data), "--output", str(tmp_path / name)]
        return main([*argv, "--cache", str(tmp_path / "kept"), *more])

    return run


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Tokens of every forward pass."""
    sizes: list[int] = []
    rows = Forward.rows

    def counted(self: Forward, ids: Any, *more: Any, **options: Any) -> Any:
        sizes.append(ids.numel())
        return rows(self, ids, *more, **options)

    monkeypatch.setattr(Forward, "rows", counted)
    return sizes


def test_a_second_run_asks_the_model_nothing(
    command: Callable[..., int],
    passes: list[int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command("first") == 0
    first = capsys.readouterr().out
    assert passes
    passes.clear()
    assert command("second") == 0
    second = capsys.readouterr().out
    assert passes == []
    for name in ("regions.parquet", "scores.png"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()
    table = first[: first.index("written to")]
    assert second.startswith(table)
    assert f"were known from earlier runs ({tmp_path / 'kept'})" in second
    # Other settings are other numbers, or might be.
    assert command("third", "--no-sharing") == 0
    assert passes


def test_damage_is_said_and_repaired(
    command: Callable[..., int],
    passes: list[int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command("first") == 0
    (database,) = (tmp_path / "kept").glob(f"*{SUFFIX}")
    database.write_bytes(b"nothing of the sort" * 500)
    passes.clear()
    capsys.readouterr()
    assert command("second") == 0
    assert passes
    assert "was damaged: moved to" in capsys.readouterr().out
    assert (tmp_path / "first" / "regions.parquet").read_bytes() == (
        tmp_path / "second" / "regions.parquet"
    ).read_bytes()


def test_without_a_cache_nothing_is_kept(
    command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("first", "--no-cache") == 0
    assert "earlier runs" not in capsys.readouterr().out
    assert not (tmp_path / "kept").exists()


def test_what_is_kept_is_listed_and_cleared(
    command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "kept"
    assert command("first") == 0
    (folder / "mine.txt").write_text("not the cache's")
    (folder / f"broken{SUFFIX}").write_text("damaged")
    capsys.readouterr()
    listing = ["cache", "--cache", str(folder)]
    assert main(listing) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith(f"{folder}: 2 models, ")
    assert any(line.startswith("demo@") and "float32  cpu" in line for line in lines)
    assert any("cannot be read" in line for line in lines)

    assert main([*listing, "--clear", "--dry-run"]) == 0
    assert "would free" in capsys.readouterr().out
    assert main([*listing, "--clear", "--model", "other"]) == 0
    assert main([*listing, "--clear", "--older-than", "1"]) == 0
    assert len(list(folder.iterdir())) >= 3
    os.utime(folder / f"broken{SUFFIX}", (0, 0))
    assert main([*listing, "--clear", "--older-than", "1"]) == 0
    assert "freed 7 B" in capsys.readouterr().out
    assert main([*listing, "--clear"]) == 0
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]
    assert main(["cache", "--cache", str(tmp_path / "nowhere")]) == 0
    assert "0 models" in capsys.readouterr().out


KILLED = """
import os, signal, sys
from eval import execute
left = [int(sys.argv.pop(1))]
run = execute.run_batch
def counted(*arguments):
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    return run(*arguments)
execute.run_batch = counted
from eval.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("processes", [1, 2])
def test_a_run_that_is_killed_goes_on_where_it_was(
    processes: int,
    tmp_path: Path,
    pair_items: list[Item],
    write_dataset: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    from datasets import Value

    data = write_dataset(tmp_path / "data", pair_items, extra={"moved": Value("bool")})
    argv = ["--model", "demo", "--dataset", str(data), "--batch-tokens", "64", "--no-sharing"]
    (tmp_path / "killed.py").write_text(KILLED)
    launcher = [sys.executable]
    if processes > 1:
        launcher += ["-m", "torch.distributed.run", f"--nproc_per_node={processes}"]
    killed = subprocess.run(
        [
            *launcher,
            *(str(tmp_path / "killed.py"), "3", *argv, "--cache", str(tmp_path / "kept")),
            *("--output", str(tmp_path / "killed")),
        ],
        capture_output=True,
        timeout=240,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert killed.returncode != 0
    assert not (tmp_path / "killed").exists()

    # On one process, whatever it was before.
    cache = ["--cache", str(tmp_path / "kept")]
    assert main([*argv, *cache, "--output", str(tmp_path / "again")]) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    known, total = map(int, re.findall(r"\d+", line)[:2])
    assert 3 <= known < total
    assert main([*argv, "--no-cache", "--output", str(tmp_path / "whole")]) == 0
    rows = [
        pq.read_table(tmp_path / name / "regions.parquet").to_pylist()
        for name in ("again", "whole")
    ]
    assert [row["sum_bits"] for row in rows[0]] == pytest.approx(
        [row["sum_bits"] for row in rows[1]], abs=1e-4
    )

"""Several processes score as one does; real processes, on this machine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from forked import ranks

from coherencegym.errors import EvaluationError
from coherencegym.eval.commands import cli
from coherencegym.eval.forward.distributed import ALONE, World, join_processes, own_device, world
from coherencegym.eval.kinds.items import Item


def test_two_processes_report_what_one_does(
    write_dataset: Callable[..., Path],
    pair_items: list[Item],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from datasets import Value

    data = str(write_dataset(tmp_path / "data", pair_items, extra={"moved": Value("bool")}))
    common = ["--model", "demo", "--dataset", data, "--batch-tokens", "64"]
    common += ["--no-cache"]  # what the first has read is new to the second
    assert cli.main([*common, "--output", str(tmp_path / "one")]) == 0
    one = capsys.readouterr().out
    argv = [*common, "--output", str(tmp_path / "two")]
    first, second = (fork.wait() for fork in ranks(2, partial(cli.main, argv), tmp_path))
    assert first[0] == second[0] == 0, first[2] + second[2]
    # The table once, by the first of them.
    assert second[1] == ""
    assert first[1].replace(str(tmp_path / "two"), "") == one.replace(str(tmp_path / "one"), "")
    for name in ["regions.parquet"]:
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()


def test_a_mistake_is_said_once_under_a_launcher(tmp_path: Path) -> None:
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2"]
    command = ["-m", "coherencegym.eval", "--model", "demo", "--dataset", str(tmp_path / "nothing")]
    done = subprocess.run(
        [*launcher, *command], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode != 0
    assert done.stderr.count("eval: ") == 1
    assert "nothing" in done.stderr


def test_alone_is_the_default_and_needs_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)
    assert world() == ALONE
    with join_processes(world()):
        assert ALONE.agree([True, False]) == [True, False]
        assert list(ALONE.total(np.array([1.0, 2.0]))) == [1.0, 2.0]
    assert own_device("auto", ALONE) == "auto"


@pytest.mark.parametrize(
    ("rank", "size"), [("2", "2"), ("0", "0"), ("x", "2"), ("-1", "2"), ("0", "")]
)
def test_an_environment_that_contradicts_itself(
    rank: str, size: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", rank)
    monkeypatch.setenv("WORLD_SIZE", size)
    with pytest.raises(EvaluationError, match=f"RANK={rank}.*torchrun"):
        world()


def test_each_process_has_its_own_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    second = World(1, 2, 1)
    assert own_device("cpu", second) == "cpu"
    assert own_device("cuda:3", second) == "cuda:3"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert own_device("auto", second) == "auto"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert own_device("auto", second) == "cuda:1"


def test_others_let_the_first_say_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("coherencegym.eval.commands.cli.time.sleep", waited.append)
    arguments = ["--model", "demo", "--dataset", str(tmp_path / "nothing")]
    for rank, waits in (("0", []), ("1", [cli.PATIENCE])):
        monkeypatch.setenv("RANK", rank)
        assert cli.main(arguments) == 2
        assert waited == waits
        # A launcher would have stopped the second by now; alone it says what it knows.
        assert capsys.readouterr().err.count("eval: ") == 1

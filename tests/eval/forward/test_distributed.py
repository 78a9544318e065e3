"""Several processes score as one does; real processes, on this machine."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from support.forked import Fork, ranks, rendezvous

from coherencegym.errors import EvaluationError
from coherencegym.eval.commands import cli
from coherencegym.eval.forward.cache import Cache
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.models.machine import ALONE, World, join_processes, own_device, world


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


def test_a_host_is_lost_and_the_run_goes_on_from_what_each_has_kept(
    write_dataset: Callable[..., Path],
    pair_items: list[Item],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Two machines of one process each: neither sees what the other keeps."""
    from datasets import Value

    data = str(write_dataset(tmp_path / "data", pair_items[:3], extra={"moved": Value("bool")}))
    common = ["--model", "demo", "--dataset", data, "--batch-tokens", "24", "--no-sharing"]
    assert cli.main([*common, "--no-cache", "--output", str(tmp_path / "one")]) == 0
    capsys.readouterr()
    out = str(tmp_path / "two")

    def score(dies_after: int = -1) -> int:
        keep, kept = Cache.put, 0

        def put(self: Cache, results: Any) -> None:
            nonlocal kept
            keep(self, results)
            kept += 1
            if kept == dies_after:
                os.kill(os.getpid(), signal.SIGKILL)

        Cache.put = put  # type: ignore[method-assign]
        return cli.main([*common, "--output", out, "--verbose"])

    def hosts(name: str, *works: Callable[[], int]) -> list[tuple[int, str, str]]:
        variables = rendezvous(2)
        forks = [
            Fork(
                work,
                tmp_path / f"{name}{rank}",
                RANK=rank,
                LOCAL_RANK=0,
                COHERENCEGYM_CACHE=tmp_path / f"cache{rank}",
                **variables,
            )
            for rank, work in enumerate(works)
        ]
        return [fork.wait() for fork in forks]

    first, second = hosts("lost", score, partial(score, dies_after=2))
    assert second[0] == -signal.SIGKILL
    assert first[0] == 2
    assert re.fullmatch(r"coherencegym score: process 0 of 2 has lost another one .*\n", first[2])
    assert "start them again" in first[2]
    assert not (tmp_path / "two").exists()
    first, second = hosts("again", score, score)
    assert first[0] == second[0] == 0, first[2] + second[2]
    name = "regions.parquet"
    assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
    # All of the first machine's half, and of the second's the two batches before it was lost.
    known = re.search(r"([\d,]+) of ([\d,]+) texts were cached", first[1])
    assert known is not None
    texts = int(known[2])
    assert texts / 2 < int(known[1]) < texts
    # Once more: all is known to both, though each keeps but what it has run itself.
    shutil.rmtree(out)
    first, second = hosts("third", score, score)
    assert f"{texts} of {texts} texts were cached" in first[1]


def test_a_mistake_is_said_once_under_a_launcher(tmp_path: Path) -> None:
    """The others wait, before they say anything, for the launcher to stop them."""

    def work() -> int:
        cli.__dict__["time"] = SimpleNamespace(sleep=lambda _: os._exit(7))
        return cli.main(["--model", "demo", "--dataset", str(tmp_path / "nothing")])

    first, second = (fork.wait() for fork in ranks(2, work, tmp_path))
    assert first[0] == 2
    assert first[2].count("coherencegym score: ") == 1
    assert "nothing" in first[2]
    assert second == (7, "", "")


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
        assert capsys.readouterr().err.count("coherencegym score: ") == 1

"""The cache through the command line: nothing is run twice, and what is kept can be seen."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from support.forked import ranks

from coherencegym.eval.commands.cli import main
from coherencegym.eval.forward import execute
from coherencegym.eval.forward.cache import SUFFIX, Cache
from coherencegym.eval.forward.passes import Forward, start_batch
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.models import load
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.run.call import open_cache
from coherencegym.eval.run.options import OutputOptions
from coherencegym.eval.text.sequence import TokenSequence


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
    read = Forward.read

    def counted(self: Forward, ids: Any, *more: Any, **options: Any) -> Any:
        sizes.append(ids.numel())
        return read(self, ids, *more, **options)

    monkeypatch.setattr(Forward, "read", counted)
    return sizes


def test_a_second_run_asks_the_model_nothing(
    command: Callable[..., int],
    passes: list[int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command("first", "--verbose") == 0
    first = capsys.readouterr().out
    assert passes
    (texts,) = re.findall(r"\n0 of (\d+) texts were cached", first)
    passes.clear()
    assert command("second", "--verbose") == 0
    second = capsys.readouterr().out
    assert passes == []
    for name in ("regions.parquet", "report.html"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()
    table = first[: first.index("written to")]
    assert second.startswith(table)
    assert f"\n{texts} of {texts} texts were cached ({tmp_path / 'kept'})\n" in second
    # Other settings are other numbers, or might be.
    assert command("third", "--no-sharing") == 0
    assert passes


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_weights_are_loaded_when_a_text_is_not_cached(
    command: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dtype: str
) -> None:
    loaded = []
    weights = load._weights

    def counted(*given: Any) -> Any:
        loaded.append(given)
        return weights(*given)

    monkeypatch.setattr(load, "_weights", counted)

    def run(name: str, *more: str) -> tuple[int, Any]:
        loaded.clear()
        assert command(name, "--dtype", dtype, *more) == 0
        results = json.loads((tmp_path / name / "results.json").read_text(encoding="utf-8"))
        return len(loaded), results["model"]

    few, about = run("few", "--limit", "3")
    assert few == 1
    # Two of the eight items at a time are known now.
    assert run("all")[0] == 1
    assert run("again") == (0, about)
    for name in ("regions.parquet", "outcomes.parquet"):
        assert (tmp_path / "all" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    # What was said of the weights is held to a checksum.
    (database,) = (tmp_path / "kept").glob(f"*{SUFFIX}")
    with closing(sqlite3.connect(database)) as connection, connection:
        change = "UPDATE about SET value = replace(value, ': ', ': 1') WHERE name = 'weights'"
        assert connection.execute(change).rowcount == 1
    assert run("damaged") == (1, about)


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
    # It wins over --cache, which the command has too.
    assert command("first", "--no-cache") == 0
    assert "earlier runs" not in capsys.readouterr().out
    assert not (tmp_path / "kept").exists()


def test_a_folder_that_is_deleted_meanwhile_ends_no_run(tmp_path: Path) -> None:
    first, second, third = (TokenSequence((1, end), (1,)) for end in (2, 3, 4))
    bits = np.array([0.5])
    with Cache(tmp_path / "kept", {"identity": "m"}) as cache:
        cache.put([(first, bits)])
        shutil.rmtree(tmp_path / "kept")
        cache.put([(second, bits)])
        assert cache.get_many([second]) == [bits]
        with Cache(tmp_path / "kept", {"identity": "m"}) as other:
            assert other.get_many([first]) == [None]
            other.put([(third, bits)])
        assert cache.notes == other.notes == []
    with Cache(tmp_path / "kept", {"identity": "m"}) as cache:
        assert cache.get_many([third]) == [bits]


def opened(folder: Path, share: bool = True, **about: Any) -> Cache | None:
    known: dict[str, Any] = {"name": "m", "commit": "c", "device": "cpu", "dtype": "float32"}
    model = LoadedModel(None, None, **{**known, "parameters": 1, **about})
    return open_cache(OutputOptions(folder), model, {"share": share})


def path_of(folder: Path, share: bool = True, **about: Any) -> Path:
    cache = opened(folder, share, **about)
    assert cache is not None
    cache.close()
    return cache.path


def test_what_numbers_depend_on_is_another_cache(tmp_path: Path) -> None:
    base = path_of(tmp_path)
    others = [
        path_of(tmp_path, commit="d"),
        path_of(tmp_path, dtype="bfloat16"),
        path_of(tmp_path, device="cuda:0"),
        path_of(tmp_path, device="cpu+cuda:0"),
        path_of(tmp_path, adapter={"name": "a", "commit": "1"}),
        path_of(tmp_path, adapter={"name": "a", "commit": "2"}),
        path_of(tmp_path, quantization="bitsandbytes-4bit"),
        path_of(tmp_path, arguments={"attn_implementation": "eager"}),
        path_of(tmp_path, remote_code=True),
        path_of(tmp_path, share=False),
    ]
    assert len({base, *others}) == len(others) + 1
    assert path_of(tmp_path, name="copy", parameters=2, notes=("n",)) == base


def test_a_run_on_two_gpus_goes_on_on_one(tmp_path: Path) -> None:
    one = path_of(tmp_path, device="cuda:0")
    assert path_of(tmp_path, device="cuda:1") == one
    assert path_of(tmp_path, device="cuda:0+cuda:1") == one


def test_another_version_of_a_library_is_another_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {"coherencegym": "1", "torch": "2.9", "transformers": "5.21"}
    paths = []
    for changed in ({}, {"coherencegym": "2"}, {"torch": "2.10"}, {"transformers": "5.22"}):
        monkeypatch.setattr(
            "coherencegym.eval.data.signature.versions", lambda _, new=changed: {**found, **new}
        )
        paths.append(path_of(tmp_path))
    assert paths[0] == paths[1]
    assert len(set(paths)) == 3


def test_weights_that_nothing_names_are_not_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert opened(tmp_path / "kept", commit="unknown") is None
    assert "m: its commit is not known, so its surprisals are not kept" in capsys.readouterr().err
    assert not (tmp_path / "kept").exists()


def killed_at(batches: int, argv: list[str]) -> int:
    """Run the command, which is killed before the batch of this number."""
    left = [batches]
    run = start_batch

    def counted(*arguments: Any) -> Any:
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        return run(*arguments)

    setattr(execute, "start_batch", counted)  # noqa: B010
    return main(argv)


def without_facts(argv: list[str]) -> int:
    """Run the command, of which the first process finds no facts about the weights."""
    if os.environ["RANK"] == "0":
        setattr(Cache, "recall", lambda *_: None)  # noqa: B010
    return main(argv)


def test_processes_that_know_different_facts_exchange_the_same(
    tmp_path: Path, pair_items: list[Item], write_dataset: Callable[..., Path]
) -> None:
    from datasets import Value

    data = write_dataset(tmp_path / "data", pair_items, extra={"moved": Value("bool")})
    argv = ["--model", "demo", "--dataset", str(data), "--cache", str(tmp_path / "kept")]
    assert main([*argv, "--limit", "1", "--output", str(tmp_path / "one")]) == 0
    work = partial(without_facts, [*argv, "--output", str(tmp_path / "both")])
    assert [fork.wait() for fork in ranks(2, work, tmp_path)][1][0] == 0
    assert (tmp_path / "both").exists()


@pytest.mark.parametrize("count", [1, 2])
def test_a_run_that_is_killed_goes_on_where_it_was(
    count: int,
    tmp_path: Path,
    pair_items: list[Item],
    write_dataset: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    from datasets import Value

    data = write_dataset(tmp_path / "data", pair_items, extra={"moved": Value("bool")})
    argv = ["--model", "demo", "--dataset", str(data), "--batch-tokens", "64", "--no-sharing"]
    cache = ["--cache", str(tmp_path / "kept")]
    killed = partial(killed_at, 3, [*argv, *cache, "--output", str(tmp_path / "killed")])
    ended = [fork.wait()[0] for fork in ranks(count, killed, tmp_path)]
    assert -signal.SIGKILL in ended
    assert 0 not in ended
    assert not (tmp_path / "killed").exists()

    # On one process, whatever it was before.
    assert main([*argv, *cache, "--output", str(tmp_path / "again"), "--verbose"]) == 0
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

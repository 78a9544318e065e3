"""Engines: every block once and in its place, nothing ahead of need, errors as they are."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from coherencegym.builders.command.cli import main
from coherencegym.engines import Engine, started
from coherencegym.errors import EvaluationError
from coherencegym.files.folders import Checksums, checksums
from coherencegym.manipulations.intruders.neighbours import text_vectors

#: A suite of one's own, which only a process that looks in its folder can import.
OWN_SUITE = """
from dataclasses import replace

from coherencegym.builders.story_cloze import SUITE as OTHER


class Generator:
    def __init__(self, inner):
        self.inner, self.recipe, self.contrasts = inner, inner.recipe, inner.contrasts

    def __call__(self, discourse, context):
        yield from self.inner(discourse, context)


one = next(each for each in OTHER.configs if not each.by and not hasattr(each.generator, "fit"))
own = replace(one, generator=Generator(one.generator), controls=())
SUITE = replace(OTHER, name="own", configs=(own,))
"""


def squared(number: int) -> int:
    if number < 0:
        raise EvaluationError(f"{number}; expected a number that is not negative")
    return number * number


def ended(number: int) -> int:
    if number == 3:
        os._exit(1)
    return number


def threads(number: int) -> str:
    return os.environ.get("OPENBLAS_NUM_THREADS", "")


@pytest.mark.parametrize("engine", [Engine(), Engine(2), Engine(4)])
def test_every_block_once_and_in_its_place(engine: Engine) -> None:
    blocks = [(n,) for n in range(20)]
    assert list(engine.run(squared, blocks)) == [n * n for n in range(20)]
    assert list(engine.run(squared, [])) == []
    with pytest.raises(EvaluationError, match="-3; expected"):
        list(engine.run(squared, [(1,), (-3,), (2,)]))
    # What is used no further is not asked for again, and what comes next is not disturbed.
    assert next(engine.run(squared, blocks)) == 0
    assert list(engine.run(squared, [(5,)])) == [25]


@pytest.mark.parametrize("engine", [Engine(), Engine(2)])
def test_blocks_are_not_all_asked_for_at_once(engine: Engine) -> None:
    asked = 0

    def blocks() -> Iterator[tuple[int]]:
        nonlocal asked
        for number in range(100_000):
            asked += 1
            yield (number,)

    assert list(islice(engine.run(squared, blocks()), 9)) == [n * n for n in range(9)]
    assert asked < 100_000


def test_workers_have_one_thread_each_and_arrays_stay_here() -> None:
    assert set(Engine(2).run(threads, [(1,), (2,)])) == {"1"}
    assert Engine(3).for_arrays == Engine()


def test_a_worker_that_is_lost_is_one_line() -> None:
    with pytest.raises(EvaluationError, match="one of 2 processes was ended before its work"):
        list(Engine(2).run(ended, [(n,) for n in range(6)]))
    assert list(Engine(2).run(squared, [(1,), (2,)])) == [1, 4]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / f"own_{tmp_path.name}.py"  # no two modules of one name
    path.write_text(OWN_SUITE)
    return path


def built(own: Path, output: Path, *options: str) -> Checksums:
    assert main([str(own), "--corpus", "sample", "--output", str(output), *options]) == 0
    return checksums(output)


def test_rows_are_those_of_one_process(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coherencegym.builders.pipeline.build.CHUNK", 20)
    one = built(own, tmp_path / "1")
    for number in ("2", "4"):
        assert built(own, tmp_path / number, "--num-proc", number) == one


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (the extra cluster)")
def test_a_ray_cluster_finds_what_one_process_finds(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("coherencegym.builders.pipeline.build.CHUNK", 20)
    one = built(own, tmp_path / "one")
    told = capfd.readouterr().out.replace("/one", "/ray")
    assert built(own, tmp_path / "ray", "--engine", "ray", "--num-proc", "2") == one
    # Nothing of Ray's own is printed.
    assert capfd.readouterr() == (told, "")
    draw = np.random.default_rng(0)
    texts = [
        [" ".join(f"w{min(w, 3000)}" for w in draw.zipf(1.3, size=14)) for _ in range(5)]
        for _ in range(200)
    ]
    alone, _ = text_vectors(texts, 2**14)
    with started("ray", 2) as engine:
        vectors, _ = text_vectors(texts, 2**14, engine=engine)
        assert (alone != vectors).nnz == 0
        with pytest.raises(EvaluationError, match="-3; expected a number"):
            list(engine.run(squared, [(1,), (-3,), (2,)]))
        monkeypatch.setattr("coherencegym.engines.program", lambda: "another")
        with pytest.raises(EvaluationError, match="has another version of this package"):
            list(engine.run(squared, [(1,)]))


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (the extra cluster)")
@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1:1", "no Ray cluster at 127.0.0.1:1 \\(Connection refused\\); expected one"),
        ("ray://127.0.0.1:10001", "expected HOST:PORT of the head of a Ray cluster"),
        ("nowhere.invalid:6379", "no Ray cluster at nowhere.invalid:6379"),
        ("127.0.0.1:99999", "no Ray cluster at 127.0.0.1:99999"),
    ],
)
def test_a_cluster_that_is_not_there(address: str, said: str) -> None:
    with pytest.raises(EvaluationError, match=said), started("ray", address=address):
        pass


def test_without_ray_it_says_which_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    command = ["story_cloze", "--corpus", "sample", "--output", str(tmp_path / "out")]
    assert main([*command, "--engine", "ray"]) == 2
    said = "--engine ray: Ray is not installed; expected pip install 'coherencegym[cluster]'"
    assert capsys.readouterr().err == f"coherencegym build: {said}\n"
    assert main([*command, "--address", "10.0.0.1:6379"]) == 2
    said = "--address 10.0.0.1:6379: the local engine has none; add --engine ray"
    assert capsys.readouterr().err == f"coherencegym build: {said}\n"
    assert not (tmp_path / "out").exists()

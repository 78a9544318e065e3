"""Engines of one machine: every block once, nothing ahead of need, errors as they are."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.builders.command.cli import main
from coherencegym.engines.blocks import (
    Arrays,
    BlockFolder,
    Cost,
    Values,
    after,
    core_time,
    run_blocks,
)
from coherencegym.engines.content import described, digest_of, modules_of
from coherencegym.engines.engine import AHEAD, Engine, InProcess, Processes, Task, local_engine
from coherencegym.errors import EvaluationError
from coherencegym.loaders.discourse import Discourse, Unit


def squared(number: int) -> int:
    if number < 0:
        raise EvaluationError(f"{number}; expected a number that is not negative")
    return number * number


@pytest.mark.parametrize("engine", [InProcess(), Processes(2)])
def test_every_block_once_and_in_its_place(engine: Engine) -> None:
    assert run_blocks(engine, squared, [(n,) for n in range(20)]) == [n * n for n in range(20)]
    assert run_blocks(engine, squared, []) == []
    with pytest.raises(EvaluationError, match="-3; expected"):
        run_blocks(engine, squared, [(1,), (-3,), (2,)])


@pytest.mark.parametrize("engine", [InProcess(), Processes(2)])
def test_no_more_blocks_are_asked_for_than_are_run(engine: Engine) -> None:
    asked = 0

    def tasks() -> Iterator[Task]:
        nonlocal asked
        for number in range(30):
            asked += 1
            yield number, (number,)

    for count, done in enumerate(engine.run(squared, tasks()), start=1):
        assert done.result == done.number**2
        assert asked <= count + AHEAD * engine.workers
    assert asked == 30


def test_local_engines_by_the_number_of_processes() -> None:
    assert local_engine() == local_engine(1) == InProcess()
    assert local_engine(3) == Processes(3)
    # Arrays stay in this process, which has as many threads.
    assert local_engine(3).for_arrays == InProcess(threads=3)


def test_blocks_that_were_kept_are_not_run_again(tmp_path: Path) -> None:
    keep = BlockFolder(tmp_path / "blocks", Values(int))
    seen: list[Cost] = []
    assert run_blocks(InProcess(), squared, [(n,) for n in range(4)], keep=keep) == [0, 1, 4, 9]
    (tmp_path / "blocks" / "block-000002.json.gz").write_bytes(b"half")
    # -1 would raise: only the damaged block is run.
    blocks = [(-1,), (-1,), (5,), (-1,)]
    assert run_blocks(InProcess(), squared, blocks, keep=keep, progress=seen.append) == [
        0,
        1,
        25,
        9,
    ]
    assert [(cost.kept, cost.run) for cost in seen] == [(3, 0), (3, 1)]
    keep.clear()
    assert not (tmp_path / "blocks").exists()


DISCOURSES = st.builds(
    Discourse,
    id=st.text(min_size=1),
    corpus=st.just("toy"),
    units=st.lists(st.builds(Unit, st.text(), st.none() | st.text()), min_size=1).map(tuple),
    meta=st.dictionaries(st.text(), st.text(), max_size=3),
)


@given(st.lists(DISCOURSES, max_size=3))
def test_values_come_back_as_they_were(made: list[Discourse]) -> None:
    codec = Values(list[Discourse])
    assert codec.decode(codec.encode(made)) == made


@given(st.binary(max_size=40))
def test_anything_else_is_no_block(content: bytes) -> None:
    for codec in (Values(dict[str, int]), Arrays(("int32",))):
        with pytest.raises(ValueError):
            codec.decode(content)


def test_a_value_that_json_would_change_is_not_kept(tmp_path: Path) -> None:
    keep = BlockFolder(tmp_path / "blocks", Values(dict[str, int]))
    keep.save(0, {"a": "one"})
    assert keep.load(0) is None


def test_arrays_of_another_kind_are_no_block() -> None:
    one = (np.zeros((2, 3), np.int32), np.ones((2, 3), np.float32))
    content = Arrays(("int32", "float32")).encode(one)
    again = Arrays(("int32", "float32"), 3).decode(content)
    assert [np.array_equal(a, b) for a, b in zip(one, again, strict=True)] == [True, True]
    for other in (Arrays(("int32", "float64")), Arrays(("int32", "float32"), 4)):
        with pytest.raises(ValueError):
            other.decode(content)


def test_a_digest_is_of_the_content() -> None:
    one = partial(squared, number=2)
    assert described(one) == described(partial(squared, number=2))
    assert digest_of(one, {"b", "a"}) == digest_of(one, {"a", "b"})
    assert digest_of(one) != digest_of(partial(squared, number=3))
    assert len({digest_of(value) for value in ("1", 1, (1,), {1: 1}, {1}, None)}) == 6

    def around(value: int) -> object:
        return lambda: value

    assert described(around(1)) != described(around(2))
    assert __name__ in modules_of([{"a": around(one)}])  # type: ignore[arg-type]


def test_without_ray_it_says_which_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    command = ["story_cloze", "--corpus", "sample", "--output", str(tmp_path / "out")]
    assert main([*command, "--engine", "ray"]) == 2
    said = "--engine ray: Ray is not installed; expected pip install 'coherencegym[cluster]'"
    assert capsys.readouterr().err == f"build: {said}\n"
    assert main([*command, "--address", "10.0.0.1:6379"]) == 2
    said = "--address 10.0.0.1:6379: the local engine has none; add --engine ray"
    assert capsys.readouterr().err == f"build: {said}\n"
    assert not (tmp_path / "out").exists()


def test_a_dry_run_says_what_a_cluster_would_cost(capsys: pytest.CaptureFixture[str]) -> None:
    common = ["--corpus", "sample", "--engine", "ray", "--dry-run"]
    assert main(["story_cloze", *common]) == 0
    first, *_, last = capsys.readouterr().out.splitlines()
    assert re.fullmatch(
        r"sample test, 234 discourses: 2 blocks, \d+ core seconds, \d\.\d MB sent", first
    )
    assert last.startswith("story_cloze: about ")
    assert last.endswith("nothing was built")
    assert main(["intruder_sentences", *common]) == 0
    lines = capsys.readouterr().out.splitlines()
    # The two views share one search.
    found = [line for line in lines if line.startswith("neighbours of 38 of 77 documents, train: ")]
    assert len(found) == 1
    assert re.search(r": 1 block, .*, \d+ MB a worker$", found[0])


def test_what_a_run_costs_in_a_line() -> None:
    cost = after(after(Cost(10, kept=2), 4.0, 3_000_000), 6.0, 1_000_000)
    assert str(cost) == "4 of 10 blocks, 30 core seconds to go, 4 MB sent"
    assert str(Cost(3)) == "0 of 3 blocks"
    assert core_time(3600 * 100) == "100.0 core hours"

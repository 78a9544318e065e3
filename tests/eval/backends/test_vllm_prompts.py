"""A plan in vLLM, by a stand-in for it, gives what transformers gives, and reads less."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.stand_in_vllm import LLM, RequestOutput, install
from support.tiny_models import BUDGET, VOCABULARY, Memory, requests, tiny

from coherencegym.errors import EvaluationError
from coherencegym.eval.backends import vllm_prompts as prompts
from coherencegym.eval.backends.backend import RunContext
from coherencegym.eval.backends.vllm_engine import Engine, Prompt
from coherencegym.eval.backends.vllm_prompts import read_prompts
from coherencegym.eval.forward.execute import Execution, NotFiniteError, execute
from coherencegym.eval.plan.options import Options
from coherencegym.eval.plan.plan import Plan, Request, make_plan

Made = Callable[..., tuple[Engine, LLM]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model on disk."""
    place = tmp_path_factory.mktemp("llama")
    tiny("llama").save_pretrained(place)
    return place


@pytest.fixture
def made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """``made(runner=2, dtype=...)``: the model in the stand-in."""

    def make(runner: int = 1, dtype: str = "float32", **more: Any) -> tuple[Engine, LLM]:
        llm = install(monkeypatch, runner=runner)(
            str(folder),
            runner="generate",
            skip_tokenizer_init=True,
            dtype=dtype,
            load_format="safetensors",
            **more,
        )
        return Engine(llm, llm.model.config, VOCABULARY, "0.30.0"), llm

    return make


def read(engine: Engine, plan: Plan, share: bool = True, **more: Any) -> Execution:
    return read_prompts(engine, plan, RunContext(Options(share=share), **more))


def differ(found: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> float:
    assert [len(each) for each in found] == [len(each) for each in expected]
    return max(float(np.abs(one - other).max()) for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize("runner", [1, 2])
def test_vllm_gives_what_transformers_gives_and_reads_less(made: Made, runner: int) -> None:
    plan = make_plan(requests())
    expected = execute(tiny("llama"), plan, BUDGET).bits
    engine, llm = made(runner)
    every = range(len(plan.sequences))
    apart = read(engine, plan, share=False, twice=every)
    read_apart, sample = llm.tokens, sum(s.length + 1 for s in plan.sequences)
    engine, llm = made(runner)
    together = read(engine, plan, twice=every)
    for found in (apart, together):
        assert differ(found.bits, expected) < 1e-4
        assert sorted(found.ran) == list(range(len(plan.sequences)))
        assert differ([found.again[index] for index in every], found.bits) < 1e-3
        assert not found.widened
    # All of them are read a second time.
    assert read_apart == 2 * sample
    # A block for each text but the first of four of the five items.
    assert llm.tokens == read_apart - 16 * (3 + 2 + 1 + 2)
    # Beginnings are left in the cache before anything goes on from them.
    assert [skipped for _, skipped in llm.calls[:2]] == [True, False]


def test_half_precision_is_measured(made: Made) -> None:
    plan = make_plan(requests())
    exact = execute(tiny("llama"), plan, BUDGET).bits
    engine, _ = made(dtype="bfloat16", hf_overrides={"head_dtype": "float32"})
    found = read(engine, plan, twice=[1, 4])
    assert 1e-4 < differ(found.bits, exact) < 5
    assert set(found.again) == {1, 4}


def family(*texts: tuple[tuple[int, ...], tuple[int, ...]]) -> Plan:
    return make_plan([Request(ids, positions, 0) for ids, positions in texts])


BEGINNING = tuple(range(1, 41))


def test_what_the_cache_hides_is_read_again(made: Made) -> None:
    """Of two items with one beginning the second reads what the first has left in the cache."""
    first = Request((*BEGINNING, 50, 51), (40, 41), 0)
    whole = [
        Request((*BEGINNING, end, 60), tuple(range(20, 42)), family)
        for family in (1, 2)
        for end in (52 + family, 62 + family)
    ]
    plan = make_plan([first, *whole])
    expected = execute(tiny("llama"), plan, BUDGET).bits
    engine, llm = made()
    assert differ(read(engine, plan).bits, expected) < 1e-4
    # The first sequence of each item from its beginning; the others have but their ends to read.
    assert llm.calls[:2] == [(3, True), (2, False)]


@pytest.mark.parametrize(("first", "again"), [(25, True), (32, True), (33, False), (40, False)])
def test_two_blocks_in_the_cache_hide_the_tokens_up_to_the_32nd(
    made: Made, first: int, again: bool
) -> None:
    """The row of the 32nd token gives the one behind it its probability."""
    plan = family(((*BEGINNING, 50, 51), (40, 41)), ((*BEGINNING, 52, 53), (first, 41)))
    expected = execute(tiny("llama"), plan, BUDGET).bits
    engine, llm = made()
    assert differ(read(engine, plan).bits, expected) < 1e-4
    assert llm.calls[:2] == [(1, True), (1, False)]
    assert len(llm.calls) == 2 + again


def test_a_text_that_an_earlier_one_has_read_is_not_asked_for(made: Made) -> None:
    plan = family(((*BEGINNING, 50, 51), tuple(range(1, 42))), (BEGINNING, tuple(range(30, 40))))
    expected = execute(tiny("llama"), plan, BUDGET).bits
    engine, llm = made()
    assert differ(read(engine, plan).bits, expected) < 1e-4
    assert llm.calls == [(1, True)]


@given(st.data())
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_whatever_families_read_it_is_what_each_would_read_alone(
    made: Made, data: st.DataObject
) -> None:
    tokens = st.lists(st.integers(3, 5), min_size=1, max_size=24)
    asked = []
    for number in range(data.draw(st.integers(1, 3))):
        shared = data.draw(st.lists(st.integers(3, 5), max_size=30))
        for end in data.draw(st.lists(tokens, min_size=1, max_size=3)):
            ids = (1, *shared, *end)
            some = data.draw(st.sets(st.integers(1, len(ids) - 1), min_size=1))
            asked.append(Request(ids, tuple(sorted(some)), number))
    plan = make_plan(asked)
    engine, _ = made(data.draw(st.sampled_from([1, 2])))
    found = read(engine, plan)
    alone = [engine.ask([Prompt(s.ids, s.positions)], cached=False)[0] for s in plan.sequences]
    assert differ(found.bits, [each for each in alone if each is not None]) < 1e-5


def test_what_is_known_is_not_asked_for(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompts, "_CHUNK", 60)
    plan, store, seen = make_plan(requests()), Memory(), []
    engine, llm = made()
    first = read(
        engine,
        plan,
        store=store,
        progress=lambda done, total: seen.append((done, total)),
        twice=[0, 3],
    )
    assert len(seen) > 3
    assert seen[-1][0] == seen[-1][1] == sum(s.length for s in plan.sequences)
    assert seen == sorted(seen)
    engine, llm = made()
    again = read(engine, plan, store=store, twice=[0, 3])
    assert llm.calls == []
    assert again.cached == len(plan.sequences)
    assert differ(again.bits, first.bits) == 0
    assert differ(list(again.again.values()), list(first.again.values())) == 0
    # A run that was cut off goes on with what is left.
    for sequence in plan.sequences[::2]:
        del store.kept[sequence]
    rest = read(engine, plan, store=store)
    assert differ(rest.bits, first.bits) < 1e-4
    assert sorted(rest.ran) == list(range(0, len(plan.sequences), 2))


def test_no_number_is_said(made: Made) -> None:
    engine, llm = made()
    for weights in llm.model.parameters():
        weights.data.fill_(float("nan"))
    store = Memory()
    with pytest.raises(NotFiniteError):
        read(engine, make_plan(requests()), store=store)
    assert store.puts == 0


def answer(monkeypatch: pytest.MonkeyPatch, llm: LLM, **changed: Any) -> None:
    """Let the stand-in answer otherwise."""
    whole = llm.generate

    def generate(*arguments: Any, **more: Any) -> list[RequestOutput]:
        found = whole(*arguments, **more)
        for output in found:
            for name, value in changed.items():
                setattr(output, name, value)
        return found

    monkeypatch.setattr(llm, "generate", generate)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"prompt_logprobs": None}, "gives no log-probability of token 2 at position 1"),
        ({"prompt_logprobs": [None, {}]}, "of a prompt of 2 tokens; expected --backend trans"),
        ({"num_cached_tokens": 16}, "went on from its cache where it was asked not to"),
        ({"num_cached_tokens": None}, "went on from its cache where it was asked not to"),
    ],
)
def test_an_answer_that_is_none_is_one_line(
    made: Made, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], said: str
) -> None:
    engine, llm = made()
    answer(monkeypatch, llm, **changed)
    with pytest.raises(EvaluationError, match=r"vLLM 0\.30\.0") as caught:
        engine.ask([Prompt((1, 2), (1,))], cached=False)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_vllm_raises_is_one_line(made: Made) -> None:
    engine, _ = made(max_model_len=32)
    with pytest.raises(
        EvaluationError, match=r"vLLM 0\.30\.0 failed: .*maximum model length of 32"
    ):
        engine.ask([Prompt(BEGINNING, (1,))], cached=False)
    assert engine.ask([], cached=False) == []

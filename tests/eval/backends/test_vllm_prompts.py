"""A plan in vLLM, by a stand-in for it, gives what transformers gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.stand_in_vllm import LLM, RequestOutput, install
from support.tiny_models import BUDGET, VOCABULARY, Memory, requests, tiny

from coherencegym.errors import EvaluationError
from coherencegym.eval.backends import vllm
from coherencegym.eval.backends.backend import RunContext
from coherencegym.eval.backends.vllm import Engine, read_prompts
from coherencegym.eval.forward.execute import Execution, NotFiniteError, execute
from coherencegym.eval.plan.options import Options
from coherencegym.eval.plan.plan import Plan, make_plan
from coherencegym.eval.text.sequence import TokenSequence

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

    def make(dtype: str = "float32", **more: Any) -> tuple[Engine, LLM]:
        llm = install(monkeypatch)(
            str(folder),
            runner="generate",
            skip_tokenizer_init=True,
            dtype=dtype,
            load_format="safetensors",
            **more,
        )
        return Engine(llm, llm.model.config, VOCABULARY, "0.30.0"), llm

    return make


def read(engine: Engine, plan: Plan, **more: Any) -> Execution:
    return read_prompts(engine, plan, RunContext(Options(), **more))


def differ(found: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> float:
    assert [len(each) for each in found] == [len(each) for each in expected]
    return max(float(np.abs(one - other).max()) for one, other in zip(found, expected, strict=True))


def test_vllm_gives_what_transformers_gives(made: Made) -> None:
    plan = make_plan(requests())
    expected = execute(tiny("llama"), plan, BUDGET).bits
    engine, llm = made()
    every = range(len(plan.sequences))
    found = read(engine, plan)
    assert differ(found.bits, expected) < 1e-4
    assert sorted(found.ran) == list(every)
    assert llm.calls == [len(every)]
    assert llm.tokens == sum(s.length + 1 for s in plan.sequences)


def test_half_precision_is_off(made: Made) -> None:
    plan = make_plan(requests())
    exact = execute(tiny("llama"), plan, BUDGET).bits
    engine, _ = made(dtype="bfloat16", hf_overrides={"head_dtype": "float32"})
    found = read(engine, plan)
    assert 1e-4 < differ(found.bits, exact) < 5


def test_what_is_known_is_not_asked_for(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vllm, "_CHUNK", 60)
    plan, store, seen = make_plan(requests()), Memory(), []
    engine, llm = made()
    first = read(
        engine,
        plan,
        store=store,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert len(seen) > 3
    assert seen[-1][0] == seen[-1][1] == sum(s.length for s in plan.sequences)
    assert seen == sorted(seen)
    engine, llm = made()
    again = read(engine, plan, store=store)
    assert llm.calls == []
    assert again.cached == len(plan.sequences)
    assert differ(again.bits, first.bits) == 0
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
    ],
)
def test_an_answer_that_is_none_is_one_line(
    made: Made, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], said: str
) -> None:
    engine, llm = made()
    answer(monkeypatch, llm, **changed)
    with pytest.raises(EvaluationError, match=r"vLLM 0\.30\.0") as caught:
        engine.ask([TokenSequence((1, 2), (1,))])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_vllm_raises_is_one_line(made: Made) -> None:
    engine, _ = made(max_model_len=32)
    with pytest.raises(
        EvaluationError, match=r"vLLM 0\.30\.0 failed: .*maximum model length of 32"
    ):
        engine.ask([TokenSequence(tuple(range(1, 41)), (1,))])
    assert engine.ask([]) == []

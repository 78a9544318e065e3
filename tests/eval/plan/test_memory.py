"""A GPU's free memory, as torch tells it."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from coherencegym.eval.plan.plan import budget_for, budget_of, default_budget


def test_on_a_cpu_memory_is_not_asked_for(
    make_tokenizer: Callable[..., Any], make_model: Callable[..., Any]
) -> None:
    assert budget_of(make_model("gpt2", make_tokenizer())) == default_budget("cpu")


def test_on_a_gpu_it_is(
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = make_model("llama", make_tokenizer())
    gpu = SimpleNamespace(type="cuda")
    monkeypatch.setattr("coherencegym.eval.plan.plan.input_device", lambda model: gpu)
    # Of an earlier table torch holds 3 GB, of which 1 GB is in use.
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (4 * 10**9, 8 * 10**9))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 3 * 10**9)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 10**9)
    large = budget_for(6 * 10**9, model.config, 4)
    assert budget_of(model) == large != default_budget("cuda")
    assert budget_of(model, 128).tokens == 128


def test_the_middle_is_four_times_the_width_where_a_config_does_not_say() -> None:
    sizes = {"num_hidden_layers": 2, "hidden_size": 32, "vocab_size": 50}
    unsaid = budget_for(10**8, config(**sizes), 2)
    assert unsaid == budget_for(10**8, config(**sizes, intermediate_size=128), 2)
    assert unsaid != budget_for(10**8, config(**sizes, intermediate_size=1280), 2)


def test_a_chosen_number_of_tokens_scales_the_budget(
    make_tokenizer: Callable[..., Any], make_model: Callable[..., Any]
) -> None:
    budget = default_budget("cpu")
    half = budget_of(make_model("gpt2", make_tokenizer()), budget.tokens // 2)
    assert (half.tokens, half.head_rows) == (budget.tokens // 2, budget.head_rows // 2)
    assert default_budget("cuda").tokens > budget.tokens


def config(**sizes: int) -> Any:
    text = SimpleNamespace(**sizes)
    return SimpleNamespace(get_text_config=lambda: text)


def test_a_budget_for_free_memory_grows_with_it_in_powers_of_two() -> None:
    gpt2 = config(num_hidden_layers=12, hidden_size=768, intermediate_size=3072, vocab_size=50257)
    budgets = [budget_for(gigabytes * 10**9, gpt2, 2) for gigabytes in (0, 1, 8, 80)]
    assert [b.tokens for b in budgets] == sorted(b.tokens for b in budgets)
    for budget in budgets:
        for value in (budget.tokens, budget.head_rows, budget.cached):
            assert value & (value - 1) == 0
    large = budgets[2]
    assert large.tokens * 2 * (6 * 768 + 4 * 3072) < 8e9 / 6
    assert large.head_rows * 50257 * (2 + 4) < 8e9 / 6
    assert budget_for(8 * 10**9, gpt2, 2, states=True).tokens < large.tokens
    # A larger model gets less.
    sizes = {"num_hidden_layers": 80, "hidden_size": 8192, "intermediate_size": 28672}
    assert budget_for(8 * 10**9, config(**sizes, vocab_size=128256), 2).tokens < large.tokens

"""A GPU's free memory, as torch tells it."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from coherencegym.eval.plan.memory import free_budget, sizes_of
from coherencegym.eval.plan.plan import Sizes, budget_for


def test_on_a_cpu_memory_is_not_asked_for(
    make_tokenizer: Callable[..., Any], make_model: Callable[..., Any]
) -> None:
    assert free_budget(make_model("gpt2", make_tokenizer())) is None


def test_on_a_gpu_it_is(
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = make_model("llama", make_tokenizer())
    gpu = SimpleNamespace(type="cuda")
    monkeypatch.setattr("coherencegym.eval.plan.memory.input_device", lambda model: gpu)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (6 * 10**9, 8 * 10**9))
    sizes = Sizes(2, 32, 48, model.config.vocab_size, 4)
    assert sizes_of(model.config, 4) == sizes
    assert free_budget(model) == budget_for(6 * 10**9, sizes)


def test_the_middle_is_four_times_the_width_where_a_config_does_not_say(
    make_tokenizer: Callable[..., Any], make_model: Callable[..., Any]
) -> None:
    config = make_model("gpt2", make_tokenizer()).config
    assert sizes_of(config, 2).inner == 4 * 32

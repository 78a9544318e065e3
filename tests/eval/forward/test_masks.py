"""Packed rows in FlexAttention: where it is chosen, where it stands in, and that it is as right."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from support.tiny_models import BUDGET, requests, tiny

from coherencegym.eval.forward import masks
from coherencegym.eval.forward.execute import execute
from coherencegym.eval.forward.logits import Forward
from coherencegym.eval.forward.passes import run_batch, run_each_alone
from coherencegym.eval.models.limits import limits_of
from coherencegym.eval.plan.plan import Plan, make_plan

#: One without windows, one with a window in all layers, and one with it in every other layer.
FLEXIBLE = ("llama", "mistral", "gemma2")


@pytest.fixture(autouse=True)
def as_written() -> Iterator[None]:
    """FlexAttention as torch writes it in Python: to compile it takes seconds, and a compiler."""
    with torch.compiler.set_stance("force_eager"):
        yield


@pytest.fixture
def attended_by(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether FlexAttention attended, at every pass of every packed batch."""
    seen: list[bool] = []
    read = Forward.read

    def noted(self: Forward, ids: Any, questions: Any, cache: Any = None, **more: Any) -> Any:
        if "position_ids" in more:
            seen.append(by_flex(self.model))
        return read(self, ids, questions, cache, **more)

    monkeypatch.setattr(Forward, "read", noted)
    return seen


def by_flex(model: Any) -> bool:
    return bool(model.config._attn_implementation == masks.FLEX)


def packed(model: Any) -> Plan:
    return make_plan(requests(), BUDGET, sharing="packed", limits=limits_of(model.config))


@pytest.mark.parametrize("kind", FLEXIBLE)
def test_rules_say_what_tables_say(kind: str, attended_by: list[bool]) -> None:
    model = tiny(kind)
    plan = packed(model)
    forward = Forward(model, limits=plan.limits)
    batches = [batch for batch in plan.batches if batch.prefixes]
    alone = run_each_alone(forward, plan.sequences)
    model.set_attn_implementation(masks.FLEX)
    for batch in batches:
        bits = run_batch(forward, plan.sequences, batch)
        for index, found in zip(batch.indices, bits, strict=True):
            np.testing.assert_allclose(found, alone[index], atol=1e-4)
    assert attended_by == [True] * len(batches)
    assert by_flex(model)


@pytest.mark.parametrize("kind", FLEXIBLE)
def test_it_stands_in_for_packed_rows_alone(
    kind: str, attended_by: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny(kind)
    plan = packed(model)
    expected = execute(model, plan, BUDGET, share=False)
    monkeypatch.setattr(masks, "_writes_weights_down", lambda forward, usual: True)
    found = execute(model, plan, BUDGET)
    assert attended_by
    assert all(attended_by)
    assert found.sharing is not None
    assert found.sharing.passed
    assert found.sharing.by_rule
    assert expected.sharing is None
    assert any(batch.prefixes for batch in found.plan.batches)
    for one, other in zip(found.bits, expected.bits, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)
    assert not by_flex(model)


def test_where_it_does_not_run_rows_go_another_way(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny("llama")
    monkeypatch.setattr(masks, "_writes_weights_down", lambda forward, usual: True)

    def fails(*_: Any) -> Any:
        raise RuntimeError("no C compiler was found")

    monkeypatch.setattr(masks, "_block_mask", fails)
    found = execute(model, packed(model), BUDGET)
    assert not by_flex(model)
    # A cache needs no mask.
    assert found.sharing is not None
    assert found.sharing.passed
    assert found.plan.shares
    assert not any(batch.prefixes for batch in found.plan.batches)


def test_a_model_without_it_keeps_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny("bloom")
    monkeypatch.setattr(masks, "_writes_weights_down", lambda forward, usual: True)
    with masks.attending(Forward(model)) as by_rule:
        assert not by_rule
        assert not by_flex(model)


@pytest.mark.parametrize(
    ("device", "usual", "fused", "has_sdpa", "expected"),
    [
        ("cuda", "sdpa", False, True, True),
        ("cuda", "sdpa", True, True, False),
        ("cpu", "sdpa", False, True, False),
        ("mps", "sdpa", False, True, False),
        # Chosen by a person; and all that the model has.
        ("cuda", "eager", False, True, False),
        ("cuda", "eager", False, False, True),
        ("cuda", "flash_attention_2", False, True, False),
        ("cuda", None, False, True, False),
    ],
)
def test_weights_are_written_down_where_nothing_takes_a_table(
    device: str,
    usual: str | None,
    fused: bool,
    has_sdpa: bool,
    expected: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(masks, "_fused", lambda forward: fused)
    asked: Any = SimpleNamespace(
        device=SimpleNamespace(type=device), model=SimpleNamespace(_supports_sdpa=has_sdpa)
    )
    assert masks._writes_weights_down(asked, usual) is expected


@pytest.mark.parametrize("kernel", [None, "efficient", "cudnn"])
def test_torch_is_asked_about_the_masks_that_it_will_get(
    kernel: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def answers(name: str) -> Any:
        def can_use(asked: Any, debug: bool = False) -> bool:
            seen.append(asked)
            return name == kernel

        return can_use

    for name in ("efficient", "cudnn"):
        monkeypatch.setattr(torch.backends.cuda, f"can_use_{name}_attention", answers(name))
    # Not kept: another test would get these answers.
    monkeypatch.setattr(masks, "_takes_table", masks._takes_table.__wrapped__)
    model = tiny("gemma2").to(torch.bfloat16)
    assert masks._fused(Forward(model)) is (kernel is not None)
    asked = seen[0]
    assert asked.query.shape == (1, model.config.num_attention_heads, 8, model.config.head_dim)
    assert asked.query.dtype == asked.attn_mask.dtype == torch.bfloat16
    assert asked.attn_mask.shape == (1, 1, 8, 8)
    assert not asked.is_causal

"""The trial in half precision: wrong ways of sharing are found, right ones are not lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from support.tiny_models import BOTH, BUDGET, MODELS, requests, tiny

from coherencegym.eval.forward.execute import execute
from coherencegym.eval.forward.passes import Forward
from coherencegym.eval.forward.trial import Trial, beside_longer, try_sharing
from coherencegym.eval.forward.wrapped import float32_head
from coherencegym.eval.models.config import limits_of
from coherencegym.eval.plan.plan import make_plan
from coherencegym.eval.text.sequence import Sharing


def tried(model: Any, way: Sharing) -> Trial:
    plan = make_plan(requests(), BUDGET, sharing=way, limits=limits_of(model.config))
    with float32_head(model):
        return try_sharing(Forward(model, limits=plan.limits), plan, way)


@pytest.mark.parametrize("kind", MODELS)
def test_bfloat16_shares_as_float32_does(kind: str) -> None:
    model, ways = tiny(kind).bfloat16(), MODELS[kind][1]
    for way in BOTH:
        found = tried(model, way)
        assert found.passed is (way in ways), found
        if found.passed:
            assert found.difference is not None
            assert found.difference < 1e-4  # in float32, however much bfloat16 rounds


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_no_seed_loses_sharing(kind: str, dtype: torch.dtype) -> None:
    for seed in (1, 2):
        model = tiny(kind, seed).to(dtype)
        for way in BOTH:
            assert tried(model, way).passed, (seed, way)


class Changed(torch.nn.Module):  # type: ignore[misc]
    """A model whose logits are changed where it goes on from a cache."""

    def __init__(self, inner: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.inner, self.config, self.change = inner, inner.config, change

    def get_input_embeddings(self) -> Any:
        return self.inner.get_input_embeddings()

    def get_output_embeddings(self) -> Any:
        return self.inner.get_output_embeddings()

    def forward(
        self, input_ids: Any, past_key_values: Any = None, logits_to_keep: Any = 0, **more: Any
    ) -> Any:
        going_on = {} if past_key_values is None else {"past_key_values": past_key_values}
        output = self.inner(input_ids=input_ids, logits_to_keep=logits_to_keep, **going_on, **more)
        if past_key_values is not None:
            output.logits = self.change(output.logits)
        return output


def raised(by: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """Every seventh logit is larger."""

    def change(logits: torch.Tensor) -> torch.Tensor:
        logits[:, 5::7] += by
        return logits

    return change


@pytest.mark.parametrize("kind", ["gpt2", "mistral", "bloom"])
def test_a_wrong_cache_is_found_far_below_what_rounds(kind: str) -> None:
    half = tiny(kind).bfloat16()
    for by in (2.0, 0.005):
        found = tried(Changed(half, raised(by)), "cache")
        assert not found.passed, by
        assert "bits, where 0.0001 are allowed" in found.reason
    assert tried(Changed(half, raised(0.0)), "cache").passed


def test_without_float32_sharing_is_held_to_batching() -> None:
    half = tiny("gpt2").bfloat16()

    def refuse(block: Any, arguments: Any) -> None:
        if arguments[0].dtype != torch.bfloat16:
            raise RuntimeError("no such number format")

    half.transformer.h[0].register_forward_pre_hook(refuse)
    stubborn = Changed(half, raised(0.5))
    plan = make_plan(requests(), BUDGET, sharing="cache")
    found = try_sharing(Forward(stubborn), plan, "cache")
    assert not found.passed
    padded = beside_longer(Forward(stubborn), plan.batched(BUDGET, sharing="none"))
    assert padded is not None
    assert (padded.passed, padded.tolerance) == (True, 0.5)


def test_a_run_in_half_precision_shares() -> None:
    half = tiny("llama").bfloat16()
    plan = make_plan(requests(), BUDGET)
    execution = execute(half, plan, BUDGET)
    assert execution.plan.shares
    assert execution.sharing is not None
    assert execution.sharing.passed

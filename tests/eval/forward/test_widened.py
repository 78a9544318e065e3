"""Half precision held to float32: the same weights without rounding on the way."""

from __future__ import annotations

import copy
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import torch
from support.tiny_models import BUDGET, Memory, requests, tiny

from coherencegym.eval.forward.execute import execute
from coherencegym.eval.forward.widened import in_float32
from coherencegym.eval.forward.wrapped import float32_head
from coherencegym.eval.plan.plan import make_plan

#: Decoders of several builds, experts, and states whose own code rounds a little.
KINDS = ("gpt2", "llama", "gpt_neox", "opt", "gemma2", "bloom", "mpt", "jamba", "mamba")
ROUND = ("jamba", "mamba")


def state(model: Any) -> list[tuple[torch.dtype, int]]:
    tensors = [*model.parameters(), *model.buffers()]
    return [(tensor.dtype, tensor.data_ptr()) for tensor in tensors]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_weights_compute_in_float32_and_come_back(kind: str, dtype: torch.dtype) -> None:
    half = tiny(kind).to(dtype)
    full = copy.deepcopy(half).float()
    before = state(half)
    ids = torch.randint(3, 90, (2, 30), generator=torch.Generator().manual_seed(2))
    with torch.inference_mode():
        expected = full(input_ids=ids).logits
        # Mamba rounds before its head, unless that takes float32.
        contexts = [float32_head(half)] + [nullcontext()] * (kind != "mamba")
        for context in contexts:
            with context, in_float32(half):
                found = half(input_ids=ids).logits
            assert found.dtype == torch.float32
            error = float((found - expected).abs().max())
            rounded = float((half(input_ids=ids).logits.float() - expected).abs().max())
            assert rounded > 1e-3
            assert error <= (rounded / 3 if kind in ROUND else 1e-4)
    assert state(half) == before
    assert not any(module._forward_hooks for module in half.modules())


def test_a_pass_that_breaks_off_leaves_the_weights_as_they_were() -> None:
    half = tiny("gpt2").bfloat16()
    before = state(half)

    def breaks(*_: Any) -> None:
        raise RuntimeError("in the middle")

    half.transformer.h[1].mlp.register_forward_hook(breaks)
    with pytest.raises(RuntimeError, match="in the middle"), in_float32(half):
        half(input_ids=torch.tensor([[5, 6, 7]]))
    assert state(half) == before


def test_what_bfloat16_repeats_to_the_bit_is_measured_all_the_same() -> None:
    model = tiny("llama")
    half = copy.deepcopy(model).bfloat16()
    full = copy.deepcopy(half).float()
    plan = make_plan(requests(), BUDGET)
    store = Memory()
    every = range(len(plan.sequences))
    found = execute(half, plan, BUDGET, store=store, twice=every)
    exact = execute(full, plan, BUDGET, twice=every)
    for index, bits in enumerate(exact.bits):
        assert np.abs(found.again[index] - bits).max() < 1e-4
        assert np.abs(found.bits[index] - bits).max() > 1e-3
    assert exact.again == {}
    again = execute(half, plan, BUDGET, store=store, twice=every)
    assert (again.ran, list(again.again)) == ([], list(every))


class OwnFormat(torch.nn.Module):  # type: ignore[misc]
    """A model with a layer that knows no float32."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner, self.config = inner, inner.config

    def get_input_embeddings(self) -> Any:
        return self.inner.get_input_embeddings()

    def get_output_embeddings(self) -> Any:
        return self.inner.get_output_embeddings()

    def forward(self, input_ids: Any, logits_to_keep: Any = 0, **more: Any) -> Any:
        hidden = self.inner.get_input_embeddings()(input_ids)
        if hidden.dtype == torch.float32:
            raise RuntimeError("expected BFloat16 but found Float")
        return self.inner(input_ids=input_ids, logits_to_keep=logits_to_keep, **more)


def test_where_float32_cannot_be_had_nothing_is_measured() -> None:
    half = OwnFormat(tiny("llama").bfloat16())
    plan = make_plan(requests(), BUDGET)
    assert execute(half, plan, BUDGET, twice=[0, 2]).again == {}

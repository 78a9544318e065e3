"""A batch is waited for once: everything else goes to the device and is computed without asking."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.tiny_models import BUDGET, requests, tiny

from benchmarks.waits import host_waits
from coherencegym.eval.forward.passes import Forward, run_batch
from coherencegym.eval.forward.wrapped import float32_head, fused_activations
from coherencegym.eval.models.config import limits_of
from coherencegym.eval.plan.plan import Batch, Budget, make_plan
from coherencegym.eval.text.sequence import Sharing, TokenSequence


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("way", ["none", "cache", "packed"])
@pytest.mark.parametrize("kind", ["gpt2", "llama", "gpt_neox", "opt", "mistral", "gemma2"])
def test_a_batch_is_read_back_once(kind: str, way: Sharing, dtype: torch.dtype) -> None:
    model = tiny(kind).to(dtype)
    plan = make_plan(requests(), BUDGET, sharing=way, limits=limits_of(model.config))
    forward = Forward(model, limits=plan.limits)
    batches = [batch for batch in plan.batches if batch.shares is (way != "none")]
    assert len(batches) > 1
    with fused_activations(model), float32_head(model):
        for batch in batches:
            with host_waits() as causes:
                run_batch(forward, plan.sequences, batch)
            assert causes == {"cpu": 1}


def test_beginnings_of_words_are_read_with_the_rest() -> None:
    sequence = TokenSequence(tuple(range(5, 25)), (3, 9, 12), word_starts=(4, 9, 13))
    forward = Forward(tiny("gpt2"), beginnings=(7, 8, 9, 40))
    batch = Batch(((0,),), 0, sequence.length, len(sequence.places))
    with host_waits() as causes:
        (bits,) = run_batch(forward, [sequence], batch)
    assert causes == {"cpu": 1}
    assert len(bits) == 6


def test_waits_are_seen() -> None:
    numbers = torch.arange(6)
    with host_waits(within="test_waits") as causes:
        numbers[numbers > 2]
        numbers[[1, 2]]
        numbers.unique()
        if numbers.sum() > 3:
            numbers.max().item()
        numbers.to(torch.device("cpu"))
        numbers.to(torch.device("cpu"), non_blocking=True)
        torch.tensor([1, 2], device="cpu")
        numbers.float().cpu()
    assert causes == {
        "aten::index by a mask": 1,
        "aten::_unique2": 1,
        "aten::_local_scalar_dense": 2,
        "to a device": 1,
        "tensor a device": 1,
        "cpu": 1,
    }


class Whole(torch.nn.Module):  # type: ignore[misc]
    """A model whose head is asked about the last token alone, or whose logits must have rows."""

    def __init__(self, inner: Any, last: bool) -> None:
        super().__init__()
        self.inner, self.config, self.last = inner, inner.config, last
        self.head = inner.get_output_embeddings()

    def get_input_embeddings(self) -> Any:
        return self.inner.get_input_embeddings()

    def get_output_embeddings(self) -> Any:
        return self.head

    def forward(self, input_ids: Any, past_key_values: Any = None, use_cache: bool = False) -> Any:
        output = self.inner.transformer(
            input_ids, past_key_values=past_key_values, use_cache=use_cache
        )
        hidden = output.last_hidden_state
        if self.last:
            self.head(hidden[:, -1])
            output.logits = torch.nn.functional.linear(hidden, self.head.weight)
        else:
            output.logits = self.head(hidden).view(*input_ids.shape, -1)
        return output


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("way", ["none", "cache"])
def test_a_head_that_is_asked_otherwise_is_read_behind_the_model(last: bool, way: Sharing) -> None:
    inner = tiny("gpt2")
    plan = make_plan(requests(), Budget(200, 150, 400), sharing=way)
    batch = next(batch for batch in plan.batches if batch.shares is (way != "none"))
    expected = run_batch(Forward(inner), plan.sequences, batch)
    found = run_batch(Forward(Whole(inner, last)), plan.sequences, batch)
    assert all(abs(a - b).max() < 1e-5 for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_masks_of_packed_rows_are_what_fused_kernels_take(dtype: torch.dtype) -> None:
    model = tiny("mistral").to(dtype)
    plan = make_plan(requests(), BUDGET, sharing="packed", limits=limits_of(model.config))
    masks: list[torch.Tensor] = []

    def see(module: Any, arguments: Any, keywords: Any) -> None:
        masks.append(keywords["attention_mask"])

    model.model.layers[0].self_attn.register_forward_pre_hook(see, with_kwargs=True)
    packed = [batch for batch in plan.batches if batch.prefixes]
    for batch in packed:
        run_batch(Forward(model, limits=plan.limits), plan.sequences, batch)
    assert any(batch.length % 8 for batch in packed)
    for mask, batch in zip(masks, packed, strict=True):
        assert mask.shape == (len(batch.groups), 1, batch.length, batch.length)
        assert (mask.dtype, mask.stride(-1)) == (dtype, 1)
        assert all(stride % 8 == 0 for stride in mask.stride()[:-1])
        # Nothing ahead is seen, and every token sees itself.
        assert (mask.triu(1) == torch.full_like(mask, torch.finfo(dtype).min).triu(1)).all()
        assert (mask.diagonal(dim1=-2, dim2=-1) == 0).all()

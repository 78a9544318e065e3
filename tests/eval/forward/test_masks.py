"""Masks of packed rows in a model that was loaded with FlexAttention."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support.tiny_models import BUDGET, requests, tiny

from coherencegym.eval.forward.passes import Forward, run_batch, run_each_alone
from coherencegym.eval.models.config import limits_of
from coherencegym.eval.plan.plan import make_plan


# One without windows, one with a window in all layers, and one with it in every other layer.
@pytest.mark.parametrize("kind", ["llama", "mistral", "gemma2"])
def test_flex_attention_takes_tables(kind: str) -> None:
    model = tiny(kind)
    plan = make_plan(requests(), BUDGET, sharing="packed", limits=limits_of(model.config))
    forward = Forward(model, limits=plan.limits)
    alone = run_each_alone(forward, plan.sequences)
    model.set_attn_implementation("flex_attention")
    # As torch writes it in Python: to compile it takes seconds, and a compiler.
    with torch.compiler.set_stance("force_eager"):
        for batch in plan.batches:
            for index, bits in zip(
                batch.indices, run_batch(forward, plan.sequences, batch), strict=True
            ):
                np.testing.assert_allclose(bits, alone[index], atol=1e-4)
    assert any(batch.prefixes for batch in plan.batches)

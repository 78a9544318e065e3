"""A text has one probability, whatever follows a token: what gives another one is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from support.tiny_models import BUDGET, VOCABULARY, requests, tiny
from transformers import AutoConfig

from coherencegym.errors import EvaluationError
from coherencegym.eval.forward.execute import execute
from coherencegym.eval.forward.passes import Forward, run_each_alone
from coherencegym.eval.models.config import limits_of
from coherencegym.eval.plan.plan import Budget, make_plan
from coherencegym.eval.text.sequence import Sharing, TokenSequence

_REFORMER = {
    **{"is_decoder": True, "axial_pos_embds": False, "hidden_size": 32, "feed_forward_size": 48},
    **{"attention_head_size": 8, "num_attention_heads": 4, "max_position_embeddings": 256},
    **{"attn_layers": ["local", "lsh"], "num_hashes": 1, "num_buckets": 2},
    **{"lsh_attn_chunk_length": 8, "local_attn_chunk_length": 8, "pad_token_id": 0},
}
_PROPHETNET = {
    **{"is_decoder": True, "is_encoder_decoder": False, "add_cross_attention": False},
    **{"hidden_size": 32, "decoder_ffn_dim": 48, "num_decoder_layers": 2, "init_std": 0.3},
    **{"num_decoder_attention_heads": 4, "max_position_embeddings": 256, "pad_token_id": 0},
}
_AHEAD = "predicts a token from what follows it: a surprisal changes by .*; expected a causal model"
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "prophetnet": (_PROPHETNET, _AHEAD),
    "xlnet": ({"d_model": 32, "d_inner": 48, "n_layer": 2, "n_head": 4}, _AHEAD),
    "reformer": (_REFORMER, "answers differently each time: .*; expected a repeatable model"),
}
#: Texts that begin alike, of which none is longer than another, and one alone.
RUNS = {
    "families": requests(),
    "one length": [
        TokenSequence(tuple(range(n, n + 34)), (20, 33), True, family=n) for n in (3, 40)
    ],
    "one text": requests()[2:3],
}


@pytest.mark.parametrize(
    ("run", "dtype"), [*((run, torch.float32) for run in RUNS), ("one text", torch.bfloat16)]
)
@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_not_causal_or_repeatable_is_refused(
    kind: str, run: str, dtype: torch.dtype
) -> None:
    settings, said = REFUSED[kind]
    model = tiny(kind, **settings).to(dtype)
    with pytest.raises(EvaluationError, match=f"^model '{type(model).__name__}' {said}$"):
        execute(model, make_plan(RUNS[run], limits=limits_of(model.config)), BUDGET)


@pytest.mark.parametrize("run", RUNS)
def test_a_text_is_read_for_it_where_no_trial_has_read_one_as_long(run: str) -> None:
    model, sizes = tiny("gpt2"), []
    model.register_forward_pre_hook(
        lambda module, arguments, more: sizes.append(more["input_ids"].numel()), with_kwargs=True
    )
    found = execute(model, make_plan(RUNS[run]), BUDGET)
    longest = max(sequence.length for sequence in found.plan.sequences)
    assert (sizes[:2] == [longest, longest // 2 | 1]) is (run != "families")


def test_what_sparse_attention_chooses_among_equals_is_no_others_business() -> None:
    """Where scores of its few heads are 0, which tokens it sees may depend on the row."""
    settings = {
        **{"hidden_size": 64, "intermediate_size": 96, "moe_intermediate_size": 32},
        **{"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4},
        **{"n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 2},
        **{"kv_lora_rank": 16, "q_lora_rank": 16, "qk_nope_head_dim": 16, "v_head_dim": 16},
        **{"qk_rope_head_dim": 16, "n_group": 1, "topk_group": 1, "first_k_dense_replace": 1},
        **{"index_n_heads": 6, "index_head_dim": 32, "index_topk": 16},
        "max_position_embeddings": 256,
    }
    model = tiny("deepseek_v32", **settings)
    draw = np.random.default_rng(0)
    texts = [draw.integers(3, VOCABULARY, draw.integers(8, 90)).tolist() for _ in range(24)]
    asked = [
        TokenSequence((1, *ids), tuple(range(len(ids) // 2, len(ids))), True, family=-1)
        for ids in texts
    ]
    plan = make_plan(asked, limits=limits_of(model.config))
    found = execute(model, plan, Budget(tokens=2000, head_rows=2000, cached=0))
    alone = run_each_alone(Forward(model, limits=plan.limits), plan.sequences)
    errors = [np.abs(one - other).max() for one, other in zip(found.bits, alone, strict=True)]
    assert max(errors) < 1e-4


@pytest.mark.parametrize("sharing", ["packed", "cache", "none"])
def test_a_text_is_read_alone_where_layers_choose_its_tokens(sharing: Sharing) -> None:
    """Equal scores may be too seldom for a trial to see."""
    limits = limits_of(AutoConfig.for_model("deepseek_v32", index_topk=29))
    assert limits.chosen == 29
    plan = make_plan(requests(), BUDGET, limits=limits, sharing=sharing)
    alone = [batch for batch in plan.batches if batch.length > 29]
    assert len(alone) > 2
    assert all(len(batch.indices) == 1 and not batch.shares for batch in alone)
    assert any(len(batch.indices) > 1 for batch in plan.batches)
    assert sorted(i for b in plan.batches for i in b.indices) == list(range(len(plan.sequences)))

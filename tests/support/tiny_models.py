"""Tiny models of many architectures, and requests to run through them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from coherencegym.eval.plan.plan import Budget
from coherencegym.eval.text.sequence import Sharing, TokenSequence

VOCABULARY = 97
#: Small, so that there are many batches, cut beginnings and divided families.
BUDGET = Budget(tokens=120, head_rows=100, cached=250)

_PLAIN: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 256,
}
_GROUPED = {**_PLAIN, "num_key_value_heads": 2}
_GPT = {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 256}

BOTH: tuple[Sharing, ...] = ("packed", "cache")
CACHE: tuple[Sharing, ...] = ("cache",)
NONE: tuple[Sharing, ...] = ()

#: Tiny models by architecture, and the ways in which they may share beginnings. Windows are shorter
#: than the beginnings, weights large, so that a mistake shows.
MODELS: dict[str, tuple[dict[str, Any], tuple[Sharing, ...]]] = {
    "gpt2": (_GPT, BOTH),
    "llama": (_GROUPED, BOTH),
    "gpt_neox": (_PLAIN, BOTH),
    "opt": (
        {
            "hidden_size": 32,
            "ffn_dim": 48,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "max_position_embeddings": 256,
            "word_embed_proj_dim": 32,
            "init_std": 0.3,
        },
        BOTH,
    ),
    # Soft-capped logits and attention, windows.
    "gemma2": ({**_GROUPED, "head_dim": 8, "query_pre_attn_scalar": 8, "sliding_window": 8}, BOTH),
    # Scaled logits.
    "cohere": ({**_GROUPED, "logit_scale": 0.5}, BOTH),
    "granite": ({**_GROUPED, "logits_scaling": 0.5, "embedding_multiplier": 3.0}, BOTH),
    # Positions by distance (ALiBi).
    "bloom": ({"hidden_size": 32, "n_layer": 2, "n_head": 4}, CACHE),
    "mpt": ({"d_model": 32, "n_heads": 4, "n_layers": 2, "max_seq_len": 256}, CACHE),
    "mistral": ({**_GROUPED, "sliding_window": 8}, BOTH),
    # States in place of a cache of keys and values.
    "mamba": ({"hidden_size": 32, "state_size": 4, "num_hidden_layers": 2}, NONE),
    "falcon_mamba": ({"hidden_size": 32, "state_size": 4, "num_hidden_layers": 2}, NONE),
    "mamba2": (
        {
            "hidden_size": 32,
            "state_size": 8,
            "num_hidden_layers": 2,
            "head_dim": 8,
            "num_heads": 8,
            "n_groups": 1,
            "chunk_size": 16,
        },
        NONE,
    ),
    "jamba": (
        {
            **_GROUPED,
            "num_hidden_layers": 4,
            "attn_layer_period": 2,
            "attn_layer_offset": 1,
            "expert_layer_period": 2,
            "expert_layer_offset": 1,
            "num_experts": 2,
            "num_experts_per_tok": 1,
            "mamba_d_state": 4,
            # As large as others' they would make rounding too large for what is promised.
            "initializer_range": 0.2,
        },
        NONE,
    ),
    # A short convolution, which no mask reaches.
    "lfm2": ({**_GROUPED, "layer_types": ["conv", "full_attention"]}, CACHE),
    "lfm2_moe": (
        {
            **_GROUPED,
            "layer_types": ["conv", "full_attention"],
            "moe_intermediate_size": 16,
            "num_dense_layers": 1,
            "num_experts": 2,
            "num_experts_per_tok": 1,
        },
        CACHE,
    ),
    # A cache of its own, part of which cannot be put in order.
    "minimax": (
        {
            **_GROUPED,
            "head_dim": 8,
            "layer_types": ["linear_attention", "full_attention"],
            "num_local_experts": 2,
            "num_experts_per_tok": 1,
        },
        NONE,
    ),
    "openai-gpt": (_GPT, NONE),
}


def tiny(kind: str, seed: int = 0, **more: Any) -> Any:
    """A tiny model of a kind; ``more`` is what its config has otherwise, or at all."""
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.manual_seed(seed)
    config = AutoConfig.for_model(
        kind,
        **{
            "vocab_size": VOCABULARY,
            "initializer_range": 0.3,
            "bos_token_id": 1,
            "eos_token_id": 2,
            "pad_token_id": None,
            **MODELS.get(kind, ({},))[0],
            **more,
        },
    )
    # The faster way to run experts knows no float64.
    experts = kind in ("jamba", "lfm2_moe", "minimax")
    options = {"experts_implementation": "eager"} if experts else {}
    return AutoModelForCausalLM.from_config(config, **options).eval()


def requests() -> list[TokenSequence]:
    """Items whose beginnings and ends differ in length, read in part and as a whole."""
    generator = torch.Generator().manual_seed(1)

    def tokens(count: int) -> tuple[int, ...]:
        return tuple(torch.randint(3, VOCABULARY, (count,), generator=generator).tolist())

    asked = []
    shapes = [(21, (4, 5, 7, 5)), (24, (6, 6, 9)), (30, (3, 3)), (26, (8, 2, 11)), (1, (12, 9))]
    for family, (shared_tokens, ends) in enumerate(shapes):
        beginning = (1, *tokens(shared_tokens))
        for end in ends:
            ids = beginning + tokens(end)
            first = len(ids) - end if family % 2 else 1
            asked.append(TokenSequence(ids, tuple(range(first, len(ids))), True, family=family))
    return asked


class Memory:
    """A store in a dictionary."""

    def __init__(self) -> None:
        self.kept: dict[TokenSequence, np.ndarray] = {}
        self.puts = 0

    def get_many(self, sequences: Sequence[TokenSequence]) -> list[np.ndarray | None]:
        return [self.kept.get(sequence) for sequence in sequences]

    def put(self, results: Sequence[tuple[TokenSequence, np.ndarray]]) -> None:
        self.puts += 1
        self.kept.update(results)

"""Tiny models of every kind, with a tokenizer each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.tiny_encoders import CAUSAL, ENCODERS, encoder_tokenizer


@pytest.fixture(scope="session")
def made(
    make_tokenizer: Callable[..., Any], make_model: Callable[..., Any]
) -> Callable[[str], tuple[Any, Any]]:
    """``made(kind)``: a new tiny model without weights of anybody, and its tokenizer."""

    def make(kind: str) -> tuple[Any, Any]:
        if kind in CAUSAL:
            tokenizer = make_tokenizer()
            return make_model(kind, tokenizer), tokenizer
        import torch
        from transformers import AutoConfig, AutoModel

        tokenizer = encoder_tokenizer(kind)
        torch.manual_seed(0)
        special = {"bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}
        config = AutoConfig.for_model(
            kind,
            vocab_size=len(tokenizer),
            initializer_range=0.3,
            pad_token_id=0,
            **special,
            **ENCODERS[kind],
        )
        return AutoModel.from_config(config).eval(), tokenizer

    return make

"""Tiny encoders, and a tokenizer for each."""

from __future__ import annotations

from typing import Any

from tiny_tokenizers import byte_level
from tokenizers import processors

_PLAIN = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
}
_HALVES = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 64,
    "init_std": 0.3,
    "decoder_start_token_id": 2,
}
ENCODERS: dict[str, dict[str, Any]] = {
    "bert": _PLAIN,
    # Positions are counted from behind the padding's id.
    "roberta": _PLAIN,
    "mpnet": _PLAIN,
    "electra": {**_PLAIN, "embedding_size": 16},
    "albert": {**_PLAIN, "embedding_size": 16},
    "distilbert": {
        "dim": 32,
        "n_layers": 2,
        "n_heads": 4,
        "hidden_dim": 48,
        "max_position_embeddings": 64,
    },
    "modernbert": {**_PLAIN, "local_attention": 8},
    "deberta-v2": {**_PLAIN, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    # Encoders with a decoder; T5 puts nothing in front of a text.
    "t5": {
        "d_model": 32,
        "d_kv": 8,
        "d_ff": 48,
        "num_layers": 2,
        "num_heads": 4,
        "initializer_factor": 3.0,
        "decoder_start_token_id": 0,
    },
    "bart": _HALVES,
}
#: Causal models of the fixture ``make_model``.
CAUSAL = ("gpt2", "llama", "gpt_neox", "opt", "gemma2", "mamba")
KINDS = (*CAUSAL, *ENCODERS)


def encoder_tokenizer(kind: str) -> Any:
    """Byte-level BPE that puts tokens around a text, as the kind of encoder wants them."""
    from transformers import PreTrainedTokenizerFast

    backend = byte_level()
    template = "$A </s>" if kind == "t5" else "<s> $A </s>"
    backend.post_processor = processors.TemplateProcessing(
        single=template, special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    names = {} if kind == "t5" else {"cls_token": "<s>", "sep_token": "</s>"}
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="<unk>", eos_token="</s>", **names
    )

"""Tiny encoders and masked language models, and tokenizers for them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from support.tiny_tokenizers import TEXT, byte_level

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


#: Masked language models by architecture; ``llama`` sees all of a text, and predicts a masked token
#: one place before it.
MASKED = (
    *("bert", "roberta", "electra", "albert", "distilbert"),
    *("modernbert", "deberta-v2", "mpnet", "llama"),
)
_DECODER = {**ENCODERS["bert"], "num_key_value_heads": 2, "is_causal": False}


def word_pieces() -> Any:
    """BERT's kind of tokenizer: words and their pieces, [CLS] and [SEP] around a text."""
    from transformers import PreTrainedTokenizerFast

    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=120, special_tokens=names, show_progress=False)
    tokenizer.train_from_iterator(TEXT, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


def masked_tokenizer(kind: str) -> Any:
    """A tokenizer for an architecture: pieces of words, or bytes as RoBERTa has them."""
    if kind in ("bert", "electra", "distilbert", "mpnet"):
        return word_pieces()
    from transformers import PreTrainedTokenizerFast

    backend = byte_level()
    backend.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    made = PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token="<unk>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        mask_token="<mask>",
    )
    assert made.mask_token_id is not None
    return made


def masked_model(kind: str, tokenizer: Any, **overrides: Any) -> Any:
    """A masked language model with large random weights, in evaluation mode."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM

    torch.manual_seed(0)
    settings = {
        "vocab_size": len(tokenizer),
        "initializer_range": 0.3,
        "pad_token_id": tokenizer.pad_token_id,
        **(_DECODER if kind == "llama" else ENCODERS[kind]),
        "max_position_embeddings": 130,
        **overrides,
    }
    config = AutoConfig.for_model(kind, **settings)
    made = AutoModelForCausalLM if kind == "llama" else AutoModelForMaskedLM
    return made.from_config(config).eval()


def word_tokenizer(texts: Iterable[str]) -> Any:
    """A tokenizer of the words of some texts, which reads pairs as BERT does."""
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    backend = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.train_from_iterator(
        texts, trainers.WordLevelTrainer(special_tokens=special, show_progress=False)
    )
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    names = ("pad_token", "unk_token", "cls_token", "sep_token")
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, **dict(zip(names, special, strict=True))
    )


def save_word_encoder(folder: Path, texts: Iterable[str]) -> Path:
    """A BERT of one tiny layer, as it comes from masked language modelling: without a head."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    tokenizer = word_tokenizer(texts)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.2,
    )
    BertForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder

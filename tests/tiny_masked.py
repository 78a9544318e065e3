"""Tiny masked language models of several architectures, and tokenizers with a mask for them."""

from __future__ import annotations

from typing import Any

from tiny_encoders import ENCODERS
from tiny_tokenizers import TEXT, byte_level
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

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

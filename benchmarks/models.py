"""Models of known shapes with random weights: what they compute costs what trained ones cost."""

from __future__ import annotations

import hashlib
from typing import Any

#: By name: what is shaped so.
SHAPES = {
    "tiny": "two layers of 32, for tests of this program",
    "tiny-bert": "the same, masked",
    "bert": "BERT base, 110M parameters",
    "16m": "Llama's layers, 16M parameters, GPT-2's vocabulary",
    "gpt2": "GPT-2 small, 124M parameters",
    "1.5b": "GPT-2 XL, 1.5B parameters",
    "7b": "Llama 2 7B, 6.7B parameters",
}


#: Those of masked language models.
MASKED_SHAPES = frozenset({"tiny-bert", "bert"})


def make_config(shape: str) -> Any:
    """The config of a shape."""
    from transformers import BertConfig, GPT2Config, LlamaConfig

    if shape == "tiny-bert":
        small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
        return BertConfig(intermediate_size=64, **small)
    if shape == "bert":
        return BertConfig()
    if shape == "tiny":
        return GPT2Config(n_embd=32, n_layer=2, n_head=2, vocab_size=30000)
    if shape == "16m":
        sizes = {"hidden_size": 192, "intermediate_size": 768, "num_hidden_layers": 11}
        special = {"bos_token_id": 0, "eos_token_id": 0, "vocab_size": 50257}
        return LlamaConfig(num_attention_heads=6, tie_word_embeddings=True, **sizes, **special)
    if shape == "gpt2":
        return GPT2Config()
    if shape == "1.5b":
        return GPT2Config(n_embd=1600, n_layer=48, n_head=25)
    # As many keys and values as queries; the vocabulary's two extra ids are those of its specials.
    return LlamaConfig(max_position_embeddings=4096, bos_token_id=0, eos_token_id=0)


def make_model(
    shape: str, device: str = "cpu", dtype: str = "float32", seed: int = 0, vocabulary: int = 0
) -> Any:
    """A model in evaluation mode; the same weights for the same seed, device and dtype.

    Its ``vocabulary`` is that of the shape, or as many tokens if those are more.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    made = AutoModelForMaskedLM if shape in MASKED_SHAPES else AutoModelForCausalLM
    torch.manual_seed(seed)
    config = make_config(shape)
    config.vocab_size = max(config.vocab_size, vocabulary)
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, dtype))
    try:
        with torch.device(device):
            model = made.from_config(config)
    finally:
        torch.set_default_dtype(before)
    if shape not in MASKED_SHAPES:
        model.generation_config.pad_token_id = 0
    return model.eval()


def fingerprint(model: Any) -> str:
    """A digest of some weights of every tensor: tools are compared on one model or not at all."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.flatten()[:16].float().cpu().numpy().tobytes())
    return digest.hexdigest()[:16]


def floating_point_work(config: Any, plan: Any) -> float:
    """Floating-point operations that a plan needs, padding left out.

    Two for each weight of a matrix and token, two passes of attention over what stands before a
    token (and itself; in a masked text over all of it), two for each weight of the head and row of
    logits that is read.
    """
    hidden, layers = config.hidden_size, config.num_hidden_layers
    inner = getattr(config, "intermediate_size", None) or 4 * hidden
    # Llama's feed-forward has three matrices, GPT-2's two.
    matrices = 3 if config.model_type == "llama" else 2
    body = layers * (4 * hidden * hidden + matrices * hidden * inner)
    read, attended = 0, 0
    for batch in plan.batches:
        for group, shared in zip(batch.groups, batch.shared, strict=True):
            read += shared
            attended += _triangle(0, shared)
            for index in group:
                member = plan.sequences[index]
                read += member.length - shared
                whole = member.masked is not None
                attended += member.length**2 if whole else _triangle(shared, member.length)
    return float(
        2 * body * read
        + 4 * hidden * layers * attended
        + 2 * hidden * config.vocab_size * plan.head_rows
    )


def _triangle(start: int, end: int) -> int:
    """How many tokens the tokens from ``start`` to ``end`` look at, each at itself too."""
    return (end * (end + 1) - start * (start + 1)) // 2

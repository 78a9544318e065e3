"""How much a batch may take of the memory that a GPU has free."""

from __future__ import annotations

from typing import Any

from coherencegym.eval.models.placement import input_device
from coherencegym.eval.plan.plan import Budget, Sizes, budget_for

#: What configs call the width of the middle of a feed-forward block.
_INNER = ("intermediate_size", "n_inner", "ffn_dim", "d_ff", "ffn_hidden_size")


def free_budget(model: Any) -> Budget | None:
    """What a batch may take of the free memory of the model's GPU; None where it has none.

    A model that is spread over several is measured on the first.

    Args:
        model: a causal language model with its weights in place.
    """
    device = input_device(model)
    config = getattr(model, "config", None)
    if device.type != "cuda" or config is None:
        return None
    import torch

    free, _ = torch.cuda.mem_get_info(device)
    item_bytes = model.get_input_embeddings().weight.element_size()
    return budget_for(free, sizes_of(config, item_bytes))


def sizes_of(config: Any, item_bytes: int) -> Sizes:
    """What a model of this config needs memory for.

    Args:
        config: of transformers.
        item_bytes: of one number of the model's activations.
    """
    text = config.get_text_config()
    width = int(getattr(text, "hidden_size", 0) or 1024)
    inner = next(
        (int(value) for name in _INNER if isinstance(value := getattr(text, name, None), int)),
        4 * width,
    )
    return Sizes(
        layers=int(getattr(text, "num_hidden_layers", 0) or 1),
        width=width,
        inner=inner,
        vocabulary=int(getattr(text, "vocab_size", 0) or 1),
        item_bytes=item_bytes,
    )

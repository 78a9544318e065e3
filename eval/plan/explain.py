"""Budgets of a plan: how many tokens fit into a forward pass on a device."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from coherencegym.eval.models.placement import input_device
from coherencegym.eval.plan.plan import Budget

#: Budgets by device type, and that of all others. A CPU gains nothing from more.
_BUDGETS = {"cpu": Budget(tokens=1024, head_rows=320, cached=1024)}
_ELSEWHERE = Budget(tokens=8192, head_rows=2048, cached=32768)
#: Names that configs have for the width of the middle of a feed-forward block.
_INNER = ("intermediate_size", "n_inner", "ffn_dim", "d_ff", "ffn_hidden_size")


def default_budget(
    device: str, batch_tokens: int | None = None, budget: Budget | None = None
) -> Budget:
    """The budget on a device of this type, such as ``cpu`` or ``cuda``.

    ``batch_tokens`` is another number for most tokens in a forward pass, if somebody wants one;
    ``budget`` is from the free memory, where it is known.
    """
    budget = budget or _BUDGETS.get(device, _ELSEWHERE)
    return budget if batch_tokens is None else budget.scaled(batch_tokens)


def free_budget(model: Any, *, states: bool = False) -> Budget | None:
    """The budget for the free memory of the GPU that a model is on, or of the first of several.

    With ``states`` the hidden states of all layers are held. None where it is on no GPU.
    """
    device = input_device(model)
    config = getattr(model, "config", None)
    if device.type != "cuda" or config is None:
        return None
    import torch

    free, _ = torch.cuda.mem_get_info(device)
    # What torch holds of an earlier table and does not use is free as well.
    free += torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    item_bytes = model.get_input_embeddings().weight.element_size()
    return budget_for(free, config, item_bytes, states=states)


def budget_for(free: int, config: Any, item_bytes: int, *, states: bool = False) -> Budget:
    """The budget for some free memory (bytes): powers of two, so that runs are alike.

    Half of the memory is left for what cannot be foreseen; the rest goes to activations, logits
    and shared beginnings in equal parts.

    Args:
        free: bytes.
        config: that of the model.
        item_bytes: size of the numbers of its activations.
        states: a token holds its states after all layers as well.
    """
    text = config.get_text_config()
    layers = int(getattr(text, "num_hidden_layers", 0) or 1)
    width = int(getattr(text, "hidden_size", 0) or 1024)
    vocabulary = int(getattr(text, "vocab_size", 0) or 1)
    named = (getattr(text, name, None) for name in _INNER)
    inner = next((value for value in named if isinstance(value, int)), 4 * width)

    def fits(each: int, least: int, most: int) -> int:
        count = free // 6 // max(1, each)
        return max(least, min(most, 1 << max(0, count.bit_length() - 1)))

    # Of a token in one block its input, three projections and the middle.
    token = item_bytes * (6 * width + 4 * inner + (layers + 1) * width * states)
    return replace(
        _ELSEWHERE,
        tokens=fits(token, 256, 1 << 17),
        # With a copy in float32.
        head_rows=fits(vocabulary * (item_bytes + 4), 64, 1 << 15),
        # Keys and values are held twice while they are handed on.
        cached=fits(2 * 2 * layers * width * item_bytes, 256, 1 << 19),
    )

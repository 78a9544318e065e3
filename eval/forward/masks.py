"""Masks of packed rows: tables of all pairs of tokens, which torch's fused kernels take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coherencegym.eval.forward.logits import Forward

if TYPE_CHECKING:
    import torch


def unmasked_layer(model: Any) -> str:
    """Name what carries from token to token beside attention; empty where nothing is known to.

    No mask reaches a convolution or a recurrence, so that a packed row would see its neighbours.
    """
    import torch

    decoder = model.get_decoder() if hasattr(model, "get_decoder") else model
    for module in decoder.modules():
        if isinstance(module, torch.nn.Conv1d) and max(module.kernel_size) > 1:
            return "a convolution"
    kinds = getattr(model.config.get_text_config(), "layer_types", None) or ()
    recurrent = getattr(model, "_is_stateful", False) or "linear_attention" in kinds
    return "a recurrence" if recurrent else ""


def masks(forward: Forward, positions: torch.Tensor, texts: torch.Tensor, reached: int) -> Any:
    """Masks of packed rows for each kind of a model's layers, or one for all of them.

    A mask of pairs is taken as it is, so that a layer's window has to be in it. Masks are made on
    the device, as there are many more pairs than tokens.

    Args:
        forward: the model.
        positions: shape (B, T), of each token in its own text.
        texts: shape (B, T), which text of its row a token is of; 0: what all of them begin with.
        reached: the longest text, in tokens.

    Returns:
        Tables of what is added to weights, shape (B, 1, T, T): 0 where a token is seen.
    """
    looks, at = positions[:, :, None], positions[:, None]
    own, other = texts[:, :, None], texts[:, None]
    seen = ((own == other) | (other == 0)) & (at <= looks)
    limits = forward.limits
    windows = {}
    if 0 < limits.sliding < reached:
        windows["sliding_attention"] = seen & (looks - at < limits.sliding)
    if 0 < limits.chunk < reached:
        windows["chunked_attention"] = seen & (looks // limits.chunk == at // limits.chunk)
    if not windows:
        return added(seen, forward.dtype)
    if not limits.layers:
        # One mask serves all layers, and so all have the window.
        return added(next(iter(windows.values())), forward.dtype)
    made = {kind: added(own_window, forward.dtype) for kind, own_window in windows.items()}
    full = added(seen, forward.dtype)
    return {kind: made.get(kind, full) for kind in limits.layers}


def added(seen: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """A table to be added, shape (B, 1, T, T): 0 for pairs that see each other, shape (B, T, T)."""
    import torch

    count, length, _ = seen.shape
    # Its rows begin at multiples of eight numbers: else torch copies it for its memory-efficient
    # kernel in every layer. (FlashAttention takes no mask.)
    wide = -(-length // 8) * 8
    table = torch.full(
        (count, 1, length, wide), torch.finfo(dtype).min, dtype=dtype, device=seen.device
    )
    return table[..., :length].masked_fill_(seen[:, None], 0)

"""Masks of packed rows, in the form that the fastest kernel takes: a table, or a rule.

torch's fused kernels take a table of all pairs of tokens, where number format, size of a head and
device allow it; torch itself says whether they do. Where none does, all weights of attention would
be written down in every layer. FlexAttention takes a rule instead, and leaves out blocks of pairs
that do not see each other: it stands in where transformers has it for the model, and it is what a
model goes by that was loaded with it (``attn_implementation=flex_attention``). It is compiled for
the first rows that it gets and once more for others, which takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from coherencegym.eval.forward.logits import Forward

if TYPE_CHECKING:
    import torch

#: Name that transformers gives FlexAttention.
FLEX = "flex_attention"
#: Says whether tokens that look see others, from the positions of both in their own texts and from
#: the texts; these four have shapes that go together.
Rule = Callable[["torch.Tensor", "torch.Tensor", "torch.Tensor", "torch.Tensor"], "torch.Tensor"]


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


@contextmanager
def attending(forward: Forward) -> Iterator[bool]:
    """Let a model attend to packed rows by FlexAttention, where :func:`takes_rules` says so.

    Yields:
        True where the model takes rules as masks now.
    """
    model = forward.model
    usual, by_rule = _usual(model), takes_rules(forward)
    if not by_rule or usual == FLEX:
        yield by_rule
        return
    model.set_attn_implementation(FLEX)
    try:
        yield True
    finally:
        model.set_attn_implementation(usual)


def takes_rules(forward: Forward) -> bool:
    """Find out whether FlexAttention attends to packed rows: by choice, or as no fused kernel takes
    their table."""
    usual = _usual(forward.model)
    return usual == FLEX or (_has_flex(forward.model) and _writes_weights_down(forward, usual))


def _usual(model: Any) -> str | None:
    return getattr(model.config, "_attn_implementation", None)


def _has_flex(model: Any) -> bool:
    return bool(getattr(model, "_supports_flex_attn", False)) and hasattr(
        model, "set_attn_implementation"
    )


def _writes_weights_down(forward: Forward, usual: str | None) -> bool:
    # On a GPU without a fused kernel for attention by a table.
    if forward.device.type != "cuda":
        # The others have a kernel that takes any table, or one way to attend.
        return False
    if usual == "eager":
        # By choice, unless the model has nothing else.
        return not getattr(forward.model, "_supports_sdpa", False)
    return usual == "sdpa" and not _fused(forward)


def _fused(forward: Forward) -> bool:
    config = forward.model.config.get_text_config()
    heads = config.num_attention_heads
    size = getattr(config, "head_dim", None) or config.hidden_size // heads
    return _takes_table(heads, size, forward.dtype, forward.device)


@cache
def _takes_table(heads: int, size: int, dtype: torch.dtype, device: torch.device) -> bool:
    # Asked once, and not for every batch.
    import torch

    tokens = torch.zeros((1, heads, 8, size), dtype=dtype, device=device)
    seen = torch.ones((1, 8, 8), dtype=torch.bool, device=device)
    by_torch = torch.backends.cuda
    asked = by_torch.SDPAParams(tokens, tokens, tokens, added(seen, dtype), 0.0, False, False)
    return bool(
        by_torch.can_use_efficient_attention(asked) or by_torch.can_use_cudnn_attention(asked)
    )


def masks(
    forward: Forward,
    positions: torch.Tensor,
    texts: torch.Tensor,
    reached: int,
    by_rule: bool = False,
) -> Any:
    """Masks of packed rows for each kind of a model's layers, or one for all of them.

    A mask of pairs is taken as it is, so that a layer's window has to be in it. Masks are made on
    the device, as there are many more pairs than tokens.

    Args:
        forward: the model.
        positions: shape (B, T), of each token in its own text.
        texts: shape (B, T), which text of its row a token is of; 0: what all of them begin with.
        reached: the longest text, in tokens.
        by_rule: make what FlexAttention takes; else tables of what is added to weights, shape
            (B, 1, T, T): 0 where a token is seen.
    """
    make = partial(_block_mask if by_rule else _table, positions, texts, forward.dtype)
    limits = forward.limits
    windows: dict[str, Rule] = {}
    if 0 < limits.sliding < reached:
        windows["sliding_attention"] = lambda looks, at, *of: (
            _seen(looks, at, *of) & (looks - at < limits.sliding)
        )
    if 0 < limits.chunk < reached:
        windows["chunked_attention"] = lambda looks, at, *of: (
            _seen(looks, at, *of) & (looks // limits.chunk == at // limits.chunk)
        )
    if not windows:
        return make(_seen)
    if not limits.layers:
        # One mask serves all layers, and so all have the window.
        return make(next(iter(windows.values())))
    made = {kind: make(rule) for kind, rule in windows.items()}
    full = make(_seen)
    return {kind: made.get(kind, full) for kind in limits.layers}


def _seen(
    looks: torch.Tensor, at: torch.Tensor, own: torch.Tensor, other: torch.Tensor
) -> torch.Tensor:
    return ((own == other) | (other == 0)) & (at <= looks)


def _table(
    positions: torch.Tensor, texts: torch.Tensor, dtype: torch.dtype, rule: Rule
) -> torch.Tensor:
    seen = rule(positions[:, :, None], positions[:, None], texts[:, :, None], texts[:, None])
    return added(seen, dtype)


def _block_mask(
    positions: torch.Tensor, texts: torch.Tensor, dtype: torch.dtype, rule: Rule
) -> Any:
    from torch.nn.attention.flex_attention import create_block_mask

    def sees(
        row: torch.Tensor, head: torch.Tensor, looks: torch.Tensor, at: torch.Tensor
    ) -> torch.Tensor:
        return rule(positions[row, looks], positions[row, at], texts[row, looks], texts[row, at])

    count, length = positions.shape
    return create_block_mask(sees, count, None, length, length, device=positions.device)


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

"""The output head while surprisals are read: exact in half precision, in one place in float32.

A logit around 20 has steps of 0.125 in bfloat16, and so would surprisals. The weights and the
hidden state that the head multiplies are what they are; their products are summed, and handed on,
in float32. What the model does with its logits afterwards (scaling, soft-capping) it does in
float32 then.

Logits are large: those of 320 tokens take 64 MB under GPT-2's vocabulary. On a CPU the system would
clear fresh pages for them in every pass, which takes longer than it takes to read them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

#: Weights that are float32 at one time, where the device cannot sum halves in float32 (32 MB).
_ELEMENTS = 2**23


@contextmanager
def float32_head(model: Any) -> Iterator[bool]:
    """Let a model's output head give float32 within this context; the module comes back as it was.

    Only a plain linear head with half-precision weights is changed: not a quantized one, not one
    that an adapter has wrapped, not one whose weights are elsewhere until they are needed, and not
    one that somebody hooks into.

    Args:
        model: a causal language model of transformers.

    Yields:
        Whether the head is changed.
    """
    import torch

    head = _plain_head(model, torch.bfloat16, torch.float16)
    if head is None:
        yield False
        return
    sums = _sums_in_float32(head.weight)

    def forward(hidden: torch.Tensor) -> torch.Tensor:
        if sums and hidden.dtype == head.weight.dtype:
            return _in_one(hidden, head.weight, head.bias)
        return _in_parts(hidden, head.weight, head.bias)

    with _changed(head, forward):
        yield True


@contextmanager
def reused_logits(model: Any) -> Iterator[bool]:
    """Let a float32 head on a CPU write its logits where it wrote those of the pass before.

    Within this context the logits of one pass are gone with the next. The heads left alone are
    those of :func:`float32_head`; without inference mode the head does what it always does.

    Args:
        model: a causal language model of transformers.

    Yields:
        Whether the head is changed.
    """
    import torch

    head = _plain_head(model, torch.float32)
    if head is None or head.weight.device.type != "cpu" or hasattr(head, "_hf_hook"):
        yield False
        return
    held = torch.empty(0)

    def forward(hidden: torch.Tensor) -> torch.Tensor:
        nonlocal held
        weight, bias = head.weight, head.bias
        if not torch.is_inference_mode_enabled() or hidden.dtype != weight.dtype:
            return torch.nn.functional.linear(hidden, weight, bias)
        rows = hidden.reshape(-1, hidden.shape[-1])
        size = rows.shape[0] * weight.shape[0]
        if held.numel() < size:
            held = torch.empty(0)  # the old place is free before there is a new one
            held = torch.empty(size)
        logits = held[:size].view(rows.shape[0], weight.shape[0])
        torch.mm(rows, weight.t(), out=logits)
        if bias is not None:
            logits += bias
        return logits.view(*hidden.shape[:-1], weight.shape[0])

    with _changed(head, forward):
        yield True


@contextmanager
def _changed(head: Any, forward: Callable[[torch.Tensor], torch.Tensor]) -> Iterator[None]:
    """A head with another forward within this context."""
    # Where accelerate has put a step around the forward (which moves what goes in), it stays.
    name = "_old_forward" if hasattr(head, "_hf_hook") else "forward"
    before = head.__dict__.get(name)
    setattr(head, name, forward)
    try:
        yield
    finally:
        if before is None:
            delattr(head, name)
        else:
            setattr(head, name, before)


def _plain_head(model: Any, *dtypes: torch.dtype) -> Any:
    """The output head if it is a linear layer of torch with weights of such a type, else None."""
    import torch

    try:
        head = model.get_output_embeddings()
    except (AttributeError, NotImplementedError):
        return None
    # Subclasses, of the layer or of its weights, are quantized, adapted or sharded ones.
    if type(head) is not torch.nn.Linear or type(head.weight) is not torch.nn.Parameter:
        return None
    if head.weight.dtype not in dtypes or head.weight.device.type == "meta":
        return None
    if head._forward_hooks or head._forward_pre_hooks:
        return None
    if "forward" in head.__dict__ and "_old_forward" not in head.__dict__:
        return None
    return head


def _sums_in_float32(weight: torch.Tensor) -> bool:
    """Whether this device multiplies halves into a float32 product."""
    import torch

    if weight.device.type != "cuda":
        return False
    try:
        small = torch.zeros(16, 16, dtype=weight.dtype, device=weight.device)
        # Older releases of torch have no such argument.
        return bool(torch.mm(small, small, out_dtype=torch.float32).dtype == torch.float32)
    except (RuntimeError, TypeError, NotImplementedError):
        return False


def _in_one(hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """Logits, shape (..., V), float32, of hidden states, shape (..., D), by weights (V, D)."""
    import torch

    rows = hidden.reshape(-1, hidden.shape[-1])
    logits = torch.mm(rows, weight.t(), out_dtype=torch.float32)
    if bias is not None:
        logits += bias.float()
    return logits.reshape(*hidden.shape[:-1], weight.shape[0])


def _in_parts(
    hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None
) -> torch.Tensor:
    """The same, a part of the vocabulary at a time: few weights are copied at once."""
    import torch

    hidden = hidden.float()
    logits = hidden.new_empty(*hidden.shape[:-1], weight.shape[0])
    step = max(1, _ELEMENTS // weight.shape[1])
    for start in range(0, weight.shape[0], step):
        part = slice(start, start + step)
        own = bias[part].float() if bias is not None else None
        logits[..., part] = torch.nn.functional.linear(hidden, weight[part].float(), own)
    return logits

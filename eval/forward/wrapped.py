"""Changes to a model while surprisals are read: faster, and more exact in half precision.

Each is a context in which a causal language model of transformers, in evaluation mode, is another;
afterwards it is what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from coherencegym.eval.models.machine import send

if TYPE_CHECKING:
    import numpy as np
    import torch

#: Weights that are float32 at one time, where the device cannot sum halves in float32 (32 MB).
_ELEMENTS = 2**23


@contextmanager
def fused_activations(model: Any) -> Iterator[None]:
    """Use torch's own tanh approximation of GELU where transformers spells it out, as for GPT-2.

    ``NewGELUActivation`` computes 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) step by step, in
    four passes over memory, and ``torch.nn.GELU(approximate="tanh")`` the same at once.
    """
    import torch
    from transformers.activations import NewGELUActivation

    replaced = [
        (parent, name, child)
        for parent in model.modules()
        for name, child in parent.named_children()
        if type(child) is NewGELUActivation and not child._forward_hooks
    ]
    for parent, name, _ in replaced:
        setattr(parent, name, torch.nn.GELU(approximate="tanh"))
    try:
        yield
    finally:
        for parent, name, child in replaced:
            setattr(parent, name, child)


@contextmanager
def float32_head(model: Any) -> Iterator[bool]:
    """Let a half-precision model's output head give float32.

    A logit around 20 has steps of 0.125 in bfloat16, and so would surprisals. The weights and the
    hidden state that the head multiplies are what they are; their products are summed, and handed
    on, in float32. What the model does with its logits afterwards (scaling, soft-capping) it does
    in float32 then.

    Only a plain linear head with half-precision weights is changed: not a quantized one, not one
    that an adapter has wrapped, not one whose weights are elsewhere until they are needed, and not
    one that somebody hooks into.

    Yields:
        True where the head is changed.
    """
    head = _plain_head(model, *_halves())
    if head is None:
        yield False
        return
    sums = _sums_in_float32(head.weight)

    def forward(hidden: torch.Tensor) -> torch.Tensor:
        if sums and hidden.dtype == head.weight.dtype:
            return _in_one(hidden, head.weight, head.bias)
        return _in_parts(hidden, head.weight, head.bias)

    # Where accelerate has put a step around the forward (which moves what goes in), it stays.
    name = "_old_forward" if hasattr(head, "_hf_hook") else "forward"
    before = head.__dict__.get(name)
    setattr(head, name, forward)
    try:
        yield True
    finally:
        if before is None:
            delattr(head, name)
        else:
            setattr(head, name, before)


def _plain_head(model: Any, *dtypes: torch.dtype) -> Any:
    # Of one of these formats; None where the model has no such head.
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
    # This device multiplies halves into a float32 product.
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
    # Hidden states, shape (..., D), weights (V, D); logits, shape (..., V), float32.
    import torch

    rows = hidden.reshape(-1, hidden.shape[-1])
    logits = torch.mm(rows, weight.t(), out_dtype=torch.float32)
    if bias is not None:
        logits += bias.float()
    return logits.reshape(*hidden.shape[:-1], weight.shape[0])


def _in_parts(
    hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None
) -> torch.Tensor:
    # A part of the vocabulary at a time, so that few weights are copied at once.
    import torch

    hidden = hidden.float()
    logits = hidden.new_empty(*hidden.shape[:-1], weight.shape[0])
    step = max(1, _ELEMENTS // weight.shape[1])
    for start in range(0, weight.shape[0], step):
        part = slice(start, start + step)
        own = bias[part].float() if bias is not None else None
        logits[..., part] = torch.nn.functional.linear(hidden, weight[part].float(), own)
    return logits


@contextmanager
def head_of_rows(model: Any, rows: torch.Tensor, shape: Sequence[int]) -> Iterator[None]:
    """Let a model's output head compute the logits of some rows only: shape (rows, V).

    They are looked up by number. A mask, as ``logits_to_keep`` takes one, has to be counted first,
    and the host would wait for the device to tell it how many there are.

    Args:
        model: one with an output head.
        rows: increasing places in the batch, counted through all of its texts.
        shape: (B, T) of the batch.
    """

    def select(head: Any, arguments: Any) -> Any:
        hidden, *more = arguments
        if hidden.shape[:-1] != shape:
            raise ValueError("the head is not asked about each token of the batch")
        flat = hidden.reshape(-1, hidden.shape[-1])
        return (flat.index_select(0, send(rows, hidden.device)), *more)

    handle = model.get_output_embeddings().register_forward_pre_hook(select)
    try:
        yield
    finally:
        handle.remove()


#: Entries of the vocabulary whose logits a processor holds at one time, and rows of them.
_TILE, _TILE_ROWS = 1024, 1024
#: What stands for logits that nobody sees: whoever changes them changes this number.
_UNSEEN = 1.25


@contextmanager
def head_in_tiles(
    model: Any, answer: Callable[[Any, torch.Tensor], torch.Tensor]
) -> Iterator[Callable[[Any], torch.Tensor | None]]:
    """Let a model's output head hand its input to a function, and no logits to the model.

    Args:
        model: one for which :func:`takes_tiles` is true.
        answer: is given the head and its input, shape (rows, D).

    Yields:
        A function that gives the answer, from what the model has made of its logits; None where it
        has made something else of them (a scale, a cap), which the answer lacks.
    """
    head = model.get_output_embeddings()
    answers: list[torch.Tensor] = []
    unseen: list[torch.Tensor] = []

    def forward(hidden: torch.Tensor) -> torch.Tensor:
        answers.append(answer(head, hidden))
        unseen.append(hidden.new_full((*hidden.shape[:-1], 1), _UNSEEN))
        return unseen[-1]

    def answer_of(logits: Any) -> torch.Tensor | None:
        is_same = len(unseen) == 1 and logits is unseen[0] and bool((logits == _UNSEEN).all())
        return answers[0] if is_same else None

    head.forward = forward
    try:
        yield answer_of
    finally:
        del head.forward


def takes_tiles(model: Any) -> bool:
    """True where a processor reads logits faster by parts: of a plain head in float32."""
    import torch

    head = _plain_head(model, torch.float32)
    # What accelerate has put around a forward stays.
    return head is not None and head.weight.device.type == "cpu" and "forward" not in head.__dict__


def nats_in_tiles(
    head: Any, hidden: torch.Tensor, rows: np.ndarray, tokens: np.ndarray
) -> torch.Tensor:
    """Surprisals (nats, float32) of tokens by rows of a head's input, shape (rows, D).

    The logits of a part of the vocabulary are summed while they are in the processor's cache, and
    all of them are never held: of 50,000 tokens they are 200 kB a row.
    """
    import numpy as np
    import torch

    largest = hidden.new_full((len(hidden),), torch.finfo(hidden.dtype).min)
    sums, chosen = torch.zeros_like(largest), hidden.new_empty(len(tokens))
    blocks = [each.split(_TILE_ROWS) for each in (hidden, largest, sums)]
    tile_of = tokens // _TILE * len(blocks[0]) + rows // _TILE_ROWS
    order = np.argsort(tile_of, kind="stable")
    starts = range(0, len(head.weight), _TILE)
    ends = np.searchsorted(tile_of[order], np.arange(len(starts) * len(blocks[0]) + 1))
    for tile, start in enumerate(starts):
        part = slice(start, start + _TILE)
        bias = None if head.bias is None else head.bias[part]
        for block, (own, most, total) in enumerate(zip(*blocks, strict=True)):
            logits = torch.nn.functional.linear(own, head.weight[part], bias)
            first, last = ends[tile * len(blocks[0]) + block :][:2]
            asked = order[first:last]
            places = (rows[asked] - block * _TILE_ROWS, tokens[asked] - start)
            chosen[torch.from_numpy(asked)] = logits[tuple(map(torch.from_numpy, places))]
            more = torch.maximum(most, logits.amax(dim=1))
            total.mul_((most - more).exp_()).add_(logits.sub_(more[:, None]).exp_().sum(dim=1))
            most.copy_(more)
    return (largest + sums.log())[torch.from_numpy(rows)] - chosen


def _halves() -> tuple[torch.dtype, torch.dtype]:
    import torch

    return torch.float16, torch.bfloat16

"""A half-precision model that computes in float32 for a while, a layer at a time.

The weights stay what they are: each block has float32 copies of its own only while it is run, so
that no second model has to fit into the memory. What comes of it is what the same weights give
without rounding on the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@contextmanager
def in_float32(model: Any) -> Iterator[None]:
    """Let a model compute in float32 within this context; it comes back as it was.

    Quantized layers stay what they are. A forward that turns numbers into half precision by itself
    either raises (a ``RuntimeError`` of torch) or rounds there.

    Args:
        model: a causal language model of transformers, in evaluation mode; its output head may be
            changed by :func:`eval.forward.head.float32_head` already.
    """
    import torch

    head = model.get_output_embeddings()
    handles = []
    widened: list[_Widened] = []
    for module, whole in _units(model):
        if type(module) is torch.nn.Embedding:
            # Rows are looked up and not computed: the few that are read are widened, not the table.
            handles.append(module.register_forward_hook(_widen_output))
        elif module is head and "forward" in head.__dict__:
            continue
        else:
            unit = _Widened(module, whole)
            widened.append(unit)
            handles.append(module.register_forward_pre_hook(unit.widen))
            handles.append(module.register_forward_hook(unit.restore, always_call=True))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
        for unit in widened:
            unit.restore()


def _units(model: Any) -> Iterator[tuple[Any, bool]]:
    """Modules that are widened while they run: blocks as a whole, others by their own weights."""
    import torch

    def below(module: Any) -> Iterator[tuple[Any, bool]]:
        if next(module.parameters(recurse=False), None) is not None:
            yield module, False
        for child in module.children():
            if isinstance(module, torch.nn.ModuleList) and any(True for _ in child.parameters()):
                yield child, True
            else:
                yield from below(child)

    yield from below(model)


def _widen_output(module: Any, arguments: Any, output: Any) -> Any:
    return output.float() if output.is_floating_point() else output


@dataclass
class _Widened:
    """One module's weights, and what they were."""

    module: Any
    whole: bool
    _before: list[tuple[Any, Any]] = field(default_factory=list)

    def widen(self, *_: Any) -> None:
        import torch

        halves = (torch.float16, torch.bfloat16)
        tensors = [
            *self.module.parameters(recurse=self.whole),
            *self.module.buffers(recurse=self.whole),
        ]
        for tensor in tensors:
            if tensor.dtype in halves:
                self._before.append((tensor, tensor.data))
                tensor.data = tensor.data.float()

    def restore(self, *_: Any) -> None:
        while self._before:
            tensor, data = self._before.pop()
            tensor.data = data

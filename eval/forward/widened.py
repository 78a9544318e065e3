"""A half-precision model that computes in float32, without a second copy of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from coherencegym.eval.forward.wrapped import _halves


@contextmanager
def in_float32(model: Any) -> Iterator[None]:
    """Let a half-precision model compute in float32, without rounding on the way.

    The weights stay what they are: each block has float32 copies of its own only while it is run,
    so that no second model has to fit into the memory. Quantized layers stay as they are, and so
    does a head that :func:`float32_head` has changed. A forward that turns numbers into half
    precision by itself either raises (a ``RuntimeError`` of torch) or rounds there.
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


def _units(module: Any) -> Iterator[tuple[Any, bool]]:
    # Blocks as a whole, other modules by their own weights.
    import torch

    if next(module.parameters(recurse=False), None) is not None:
        yield module, False
    for child in module.children():
        if isinstance(module, torch.nn.ModuleList) and any(True for _ in child.parameters()):
            yield child, True
        else:
            yield from _units(child)


def _widen_output(module: Any, arguments: Any, output: Any) -> Any:
    return output.float() if output.is_floating_point() else output


@dataclass
class _Widened:
    module: Any
    whole: bool
    _before: list[tuple[Any, Any]] = field(default_factory=list)

    def widen(self, *_: Any) -> None:
        parameters = self.module.parameters(recurse=self.whole)
        for tensor in [*parameters, *self.module.buffers(recurse=self.whole)]:
            if tensor.dtype in _halves():
                self._before.append((tensor, tensor.data))
                tensor.data = tensor.data.float()

    def restore(self, *_: Any) -> None:
        while self._before:
            tensor, data = self._before.pop()
            tensor.data = data

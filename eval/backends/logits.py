"""One forward pass, with logits only where a surprisal is read."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

#: Rows of logits turned into surprisals at once; bounds the float32 copies that this takes.
_ROWS = 64


@dataclass
class Forward:
    """A causal language model as the backends call it.

    No attention mask and no positions are passed: what stands behind a token cannot change what a
    causal model says about it, in recurrent models too, so that padding on the right is harmless.

    Attributes:
        model: in evaluation mode.
        keeps_rows: its forward selects rows by a mask; found out on the way.
        has_cache: its forward takes ``use_cache``.
    """

    model: Any
    keeps_rows: bool = False
    has_cache: bool = False

    def __post_init__(self) -> None:
        accepted = inspect.signature(self.model.forward).parameters
        self.keeps_rows = "logits_to_keep" in accepted
        self.has_cache = "use_cache" in accepted

    @property
    def device(self) -> Any:
        """Where token ids go: the device of the input embeddings."""
        return self.model.get_input_embeddings().weight.device

    @property
    def dtype(self) -> Any:
        """The number format of the activations: that of the input embeddings."""
        return self.model.get_input_embeddings().weight.dtype

    @property
    def is_exact(self) -> bool:
        """Whether the promised accuracy (1e-4 bits a token) holds without a measurement."""
        import torch

        return self.dtype in (torch.float32, torch.float64)

    def rows(
        self, ids: torch.Tensor, read: torch.Tensor, cache: Any = None, keep_cache: bool = False
    ) -> tuple[torch.Tensor, Any]:
        """Logits where they are read.

        Args:
            ids: token ids, shape (B, T), on the model's device.
            read: shape (B, T), bool, on the same device.
            cache: what an earlier pass left; changed by this one.
            keep_cache: whether to leave one.

        Returns:
            Logits, shape (rows read, vocabulary), in the order of ``read`` row by row, and the
            model's output.
        """
        arguments: dict[str, Any] = {}
        if self.has_cache:
            arguments["use_cache"] = keep_cache or cache is not None
        if cache is not None:
            arguments["past_key_values"] = cache
        if self.keeps_rows:
            try:
                output = self.model(input_ids=ids, logits_to_keep=read, **arguments)
                if output.logits.ndim == 2:
                    return output.logits, output
            except (IndexError, TypeError):
                if cache is not None:
                    raise
            # This forward knows only the older, one-dimensional form.
            self.keeps_rows = False
            if cache is not None:
                raise RuntimeError("a forward pass that selects no rows has changed the cache")
        output = self.model(input_ids=ids, **arguments)
        return output.logits[read.to(output.logits.device)], output


def surprisals(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Bits, shape (N,), float64, of targets, shape (N,), under logits, shape (N, vocabulary).

    Log-sum-exp minus the target's logit, in float32: more exact than a float32 log_softmax.
    """
    import torch

    bits = [torch.empty(0, dtype=torch.float64, device=logits.device)]
    for rows, wanted in zip(logits.split(_ROWS), targets.split(_ROWS), strict=True):
        rows = rows.float()
        chosen = rows.gather(1, wanted[:, None].to(rows.device))[:, 0]
        bits.append((torch.logsumexp(rows, dim=1) - chosen).double() / math.log(2))
    return torch.cat(bits)

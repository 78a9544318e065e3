"""One forward pass, with logits only where a surprisal is read."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherencegym.eval.models.limits import UNLIMITED, Limits, limits_of
from coherencegym.eval.models.placement import input_device, is_spread

if TYPE_CHECKING:
    import numpy as np
    import torch

#: Rows of logits turned into surprisals at once, by device type. They bound the copies that this
#: takes; on a CPU a few rows stay in its cache from one step to the next.
_ROWS = {"cpu": 4}
_ROWS_ELSEWHERE = 64


@dataclass
class Forward:
    """A causal language model as the backends call it.

    No attention mask and no positions are passed: what stands behind a token cannot change what a
    causal model says about it, in recurrent models too, so that padding on the right is harmless.

    Attributes:
        model: in evaluation mode.
        keeps_rows: its forward selects rows by a mask; found out on the way.
        has_cache: its forward takes ``use_cache``.
        beginnings: ids of the tokens that begin a word, where their surprisal is read.
        limits: lengths at which the model begins to read otherwise, by its config.
    """

    model: Any
    beginnings: Sequence[int] = ()
    keeps_rows: bool = False
    has_cache: bool = False
    limits: Limits = UNLIMITED

    def __post_init__(self) -> None:
        self.limits = limits_of(getattr(self.model, "config", None))
        accepted = inspect.signature(self.model.forward).parameters
        self.keeps_rows = "logits_to_keep" in accepted
        self.has_cache = "use_cache" in accepted

    @property
    def device(self) -> Any:
        """Where token ids go: the device of the input embeddings."""
        return input_device(self.model)

    @property
    def dtype(self) -> Any:
        """The number format of the activations: that of the input embeddings."""
        return self.model.get_input_embeddings().weight.dtype

    @property
    def is_exact(self) -> bool:
        """Whether the promised accuracy (1e-4 bits a token) holds without a measurement."""
        import torch

        return self.dtype in (torch.float32, torch.float64)

    def answers(self, reading: Reading, logits: torch.Tensor) -> np.ndarray:
        """What was asked of the rows of a pass, in bits."""
        import torch

        beginnings = None
        if self.beginnings:
            beginnings = torch.tensor(self.beginnings, device=logits.device)
        return reading.answers(logits, beginnings)

    def rows(
        self,
        ids: torch.Tensor,
        read: torch.Tensor,
        cache: Any = None,
        keep_cache: bool = False,
        **more: Any,
    ) -> tuple[torch.Tensor, Any]:
        """Logits where they are read.

        Args:
            ids: token ids, shape (B, T), on the model's device.
            read: shape (B, T), bool, on the same device.
            cache: what an earlier pass left; changed by this one.
            keep_cache: whether to leave one.
            more: what else the model is to go by.

        Returns:
            Logits, shape (rows read, vocabulary), in the order of ``read`` row by row, and the
            model's output.
        """
        arguments: dict[str, Any] = dict(more)
        if self.has_cache:
            arguments["use_cache"] = keep_cache or cache is not None
        if cache is not None:
            arguments["past_key_values"] = cache
        if self.keeps_rows:
            # The head may be on another device; only from the CPU can rows be selected on any.
            rows = read.cpu() if is_spread(self.model) else read
            try:
                output = self.model(input_ids=ids, logits_to_keep=rows, **arguments)
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


class Reading:
    """What is read of the rows of one forward pass: tokens, or any beginning of a word.

    Args:
        rows: B, of the batch.
        length: T, tokens in each.
    """

    def __init__(self, rows: int, length: int) -> None:
        import numpy as np

        self._read = np.zeros((rows, length), dtype=bool)
        self._wanted: dict[tuple[int, int, int | None], int] = {}

    @property
    def read(self) -> torch.Tensor:
        """The rows for which logits are needed: shape (B, T), bool."""
        import torch

        return torch.from_numpy(self._read)

    def need_some_row(self) -> None:
        """Have logits computed at the last place where nothing is read at all."""
        if not self._read.any():
            self._read[0, -1] = True

    def want(self, row: int, place: int, token: int | None) -> int:
        """Ask for a token's surprisal at the row behind which it stands.

        Args:
            row: of the batch.
            place: in the row: of the last token before.
            token: its id; None for any beginning of a word.

        Returns:
            The index of the answer; the same for the same question.
        """
        self._read[row, place] = True
        return self._wanted.setdefault((row, place, token), len(self._wanted))

    def answers(self, logits: torch.Tensor, beginnings: torch.Tensor | None) -> np.ndarray:
        """Bits, float64, in the order of the questions.

        Args:
            logits: shape (rows read, vocabulary), in the order of ``read``.
            beginnings: ids of the tokens that begin a word, on the device of the logits.
        """
        import torch

        numbers = (self._read.cumsum() - 1).reshape(self._read.shape).tolist()
        rows = [numbers[row][place] for row, place, _ in self._wanted]
        tokens = [token for *_, token in self._wanted]
        whole = _log_sums(logits)
        device = logits.device
        plain = [i for i, token in enumerate(tokens) if token is not None]
        words = [i for i, token in enumerate(tokens) if token is None]
        chosen = torch.zeros(len(tokens), dtype=torch.float32, device=device)
        at = torch.tensor([rows[i] for i in plain], dtype=torch.long, device=device)
        ids = torch.tensor([tokens[i] for i in plain], dtype=torch.long, device=device)
        chosen[plain] = logits[at, ids].float()
        if words:
            assert beginnings is not None
            some = sorted({rows[i] for i in words})
            place = {row: number for number, row in enumerate(some)}
            sums = _log_sums(logits, torch.tensor(some, device=device), beginnings)
            chosen[words] = sums[[place[rows[i]] for i in words]]
        bits = (whole[rows] - chosen).double() / math.log(2)
        result: np.ndarray = bits.cpu().numpy()
        return result


def _log_sums(
    logits: torch.Tensor, rows: torch.Tensor | None = None, columns: torch.Tensor | None = None
) -> torch.Tensor:
    """Log of the sum of exponentials of each row, float32, over some columns.

    The surprisal is this minus the target's logit: more exact than a float32 log_softmax.
    """
    import torch

    sums = [torch.empty(0, device=logits.device)]
    size = _ROWS.get(logits.device.type, _ROWS_ELSEWHERE)
    if rows is None:
        sums += [torch.logsumexp(part.float(), dim=1) for part in logits.split(size)]
    else:
        for part in rows.split(size):
            sums.append(torch.logsumexp(logits[part][:, columns].float(), dim=1))
    return torch.cat(sums)

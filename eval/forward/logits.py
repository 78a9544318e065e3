"""One forward pass, with logits only where a surprisal is read."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherencegym.eval.forward.altered import in_float32
from coherencegym.eval.models.limits import UNLIMITED, Limits
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

    No attention mask and no positions are passed where nothing is packed: what stands behind a
    token cannot change what a causal model says about it, in recurrent models too, so that padding
    on the right is harmless.

    Attributes:
        model: the model, in evaluation mode.
        beginnings: ids of the tokens that begin a word, where their surprisal is read.
        limits: lengths at which the model begins to read otherwise.
    """

    model: Any
    beginnings: Sequence[int] = ()
    limits: Limits = UNLIMITED

    def __post_init__(self) -> None:
        accepted = inspect.signature(self.model.forward).parameters
        #: Its forward selects rows by a mask, as far as is known.
        self._keeps_rows = "logits_to_keep" in accepted
        self._has_cache = "use_cache" in accepted
        self._is_widened = False

    @property
    def device(self) -> Any:
        """Device of the input embeddings, where token ids go."""
        return input_device(self.model)

    @property
    def dtype(self) -> Any:
        """Number format of the activations: that of the input embeddings."""
        import torch

        return torch.float32 if self._is_widened else self.model.get_input_embeddings().weight.dtype

    @property
    def is_exact(self) -> bool:
        """True where the promised accuracy (1e-4 bits a token) holds without a measurement."""
        import torch

        return self.dtype in (torch.float32, torch.float64)

    @contextmanager
    def in_float32(self) -> Iterator[None]:
        """Let the model compute in float32 (:func:`eval.forward.altered.in_float32`)."""
        with in_float32(self.model):
            self._is_widened = True
            try:
                yield
            finally:
                self._is_widened = False

    def read(
        self,
        ids: torch.Tensor,
        questions: Questions,
        cache: Any = None,
        keep_cache: bool = False,
        **more: Any,
    ) -> tuple[np.ndarray, Any]:
        """Run token ids, shape (B, T), through the model.

        Args:
            ids: tokens on any device.
            questions: reads of their rows.
            cache: the one that an earlier pass left; changed by this one.
            keep_cache: leave one.
            more: arguments that the model is to go by, on its device.

        Returns:
            The answers in bits, float64, and the cache that the model has left or None.
        """
        import torch

        device, read = self.device, questions.read
        if self._has_cache:
            more["use_cache"] = keep_cache or cache is not None
        if cache is not None:
            more["past_key_values"] = cache
        logits, output = self._rows(ids.to(device), read.to(device), more)
        beginnings = None
        if self.beginnings:
            beginnings = torch.tensor(self.beginnings, device=logits.device)
        return questions.answers(logits, beginnings), getattr(output, "past_key_values", None)

    def _rows(
        self, ids: torch.Tensor, read: torch.Tensor, arguments: dict[str, Any]
    ) -> tuple[torch.Tensor, Any]:
        """Logits, shape (rows read, vocabulary), row by row, and the model's output."""
        if self._keeps_rows:
            # The head may be on another device; only from the CPU can rows be selected on any.
            rows = read.cpu() if is_spread(self.model) else read
            goes_on = "past_key_values" in arguments
            try:
                output = self.model(input_ids=ids, logits_to_keep=rows, **arguments)
                if output.logits.ndim == 2:
                    return output.logits, output
            except (IndexError, TypeError):
                if goes_on:
                    raise
            # This forward knows only the older, one-dimensional form.
            self._keeps_rows = False
            if goes_on:
                raise RuntimeError("a forward pass that selects no rows has changed the cache")
        output = self.model(input_ids=ids, **arguments)
        return output.logits[read.to(output.logits.device)], output


class Questions:
    """Reads of the rows of one forward pass: of tokens, or of any beginning of a word.

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
        """Ask for the surprisal of a token, or of any beginning of a word, behind a place of a row.

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

        device = logits.device
        numbers = (self._read.cumsum() - 1).reshape(self._read.shape).tolist()
        rows = [numbers[row][place] for row, place, _ in self._wanted]
        tokens = [-1 if token is None else token for *_, token in self._wanted]
        at, ids = (torch.tensor(each, dtype=torch.long, device=device) for each in (rows, tokens))
        is_word = ids < 0
        chosen = torch.zeros(len(tokens), dtype=torch.float32, device=device)
        chosen[~is_word] = logits[at[~is_word], ids[~is_word]].float()
        if is_word.any():
            assert beginnings is not None
            some, places = at[is_word].unique(return_inverse=True)
            chosen[is_word] = _log_sums(logits, some, beginnings)[places]
        result: np.ndarray = ((_log_sums(logits)[at] - chosen).double() / math.log(2)).cpu().numpy()
        return result


def _log_sums(
    logits: torch.Tensor, rows: torch.Tensor | None = None, columns: torch.Tensor | None = None
) -> torch.Tensor:
    """Logs of the sums of exponentials of rows, float32, all of them or some columns of some.

    The surprisal is this minus the target's logit: more exact than a float32 log_softmax.
    """
    import torch

    size = _ROWS.get(logits.device.type, _ROWS_ELSEWHERE)
    parts = (
        logits.split(size) if rows is None else (logits[p][:, columns] for p in rows.split(size))
    )
    sums = [torch.logsumexp(part.float(), dim=1) for part in parts]
    return torch.cat([torch.empty(0, device=logits.device), *sums])

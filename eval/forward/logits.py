"""One forward pass, with logits only where a surprisal is read."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherencegym.eval.forward.memory import is_out_of_memory
from coherencegym.eval.forward.wrapped import head_of_rows, in_float32
from coherencegym.eval.models.limits import UNLIMITED, Limits
from coherencegym.eval.models.placement import input_device, send

if TYPE_CHECKING:
    import numpy as np
    import torch

#: Logits turned into surprisals at once, by device type and elsewhere. They bound the copies that
#: this takes (64 MB); on a CPU a few rows stay in its cache from one step to the next, and a GPU
#: would be idle between steps as small.
_ELEMENTS = {"cpu": 1 << 18}
_ELEMENTS_ELSEWHERE = 1 << 24


@dataclass
class Forward:
    """A language model as the backends call it.

    To a causal model no attention mask and no positions are passed where nothing is packed: what
    stands behind a token cannot change what it says about it, in recurrent models too, so that
    padding on the right is harmless.

    Attributes:
        model: the model, in evaluation mode.
        beginnings: ids of the tokens that begin a word, where their surprisal is read.
        limits: lengths at which the model begins to read otherwise.
        padding: the id behind shorter texts, of a model that sees all of a row; None: it is causal.
    """

    model: Any
    beginnings: Sequence[int] = ()
    limits: Limits = UNLIMITED
    padding: int | None = None

    def __post_init__(self) -> None:
        accepted = inspect.signature(self.model.forward).parameters
        #: It is told what is text, where it sees all of a row and can be told.
        self.is_told = self.padding is not None and "attention_mask" in accepted
        #: Its head computes the rows that it is given, as far as is known.
        self._selects_rows = _has_head(self.model)
        self._beginnings: torch.Tensor | None = None
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
        """Let the model compute in float32 (:func:`eval.forward.wrapped.in_float32`)."""
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
    ) -> tuple[torch.Tensor, Any]:
        """Run token ids, shape (B, T), through the model.

        Args:
            ids: tokens on any device.
            questions: reads of their rows.
            cache: the one that an earlier pass left; changed by this one.
            keep_cache: leave one.
            more: arguments that the model is to go by, on its device.

        Returns:
            The answers in nats (float32, on the device) and the cache that the model has left or
            None. Nobody waits for the device until :func:`fetched` asks for the answers.
        """
        if self._has_cache:
            more["use_cache"] = keep_cache or cache is not None
        if cache is not None:
            more["past_key_values"] = cache
        logits, output = self._rows(send(ids, self.device), questions, more)
        beginnings = None
        if self.beginnings:
            if self._beginnings is None or self._beginnings.device != logits.device:
                self._beginnings = send(self.beginnings, logits.device)
            beginnings = self._beginnings
        return questions.answers(logits, beginnings), getattr(output, "past_key_values", None)

    def _rows(
        self, ids: torch.Tensor, questions: Questions, arguments: dict[str, Any]
    ) -> tuple[torch.Tensor, Any]:
        # Shape (rows read, vocabulary), row by row.
        goes_on = "past_key_values" in arguments
        if self._selects_rows:
            rows = questions.rows
            try:
                with head_of_rows(self.model, rows, ids.shape):
                    output = self.model(input_ids=ids, **arguments)
                if output.logits.shape[:-1] == (len(rows),):
                    return output.logits, output
            except (IndexError, TypeError, ValueError, RuntimeError) as error:
                if goes_on or is_out_of_memory(error):
                    raise
            # Its head is asked otherwise, or what follows it looks for each token of the batch.
            self._selects_rows = False
            if goes_on:
                raise RuntimeError("a forward pass that selects no rows has changed the cache")
        output = self.model(input_ids=ids, **arguments)
        return output.logits[questions.read.to(output.logits.device)], output


def fetched(*answers: torch.Tensor) -> np.ndarray:
    """Answers in bits, float64, one behind the other: only here a batch is waited for."""
    import torch

    together = answers[0] if len(answers) == 1 else torch.cat(answers)
    bits: np.ndarray = (together.cpu().double() / math.log(2)).numpy()
    return bits


def _has_head(model: Any) -> bool:
    try:
        return model.get_output_embeddings() is not None
    except (AttributeError, NotImplementedError):
        return False


class Questions:
    """Reads of the rows of one forward pass: of tokens, or of any beginning of a word.

    Args:
        rows: B, of the batch.
        length: T, tokens in each.
    """

    def __init__(self, rows: int, length: int) -> None:
        import numpy as np

        self._read = np.zeros((rows, length), dtype=bool)
        # Of each question the place, counted through the batch, and the token.
        self._asked: list[tuple[np.ndarray, np.ndarray]] = []
        self.count = 0

    @property
    def read(self) -> torch.Tensor:
        """The rows for which logits are needed: shape (B, T), bool."""
        import torch

        return torch.from_numpy(self._read)

    @property
    def rows(self) -> torch.Tensor:
        """The same by number, counted through the batch, on the CPU."""
        import torch

        return torch.from_numpy(self._read.ravel().nonzero()[0])

    def need_some_row(self) -> None:
        """Have logits computed at the last place where nothing is read at all."""
        if not self._read.any():
            self._read[0, -1] = True

    def want(self, row: int, places: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        """Ask for the surprisals of tokens behind places of a row; -1: of any beginning of a word.

        Returns:
            The indices of the answers.
        """
        import numpy as np

        self._read[row, places] = True
        self._asked.append((row * self._read.shape[1] + places, tokens))
        self.count += len(places)
        return np.arange(self.count - len(places), self.count)

    def answers(self, logits: torch.Tensor, beginnings: torch.Tensor | None) -> torch.Tensor:
        """Nats, float32, on the device of the logits, in the order of the questions.

        Args:
            logits: shape (rows read, vocabulary), in the order of ``read``.
            beginnings: ids of the tokens that begin a word, on the device of the logits.
        """
        import numpy as np

        none = np.empty((2, 0), dtype=np.int64)
        places, tokens = np.concatenate([none, *map(np.stack, self._asked)], axis=1)
        rows = (self._read.cumsum() - 1)[places]

        def sent(values: np.ndarray) -> torch.Tensor:
            import torch

            return send(torch.from_numpy(values), logits.device)

        at = sent(rows)
        chosen = logits[at, sent(tokens.clip(min=0))].float()
        words = np.flatnonzero(tokens < 0)
        if len(words):
            assert beginnings is not None
            some, place = np.unique(rows[words], return_inverse=True)
            sums = _log_sums(logits, sent(some), beginnings)
            chosen.index_copy_(0, sent(words), sums[sent(place)])
        return _log_sums(logits)[at] - chosen


def _log_sums(
    logits: torch.Tensor, rows: torch.Tensor | None = None, columns: torch.Tensor | None = None
) -> torch.Tensor:
    # Float32, of all rows or some columns of some. The surprisal is this minus the target's logit:
    # more exact than a float32 log_softmax.
    import torch

    elements = _ELEMENTS.get(logits.device.type, _ELEMENTS_ELSEWHERE)
    size = max(1, elements // logits.shape[1])
    parts = (
        logits.split(size) if rows is None else (logits[p][:, columns] for p in rows.split(size))
    )
    sums = [torch.logsumexp(part.float(), dim=1) for part in parts]
    return torch.cat([torch.empty(0, device=logits.device), *sums])

"""Forward passes, and the ways in which a batch goes through one: padded, from a cache, or packed.

Logits are computed only where a surprisal is read. Padded batches are for any language model; one
that sees all of a row is told what is text. Shared beginnings are what the conditions of an item
begin with alike and goes through the model once, in one of two ways; whether a model takes them is
for :mod:`eval.forward.trial` to find out.

*From a cache*: the beginnings of several items are cut to one length, so that nothing in them is
padding: then no mask and no positions are needed, and models with sliding windows or relative
positions go on from the cache as from the text itself.

*Packed*: the beginning of an item once, and behind it the rest of each text, in one row. Every rest
has the positions that it has in its own text, and sees the beginning and itself and nothing else,
as far as the model's windows reach. So a batch is one forward pass over rows of like length, which
keeps the multiplier busy where keys and values handed on make small batches. The masks of packed
rows are tables of all pairs of tokens, which torch's fused kernels take.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherencegym.errors import first_line
from coherencegym.eval.forward.widened import in_float32
from coherencegym.eval.forward.wrapped import (
    head_in_tiles,
    head_of_rows,
    nats_in_tiles,
    takes_tiles,
)
from coherencegym.eval.models.config import UNLIMITED, Limits
from coherencegym.eval.models.machine import input_device, is_out_of_memory, send
from coherencegym.eval.plan.plan import Batch
from coherencegym.eval.text.sequence import TokenSequence

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
        #: Its logits are those of its head, as they are; None: not known yet.
        self._is_bare: bool | None = None
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
        """Let the model compute in float32 (:func:`eval.forward.widened.in_float32`)."""
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
        ids = send(ids, self.device)
        if (found := self._in_tiles(ids, questions, more)) is not None:
            return found
        logits, output = self._rows(ids, questions, more)
        beginnings = None
        if self.beginnings:
            if self._beginnings is None or self._beginnings.device != logits.device:
                self._beginnings = send(self.beginnings, logits.device)
            beginnings = self._beginnings
        return questions.answers(logits, beginnings), getattr(output, "past_key_values", None)

    def _in_tiles(
        self, ids: torch.Tensor, questions: Questions, arguments: dict[str, Any]
    ) -> tuple[torch.Tensor, Any] | None:
        # What a cache goes on with cannot be read again.
        known = self._is_bare or (self._is_bare is None and "past_key_values" not in arguments)
        if not (known and self._selects_rows and takes_tiles(self.model)):
            return None
        rows, tokens = questions.asked()
        if (tokens < 0).any():
            return None

        def answer(head: Any, hidden: torch.Tensor) -> torch.Tensor:
            return nats_in_tiles(head, hidden, rows, tokens)

        try:
            with (
                head_of_rows(self.model, questions.rows, ids.shape),
                head_in_tiles(self.model, answer) as answer_of,
            ):
                output = self.model(input_ids=ids, **arguments)
            nats = answer_of(output.logits)
        except (AttributeError, IndexError, TypeError, ValueError, RuntimeError) as error:
            if self._is_bare or is_out_of_memory(error):
                raise
            nats = None
        self._is_bare = nats is not None
        return None if nats is None else (nats, getattr(output, "past_key_values", None))

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

    def asked(self) -> tuple[np.ndarray, np.ndarray]:
        """Of each question the row among those that are read, and the token (-1: any beginning)."""
        import numpy as np

        none = np.empty((2, 0), dtype=np.int64)
        places, tokens = np.concatenate([none, *map(np.stack, self._asked)], axis=1)
        return (self._read.cumsum() - 1)[places], tokens

    def answers(self, logits: torch.Tensor, beginnings: torch.Tensor | None) -> torch.Tensor:
        """Nats, float32, on the device of the logits, in the order of the questions.

        Args:
            logits: shape (rows read, vocabulary), in the order of ``read``.
            beginnings: ids of the tokens that begin a word, on the device of the logits.
        """
        import numpy as np

        rows, tokens = self.asked()

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


class CannotShareError(Exception):
    """A model cannot share beginnings in the way that a batch asks for; the message says why."""


#: Errors of models that are handed a mask or a cache which they cannot take.
MODEL_ERRORS = (TypeError, ValueError, IndexError, AttributeError, AssertionError, RuntimeError)


@dataclass(frozen=True)
class Started:
    """A batch that a device is at work on, or done with.

    Attributes:
        answers: those of its forward passes, still on the device.
        asked: the places of what is read of each sequence, in the answers one behind the other.
    """

    answers: Sequence[torch.Tensor]
    asked: Sequence[np.ndarray]

    def finish(self) -> list[np.ndarray]:
        """Wait for the batch; of each of its sequences, in order, what is read (bits, float64)."""
        bits = fetched(*self.answers)
        return [bits[places] for places in self.asked]


def start_batch(forward: Forward, sequences: Sequence[TokenSequence], batch: Batch) -> Started:
    """Let a batch go through a model in the way that it asks for, and do not wait for it.

    Args:
        forward: the model.
        sequences: all sequences of the plan.
        batch: some of them.
    """
    import torch

    if not batch.shares:
        with torch.inference_mode():
            return _padded(forward, sequences, batch)
    start, fails = (
        (_packed, "it takes no attention mask of pairs")
        if batch.prefixes
        else (_from_cache, "its cache cannot be handed on")
    )
    try:
        with torch.inference_mode():
            return start(forward, sequences, batch)
    except MODEL_ERRORS as error:
        if is_out_of_memory(error):
            raise
        said = f"{type(error).__name__}: {first_line(error)}"[:120]
        raise CannotShareError(f"{fails} ({said})") from error


def run_batch(
    forward: Forward, sequences: Sequence[TokenSequence], batch: Batch
) -> list[np.ndarray]:
    """Run a batch: of each of its sequences, in order, what is read (bits, float64)."""
    return start_batch(forward, sequences, batch).finish()


def run_alone(forward: Forward, sequences: Sequence[TokenSequence], index: int) -> np.ndarray:
    """Run one sequence by itself: its surprisals (bits, float64)."""
    sequence = sequences[index]
    batch = Batch(((index,),), 0, sequence.length, len(sequence.places))
    return run_batch(forward, sequences, batch)[0]


def run_each_alone(forward: Forward, sequences: Sequence[TokenSequence]) -> list[np.ndarray]:
    """Run each sequence by itself."""
    return [run_alone(forward, sequences, index) for index in range(len(sequences))]


def _padded(forward: Forward, sequences: Sequence[TokenSequence], batch: Batch) -> Started:
    members = [sequences[index] for index in batch.indices]
    questions = Questions(len(members), batch.length)
    asked = [questions.want(row, *member.reads().T) for row, member in enumerate(members)]
    ids, more = _rests(members, 0, batch.length, forward.padding or 0), {}
    # Attention without a mask is the faster, and rows of one text need none.
    if forward.is_told and any(one.length < batch.length for one in members):
        more["attention_mask"] = send(_texts(members, batch.length), forward.device)
    answers, _ = forward.read(ids, questions, **more)
    return Started([answers], asked)


def _from_cache(forward: Forward, sequences: Sequence[TokenSequence], batch: Batch) -> Started:
    import numpy as np
    import torch

    cut = batch.prefix
    beginnings = torch.tensor([sequences[group[0]].ids[:cut] for group in batch.groups])
    members = [sequences[index] for index in batch.indices]
    group_of_row = [number for number, group in enumerate(batch.groups) for _ in group]
    # A row of the beginning may predict several tokens: the first ones of what follows it. What
    # all sequences of a group read within it is read once.
    within = Questions(len(batch.groups), cut)
    behind = Questions(len(members), batch.length - cut)
    asked = []
    for row, (group, member) in enumerate(zip(group_of_row, members, strict=True)):
        places, tokens = member.reads().T
        is_behind = places >= cut
        own = np.empty(len(places), dtype=np.int64)
        own[~is_behind] = within.want(group, places[~is_behind], tokens[~is_behind])
        own[is_behind] = behind.want(row, places[is_behind] - cut, tokens[is_behind])
        asked.append((own, is_behind))
    # A forward pass without a row is untried ground for many models.
    within.need_some_row()
    first, cache = forward.read(beginnings, within, keep_cache=True)
    if not hasattr(cache, "reorder_cache"):
        raise CannotShareError("it leaves no cache that can be handed on")
    cache.reorder_cache(send(group_of_row, forward.device))
    second, _ = forward.read(_rests(members, cut, batch.length), behind, cache=cache)
    return Started([first, second], [own + within.count * behind for own, behind in asked])


def _rests(
    members: Sequence[TokenSequence], cut: int, length: int, padding: int = 0
) -> torch.Tensor:
    # From ``cut`` on, one sequence a row, padded to ``length``.
    import numpy as np
    import torch

    # Padding is a token id like any other: it is told apart by position, never by id.
    ids = np.full((len(members), length - cut), padding, dtype=np.int64)
    for row, member in enumerate(members):
        ids[row, : member.length - cut] = member.seen[cut : member.length]
    return torch.from_numpy(ids)


def _texts(members: Sequence[TokenSequence], length: int) -> torch.Tensor:
    # 1 where a text stands in its row and 0 behind it, shape (B, ``length``).
    import torch

    lengths = torch.tensor([member.length for member in members])
    return (torch.arange(length) < lengths[:, None]).long()


def _packed(forward: Forward, sequences: Sequence[TokenSequence], batch: Batch) -> Started:
    import numpy as np
    import torch

    count, length = len(batch.groups), batch.length
    # Of each token: its id, its position in its own text, and which text that is: 0 is what all of
    # a row begin with. Every token of padding is one by itself, and is seen by no other.
    ids, positions, texts = laid = np.zeros((3, count, length), dtype=np.int64)
    texts[:] = -1 - np.arange(length)
    questions = Questions(count, length)
    asked = []
    for row, (group, prefix) in enumerate(zip(batch.groups, batch.prefixes, strict=True)):
        ids[row, :prefix] = sequences[group[0]].ids[:prefix]
        positions[row, :prefix] = np.arange(prefix)
        texts[row, :prefix] = 0
        start = prefix
        for number, member in enumerate((sequences[index] for index in group), start=1):
            size = member.length - prefix
            own = slice(start, start + size)
            ids[row, own] = member.ids[prefix : member.length]
            positions[row, own] = np.arange(prefix, member.length)
            texts[row, own] = number
            places, tokens = member.reads().T
            moved = places + (start - prefix) * (places >= prefix)
            asked.append(questions.want(row, moved, tokens))
            start += size
    on_device = send(torch.from_numpy(laid), forward.device)
    positions_there, texts_there = on_device[1], on_device[2]
    answers, _ = forward.read(
        on_device[0],
        questions,
        attention_mask=masks(forward, positions_there, texts_there, int(positions.max()) + 1),
        position_ids=positions_there,
    )
    return Started([answers], asked)

"""Vectors of texts and of spans of them, by layer of a model: what probes stand on.

The vector of a span is the mean of its tokens' hidden states, or that of its last token, or an
encoder's state of the token in front of the text. :mod:`eval.plan.requests` says which tokens are
meant, :mod:`eval.forward.cache` how vectors are kept.

A batch changes the last digits of a vector, as kernels of other shapes sum in another order; where
it changes more, texts are read alone. Rounded to half precision, a vector may fall on the next
number.

Nothing heavy is imported before the function is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.forward.trial import unless_finite
from coherencegym.eval.forward.vectors import StoredType, VectorStore
from coherencegym.eval.models.config import limits_of, refuse_unless_in_vocabulary
from coherencegym.eval.models.in_memory import Body, body_of, evaluating, state_digest
from coherencegym.eval.models.load import vocabulary_size
from coherencegym.eval.models.machine import in_memory_of, out_of_memory
from coherencegym.eval.plan.options import Pool
from coherencegym.eval.plan.passages import (
    Passage,
    PooledSequence,
    PreparedPassages,
    prepare_passages,
)
from coherencegym.eval.plan.plan import Batch, Budget, budget_of, make_batches

if TYPE_CHECKING:
    import numpy as np

#: Most that a text beside a longer one may differ from the text alone, as a part of the largest
#: number of its vectors: in float32, and where rounding alone makes more.
_TOLERANCE, _GROSS = 1e-4, 5e-2


@dataclass(frozen=True, eq=False)
class States(PreparedPassages):
    """Passages, and the vectors of their spans, read from disk a layer at a time.

    Attributes:
        layers: numbers of the layers that there are, increasing; 0 are the embeddings, L is what
            the last of L blocks makes.
        normed: those whose states have gone through the model's final norm.
        width: dimensions of a vector.
        cached: texts that were known from an earlier run, and were not read again.
        folder: that of the database; a temporary one is deleted with this object.
    """

    layers: tuple[int, ...]
    normed: frozenset[int]
    width: int
    cached: int
    folder: Path
    _store: VectorStore = field(repr=False)

    def layer(self, number: int) -> np.ndarray:
        """Vectors of a layer, float32, shape (spans, width), in the order of passages and spans.

        The rows of spans that are left out are NaN.

        Raises:
            EvaluationError: there is no such layer, or its vectors are gone.
        """
        import numpy as np

        if number not in self.layers:
            raise EvaluationError(
                f"layer {number}: expected one of {', '.join(map(str, self.layers))}"
            )
        vectors = np.full((len(self.rows), self.width), np.nan, np.float32)
        first = 0
        for part in self._store.read([sequence.key for sequence in self.sequences], number):
            own = (self.rows >= first) & (self.rows < first + len(part))
            vectors[own] = part[self.rows[own] - first]
            first += len(part)
        return vectors


def states(
    model: Any,
    tokenizer: Any,
    passages: Sequence[Passage],
    *,
    layers: Sequence[int] | None = None,
    pool: Pool = "mean",
    folder: Path | None = None,
    identity: str | None = None,
    dtype: StoredType | None = None,
    batch_tokens: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> States:
    """Vectors of spans of texts, by layer of a model.

    Each distinct text with its spans is read once, and those of a kept folder not at all.

    Args:
        model: any encoder, decoder, or encoder with a decoder of transformers, with a head or
            without, in evaluation mode. A head is not computed; of two halves the encoder is read.
        tokenizer: its tokenizer.
        passages: texts with the spans (characters) whose vectors are wanted.
        layers: numbers from 0 (embeddings) to L; None: all.
        pool: ``mean`` of a span's tokens, in float32; ``last``, its last token that is more than
            white space; ``cls``, the token that an encoder's tokenizer puts in front of the text.
            Neither a start-of-text token nor, in a causal model, the first place is in the others.
        folder: vectors of all models are kept there, each in a database of its own, and a run that
            was killed goes on where it stopped; None: they are kept as long as the result.
        identity: all that vectors depend on in the model and the tokenizer, as
            ``LoadedModel.identity`` has it; None: a digest of both is computed for ``folder``.
        dtype: the number format on disk; None: float16, but float32 for a model in bfloat16.
        batch_tokens: most tokens of a forward pass, padding included; None: as the device has.
        progress: called after each batch with the tokens read and the tokens of all batches.

    Returns:
        The vectors, on disk.

    Raises:
        EvaluationError: a layer that the model does not have, ``cls`` of a model that has no such
            token, a span that is not in its text, a text that cannot be encoded, a vector that is
            not finite, or a folder that cannot be written.
    """
    with evaluating(model):
        body = body_of(model)
        chosen = _chosen(layers, body.layers)
        prepared = prepare_passages(tokenizer, body.config, passages, pool, causal=body.causal)
        ids = (each.ids for each in prepared.sequences)
        refuse_unless_in_vocabulary(vocabulary_size(body.module), tokenizer, ids)
        if folder is not None:
            identity = identity or state_digest(body.module, tokenizer)
        store = _store(body, dtype, None if identity == "unknown" else folder, identity)
        missing = store.missing(prepared.sequences, chosen)
        store.refuse_unless_fits(missing, len(chosen))
        budget = budget_of(body.module, batch_tokens, states=True)
        how = budget, tokenizer.pad_token_id or 0, progress
        batches = _read_pooled(body, missing, chosen, *how)
        for members, batch_vectors in batches:
            for number, vectors in zip(chosen, batch_vectors, strict=True):
                _refuse_unless_finite(
                    number, vectors, store.dtype, members, tokenizer, body.module.dtype
                )
            store.put(members, chosen, batch_vectors)
    return States(
        **vars(prepared),
        layers=chosen,
        normed=body.normed & set(chosen),
        width=body.width,
        cached=len(prepared.sequences) - len(missing),
        folder=store.folder,
        _store=store,
    )


def _chosen(layers: Sequence[int] | None, count: int) -> tuple[int, ...]:
    chosen = range(count + 1) if layers is None else sorted(set(layers))
    for number in chosen:
        if not 0 <= number <= count:
            raise EvaluationError(f"layer {number}: expected 0 (embeddings) to {count}")
    if not chosen:
        raise EvaluationError(f"no layer: expected some of 0 (embeddings) to {count}")
    return tuple(chosen)


def _store(
    body: Body,
    dtype: StoredType | None,
    folder: Path | None,
    identity: str | None,
) -> VectorStore:
    import torch
    import transformers

    number_format = str(body.module.dtype).removeprefix("torch.")
    dtype = dtype or ("float32" if number_format == "bfloat16" else "float16")
    description = {
        "identity": identity,
        "model_dtype": number_format,
        "device": body.device.type,
        "dtype": dtype,
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
    }
    return VectorStore(folder, body.width, dtype, description)


def _refuse_unless_finite(
    layer: int,
    vectors: np.ndarray,
    dtype: StoredType,
    members: Sequence[PooledSequence],
    tokenizer: Any,
    computed: object,
) -> None:
    # Vectors, shape (spans of all members, width).
    import numpy as np

    largest = np.abs(vectors).max(axis=1)
    if (largest <= np.finfo(dtype).max).all():
        return
    # No number is not the largest either.
    row = int(np.argmin(largest <= np.finfo(dtype).max))
    member_of_row = np.repeat(np.arange(len(members)), [len(each.token_ranges) for each in members])
    text = tokenizer.decode(members[member_of_row[row]].ids)[:40]
    if np.isfinite(largest[row]):
        raise EvaluationError(
            f"layer {layer}: a vector of {text!r} has a number of {largest[row]:.3g}, which "
            f"{dtype} cannot hold; expected float32 for the numbers on disk"
        )
    raise EvaluationError(
        f"layer {layer}: a vector of {text!r} is not finite; {unless_finite(computed)}"
    )


def _read_pooled(
    body: Body,
    sequences: Sequence[PooledSequence],
    layers: Sequence[int],
    budget: Budget,
    padding: int,
    progress: Callable[[int, int], None] | None,
) -> Iterator[tuple[list[PooledSequence], list[np.ndarray]]]:
    # The longest first, batch by batch, with an array for each layer that is wanted, of shape
    # (spans of all sequences, width). ``padding`` is the id that fills up a row; it is read, if at
    # all, behind the text.
    limits = limits_of(body.config)
    plain = [each.sequence for each in sequences]

    def batched(indices: Sequence[int]) -> list[Batch]:
        found = make_batches(plain, [[n] for n in indices], budget, sharing="none", limits=limits)
        return list(reversed(found))

    queue = batched(range(len(sequences)))
    if not _reads_alike(body, sequences, queue, padding):
        budget = budget.scaled(1)
        queue = batched(range(len(sequences)))
    done = 0
    while queue:
        batch = queue.pop()
        members = [sequences[index] for index in batch.indices]
        work = partial(_pooled_states, body, members, layers, padding)
        vectors = in_memory_of(body.device, work)
        if vectors is None:
            smaller = budget.halved()
            if len(members) == 1 or smaller is None:
                raise out_of_memory(batch.length)
            budget = smaller
            queue = batched([index for each in (batch, *queue) for index in each.indices])
            continue
        done += batch.padded_tokens
        if progress is not None:
            progress(done, done + sum(each.padded_tokens for each in queue))
        yield members, vectors


def _reads_alike(
    body: Body, sequences: Sequence[PooledSequence], batches: Sequence[Batch], padding: int
) -> bool:
    # The text that is padded the most has the vectors that it has alone.
    padded = [
        (batch.length / len(sequences[index].ids), -batch.padded_tokens, number, index)
        for number, batch in enumerate(batches)
        for index in batch.indices
        if len(sequences[index].ids) < batch.length
    ]
    if not padded:
        return True
    *_, number, index = max(padded)
    indices = batches[number].indices
    longest = max(indices, key=lambda other: len(sequences[other].ids))
    last = [body.layers]

    def read(*members: int) -> np.ndarray:
        own = [sequences[member] for member in members]
        return _pooled_states(body, own, last, padding)[0][: len(sequences[index].token_ranges)]

    # The longest beside it pads it as much as all of the batch.
    both = in_memory_of(body.device, lambda: (read(index, longest), read(index)))
    if both is None:
        return True
    together, alone = both
    scale = max(1.0, float(abs(alone).max()))
    tolerance = _TOLERANCE if body.is_exact else _GROSS
    # No number is for whoever looks at all of them.
    return not float(abs(together - alone).max()) > tolerance * scale


def _pooled_states(
    body: Body, members: Sequence[PooledSequence], layers: Sequence[int], padding: int
) -> list[np.ndarray]:
    # (spans of all sequences, width) for each layer, of float32, or of float64 where the model's
    # states are.
    import torch

    length = max(len(member.ids) for member in members)
    ids = torch.full((len(members), length), padding)
    mask = None if body.causal else torch.zeros((len(members), length), dtype=torch.long)
    places, sizes = [], []
    for row, member in enumerate(members):
        ids[row, : len(member.ids)] = torch.tensor(member.ids)
        if mask is not None:
            mask[row, : len(member.ids)] = 1
        for start, end in member.token_ranges:
            places.append(torch.arange(row * length + start, row * length + end))
            sizes.append(end - start)
    index, lengths = torch.cat(places), torch.tensor(sizes)
    vectors = []
    with torch.inference_mode():
        states = body.hidden_states(ids, mask)
        for number in layers:
            layer = states[number].reshape(-1, body.width)
            own = layer.index_select(0, index.to(layer.device))
            own = own if own.dtype == torch.float64 else own.float()
            if len(index) > len(lengths):
                own = torch.segment_reduce(own, "mean", lengths=lengths.to(layer.device))
            vectors.append(own.cpu().numpy())
    return vectors

"""Vectors of texts and of spans of them, by layer of a model: what probes stand on.

The vector of a span is the mean of its tokens' hidden states, or that of its last token, or an
encoder's state of the token in front of the text. :mod:`eval.plan.requests` says which tokens are
meant, :mod:`eval.forward.cache` how vectors are kept.

Nothing heavy is imported before the function is called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.plan.requests import PooledSequence, PreparedPassages, prepare_passages
from coherencegym.eval.text.sequence import POOLS, Passage, Pool

if TYPE_CHECKING:
    import numpy as np

    from coherencegym.eval.forward.cache import StoredType, VectorStore
    from coherencegym.eval.models.in_memory import Body


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
    from coherencegym.eval.forward.pooled import read_pooled
    from coherencegym.eval.models.in_memory import body_of, evaluating, state_digest
    from coherencegym.eval.models.kind import refuse_unless_in_vocabulary
    from coherencegym.eval.models.limits import limits_of
    from coherencegym.eval.models.load import vocabulary_size
    from coherencegym.eval.plan.explain import default_budget, free_budget

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
        free = free_budget(body.module, states=True)
        batches = read_pooled(
            body,
            missing,
            chosen,
            default_budget(body.device.type, batch_tokens, free),
            padding=tokenizer.pad_token_id or 0,
            limits=limits_of(body.config),
            progress=progress,
        )
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

    from coherencegym.eval.forward.cache import VectorStore

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

    from coherencegym.eval.forward.agreement import unless_finite

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


__all__ = ["POOLS", "Passage", "Pool", "States", "states"]

"""The cost of a run, from its plan: no weights are loaded and nothing is run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from coherencegym.eval.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class ModelShape:
    """Numbers that a model's work depends on.

    Attributes:
        matrices: weights in matrices that every token goes through, embeddings and head left out.
            Of a mixture of experts all are counted, so that its work is an upper bound.
        head: weights of the output head.
    """

    matrices: int
    head: int
    layers: int
    width: int


def shape_of(config: Any, made: Any) -> ModelShape:
    """The shape of a model from its config, built without memory for its weights.

    ``made`` is the class of transformers that makes it.
    """
    import torch

    with torch.device("meta"):
        model = made.from_config(config, trust_remote_code=False)
    head = getattr(model.get_output_embeddings(), "weight", None)
    embeddings = (m for m in model.modules() if isinstance(m, torch.nn.Embedding))
    apart = {id(head), *(id(weights) for table in embeddings for weights in table.parameters())}
    weights = (each for each in model.parameters() if each.ndim > 1 and id(each) not in apart)
    text = config.get_text_config()
    return ModelShape(
        matrices=sum(each.numel() for each in weights),
        head=head.numel() if head is not None else 0,
        layers=int(getattr(text, "num_hidden_layers", 0) or 0),
        width=int(getattr(text, "hidden_size", 0) or 0),
    )


def operations(plan: Plan, shape: ModelShape) -> int:
    """Floating-point operations that a plan needs, padding left out.

    A multiplication with an addition counts as two, for every token and weight of a matrix, and
    for every row of logits and weight of the head. Attention has two such products (of queries
    with keys, of weights with values) for every layer, unit of width and pair of tokens: one that
    looks and one that is seen.
    """
    pairs = 0
    for batch in plan.batches:
        for group, shared in zip(batch.groups, batch.shared, strict=True):
            pairs += _pairs(0, shared)
            for member in (plan.sequences[index] for index in group):
                seen_whole = member.masked is not None
                pairs += member.length**2 if seen_whole else _pairs(shared, member.length)
    return (
        2 * shape.matrices * plan.tokens_once
        + 2 * shape.head * plan.head_rows
        + 4 * shape.layers * shape.width * pairs
    )


@cache
def operations_per_second() -> float:
    """Floating-point operations of this machine's processor, measured in products of matrices."""
    import torch

    x = torch.ones(512, 512)
    x @ x
    start, done = time.perf_counter(), 0
    while time.perf_counter() < start + 0.05:
        x @ x
        done += 2 * 512**3
    return done / (time.perf_counter() - start)


def time_text(seconds: float) -> str:
    """A time in a unit that suits it.

    >>> time_text(0.26), time_text(80), time_text(480), time_text(9000)
    ('0.3 seconds', '80 seconds', '8.0 minutes', '2.5 hours')
    """
    if seconds < 10:
        return f"{seconds:.1f} seconds"
    if seconds < 100:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.1f} minutes" if seconds < 6000 else f"{seconds / 3600:,.1f} hours"


def _pairs(start: int, end: int) -> int:
    # Pairs of a token at one of these places with one not behind it.
    return (end * (end + 1) - start * (start + 1)) // 2


#: Column -> what it is, for the lines under the table.
MEANING = {
    "texts": "different token sequences that some prediction reads",
    "tokens": "that they have, up to the last one that is read",
    "read once": "tokens that the model reads if conditions share what they begin with",
    "padding": "tokens that fill batches up, as a share of what the model reads",
    "head rows": "positions at which logits over the vocabulary are computed",
    "forward passes": "one for each batch; two where beginnings are shared from a cache",
    "TFLOP": "floating-point work, in units of 10^12 operations",
    "unshared": "the same without sharing",
}


def explain_row(name: str, plain: Plan, plan: Plan, shape: ModelShape) -> tuple[str, ...]:
    """The row of a table: the name of a config and split, and what its plan would cost.

    ``plain`` is the plan without sharing.
    """
    padding = plan.padded_tokens - plan.tokens_once
    passes = sum(batch.passes for batch in plan.batches)
    return (
        name,
        *(f"{number:,}" for number in (len(plan.sequences), plan.tokens, plan.tokens_once)),
        f"{padding / max(1, plan.padded_tokens):.1%}",
        *(f"{number:,}" for number in (plan.head_rows, passes)),
        *(f"{operations(each, shape) / 1e12:.3g}" for each in (plan, plain)),
    )


def explain_table(rows: Sequence[Sequence[str]]) -> Any:
    """A rich table of the rows that :func:`explain_row` makes."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("config", overflow="fold")
    for name in MEANING:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table

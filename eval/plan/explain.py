"""What a run would cost, from its plan: no weights are loaded and nothing is run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.eval.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Shape:
    """What a model's work depends on.

    Attributes:
        matrices: weights in matrices that every token goes through, embeddings and head left out.
            Of a mixture of experts all are counted, so that its work is an upper bound.
        head: weights of the output head.
        layers, width: for the work of attention.
    """

    matrices: int
    head: int
    layers: int
    width: int


def shape_of(config: Any) -> Shape:
    """The shape of a model from its config, built without memory for its weights."""
    import torch
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, trust_remote_code=False)
    head = model.get_output_embeddings()
    tables = {
        id(weights)
        for module in model.modules()
        if isinstance(module, torch.nn.Embedding)
        for weights in module.parameters()
    }
    head_weights = head.weight if head is not None else None
    matrices = sum(
        weights.numel()
        for weights in model.parameters()
        if weights.ndim > 1 and id(weights) not in tables and weights is not head_weights
    )
    text = config.get_text_config()
    return Shape(
        matrices=matrices,
        head=head_weights.numel() if head_weights is not None else 0,
        layers=int(getattr(text, "num_hidden_layers", 0) or 0),
        width=int(getattr(text, "hidden_size", 0) or 0),
    )


def operations(plan: Plan, shape: Shape) -> int:
    """Floating-point operations that a plan needs, padding left out.

    A multiplication with an addition counts as two. Per token read: two for every weight of a
    matrix, and four for every layer, every unit of width and every token before it (the products
    of queries with keys and of weights with values). Per row of logits: two for every weight of
    the head.
    """
    pairs = 0
    for batch in plan.batches:
        for group, shared in zip(batch.groups, batch.shared, strict=True):
            pairs += _pairs(0, shared)
            pairs += sum(_pairs(shared, plan.sequences[index].length) for index in group)
    return (
        2 * shape.matrices * plan.tokens_once
        + 2 * shape.head * plan.head_rows
        + 4 * shape.layers * shape.width * pairs
    )


def _pairs(start: int, end: int) -> int:
    """Pairs of a token at one of these places with one not behind it."""
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


def explain_table(plans: Sequence[tuple[str, Plan, Plan]], shape: Shape) -> Any:
    """A rich table of what plans would cost.

    Args:
        plans: name of a config and split, its plan without sharing, and its plan with it.
        shape: of the model.
    """
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("config", overflow="fold")
    for name in MEANING:
        table.add_column(name, justify="right", no_wrap=True)
    for name, plain, plan in plans:
        padding = plan.padded_tokens - plan.tokens_once
        work = operations(plan, shape) / 1e12
        before = operations(plain, shape) / 1e12
        table.add_row(
            name,
            f"{len(plan.sequences):,}",
            f"{plan.tokens:,}",
            f"{plan.tokens_once:,}",
            f"{padding / max(1, plan.padded_tokens):.1%}",
            f"{plan.head_rows:,}",
            f"{sum(batch.passes for batch in plan.batches):,}",
            f"{work:.3g}",
            f"{before:.3g}",
        )
    return table

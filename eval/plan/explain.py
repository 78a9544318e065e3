"""The cost of a run, from its plan: no weights are loaded and nothing is run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from typing import Any

from coherencegym.eval.plan.plan import Plan


def weights_of(config: Any, made: Any) -> tuple[int, int]:
    """Weights in matrices that every token goes through, and those of the output head.

    Of a mixture of experts all are counted, so that its work is an upper bound. The model is built
    from its config without memory for weights; ``made`` is the class of transformers that makes it.
    """
    import torch

    with torch.device("meta"):
        model = made.from_config(config, trust_remote_code=False)
    head = getattr(model.get_output_embeddings(), "weight", None)
    embeddings = (m for m in model.modules() if isinstance(m, torch.nn.Embedding))
    apart = {id(head), *(id(weights) for table in embeddings for weights in table.parameters())}
    weights = (each for each in model.parameters() if each.ndim > 1 and id(each) not in apart)
    return sum(each.numel() for each in weights), head.numel() if head is not None else 0


def operations(plan: Plan, matrices: int, head: int) -> int:
    """Floating-point operations that a plan needs, padding and attention left out.

    A multiplication with an addition counts as two, for every token and weight of a matrix, and
    for every row of logits and weight of the head. Attention between tokens is a few per cent of
    that in texts of some hundred tokens.
    """
    return 2 * matrices * plan.tokens_once + 2 * head * plan.head_rows


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


#: Column -> what it is, for the lines under the table.
MEANING = {
    "texts": "different token sequences that some prediction reads",
    "tokens": "that they have, up to the last one that is read",
    "read once": "tokens that the model reads if conditions share what they begin with",
}


def explain_row(name: str, plan: Plan) -> tuple[str, ...]:
    """The row of a table: the name of a config and split, and what its plan would cost."""
    return name, *(f"{n:,}" for n in (len(plan.sequences), plan.tokens, plan.tokens_once))


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

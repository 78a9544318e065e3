"""``--explain-plan``: what ``score`` would run, printed instead of run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coherencegym.eval.plan.options import Options
    from coherencegym.eval.plan.requests import Query


def explain_plan(
    arguments: argparse.Namespace,
    texts: Sequence[tuple[str, Sequence[Query], bool]],
    options: Options,
) -> None:
    """Print the plan of a run; only the model's config and tokenizer are read.

    Args:
        arguments: of the command line.
        texts: of each table its name, what is read of it, and whether ``[SEP]`` is a separator.
        options: how they are read.

    Raises:
        EvaluationError: they cannot be read, or a text cannot be encoded.
    """
    from rich.console import Console

    from coherencegym.eval.models.arguments import parse_model_arguments
    from coherencegym.eval.models.limits import limits_of
    from coherencegym.eval.models.load import load_config
    from coherencegym.eval.plan.explain import MEANING, explain_table, shape_of
    from coherencegym.eval.plan.memory import default_budget
    from coherencegym.eval.plan.plan import make_plan
    from coherencegym.eval.plan.requests import prepare
    from coherencegym.eval.text.words import word_beginnings

    config, tokenizer = load_config(
        arguments.model,
        parse_model_arguments(arguments.model_args, arguments.model_revision),
        arguments.trust_remote_code,
    )
    words = None
    if options.word_correction:
        words = word_beginnings(tokenizer, config.get_text_config().vocab_size)
    shape = shape_of(config)
    device = "cpu" if arguments.device in ("auto", "cpu") else arguments.device.partition(":")[0]
    budget = default_budget(device, options.batch_tokens)
    plans = []
    for name, queries, uses_separator in texts:
        prepared = prepare(
            tokenizer, config, queries, options, uses_separator=uses_separator, words=words
        )
        plain = make_plan(prepared.requests, budget, limits=limits_of(config))
        shared = plain.batched(budget, sharing="packed") if options.share else plain
        plans.append((name, plain, shared))
    console = Console()
    table = explain_table(plans, shape)
    # Numbers that are cut off are worse than lines that wrap.
    wide = Console(width=10_000).measure(table).maximum
    Console(width=max(console.width, wide)).print(table)
    for name, meaning in MEANING.items():
        console.print(f"· {name}: {meaning}", markup=False, highlight=False, soft_wrap=True)
    if any(plan.shares for _, _, plan in plans):
        console.print(
            "· beginnings are shared if a trial shows that the model can: in rows, or from a cache",
            markup=False,
            soft_wrap=True,
        )
    console.print(
        f"· batches on {device}: at most {budget.tokens:,} tokens and {budget.head_rows:,} rows of "
        "logits in a forward pass",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )

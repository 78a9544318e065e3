"""``--explain-plan``: what ``score`` would run, printed instead of run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from coherencegym.eval.kinds.compat import Rules

if TYPE_CHECKING:
    from coherencegym.eval.data.dataset import ItemTable


def explain_plan(arguments: argparse.Namespace, tables: Sequence[ItemTable], rules: Rules) -> None:
    """Print the plan of a run; only the model's config and tokenizer are read.

    Raises:
        EvaluationError: they cannot be read, or an item cannot be encoded.
    """
    from rich.console import Console

    from coherencegym.eval.commands.model_options import scoring_options
    from coherencegym.eval.models.arguments import parse
    from coherencegym.eval.models.limits import limits_of
    from coherencegym.eval.models.load import load_config
    from coherencegym.eval.plan.explain import MEANING, explain_table, shape_of
    from coherencegym.eval.plan.plan import default_budget, make_plan
    from coherencegym.eval.plan.requests import prepare
    from coherencegym.eval.text.words import word_beginnings

    config, tokenizer = load_config(
        arguments.model,
        parse(arguments.model_args, arguments.model_revision),
        arguments.trust_remote_code,
    )
    options = scoring_options(arguments, rules)
    words = None
    if options.pop("word_correction"):
        words = word_beginnings(tokenizer, config.get_text_config().vocab_size)
    shape = shape_of(config)
    device = "cpu" if arguments.device in ("auto", "cpu") else arguments.device.partition(":")[0]
    budget = default_budget(device, arguments.batch_tokens)
    plans = []
    for table in tables:
        prepared = prepare(
            tokenizer,
            config,
            table.items,
            uses_separator=table.separator,
            words=words,
            **options,
        )
        plain = make_plan(prepared.requests, budget, limits=limits_of(config))
        shared = plain.batched(budget, sharing="packed") if arguments.share else plain
        plans.append((f"{table.config} ({table.split})", plain, shared))
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

"""A model asked about the spans of a table."""

from __future__ import annotations

from typing import Any

from coherencegym.errors import ConfigError, EvaluationError
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.plan.options import DEFAULT_OPTIONS, Options
from coherencegym.eval.tasks.spans.data import CHOICE, SpanTable
from coherencegym.eval.tasks.spans.heads import HeadOptions, head_answers, refuse_question
from coherencegym.eval.tasks.spans.options import HEADS, PROMPT, SURPRISAL, SpanOptions
from coherencegym.eval.tasks.spans.prompts import prompt_answers
from coherencegym.eval.tasks.spans.published_scores import published_config, published_tables
from coherencegym.eval.tasks.spans.results import Answered
from coherencegym.eval.tasks.spans.zero_shot import ZeroShot, surprisal_answers


def askable(options: SpanOptions, table: SpanTable) -> SpanTable:
    """A table that can be asked about so, as far as can be told without the model."""
    if options.compat and published_config(table.table.config) is None:
        raise ConfigError(
            f"--compat {options.compat}: {table.table.name} is not of the paper; expected "
            f"--config {' or '.join(published_tables())}"
        )
    if options.scorer in HEADS:
        refuse_question(options.scorer, table)
    if table.folds and table.question != CHOICE and options.scorer != SURPRISAL:
        raise ConfigError(
            f"{table.table.name}: --scorer {options.scorer} sets no threshold on one text; "
            "expected no --calibrate-folds"
        )
    return table


def ask_spans(
    model: LoadedModel,
    table: SpanTable,
    options: SpanOptions,
    reading: Options = DEFAULT_OPTIONS,
    **run: Any,
) -> Answered:
    """Ask a model about every span of a table.

    Args:
        model: one with the scorer's head, or a causal language model.
        table: the rows.
        options: those of :func:`with_scorer`.
        reading: ways in which a causal model reads; of a model with a head the size of batches.
        run: further arguments of :func:`eval.surprisal.surprisals`.
    """
    truncate = options.truncate
    _check_head(model, options.scorer)
    if options.scorer not in HEADS and model.scorer != "causal":
        raise EvaluationError(
            f"model {model.name!r} is a masked language model; expected a causal one for --scorer "
            f"{options.scorer}"
        )
    if options.scorer in HEADS:
        found = head_answers(model, options.scorer, table, _head_options(options, reading, table))
    elif options.scorer == PROMPT:
        asking = {name: getattr(options, name) for name in ("calibrated", "apply_chat_template")}
        found = prompt_answers(model, table, reading, truncate=truncate, **asking, **run)
    else:
        how = ZeroShot(options.temperature, options.conditional, truncate)
        found = surprisal_answers(model, table, how, reading, **run)
    answered = Answered(table, found, options.rho, options.compat)
    if not answered.judged:
        raise ConfigError(
            f"{table.table.name}: all {len(table.rows):,} rows exceed the model's context; "
            "expected --truncate, or another model"
        )
    return answered


def _check_head(model: LoadedModel, scorer: str) -> None:
    made = type(model.model).__name__
    answers = ("ForSequenceClassification", "ForMultipleChoice")
    others = ("ForCausalLM", "LMHeadModel") if scorer in HEADS else answers
    if any(other in made for other in others):
        raise EvaluationError(
            f"model {model.name!r} is a {made}, and --scorer {scorer} needs another kind of model; "
            f"expected {' or '.join(HEADS) if others == answers else f'{SURPRISAL} or {PROMPT}'}"
        )


def _head_options(options: SpanOptions, reading: Options, table: SpanTable) -> HeadOptions:
    # As the paper's program reads: to 128 tokens, and whole stories of choices to 32.
    compat = {"max_length": 128} if options.compat else {}
    if options.compat and table.rows[0].is_choice:
        compat["whole_length"] = 32
    return HeadOptions(
        label=_label(options.label_map, table),
        decision=options.decision,
        truncate=options.truncate,
        batch_tokens=reading.batch_tokens,
        **compat,
    )


def _label(label_map: str | None, table: SpanTable) -> int | None:
    if label_map is None:
        return None
    name, _, number = label_map.partition("=")
    # ``entailment`` and ``entailed`` are one answer.
    if name[:6].casefold() != table.positive[:6].casefold() or not number.isdecimal():
        raise ConfigError(
            f"--label-map {label_map}: expected {table.positive}=NUMBER, as {table.table.config} "
            "asks for it"
        )
    return int(number)

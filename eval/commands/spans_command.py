"""``coherencegym spans``: is what is right about a text right about its parts? The options."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING

from coherencegym.command_line import Parser, rare
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands import options

if TYPE_CHECKING:
    from coherencegym.eval.data.notes import Note
    from coherencegym.eval.models.load import LoadedModel
    from coherencegym.eval.plan.options import Options
    from coherencegym.eval.plan.requests import Query
    from coherencegym.eval.tasks.spans.asking import SpanOptions
    from coherencegym.eval.tasks.spans.data import SpanTable
    from coherencegym.eval.tasks.spans.results import Answered

EXAMPLES = """\
  coherencegym spans --model demo --scorer surprisal --dataset suites/span_coherence
  coherencegym spans --model FacebookAI/roberta-large-mnli --dataset suites/span_coherence
  coherencegym spans --model ./finetuned --dataset suites/span_coherence --compat storks-2021
"""
#: Options of the data, as the results record them.
_DATA = ("configs", "split", "max_items", "calibrate_on")


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``spans``."""
    options.add_tables(parser, "configs; default all that hold spans")
    add = parser.group(options.DATA).add_argument
    add(
        "--calibrate-on",
        metavar="SPLIT",
        help="the split that thresholds are set on; default validation, or else train",
    )
    _add_answering(parser)
    options.add_reading(parser, "spans")
    options.add_output(parser, "default results/DATA--MODEL--spans", "results")
    options.add_alike(parser, "--dry-run", "--quiet", "--verbose")


def _add_answering(parser: Parser) -> None:
    from coherencegym.eval.tasks.spans.asking import AUTO, HEAD_DECISIONS, SCORERS
    from coherencegym.eval.tasks.spans.published_scores import MODE

    add = parser.group("how it answers").add_argument
    add(
        "--scorer",
        choices=SCORERS,
        default=AUTO,
        help="classifier, multiple-choice, regression: a model with such a head; surprisal, "
        "prompt: any causal language model; auto: by the model's head, else surprisal",
    )
    add(
        "--label-map",
        metavar="NAME=NUMBER",
        help="the class of a positive answer of a classifier, such as entailment=2; default: the "
        "one whose name says so",
    )
    rare(
        add(
            "--decision",
            choices=HEAD_DECISIONS,
            default="argmax",
            help="the way in which a classifier of three classes is positive: by the most "
            "probable class, or by half of the probability",
        )
    )
    _add_scorers(add)
    add(
        "--truncate",
        action="store_true",
        help="cut the end of texts that are too long for the model, never of a hypothesis or a "
        "question; else they are left out; both are counted",
    )
    add(
        "--rho",
        type=rho,
        default="folds",
        metavar="folds|best|0.25",
        help="the confidence that the answer to a choice needs; folds: the best on other texts; "
        "best: the best on these, as the paper reports it; default folds",
    )
    rare(
        add(
            "--compat",
            choices=(MODE,),
            default="",
            help="also the figures of the paper's released program, for its own items only",
        )
    )


def _add_scorers(add: Callable[..., argparse.Action]) -> None:
    """Declare what surprisal and prompt leave open."""
    rare(
        add(
            "--temperature",
            type=options.above_zero,
            default=1.0,
            metavar="BITS",
            help="surprisal on choices: p = softmax(-bits / T); default 1",
        )
    )
    rare(
        add(
            "--conditional",
            action="store_true",
            help="surprisal on choices: count only what follows the first difference",
        )
    )
    rare(
        add(
            "--no-calibration",
            dest="calibrated",
            action="store_false",
            help="prompt: do not hold answers against those after an empty text",
        )
    )
    add(
        "--apply-chat-template",
        action="store_true",
        help="prompt: ask as a user does in the chat template of the model's tokenizer; default: "
        "in plain text",
    )


def rho(text: str) -> str:
    """``folds``, ``best`` or a number from 0 to 1, for argparse."""
    from coherencegym.eval.tasks.spans.asking import is_rho

    if not is_rho(text):
        raise argparse.ArgumentTypeError(f"{text!r}; expected folds, best, or a number from 0 to 1")
    return text


def run(arguments: argparse.Namespace) -> int:
    """Ask a model about every span of a dataset; prints the table and writes the folder."""
    from coherencegym.eval.commands.running import closed, opened
    from coherencegym.eval.data.notes import of_each
    from coherencegym.eval.data.source import find_dataset
    from coherencegym.eval.tasks.spans.asking import askable, own_settings
    from coherencegym.eval.tasks.spans.data import read_span_tables
    from coherencegym.eval.tasks.spans.results import gather_spans
    from coherencegym.eval.views.spans.page import write_spans
    from coherencegym.eval.views.spans.table import print_spans

    output, settings = opened(arguments, "spans", _DATA)
    # The data first: they are read in a moment, and what is wrong with them shows at once.
    source = find_dataset(arguments.dataset, arguments.revision, arguments.configs)
    read, notes = read_span_tables(source, **{name: getattr(arguments, name) for name in _DATA})
    chosen = _chosen(arguments)
    tables, more = of_each(read, partial(askable, chosen), named=bool(arguments.configs))
    if arguments.dry_run:
        _dry_run(arguments, chosen, tables)
        print(f"would be written to {output}")
        return 0
    model, answered, unasked = _answered(arguments, chosen, tables)
    results = gather_spans(
        source.noted([*notes, *more, *unasked]),
        model,
        answered,
        settings,
        own_settings(chosen, _reading(arguments)),
    )
    return closed(arguments, output, results, write_spans, print_spans)


def _chosen(arguments: argparse.Namespace) -> SpanOptions:
    """The task's options, with the scorer that the user names, or the one for the model's head."""
    from coherencegym.eval.tasks.spans.asking import AUTO, SpanOptions, span_options, with_scorer

    given = span_options(**{one.name: getattr(arguments, one.name) for one in fields(SpanOptions)})
    config = None
    if given.scorer == AUTO:
        config, _ = options.model_config(arguments, scores=False)
    return with_scorer(given, config)


def _answered(
    arguments: argparse.Namespace, chosen: SpanOptions, tables: Sequence[SpanTable]
) -> tuple[LoadedModel, list[Answered], list[Note]]:
    """The model, what it says of each table, and notes on those that it cannot be asked about."""
    from coherencegym.eval.commands.running import running, timed
    from coherencegym.eval.data.notes import of_each
    from coherencegym.eval.tasks.spans.asking import ask_spans
    from coherencegym.eval.tasks.spans.heads import HEADS

    reading = _reading(arguments)
    if chosen.scorer in HEADS:
        model = _with_head(arguments, chosen)

        def ask_head(table: SpanTable) -> Answered:
            with timed(table.table.name, len(table.rows), "texts", arguments.quiet):
                return ask_spans(model, table, chosen, reading)

        return model, *of_each(tables, ask_head)
    with running(arguments, reading) as run_:

        def ask(table: SpanTable) -> Answered:
            with run_.reading(table.table.name, len(table.rows), "texts") as more:
                return ask_spans(run_.loaded, table, chosen, reading, **more)

        return run_.loaded, *of_each(tables, ask)


def _reading(arguments: argparse.Namespace) -> Options:
    """The options of reading; what a text loses is cut at its end, not as another task cuts."""
    from coherencegym.eval.plan.options import Options

    return Options(
        bos=arguments.bos,
        separator=arguments.separator,
        separator_space=arguments.separator_space,
        batch_tokens=arguments.batch_tokens,
        share=arguments.share,
    )


def _with_head(arguments: argparse.Namespace, chosen: SpanOptions) -> LoadedModel:
    from coherencegym.eval.forward.distributed import world
    from coherencegym.eval.models.load import load_with_head
    from coherencegym.eval.tasks.spans.heads import kind_of_head

    if world().size > 1:
        raise EvaluationError(f"--scorer {chosen.scorer}: several processes; expected one")
    return load_with_head(
        arguments.model,
        kind_of_head(chosen.scorer),
        arguments.device,
        arguments.dtype,
        **options.loading(arguments),
    )


def _dry_run(
    arguments: argparse.Namespace, chosen: SpanOptions, tables: Sequence[SpanTable]
) -> None:
    """Print how much work it is; only the model's config and tokenizer are read."""
    from coherencegym.eval.commands.running import planned_work, print_work
    from coherencegym.eval.tasks.spans.asking import PROMPT
    from coherencegym.eval.tasks.spans.data import places_of
    from coherencegym.eval.tasks.spans.heads import HEADS
    from coherencegym.eval.tasks.spans.prompts import prompt_queries
    from coherencegym.eval.tasks.spans.zero_shot import span_queries

    if chosen.scorer not in HEADS:
        in_chat, truncate = chosen.apply_chat_template, chosen.truncate
        texts: list[tuple[str, Sequence[Query], bool]] = [
            (
                table.table.name,
                prompt_queries(table, truncate=truncate, chat=in_chat)
                if chosen.scorer == PROMPT
                else span_queries(table, truncate=truncate),
                False,
            )
            for table in tables
        ]
        print_work(planned_work(arguments, texts, _reading(arguments), in_chat=in_chat))
        return
    for table in tables:
        spans = sum(len(places_of(row)) for row in table.rows)
        each = max(1, len(table.rows[0].alternatives))
        print(f"{table.table.name}: {len(table.rows):,} texts, {each * spans:,} spans to read")

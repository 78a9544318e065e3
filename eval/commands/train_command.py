"""``coherencegym train``: fine-tune an encoder for a task, for comparison. Only the options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from coherencegym.command_line import Parser, rare
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands import options
from coherencegym.eval.tasks.detect.decisions import DECISIONS
from coherencegym.numbers import above_zero, not_negative, positive

if TYPE_CHECKING:
    from coherencegym.eval.tasks.detect.data import TrainingData
    from coherencegym.eval.tasks.spans.train.data import SpanTraining
    from coherencegym.eval.tasks.training.encoder import Encoder
    from coherencegym.eval.tasks.training.fine_tuning import Settings

EXAMPLES = """\
  coherencegym train spans --model roberta-base --dataset suites/span_coherence \\
      --config conversational_entailment
  coherencegym train spans --model ./my-encoder --dataset DATA --config intruder_sample --parts
  coherencegym train documents --model roberta-base --dataset coherencegym/intruder_sentences
  coherencegym train documents --model roberta-base --dataset DATA --freeze
  coherencegym train spans --model roberta-base --dataset DATA --config C --dry-run
"""
#: Tasks that one can train for, and the names that results and their folder have.
DOCUMENTS, SPANS_TASK = "documents", "spans"
_NAMES = {DOCUMENTS: "train-documents", SPANS_TASK: "train-spans"}
#: Numbers of the training: option, type, help.
_NUMBERS: tuple[tuple[str, Callable[[str], float], str], ...] = (
    ("--learning-rate", above_zero, "default 2e-5, of a head alone 1e-3"),
    ("--epochs", positive, "most epochs; default 3, of spans 10"),
    ("--batch-size", positive, "rows in a step; default 32"),
    ("--evaluations", positive, "measurements on the validation split in an epoch; default 1"),
    ("--patience", positive, "evaluations without a better one that end it; default 2"),
    (
        "--max-length",
        positive,
        "most tokens of a text, or of a sentence with its document; default 512, or what the "
        "encoder reads",
    ),
)
#: Settings of tasks that differ from those of every training: as the papers trained.
_OTHERWISE: dict[str, dict[str, Any]] = {DOCUMENTS: {}, SPANS_TASK: {"epochs": 10}}
#: Those of a head alone, whose new weights have further to go than an encoder's.
_FROZEN = {"learning_rate": 1e-3}
#: Option -> the task that has a use for it, and its value where nobody says otherwise.
_ONLY = {
    "decision": (DOCUMENTS, None),
    "parts": (SPANS_TASK, False),
    "folds": (SPANS_TASK, None),
}
#: The heading of how it is trained, and what most runs leave as it is.
_TRAINING = "the training"
_RARE = ("--evaluations", "--patience")
#: Options that results record beside the settings of the training.
_RECORDED = ("configs", "split", "max_items")


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``train``."""
    parser.usage = "%(prog)s TASK [options]"
    parser.add_argument(
        "task",
        choices=tuple(_NAMES),
        help="documents: to find the sentence that does not belong; spans: to answer what texts "
        "with spans ask",
    )
    add_training(parser)
    parser.group(_TRAINING).add_argument(
        "--seed", dest="one_seed", type=not_negative, metavar="N", help="this seed alone"
    )
    parser.group(_TRAINING).add_argument(
        "--parts",
        action="store_true",
        help="spans: learn from every span that has a right answer, not from the whole alone",
    )
    parser.group(_TRAINING).add_argument(
        "--folds",
        type=positive,
        metavar="N",
        help="spans: cross-validation on train and validation, no source in two folds; one seed",
    )


def add_training(parser: Parser) -> None:
    """Declare the options of a training, whatever it is for."""
    add = parser.group(options.MODEL).add_argument
    what = "an encoder of transformers"
    add("--model", required=True, type=options.named, metavar="ID|FOLDER", help=what)
    add("--device", choices=("auto", "cpu"), default="auto", help="auto: a GPU where there is one")
    add(
        "--dtype",
        choices=("auto", "float32", "bfloat16"),
        default="auto",
        help="auto: bfloat16 for matrix products on a GPU that has it",
    )
    options.add_alike(parser, "--model-revision", "--dataset", "--revision")
    data = parser.group(options.DATA)
    options.many(
        data,
        "--train-on",
        metavar="C",
        help="configs to train on, and to choose weights and thresholds on; default all, of spans "
        "those of --config",
    )
    options.many(
        data,
        "--config",
        "--test-on",
        dest="configs",
        metavar="C",
        help="configs to test on; default those of --train-on",
    )
    options.add_alike(parser, "--split", "--limit")
    _add_numbers(parser)
    add = parser.group(_TRAINING).add_argument
    add("--decision", choices=DECISIONS, help="documents: argmax or independent; default both")
    options.add_output(parser, "default results/DATA--MODEL--train-TASK", "results")
    options.add_alike(parser, "--dry-run")


def _add_numbers(parser: Parser) -> None:
    add = parser.group(_TRAINING).add_argument
    add(
        "--seeds",
        nargs="+",
        type=not_negative,
        metavar="N",
        help="one number: so many seeds, 0 to N - 1; several: these; default 3",
    )
    add("--freeze", action="store_true", help="train the head alone, not the encoder below it")
    for name, kind, said in _NUMBERS:
        metavar = "X" if kind is above_zero else "N"
        action = add(name, type=kind, metavar=metavar, help=said)
        if name in _RARE:
            rare(action)
    rare(
        add(
            "--class-weights",
            choices=("balanced", "none"),
            help="balanced: intruders weigh as much as all other sentences, positive texts as "
            "much as the others; none: each pair or text alike",
        )
    )


@dataclass(frozen=True)
class _Training:
    """A training before it begins.

    Attributes:
        data: texts to learn from.
        encoder, settings: the beginning.
        seeds: so many models.
        output: the folder that all is written to.
    """

    data: Any
    encoder: Encoder
    settings: Settings
    seeds: Sequence[int]
    output: Path


def run(arguments: argparse.Namespace) -> int:
    """Train models; prints the table and writes models, cards and results."""
    from coherencegym.eval.forward.distributed import world
    from coherencegym.eval.models.libraries import quiet_libraries
    from coherencegym.eval.tasks.training.encoder import find_encoder
    from coherencegym.eval.tasks.training.fine_tuning import require_accelerate

    name = _NAMES[arguments.task]
    require_accelerate(name)
    if world().size > 1:
        raise EvaluationError(f"{name}: several processes; expected one, without a launcher")
    _refuse_unused(arguments)
    output = options.output_of(arguments, name)
    options.check_output(arguments, output)
    seeds = _seeds(arguments)
    quiet_libraries()
    read, dry_run, write = _DO[arguments.task]
    data = read(arguments)
    encoder = find_encoder(arguments.model, arguments.model_revision, arguments.max_length)
    settings = _settings(arguments, encoder.max_length)
    training = _Training(data, encoder, settings, seeds, output)
    if arguments.dry_run:
        dry_run(training)
        print(f"would be written to {output}")
        return 0
    write(training, arguments)
    print(f"written to {output}")
    return 0


def _refuse_unused(arguments: argparse.Namespace) -> None:
    for name, (task, default) in _ONLY.items():
        if getattr(arguments, name, default) != default and arguments.task != task:
            raise EvaluationError(
                f"--{name}: train {arguments.task} has no use for it; expected it with train {task}"
            )


def _settings(arguments: argparse.Namespace, max_length: int) -> Settings:
    from coherencegym.eval.tasks.training.fine_tuning import Settings

    names = ("learning_rate", "epochs", "batch_size", "evaluations", "patience", "class_weights")
    given = {name: getattr(arguments, name) for name in (*names, "freeze", "device", "dtype")}
    known = {name: value for name, value in given.items() if value is not None}
    usual = _OTHERWISE[arguments.task] | (_FROZEN if arguments.freeze else {})
    return Settings(**{**usual, **known, "max_length": max_length})


def _seeds(arguments: argparse.Namespace) -> list[int]:
    if arguments.folds is not None and arguments.seeds:
        raise EvaluationError(f"--folds {arguments.folds}: one seed; expected --seed, not --seeds")
    if arguments.folds is not None:
        return [arguments.one_seed or 0]
    if (one := getattr(arguments, "one_seed", None)) is not None:
        if arguments.seeds:
            raise EvaluationError(f"--seed {one}: expected it or --seeds, not both")
        return [one]
    given = arguments.seeds or [3]
    seeds = list(range(given[0])) if len(given) == 1 else list(given)
    if not seeds or len(set(seeds)) != len(seeds):
        listed = " ".join(map(str, given))
        raise EvaluationError(f"--seeds {listed}: expected at least one, each once")
    return seeds


_Model = TypeVar("_Model")


def _each(what: str, trainings: Mapping[int, Callable[..., _Model]]) -> list[_Model]:
    shown = sys.stderr.isatty()
    trained = []
    for done, (number, train) in enumerate(trainings.items(), start=1):
        if shown:
            print(f"{what} {number} ({done} of {len(trainings)})", file=sys.stderr)
        trained.append(train(progress=shown))
    return trained


def _say_steps(training: _Training, rows: int, models: str = "") -> None:
    from coherencegym.eval.tasks.training.fine_tuning import most_steps

    steps = most_steps(rows, training.settings)
    print(f"at most {steps:,} steps for each of {models or f'{len(training.seeds)} seeds'}")


def _named_data(arguments: argparse.Namespace) -> dict[str, Any]:
    names = ("dataset", "train_on", "split", "revision", "max_items")
    return {"test_on": arguments.configs, **{name: getattr(arguments, name) for name in names}}


def _read_documents(arguments: argparse.Namespace) -> TrainingData:
    from coherencegym.eval.tasks.detect.data import read_training_data

    return read_training_data(**_named_data(arguments))


def _dry_run_documents(training: _Training) -> None:
    from coherencegym.eval.tasks.detect.train.train import pairs_of

    data, encoder = training.data, training.encoder
    for table in (data.training, *data.tables):
        pairs = pairs_of(table.documents)
        print(
            f"{table.name}: {len(table.documents):,} documents, {table.intruded:,} with an "
            f"intruder, {len(pairs):,} pairs, "
            f"{encoder.truncated(pairs):,} cut to {encoder.max_length} tokens"
        )
    _say_steps(training, len(pairs_of(data.training.documents)))


def _write_documents(training: _Training, arguments: argparse.Namespace) -> None:
    from coherencegym.eval.tasks.detect.train.results import collect_training
    from coherencegym.eval.tasks.detect.train.train import train
    from coherencegym.eval.views.findings import print_findings
    from coherencegym.eval.views.training.detector_training import print_training, write_training

    data, encoder, settings = training.data, training.encoder, training.settings
    learned, chosen_on = data.training.documents, data.validation.documents
    tested = [table.documents for table in data.tables]
    train_one = partial(train, encoder, learned, chosen_on, tested, settings)
    trained = _each("seed", {seed: partial(train_one, seed=seed) for seed in training.seeds})
    recorded = {name: getattr(arguments, name) for name in (*_RECORDED, "decision")}
    results = collect_training(data, encoder, settings, trained, recorded)
    write_training(results, training.output, overwrite=arguments.overwrite)
    if len(training.seeds) == 1:
        print_findings(results.seeds[0])
    else:
        print_training(results)


def _read_texts(arguments: argparse.Namespace) -> SpanTraining:
    from coherencegym.eval.tasks.spans.train.data import read_span_training

    own = {"parts": arguments.parts, "folds": arguments.folds}
    return read_span_training(**_named_data(arguments), **own)


def _dry_run_texts(training: _Training) -> None:
    data, encoder = training.data, training.encoder
    for what, rows in (("to learn from", data.training), ("to choose on", data.validation)):
        said = f", {sum(row.label for row in rows):,} {data.positive}" if data.head.labels else ""
        print(
            f"{data.name}: {len(rows):,} {what}{said}, {encoder.truncated(rows):,} inputs cut to "
            f"{encoder.max_length} tokens"
        )
    for table in data.tested:
        print(f"{table.table.name}: {len(table.rows):,} texts to test on")
    if data.folds:
        for each in data.folds:
            print(f"fold {each.fold}: {len(each.validation):,} to choose on")
        _say_steps(
            training, max(len(each.training) for each in data.folds), f"{len(data.folds)} folds"
        )
        return
    _say_steps(training, len(data.training))


def _write_texts(training: _Training, arguments: argparse.Namespace) -> None:
    from coherencegym.eval.tasks.spans.train.results import collect_span_training
    from coherencegym.eval.tasks.spans.train.train import train_on_texts
    from coherencegym.eval.tasks.training.encoder import refuse_long_seconds
    from coherencegym.eval.views.findings import print_findings
    from coherencegym.eval.views.training.span_training import (
        print_span_training,
        write_span_training,
    )

    data, encoder, settings = training.data, training.encoder, training.settings
    rows = [*data.training, *data.validation, *data.test_rows]
    refuse_long_seconds(encoder.tokenizer, rows, encoder.max_length)
    train_one = partial(train_on_texts, encoder=encoder, settings=settings)
    if data.folds:
        (seed,) = training.seeds
        own = {n: partial(train_one, one, seed=seed) for n, one in enumerate(data.folds)}
        trained = _each("fold", own)
    else:
        trained = _each("seed", {n: partial(train_one, data, seed=n) for n in training.seeds})
    recorded = {name: getattr(arguments, name) for name in (*_RECORDED, "parts", "folds")}
    results = collect_span_training(data, encoder, settings, trained, recorded)
    write_span_training(results, data, training.output, overwrite=arguments.overwrite)
    if len(trained) == 1:
        print_findings(results.seeds[0], verbose=True)
    else:
        print_span_training(results)


#: Task -> how its data are read, what a dry run says, and the training itself.
_DO: dict[str, tuple[Callable[..., Any], Callable[..., None], Callable[..., None]]] = {
    DOCUMENTS: (_read_documents, _dry_run_documents, _write_documents),
    SPANS_TASK: (_read_texts, _dry_run_texts, _write_texts),
}

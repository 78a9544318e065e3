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
from coherencegym.eval.tasks.criteria.options import ABLATION, CRITERIA, GRU, name_of
from coherencegym.eval.tasks.detect.decisions import DECISIONS
from coherencegym.numbers import above_zero, not_negative, positive

if TYPE_CHECKING:
    from coherencegym.eval.tasks.detect.data import TrainingData
    from coherencegym.eval.tasks.spans.train.data import SpanTraining
    from coherencegym.eval.tasks.training.encoder import Encoder
    from coherencegym.eval.tasks.training.fine_tuning import Settings

EXAMPLES = """\
  coherencegym train documents --model roberta-base --dataset coherencegym/intruder_sentences
  coherencegym train spans --model roberta-base --dataset DATA --config intruder_sample --parts
  coherencegym train encoder --model gru --dataset DATA --criteria nsp nl spp sdt
"""
#: Tasks that one can train for, and the names that results and their folder have.
DOCUMENTS, SPANS_TASK, ENCODER = "documents", "spans", "encoder"
_NAMES = {task: f"train-{task}" for task in (DOCUMENTS, SPANS_TASK, ENCODER)}
#: Numbers of the training: option, type, help.
_NUMBERS: tuple[tuple[str, Callable[[str], float], str], ...] = (
    ("--learning-rate", above_zero, "default 2e-5; with --freeze 1e-3"),
    ("--epochs", positive, "largest number of epochs; default 3, for spans 10"),
    ("--batch-size", positive, "rows of a training step; default 32"),
    ("--evaluations", positive, "evaluations on the validation split per epoch; default 1"),
    ("--patience", positive, "stop after N evaluations without improvement; default 2"),
    (
        "--max-length",
        positive,
        "largest number of tokens of a text, or of a sentence with its document; default 512, or "
        "the encoder's limit if lower",
    ),
)
#: Settings of tasks that differ from those of every training: as the papers trained.
_OTHERWISE: dict[str, dict[str, Any]] = {DOCUMENTS: {}, SPANS_TASK: {"epochs": 10}}
#: Those of a head alone, whose new weights have further to go than an encoder's.
_FROZEN = {"learning_rate": 1e-3}
#: Option -> the tasks that have a use for it, and its value where nobody says otherwise.
_ONLY: dict[str, tuple[tuple[str, ...], Any]] = {
    "decision": ((DOCUMENTS,), None),
    "freeze": ((DOCUMENTS, SPANS_TASK), False),
    "parts": ((SPANS_TASK,), False),
    "folds": ((SPANS_TASK,), None),
    "class_weights": ((DOCUMENTS, SPANS_TASK), None),
    "criteria": ((ENCODER,), []),
    "ablation": ((ENCODER,), False),
    "dimensions": ((ENCODER,), None),
    "vectors": ((ENCODER,), None),
}
#: The heading of how it is trained, and what most runs leave as it is.
_TRAINING = "training"
_RARE = ("--batch-size", "--evaluations", "--patience", "--max-length")
#: Options that results record beside the settings of the training.
_RECORDED = ("configs", "split", "max_items")


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``train``."""
    parser.usage = "%(prog)s TASK [options]"
    parser.add_argument(
        "task",
        choices=tuple(_NAMES),
        metavar="TASK",
        help="documents (intruders), spans (parts of texts), encoder (structure)",
    )
    add_training(parser)
    _add_criteria(parser)
    what = "train with this seed only"
    add = parser.group(_TRAINING).add_argument
    rare(add("--seed", dest="one_seed", type=not_negative, metavar="N", help=what))
    parser.group(_TRAINING).add_argument(
        "--parts",
        action="store_true",
        help="spans: learn from parts of texts too, not only from whole texts",
    )
    rare(
        parser.group(_TRAINING).add_argument(
            "--folds",
            type=positive,
            metavar="N",
            help="spans: cross-validate on train and validation; each source is in one fold",
        )
    )


def _add_criteria(parser: Parser) -> None:
    group = parser.group(_TRAINING)
    what = f"encoder: criteria whose losses are summed: {', '.join(CRITERIA)}"
    options.many(group, "--criteria", choices=tuple(CRITERIA), metavar="NAME", help=what)
    what = "encoder: train all eight combinations of the paper's Table 2, each in its own folder"
    rare(group.add_argument("--ablation", action="store_true", help=what))
    what = "encoder: dimensions of gru's word vectors, of each direction, and of decoders; "
    what += "default 300"
    rare(group.add_argument("--dimensions", type=positive, metavar="N", help=what))
    what = "gru: initial word vectors; each line has a word and its numbers, as in GloVe's files"
    rare(group.add_argument("--vectors", type=Path, metavar="FILE", help=what))


def add_training(parser: Parser) -> None:
    """Declare the options of a training, whatever it is for."""
    add = parser.group(options.MODEL).add_argument
    what = "Hub id or folder of an encoder; gru: a new GRU (train encoder only)"
    add("--model", required=True, type=options.named, metavar="ID|FOLDER", help=what)
    what = "auto: a GPU if there is one"
    rare(add("--device", choices=("auto", "cpu"), default="auto", help=what))
    what = "auto: bfloat16 for matrix products on a GPU that has it"
    dtypes = ("auto", "float32", "bfloat16")
    rare(add("--dtype", choices=dtypes, default="auto", help=what))
    options.add_alike(parser, "--model-revision", "--dataset", "--revision")
    data = parser.group(options.DATA)
    options.many(
        data,
        "--train-on",
        metavar="C",
        help="configs for training; default all, for spans as --config",
    )
    options.many(
        data,
        "--config",
        "--test-on",
        dest="configs",
        metavar="C",
        help="configs to test on; default: the configs of --train-on",
    )
    options.add_alike(parser, "--split", "--limit", shown=False)
    _add_numbers(parser)
    add = parser.group(_TRAINING).add_argument
    said = "documents: the decision rule that is tested; default both"
    rare(add("--decision", choices=DECISIONS, help=said))
    options.add_output(parser, "default results/DATA--MODEL--train-TASK", "results")
    options.add_alike(parser, "--dry-run")


def _add_numbers(parser: Parser) -> None:
    add = parser.group(_TRAINING).add_argument
    add(
        "--seeds",
        nargs="+",
        type=not_negative,
        metavar="N",
        help="a number of seeds, or several seeds; default 3, for encoder 1",
    )
    add(
        "--freeze",
        action="store_true",
        help="documents, spans: train only the head",
    )
    for name, kind, said in _NUMBERS:
        metavar = "X" if kind is above_zero else "N"
        action = add(name, type=kind, metavar=metavar, help=said)
        if name in _RARE:
            rare(action)
    rare(
        add(
            "--class-weights",
            choices=("balanced", "none"),
            help="balanced: all intruders together weigh as much as all other sentences, all "
            "positive texts as much as all others; none: all weigh the same",
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
    if arguments.task == ENCODER:
        _train_encoders(arguments, seeds, output)
        return 0
    if arguments.model == GRU:
        raise EvaluationError(f"--model {GRU}: only for train {ENCODER}; expected another encoder")
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
    for name, (tasks, default) in _ONLY.items():
        if getattr(arguments, name, default) != default and arguments.task not in tasks:
            raise EvaluationError(
                f"--{name.replace('_', '-')}: train {arguments.task} does not use it; expected "
                f"train {' or '.join(tasks)}"
            )


def _settings(arguments: argparse.Namespace, max_length: int) -> Settings:
    from coherencegym.eval.tasks.training.fine_tuning import Settings

    usual = _OTHERWISE[arguments.task] | (_FROZEN if arguments.freeze else {})
    own = {"max_length": max_length, "freeze": arguments.freeze}
    return Settings(**{**usual, **_given_settings(arguments), **own})


def _given_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    names = ("learning_rate", "epochs", "batch_size", "evaluations", "patience", "class_weights")
    given = {name: getattr(arguments, name) for name in (*names, "device", "dtype")}
    return {name: value for name, value in given.items() if value is not None}


def _seeds(arguments: argparse.Namespace) -> list[int]:
    if arguments.folds is not None and arguments.seeds:
        raise EvaluationError(f"--folds {arguments.folds}: one seed; expected --seed, not --seeds")
    if arguments.folds is not None:
        return [arguments.one_seed or 0]
    if (one := getattr(arguments, "one_seed", None)) is not None:
        if arguments.seeds:
            raise EvaluationError(f"--seed {one}: expected it or --seeds, not both")
        return [one]
    given = arguments.seeds or [1 if arguments.task == ENCODER else 3]
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


def _say_steps(settings: Settings, models: int, rows: int, what: str = "seed") -> None:
    from coherencegym.eval.tasks.training.fine_tuning import most_steps

    steps = most_steps(rows, settings)
    print(f"at most {steps:,} steps for each of {models} {what}{'s' * (models > 1)}")


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
    _say_steps(training.settings, len(training.seeds), len(pairs_of(data.training.documents)))


def _write_documents(training: _Training, arguments: argparse.Namespace) -> None:
    from coherencegym.eval.tasks.detect.train.results import collect_training
    from coherencegym.eval.tasks.detect.train.train import train
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
        results.seeds[0].print()
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
    for each in data.folds:
        print(f"fold {each.fold}: {len(each.validation):,} to choose on")
    if data.folds:
        most = max(len(each.training) for each in data.folds)
        _say_steps(training.settings, len(data.folds), most, "fold")
        return
    _say_steps(training.settings, len(training.seeds), len(data.training))


def _write_texts(training: _Training, arguments: argparse.Namespace) -> None:
    from coherencegym.eval.tasks.spans.train.results import collect_span_training
    from coherencegym.eval.tasks.spans.train.train import train_on_texts
    from coherencegym.eval.tasks.training.encoder import refuse_long_seconds
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
        results.seeds[0].print()
    else:
        print_span_training(results)


def _train_encoders(arguments: argparse.Namespace, seeds: Sequence[int], output: Path) -> None:
    from coherencegym.eval.tasks.criteria.beginnings import beginning, encoder_settings
    from coherencegym.eval.tasks.criteria.sentences import read_structures
    from coherencegym.eval.tasks.criteria.words import Targets

    if bool(arguments.criteria) == arguments.ablation:
        raise EvaluationError(
            f"train {ENCODER}: expected --criteria with one or more of {', '.join(CRITERIA)}, or "
            "--ablation"
        )
    if arguments.vectors and arguments.model != GRU:
        raise EvaluationError(
            f"--vectors {arguments.vectors}: only for {GRU}; expected --model {GRU}"
        )
    data = read_structures(**_named_data(arguments))
    start = beginning(
        arguments.model,
        data,
        revision=arguments.model_revision,
        max_length=arguments.max_length,
        dimensions=arguments.dimensions,
        vectors=arguments.vectors,
    )
    settings = encoder_settings(start, **_given_settings(arguments), max_length=start.max_length)
    combinations = ABLATION if arguments.ablation else (tuple(arguments.criteria),)
    folders = {own: output / name_of(own) if arguments.ablation else output for own in combinations}
    if arguments.dry_run:
        for part in data.parts:
            said = f"{part.documents:,} documents, {len(part.sentences):,} sentences"
            print(f"{part.configs} ({part.split}): {said}")
        _say_steps(settings, len(seeds), len(data.training.sentences))
        for own, folder in folders.items():
            print(f"{name_of(own)}: would be written to {folder}")
        return
    targets = Targets.of(data.training.sentences)
    for own, folder in folders.items():
        _train_combination(arguments, (data, start, targets, own, settings), seeds, folder)


def _train_combination(
    arguments: argparse.Namespace, how: tuple[Any, ...], seeds: Sequence[int], folder: Path
) -> None:
    from coherencegym.eval.tasks.criteria.results import EncoderResults, collect_encoders
    from coherencegym.eval.tasks.criteria.train import TrainedEncoder, train_encoder
    from coherencegym.eval.views.training.encoder_training import print_encoders, write_encoders

    data, start, _, criteria, settings = how
    recorded = {name: getattr(arguments, name) for name in _RECORDED}

    def of_seeds(trained: Sequence[TrainedEncoder]) -> EncoderResults:
        return collect_encoders(data, start, criteria, settings, trained, recorded)

    train_one = partial(train_encoder, *how)
    results = of_seeds(_each("seed", {seed: partial(train_one, seed=seed) for seed in seeds}))
    write_encoders(results, of_seeds, folder, overwrite=arguments.overwrite)
    print_encoders(results)
    print(f"written to {folder}")


#: Task -> how its data are read, what a dry run says, and the training itself.
_DO: dict[str, tuple[Callable[..., Any], Callable[..., None], Callable[..., None]]] = {
    DOCUMENTS: (_read_documents, _dry_run_documents, _write_documents),
    SPANS_TASK: (_read_texts, _dry_run_texts, _write_texts),
}

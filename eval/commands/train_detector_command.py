"""``coherencegym train-detector``: fine-tune an encoder to find intruders. Only the options."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from coherencegym.command_line import Parser, rare
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands import options
from coherencegym.eval.tasks.detect.decisions import DECISIONS
from coherencegym.numbers import not_negative, positive

if TYPE_CHECKING:
    from coherencegym.eval.tasks.detect.data import TrainingData
    from coherencegym.eval.tasks.detect.train.encoder import Encoder
    from coherencegym.eval.tasks.detect.train.train import Settings, Trained

EXAMPLES = """\
  coherencegym train-detector --model roberta-base --dataset coherencegym/intruder_sentences
  coherencegym train-detector --model ./my-encoder --dataset DATA --seeds 5 --max-length 256
  coherencegym train-detector --model bert-base-uncased --dataset DATA \\
      --train-on wikipedia --test-on wikipedia cnn
  coherencegym train-detector --model roberta-base --dataset DATA --dry-run
"""

#: Numbers of the training: option, type, default, help.
_NUMBERS = (
    ("--learning-rate", options.above_zero, 2e-5, "default 2e-5"),
    ("--epochs", positive, 3, "most epochs; default 3"),
    ("--batch-size", positive, 32, "pairs in a step; default 32"),
    ("--evaluations", positive, 1, "measurements of validation F1 in an epoch; default 1"),
    ("--patience", positive, 2, "evaluations without a better F1 that end it; default 2"),
    (
        "--max-length",
        positive,
        None,
        "most tokens of a sentence with its document; default 512, or what the encoder reads",
    ),
)
#: The heading of how it is trained, and what most runs leave as it is.
_TRAINING = "the training"
_RARE = ("--evaluations", "--patience")
#: Options that results record beside the settings of the training.
_RECORDED = ("configs", "split", "max_items", "decision")


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``train-detector``."""
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
        help="configs to train on, and to choose weights and thresholds on; default all",
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
    add = parser.group(_TRAINING).add_argument
    add(
        "--seeds",
        nargs="+",
        type=not_negative,
        default=[3],
        metavar="N",
        help="one number: so many seeds, 0 to N - 1; several: these; default 3",
    )
    for name, kind, default, said in _NUMBERS:
        metavar = "X" if kind is options.above_zero else "N"
        action = add(name, type=kind, default=default, metavar=metavar, help=said)
        if name in _RARE:
            rare(action)
    _add_choices(parser)


def _add_choices(parser: Parser) -> None:
    add = parser.group(_TRAINING).add_argument
    rare(
        add(
            "--class-weights",
            choices=("balanced", "none"),
            default="balanced",
            help="balanced: intruders weigh as much as all other sentences; none: each pair alike",
        )
    )
    add("--decision", choices=DECISIONS, help="argmax or independent; default both")
    options.add_output(parser, "default results/DATA--MODEL--train-detector", "results")
    options.add_alike(parser, "--dry-run", "--seed")


def run(arguments: argparse.Namespace) -> int:
    """Train detectors; prints the table and writes models, cards and results."""
    from coherencegym.eval.forward.distributed import world
    from coherencegym.eval.models.libraries import quiet_libraries
    from coherencegym.eval.results.folder import MARKER
    from coherencegym.eval.tasks.detect.data import read_training_data
    from coherencegym.eval.tasks.detect.train.encoder import find_encoder
    from coherencegym.eval.tasks.detect.train.train import Settings, require_accelerate
    from coherencegym.files.folders import check_folder

    require_accelerate()
    if world().size > 1:
        raise EvaluationError("train-detector: several processes; expected one, without a launcher")
    output = options.output_of(arguments, "train-detector")
    check_folder(output, arguments.overwrite, MARKER)
    seeds = _seeds(arguments.seeds)
    quiet_libraries()
    data = read_training_data(
        arguments.dataset,
        arguments.train_on,
        arguments.configs,
        arguments.split,
        revision=arguments.revision,
        max_items=arguments.max_items,
    )
    encoder = find_encoder(arguments.model, arguments.model_revision, arguments.max_length)
    names = ("learning_rate", "epochs", "batch_size", "evaluations", "patience", "class_weights")
    chosen = {name: getattr(arguments, name) for name in (*names, "device", "dtype")}
    settings = Settings(max_length=encoder.max_length, **chosen)
    if arguments.dry_run:
        _dry_run(data, encoder, settings, seeds)
        print(f"would be written to {output}")
        return 0
    from coherencegym.eval.tasks.detect.train.results import gather_training
    from coherencegym.eval.views.detect.table import print_results, print_training
    from coherencegym.eval.views.report import write_training

    trained = _train(data, encoder, settings, seeds)
    recorded = {name: getattr(arguments, name) for name in _RECORDED}
    results = gather_training(data, encoder, settings, trained, recorded)
    write_training(results, output, overwrite=arguments.overwrite)
    if len(seeds) == 1:
        print_results(results.seeds[0])
    else:
        print_training(results)
    print(f"written to {output}")
    return 0


def _seeds(given: Sequence[int]) -> list[int]:
    seeds = list(range(given[0])) if len(given) == 1 else list(given)
    if not seeds or len(set(seeds)) != len(seeds):
        listed = " ".join(map(str, given))
        raise EvaluationError(f"--seeds {listed}: expected at least one, each once")
    return seeds


def _train(
    data: TrainingData, encoder: Encoder, settings: Settings, seeds: Sequence[int]
) -> list[Trained]:
    from coherencegym.eval.tasks.detect.train.train import train

    shown = sys.stderr.isatty()
    trained = []
    for number, seed in enumerate(seeds, start=1):
        if shown:
            print(f"seed {seed} ({number} of {len(seeds)})", file=sys.stderr)
        training, validation = data.training.documents, data.validation.documents
        tested = [table.documents for table in data.detection.tables]
        trained.append(train(encoder, training, validation, tested, settings, seed, progress=shown))
    return trained


def _dry_run(
    data: TrainingData, encoder: Encoder, settings: Settings, seeds: Sequence[int]
) -> None:
    """Print how much would be trained on."""
    from coherencegym.eval.tasks.detect.train.encoder import pairs_of

    for table in (data.training, *data.detection.tables):
        print(
            f"{table.name}: {len(table.documents):,} documents, {table.intruded:,} with an "
            f"intruder, {len(pairs_of(table.documents)):,} pairs, "
            f"{encoder.truncated(table.documents):,} cut to {encoder.max_length} tokens"
        )
    pairs = len(pairs_of(data.training.documents))
    steps = math.ceil(pairs / settings.batch_size) * settings.epochs
    print(f"at most {steps:,} steps for each of {len(seeds)} seeds")

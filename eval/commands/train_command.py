"""``python -m eval train-detector``: fine-tune an encoder to find intruders. Only the options."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.eval.commands.detect_command import default_output
from coherencegym.eval.tasks.detect.decisions import DECISIONS
from coherencegym.numbers import not_negative, positive

if TYPE_CHECKING:
    from coherencegym.eval.tasks.detect.data import TrainingData
    from coherencegym.eval.tasks.detect.train.encoder import Encoder
    from coherencegym.eval.tasks.detect.train.train import Settings

EXAMPLES = """\
  python -m eval train-detector --model roberta-base --dataset coherencegym/intruder_sentences
  python -m eval train-detector --model ./my-encoder --dataset DATA --seeds 5 --max-length 256
  python -m eval train-detector --model bert-base-uncased --dataset DATA \\
      --train-on wikipedia --test-on wikipedia cnn
  python -m eval train-detector --model roberta-base --dataset DATA --dry-run
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``train-detector``."""
    add = parser.add_argument
    add("--model", required=True, metavar="ID|FOLDER", help="an encoder of transformers")
    add("--model-revision", metavar="TAG", help="tag or commit of a Hub model")
    add("--dataset", required=True, metavar="ID|FOLDER", help="a Hub dataset, or a folder of one")
    add("--revision", metavar="TAG", help="tag or commit of a Hub dataset")
    add(
        "--train-on",
        nargs="+",
        action="extend",
        default=[],
        metavar="C",
        help="configs to train on, and to choose weights and thresholds on; default all",
    )
    add(
        "--config",
        "--test-on",
        dest="configs",
        nargs="+",
        action="extend",
        default=[],
        metavar="C",
        help="configs to test on; default those of --train-on",
    )
    add("--split", default="test", metavar="S", help="the split to test on; default test")
    add("--max-items", type=positive, metavar="N", help="only the first N documents of each table")
    add(
        "--seeds",
        nargs="+",
        type=not_negative,
        default=[3],
        metavar="N",
        help="one number: so many seeds, 0 to N - 1; several: these; default 3",
    )
    add("--learning-rate", type=_rate, default=2e-5, metavar="X", help="default 2e-5")
    add("--epochs", type=positive, default=3, metavar="N", help="most epochs; default 3")
    add("--batch-size", type=positive, default=32, metavar="N", help="pairs in a step; default 32")
    add(
        "--evaluations",
        type=positive,
        default=1,
        metavar="N",
        help="how often in an epoch F1 is measured on the validation split; default 1",
    )
    add(
        "--patience",
        type=positive,
        default=2,
        metavar="N",
        help="so many evaluations without a better F1 end the training; default 2",
    )
    add(
        "--max-length",
        type=positive,
        metavar="N",
        help="most tokens of a sentence with its document; default 512, or what the encoder reads",
    )
    add(
        "--class-weights",
        choices=("balanced", "none"),
        default="balanced",
        help="balanced: intruders weigh as much as all other sentences; none: each pair alike",
    )
    add("--decision", choices=DECISIONS, help="argmax or independent; default both")
    # Nothing is drawn any more; what was written for earlier releases goes on.
    add("--seed", type=int, help=argparse.SUPPRESS)
    add("--device", choices=("auto", "cpu"), default="auto", help="auto: a GPU where there is one")
    add(
        "--dtype",
        choices=("auto", "float32", "bfloat16"),
        default="auto",
        help="auto: bfloat16 for matrix products on a GPU that has it",
    )
    add("--dry-run", action="store_true", help="print how much would be trained on; trains nothing")
    add("--output", type=Path, metavar="DIR", help="default results/DATA--MODEL--train-detector")
    add("--overwrite", action="store_true", help="replace an existing folder of results")


def _rate(text: str) -> float:
    number = float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not greater than 0")
    return number


def run(arguments: argparse.Namespace) -> int:
    """Train detectors; prints the table and writes models, cards and results."""
    from coherencegym.errors import EvaluationError
    from coherencegym.eval.forward.distributed import world
    from coherencegym.eval.models.libraries import quiet_libraries
    from coherencegym.eval.results.folder import MARKER
    from coherencegym.eval.tasks.detect.data import read_training_data
    from coherencegym.eval.tasks.detect.train.encoder import load_encoder
    from coherencegym.eval.tasks.detect.train.train import Settings, require_accelerate
    from coherencegym.files.folders import check_folder

    require_accelerate()
    if world().size > 1:
        raise EvaluationError("train-detector: several processes; expected one, without a launcher")
    output = arguments.output or default_output(arguments, "train-detector")
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
    encoder = load_encoder(arguments.model, arguments.model_revision, arguments.max_length)
    settings = Settings(
        learning_rate=arguments.learning_rate,
        epochs=arguments.epochs,
        batch_size=arguments.batch_size,
        evaluations=arguments.evaluations,
        patience=arguments.patience,
        max_length=encoder.max_length,
        class_weights=arguments.class_weights,
        device=arguments.device,
        dtype=arguments.dtype,
    )
    if arguments.dry_run:
        _dry_run(data, encoder, settings, seeds)
        print(f"would be written to {output}")
        return 0
    return _train(arguments, data, encoder, settings, seeds, output)


def _seeds(given: Sequence[int]) -> list[int]:
    from coherencegym.errors import EvaluationError

    seeds = list(range(given[0])) if len(given) == 1 else list(given)
    if not seeds or len(set(seeds)) != len(seeds):
        listed = " ".join(map(str, given))
        raise EvaluationError(f"--seeds {listed}: expected at least one, each once")
    return seeds


def _train(
    arguments: argparse.Namespace,
    data: TrainingData,
    encoder: Encoder,
    settings: Settings,
    seeds: Sequence[int],
    output: Path,
) -> int:
    from coherencegym.eval.tasks.detect.train.results import gather_training
    from coherencegym.eval.tasks.detect.train.train import train
    from coherencegym.eval.views.detect.report import write_training
    from coherencegym.eval.views.detect.table import print_results, print_training

    chosen: dict[str, Any] = {
        name: getattr(arguments, name) for name in ("configs", "split", "max_items", "decision")
    }
    trained = []
    for number, seed in enumerate(seeds, start=1):
        if sys.stderr.isatty():
            print(f"seed {seed} ({number} of {len(seeds)})", file=sys.stderr)
        trained.append(
            train(
                encoder,
                data.training.documents,
                data.validation.documents,
                [table.documents for table in data.detection.tables],
                settings,
                seed,
                progress=sys.stderr.isatty(),
            )
        )
    results = gather_training(data, encoder, settings, trained, chosen)
    write_training(results, output, overwrite=arguments.overwrite)
    if len(seeds) == 1:
        print_results(results.seeds[0])
    else:
        print_training(results)
    print(f"written to {output}")
    return 0


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

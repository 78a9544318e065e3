"""``coherencegym train``: fine-tune an encoder for a task, for comparison. Only the options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import Parser, add_options, flag_of, rare
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands import options
from coherencegym.eval.tasks.options import options_from
from coherencegym.eval.tasks.training.options import (
    ABLATION,
    CRITERIA,
    GRU,
    Settings,
    TaskOptions,
    name_of,
)
from coherencegym.numbers import not_negative

if TYPE_CHECKING:
    from coherencegym.eval.tasks.training.training import Training, TrainingData

EXAMPLES = """\
  coherencegym train documents --model roberta-base --dataset coherencegym/intruder_sentences
  coherencegym train spans --model roberta-base --dataset DATA --config intruder_sample --parts
  coherencegym train encoder --model gru --dataset DATA --criteria nsp nl spp sdt
"""
#: Tasks that one can train for.
DOCUMENTS, SPANS_TASK, ENCODER = "documents", "spans", "encoder"
#: Option -> the tasks that have a use for it.
_ONLY = {
    "freeze": (DOCUMENTS, SPANS_TASK),
    "parts": (SPANS_TASK,),
    "folds": (SPANS_TASK,),
    "criteria": (ENCODER,),
    "ablation": (ENCODER,),
    "dimensions": (ENCODER,),
}
#: The heading of how it is trained.
_TRAINING = "training"


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``train``."""
    parser.usage = "%(prog)s TASK [options]"
    parser.add_argument(
        "task",
        choices=(DOCUMENTS, SPANS_TASK, ENCODER),
        metavar="TASK",
        help="documents, spans, encoder",
    )
    add = parser.group(options.MODEL).add_argument
    what = "Hub id or folder of an encoder; gru: a new GRU (train encoder only)"
    add("--model", required=True, type=options.named, metavar="ID|FOLDER", help=what)
    options.add_alike(parser, "--model-revision", "--dataset", "--revision")
    data = parser.group(options.DATA)
    what = "configs for training; default all, for spans as --config"
    options.many(data, "--train-on", metavar="C", help=what)
    what = "configs to test on; default: the configs of --train-on"
    options.many(data, "--config", "--test-on", dest="configs", metavar="C", help=what)
    options.add_alike(parser, "--split", "--limit", shown=False)
    group = parser.group(_TRAINING)
    what = "number of seeds, or several seeds; default 3 (encoder: 1)"
    group.add_argument("--seeds", nargs="+", type=not_negative, metavar="N", help=what)
    what = "train with this seed only"
    rare(group.add_argument("--seed", dest="one_seed", type=not_negative, metavar="N", help=what))
    what = f"encoder: criteria to sum: {', '.join(CRITERIA)}"
    options.many(group, "--criteria", choices=tuple(CRITERIA), metavar="NAME", help=what)
    for kind in (Settings, TaskOptions):
        add_options(parser, kind, _TRAINING)
    options.add_output(parser, "default results/DATA--MODEL--train-TASK", "results")
    options.add_alike(parser, "--dry-run")


def run(arguments: argparse.Namespace) -> int:
    """Train models; prints the table and writes models, cards and results."""
    from coherencegym.eval.forward.distributed import world
    from coherencegym.eval.models.libraries import quiet_libraries
    from coherencegym.eval.tasks.training.encoder import require_accelerate
    from coherencegym.eval.views.page import write_training

    name = f"train-{arguments.task}"
    require_accelerate(name)
    if world().size > 1:
        raise EvaluationError(f"{name}: several processes; expected one, without a launcher")
    given = vars(arguments)
    for option, tasks in _ONLY.items():
        if given.get(option) and arguments.task not in tasks:
            raise EvaluationError(
                f"{flag_of(option)}: train {arguments.task} does not use it; expected "
                f"train {' or '.join(tasks)}"
            )
    output = options.output_of(arguments, name)
    options.check_output(arguments, output)
    seeds = _seeds(arguments)
    quiet_libraries()
    trainings = list(_trainings(arguments, output))
    if arguments.dry_run:
        for line in trainings[0][1].costs(len(seeds)):
            print(line)
        for folder, _ in trainings:
            print(f"would be written to {folder}")
        return 0
    for folder, training in trainings:
        models = [(part, seed) for part in training.data.parts for seed in seeds]
        results = training.results(
            [_train(training, *model, f"{n} of {len(models)}") for n, model in enumerate(models, 1)]
        )
        write_training(training, results, folder, overwrite=arguments.overwrite)
        (results.seeds[0] if len(results.seeds) == 1 else results).print()
        print(f"written to {folder}")
    return 0


def _train(training: Training, part: TrainingData, seed: int, place: str) -> Any:
    shown = sys.stderr.isatty()
    if shown:
        name = f"seed {seed}" if part.fold is None else f"fold {part.fold}"
        print(f"{name} ({place})", file=sys.stderr)
    return training.train(part, seed, progress=shown)


def _seeds(arguments: argparse.Namespace) -> list[int]:
    folds, one = vars(arguments).get("folds"), arguments.one_seed
    if folds is not None and arguments.seeds:
        raise EvaluationError(f"--folds {folds}: one seed; expected --seed, not --seeds")
    if one is not None and arguments.seeds:
        raise EvaluationError(f"--seed {one}: expected it or --seeds, not both")
    if folds is not None or one is not None:
        return [one or 0]
    given = arguments.seeds or [1 if arguments.task == ENCODER else 3]
    seeds = list(range(given[0])) if len(given) == 1 else list(given)
    if not seeds or len(set(seeds)) != len(seeds):
        listed = " ".join(map(str, given))
        raise EvaluationError(f"--seeds {listed}: expected at least one, each once")
    return seeds


def _trainings(arguments: argparse.Namespace, output: Path) -> Iterator[tuple[Path, Training]]:
    from coherencegym.eval.tasks.criteria.sentences import (
        GRU_SETTINGS,
        NewGRU,
        Targets,
        read_structures,
    )
    from coherencegym.eval.tasks.criteria.training import EncoderTraining
    from coherencegym.eval.tasks.detect.training import DocumentTraining, training_documents
    from coherencegym.eval.tasks.spans.training import SpanTraining, training_texts
    from coherencegym.eval.tasks.training.encoder import find_encoder

    given = vars(arguments)
    own = options_from(TaskOptions, given)
    task, is_new = arguments.task, arguments.model == GRU
    if is_new and task != ENCODER:
        raise EvaluationError(f"--model {GRU}: only for train {ENCODER}; expected another encoder")
    if task == ENCODER and bool(arguments.criteria) == own.ablation:
        raise EvaluationError(
            f"train {ENCODER}: expected --criteria with one or more of {', '.join(CRITERIA)}, or "
            "--ablation"
        )
    names = ("dataset", "train_on", "split", "revision", "max_items")
    named = {"test_on": arguments.configs, **{name: given[name] for name in names}}
    read: dict[str, Callable[..., TrainingData]] = {
        DOCUMENTS: training_documents,
        SPANS_TASK: partial(training_texts, parts=own.parts, folds=own.folds),
        ENCODER: read_structures,
    }
    data, most = read[task](**named), given.get("max_length")
    encoder: Any
    if is_new:
        encoder = NewGRU.of(data.training, own.dimensions, most)
    else:
        encoder = find_encoder(arguments.model, arguments.model_revision, most)
    usual = {
        # As the papers trained; a head alone has new weights, which have further to go.
        **({"epochs": 10} if task == SPANS_TASK else {}),
        **({"learning_rate": 1e-3} if given.get("freeze") else {}),
        **(GRU_SETTINGS if is_new else {}),
    }
    settings = options_from(Settings, {**usual, **given, "max_length": encoder.max_length})
    chosen = {name: given[name] for name in ("configs", "split", "max_items")}
    common = data, encoder, settings, chosen
    if task == DOCUMENTS:
        yield output, DocumentTraining(*common, {})
    elif task == SPANS_TASK:
        yield output, SpanTraining(*common, {"parts": own.parts, "folds": own.folds})
    else:
        targets = Targets.of(data.training)
        for criteria in ABLATION if own.ablation else (arguments.criteria,):
            name = name_of(criteria)
            recorded = {"criteria": name, "dimensions": own.dimensions}
            folder = output / name if own.ablation else output
            yield folder, EncoderTraining(*common, recorded, targets, criteria)

"""``coherencegym train``: fine-tune an encoder for a task, for comparison. Only the options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import Parser, add_options, flag_of, not_negative
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands import options
from coherencegym.eval.run.options import DataOptions, ModelOptions
from coherencegym.eval.tasks.options import options_from
from coherencegym.eval.tasks.training.options import (
    CRITERIA,
    GRU,
    Settings,
    TaskOptions,
)

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
    add_options(parser, ModelOptions, only=("model_revision",))
    add_options(parser, DataOptions, only=("dataset", "split", "revision", "limit"))
    data = parser.group(options.DATA)
    what = "configs for training; default all, for spans as --config"
    options.many(data, "--train-on", metavar="C", help=what)
    what = "configs to test on; default: the configs of --train-on"
    options.many(data, "--config", "--test-on", dest="configs", metavar="C", help=what)
    group = parser.group(_TRAINING)
    what = "one model for each seed; default 0 1 2 (encoder, --folds: 0)"
    group.add_argument("--seeds", nargs="+", type=not_negative, metavar="N", help=what)
    what = f"encoder: criteria to sum: {', '.join(CRITERIA)}"
    options.many(group, "--criteria", choices=tuple(CRITERIA), metavar="NAME", help=what)
    for kind in (Settings, TaskOptions):
        add_options(parser, kind, _TRAINING)
    options.add_output(parser, "default results/DATA--MODEL--train-TASK", "results")


def run(arguments: argparse.Namespace) -> int:
    """Train models; prints the table and writes models, cards and results."""
    from coherencegym.eval.models.machine import quiet_libraries, world
    from coherencegym.eval.results.folder import run_name
    from coherencegym.eval.tasks.training.encoder import require_accelerate
    from coherencegym.eval.views.page import write_training
    from coherencegym.files.folders import check_folder

    name = f"train-{arguments.task}"
    require_accelerate(name)
    if world().size > 1:
        raise EvaluationError("several processes; expected one, without a launcher")
    given = vars(arguments)
    for option, tasks in _ONLY.items():
        if given.get(option) and arguments.task not in tasks:
            raise EvaluationError(
                f"{flag_of(option)}: train {arguments.task} does not use it; expected "
                f"train {' or '.join(tasks)}"
            )
    data, model = options_from(DataOptions, given), options_from(ModelOptions, given)
    named = run_name(data.dataset, model.model, name, revision=model.revision)
    output = arguments.output or Path("results") / named
    check_folder(output, arguments.overwrite, inputs=[data.dataset], around=[model.model])
    seeds = _seeds(arguments)
    quiet_libraries()
    training = _training(arguments, data, model)
    models = [(part, seed) for part in training.data.parts for seed in seeds]
    results = training.results(
        [_train(training, *model, f"{n} of {len(models)}") for n, model in enumerate(models, 1)]
    )
    write_training(results, output, overwrite=arguments.overwrite)
    (results.details[0].results if len(results.details) == 1 else results).print()
    print(f"written to {output}")
    return 0


def _train(training: Training, part: TrainingData, seed: int, place: str) -> Any:
    shown = sys.stderr.isatty()
    if shown:
        name = f"seed {seed}" if part.fold is None else f"fold {part.fold}"
        print(f"{name} ({place})", file=sys.stderr)
    return training.train(part, seed, progress=shown)


def _seeds(arguments: argparse.Namespace) -> list[int]:
    folds = vars(arguments).get("folds")
    seeds: list[int] = arguments.seeds or [0, 1, 2]
    if folds is not None or arguments.task == ENCODER:
        seeds = arguments.seeds or [0]
    if len(set(seeds)) != len(seeds):
        raise EvaluationError(f"--seeds {' '.join(map(str, seeds))}: expected each once")
    if folds is not None and len(seeds) > 1:
        raise EvaluationError(f"--folds {folds}: {len(seeds)} seeds; expected one")
    return seeds


def _training(arguments: argparse.Namespace, data: DataOptions, model: ModelOptions) -> Training:
    from coherencegym.eval.tasks.training.criteria import (
        GRU_SETTINGS,
        EncoderTraining,
        NewGRU,
        Targets,
        read_structures,
    )
    from coherencegym.eval.tasks.training.encoder import find_encoder
    from coherencegym.eval.tasks.training.texts import (
        DocumentTraining,
        SpanTraining,
        training_documents,
        training_texts,
    )

    given = vars(arguments)
    own = options_from(TaskOptions, given)
    task, is_new = arguments.task, arguments.model == GRU
    if is_new and task != ENCODER:
        raise EvaluationError(f"--model {GRU}: only for train {ENCODER}; expected another encoder")
    if task == ENCODER and not arguments.criteria:
        raise EvaluationError(
            f"train {ENCODER}: expected --criteria with one or more of {', '.join(CRITERIA)}"
        )
    part = {"train_on": arguments.train_on, "test_on": arguments.configs, "split": data.split}
    part |= {"revision": data.revision, "max_items": data.limit}
    readers: dict[str, Callable[..., TrainingData]] = {
        DOCUMENTS: training_documents,
        SPANS_TASK: partial(training_texts, parts=own.parts, folds=own.folds),
        ENCODER: read_structures,
    }
    read, most = readers[task](data.dataset, **part), given.get("max_length")
    encoder: Any
    if is_new:
        encoder = NewGRU.of(read.training, own.dimensions, most)
    else:
        encoder = find_encoder(model.model, model.revision, most)
    usual = {
        # As the papers trained; a head alone has new weights, which have further to go.
        **({"epochs": 10} if task == SPANS_TASK else {}),
        **({"learning_rate": 1e-3} if given.get("freeze") else {}),
        **(GRU_SETTINGS if is_new else {}),
    }
    settings = options_from(Settings, {**usual, **given, "max_length": encoder.max_length})
    chosen = {"configs": arguments.configs, "split": data.split, "max_items": data.limit}
    common = read, encoder, settings, chosen
    if task == DOCUMENTS:
        return DocumentTraining(*common, {})
    if task == SPANS_TASK:
        return SpanTraining(*common, {"parts": own.parts, "folds": own.folds})
    name = "+".join(name for name in CRITERIA if name in arguments.criteria)
    recorded = {"criteria": name, "dimensions": own.dimensions}
    return EncoderTraining(*common, recorded, Targets.of(read.training), arguments.criteria)

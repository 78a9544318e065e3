"""``coherencegym train``: fine-tune an encoder for a task, for comparison. Only the options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import Parser, add_options, flag_of, rare
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands import options
from coherencegym.eval.tasks.criteria.options import ABLATION, CRITERIA, GRU, name_of
from coherencegym.eval.tasks.training.options import Settings, TaskOptions
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
    "decision": (DOCUMENTS,),
    "freeze": (DOCUMENTS, SPANS_TASK),
    "parts": (SPANS_TASK,),
    "folds": (SPANS_TASK,),
    "class_weights": (DOCUMENTS, SPANS_TASK),
    "criteria": (ENCODER,),
    "ablation": (ENCODER,),
    "dimensions": (ENCODER,),
    "vectors": (ENCODER,),
}
#: The heading of how it is trained.
_TRAINING = "training"
#: Options that results record beside the settings of the training.
_RECORDED = ("configs", "split", "max_items")


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
    what = f"encoder: criteria whose losses are summed: {', '.join(CRITERIA)}"
    options.many(group, "--criteria", choices=tuple(CRITERIA), metavar="NAME", help=what)
    for kind in (Settings, TaskOptions):
        add_options(parser, kind, _TRAINING)
    options.add_output(parser, "default results/DATA--MODEL--train-TASK", "results")
    options.add_alike(parser, "--dry-run")


def run(arguments: argparse.Namespace) -> int:
    """Train models; prints the table and writes models, cards and results."""
    from coherencegym.eval.forward.distributed import world
    from coherencegym.eval.models.libraries import quiet_libraries
    from coherencegym.eval.tasks.training.fine_tuning import require_accelerate
    from coherencegym.eval.views.training.models import write_training

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
    if arguments.task == ENCODER:
        return _encoder_trainings(arguments, output)
    return iter([(output, _text_training(arguments))])


def _given(arguments: argparse.Namespace, schema: type[Any]) -> dict[str, Any]:
    given = vars(arguments)
    return {one.name: given[one.name] for one in fields(schema) if one.name in given}


def _common(arguments: argparse.Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    # What names the data, and what results record of it.
    names = ("dataset", "train_on", "split", "revision", "max_items")
    named = {"test_on": arguments.configs, **{name: getattr(arguments, name) for name in names}}
    return named, {name: getattr(arguments, name) for name in _RECORDED}


def _text_training(arguments: argparse.Namespace) -> Training:
    from coherencegym.eval.tasks.detect.training import DocumentTraining, training_documents
    from coherencegym.eval.tasks.spans.training import SpanTraining, training_texts
    from coherencegym.eval.tasks.training.encoder import find_encoder

    if arguments.model == GRU:
        raise EvaluationError(f"--model {GRU}: only for train {ENCODER}; expected another encoder")
    named, chosen = _common(arguments)
    own, given = TaskOptions(**_given(arguments, TaskOptions)), _given(arguments, Settings)
    is_spans = arguments.task == SPANS_TASK
    more: dict[str, Any] = {"parts": own.parts, "folds": own.folds} if is_spans else {}
    data = training_texts(**named, **more) if is_spans else training_documents(**named)
    encoder = find_encoder(arguments.model, arguments.model_revision, given.get("max_length"))
    usual = {
        # As the papers trained; a head alone has new weights, which have further to go.
        **({"epochs": 10} if is_spans else {}),
        **({"learning_rate": 1e-3} if given.get("freeze") else {}),
    }
    settings = Settings(**{**usual, **given, "max_length": encoder.max_length})
    if is_spans:
        return SpanTraining(data, settings, chosen, more, encoder)
    return DocumentTraining(data, settings, chosen, {"decision": own.decision}, encoder)


def _encoder_trainings(
    arguments: argparse.Namespace, output: Path
) -> Iterator[tuple[Path, Training]]:
    from coherencegym.eval.tasks.criteria.beginnings import beginning, encoder_settings
    from coherencegym.eval.tasks.criteria.sentences import read_structures
    from coherencegym.eval.tasks.criteria.training import EncoderTraining
    from coherencegym.eval.tasks.criteria.words import Targets

    own, given = TaskOptions(**_given(arguments, TaskOptions)), _given(arguments, Settings)
    if bool(arguments.criteria) == own.ablation:
        raise EvaluationError(
            f"train {ENCODER}: expected --criteria with one or more of {', '.join(CRITERIA)}, or "
            "--ablation"
        )
    if own.vectors and arguments.model != GRU:
        raise EvaluationError(f"--vectors {own.vectors}: only for {GRU}; expected --model {GRU}")
    named, chosen = _common(arguments)
    data = read_structures(**named)
    start = beginning(
        arguments.model,
        data,
        revision=arguments.model_revision,
        max_length=given.get("max_length"),
        dimensions=own.dimensions,
        vectors=own.vectors,
    )
    settings, targets = encoder_settings(start, **given), Targets.of(data.training)
    combinations: Sequence[Sequence[str]] = ABLATION if own.ablation else (arguments.criteria,)
    for criteria in combinations:
        name = name_of(criteria)
        recorded = {"criteria": name, "dimensions": own.dimensions}
        training = EncoderTraining(data, settings, chosen, recorded, start, targets, criteria)
        yield output / name if own.ablation else output, training

"""The commands that ask or train models beside the tasks: show, surprisal and train.

Each parses, calls and prints; the work is elsewhere.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import (
    Parser,
    add_options,
    flag_of,
    named,
    not_negative,
    option,
    options_in,
)
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.results import add_output, many
from coherencegym.eval.plan.options import RUNNING, Options
from coherencegym.eval.run.options import (
    CHECKPOINTS,
    DATA,
    METHOD,
    MODEL,
    WRITTEN,
    DataOptions,
    ItemOptions,
    ModelOptions,
)
from coherencegym.eval.tasks.options import options_from
from coherencegym.eval.tasks.training import CRITERIA, GRU, Settings, TaskOptions

if TYPE_CHECKING:
    from coherencegym.eval.tasks.training.training import Training, TrainingData


@dataclass(frozen=True)
class ShowOptions:
    """The item, and what is shown of it."""

    item: str = option(
        "",
        "id of an item, or the beginning or end of the id",
        metavar="ID",
        group=DATA,
        required=True,
    )
    conditions: tuple[str, ...] = option(
        (),
        "conditions to show; default: all conditions in the item's predictions",
        metavar="C",
        group=WRITTEN,
        many=True,
    )


_SHOW_KINDS = (
    (ShowOptions, options_in(ShowOptions)),
    (ItemOptions, [name for name in options_in(ItemOptions) if name != "limit"]),
    (ModelOptions, [name for name in options_in(ModelOptions) if name not in CHECKPOINTS]),
    (Options, [name for name in options_in(Options) if name not in RUNNING]),
)


class Show:
    """One item, token by token."""

    EXAMPLES = """\
  coherencegym show --item d17/shuffled --model gpt2 --dataset suites/sentence_order
  coherencegym show --item d17 --model demo --dataset suites/connectives --config gum \\
    --conditions original since
"""

    def add_arguments(self, parser: Parser) -> None:
        """Declare the options of ``show``."""
        for kind, names in _SHOW_KINDS:
            add_options(parser, kind, METHOD, only=names)

    def run(self, arguments: argparse.Namespace) -> int:
        """Print the surprisal of every token of an item."""
        from coherencegym.eval.models.machine import quiet_libraries
        from coherencegym.eval.report.grid import plain_text
        from coherencegym.eval.run.call import parse_options
        from coherencegym.eval.run.data import read_items
        from coherencegym.eval.tasks.score.numeric_error import measure_error
        from coherencegym.eval.tasks.score.report import scorer_notes
        from coherencegym.eval.tasks.score.scoring import score_items
        from coherencegym.eval.views.item_text import check_conditions, find_item, item_lines
        from coherencegym.terminal import shown_console

        given, usual = vars(arguments), {"scorer": "auto"}
        shown, data, model, reading = parse_options(_SHOW_KINDS, given, "", usual)
        reading.check()
        quiet_libraries()
        table, item = find_item(read_items(data).tables, shown.item)
        check_conditions(item, shown.conditions)
        loaded = model.load(reading.scorer)
        reading = replace(reading.settled(loaded.scorer), every_token=True)
        how, separator = (loaded.model, loaded.tokenizer), table.separator
        error = measure_error(*how, [([item], separator)], reading)
        (one,) = score_items(*how, [item], reading, uses_separator=separator).items
        about = table, loaded.tokenizer, shown.conditions
        lines = item_lines(one, *about, rules=reading.rules, error=error)
        console = shown_console(highlight=False)
        for line, style in lines:
            console.print(plain_text(line, style), soft_wrap=True)
        if reading.is_masked:
            masks = {"scorer": reading.scorer, "masking": reading.masking}
            print("".join(f"· {note}\n" for note in scorer_notes(masks, [])), end="")
        return 0


class Surprisal:
    """The surprisal of texts, one row a word or a token, as CSV."""

    EXAMPLES = """\
  coherencegym surprisal stories.txt --model gpt2 > surprisals.csv
  coherencegym surprisal items.csv --model gpt2 --column sentence --context prompt --by token
  coherencegym surprisal stories.txt --model gpt2 gpt2-medium --word-correction
"""

    def add_arguments(self, parser: Parser) -> None:
        """Declare the options of ``surprisal``."""
        from coherencegym.eval.run.texts import TEXT_KINDS
        from coherencegym.files.tables import FRAME_SUFFIXES

        said = f"texts: .txt with one text per line, or a table ({', '.join(FRAME_SUFFIXES)})"
        parser.add_argument("texts", type=Path, metavar="FILE", help=said)
        for kind, names in TEXT_KINDS:
            add_options(parser, kind, METHOD, only=names, several=True)

    def run(self, arguments: argparse.Namespace) -> int:
        """Print a row for each word or token of each text by each model."""
        from coherencegym.eval.models.machine import quiet_libraries
        from coherencegym.eval.report.formats import csv_text
        from coherencegym.eval.run.texts import surprisal_rows

        given = vars(arguments)
        texts = given.pop("texts")
        quiet_libraries()
        sys.stdout.write(csv_text(surprisal_rows(texts, given, in_shell=True)))
        return 0


#: Tasks that one can train for.
DOCUMENTS, SPANS_TASK, ENCODER = "documents", "spans", "encoder"
#: Option -> the tasks that have a use for it.
_ONLY = {
    "folds": (SPANS_TASK,),
    "criteria": (ENCODER,),
    "dimensions": (ENCODER,),
}
#: The heading of how it is trained.
_TRAINING = "training"


class Train:
    """Fine-tune an encoder for a task, for comparison."""

    EXAMPLES = """\
  coherencegym train documents --model roberta-base --dataset coherencegym/intruder_sentences
  coherencegym train spans --model roberta-base --dataset DATA --config intruder_sample
  coherencegym train encoder --model gru --dataset DATA --criteria nsp nl spp sdt
"""

    def add_arguments(self, parser: Parser) -> None:
        """Declare the options of ``train``."""
        parser.usage = "%(prog)s TASK [options]"
        parser.add_argument(
            "task",
            choices=(DOCUMENTS, SPANS_TASK, ENCODER),
            metavar="TASK",
            help="documents, spans, encoder",
        )
        add = parser.group(MODEL).add_argument
        what = "Hub id or folder of an encoder; gru: a new GRU (train encoder only)"
        add("--model", required=True, type=named, metavar="ID|FOLDER", help=what)
        add_options(parser, ModelOptions, only=("model_revision",))
        add_options(parser, DataOptions, only=("dataset", "split", "revision", "limit"))
        data = parser.group(DATA)
        what = "configs for training; default all, for spans as --config"
        many(data, "--train-on", metavar="C", help=what)
        what = "configs to test on; default: the configs of --train-on"
        many(data, "--config", "--test-on", dest="configs", metavar="C", help=what)
        group = parser.group(_TRAINING)
        what = "one model for each seed; default 0 1 2 (encoder, --folds: 0)"
        group.add_argument("--seeds", nargs="+", type=not_negative, metavar="N", help=what)
        what = f"encoder: criteria to sum: {', '.join(CRITERIA)}"
        many(group, "--criteria", choices=tuple(CRITERIA), metavar="NAME", help=what)
        for kind in (Settings, TaskOptions):
            add_options(parser, kind, _TRAINING)
        add_output(parser, "default results/DATA--MODEL--train-TASK", "results")

    def run(self, arguments: argparse.Namespace) -> int:
        """Train models; prints the table and writes models, cards and results."""
        from coherencegym.eval.models.machine import quiet_libraries, world
        from coherencegym.eval.results.folder import run_name
        from coherencegym.eval.tasks.training.encoder import require_accelerate
        from coherencegym.eval.views.training import write_training
        from coherencegym.files.folders import check_folder

        name = f"train-{arguments.task}"
        require_accelerate(name)
        if world().size > 1:
            raise EvaluationError("several processes; expected one, without a launcher")
        given = vars(arguments)
        for of_some, tasks in _ONLY.items():
            if given.get(of_some) and arguments.task not in tasks:
                raise EvaluationError(
                    f"{flag_of(of_some)}: train {arguments.task} does not use it; expected "
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
        SPANS_TASK: partial(training_texts, folds=own.folds),
        ENCODER: read_structures,
    }
    read, most = readers[task](data.dataset, **part), given.get("max_length")
    encoder: Any
    if is_new:
        encoder = NewGRU.of(read.training, own.dimensions, most)
    else:
        encoder = find_encoder(model.model, model.revision, most)
    usual = {
        # As the papers trained.
        **({"epochs": 10} if task == SPANS_TASK else {}),
        **(GRU_SETTINGS if is_new else {}),
    }
    settings = options_from(Settings, {**usual, **given, "max_length": encoder.max_length})
    chosen = {"configs": arguments.configs, "split": data.split, "max_items": data.limit}
    common = read, encoder, settings, chosen
    if task == DOCUMENTS:
        return DocumentTraining(*common, {})
    if task == SPANS_TASK:
        return SpanTraining(*common, {"folds": own.folds})
    name = "+".join(name for name in CRITERIA if name in arguments.criteria)
    return EncoderTraining(*common, {"criteria": name, "dimensions": own.dimensions})

"""Options that several subcommands have, and what they come to."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.forward.cache import VARIABLE
from coherencegym.eval.models.arguments import parse_model_arguments
from coherencegym.eval.models.placement import DEVICE_MAPS
from coherencegym.eval.plan.options import DEFAULT, MODES, Options
from coherencegym.numbers import positive

if TYPE_CHECKING:
    from coherencegym.eval.data.dataset import ItemTable
    from coherencegym.eval.data.source import Source
    from coherencegym.eval.models.load import LoadedModel


_DATASET: dict[str, Any] = {"metavar": "ID|FOLDER", "help": "a Hub dataset, or a folder of one"}
#: Options that several subcommands declare alike.
_ALIKE: dict[str, dict[str, Any]] = {
    "--dataset": {"required": True, **_DATASET},
    "--revision": {"metavar": "TAG", "help": "tag or commit of a Hub dataset"},
    "--model-revision": {"metavar": "TAG", "help": "tag or commit of a Hub model"},
    "--split": {"default": "test", "metavar": "S", "help": "the split to test on; default test"},
    "--max-items": {
        "type": positive,
        "metavar": "N",
        "help": "read the first N documents of each table",
    },
    # Nothing is drawn any more; commands of earlier releases go on.
    "--seed": {"type": int, "help": argparse.SUPPRESS},
}


def add_alike(parser: argparse.ArgumentParser, *names: str) -> None:
    """Declare options as other subcommands do."""
    for name in names:
        parser.add_argument(name, **_ALIKE[name])


def many(parser: Any, *names: str, **more: Any) -> None:
    """Declare an option that takes several values, also when it is given several times."""
    parser.add_argument(*names, **{"nargs": "+", "action": "extend", "default": [], **more})


def add_model(parser: argparse.ArgumentParser) -> None:
    """Declare ``--model``, where and how it is loaded, and what its input looks like."""
    add = parser.add_argument
    add(
        "--model",
        required=True,
        metavar="ID|FOLDER|demo",
        help="any causal language model of transformers: a Hub id, a folder, or the embedded one",
    )
    add_alike(parser, "--model-revision")
    many(
        parser,
        "--model-arg",
        dest="model_args",
        metavar="KEY=VALUE",
        help="from_pretrained's own; also peft=, load_in_8bit=true, attn_implementation=eager, ...",
    )
    add(
        "--trust-remote-code",
        action="store_true",
        help="run code from the model's repository if it needs it; read it first",
    )
    add("--device", default="auto", help="auto, cpu, cuda, cuda:1, mps; default auto")
    add(
        "--dtype",
        default="auto",
        choices=("auto", "float32", "bfloat16", "float16"),
        help="auto: float32 on a CPU, bfloat16 on a GPU that has it, its own if quantized",
    )
    add(
        "--device-map",
        choices=DEVICE_MAPS,
        help="spread a model that is larger than one GPU over all of them (needs accelerate)",
    )
    add(
        "--bos",
        default="auto",
        choices=("auto", "always", "never"),
        help="start-of-text token before every text; auto: exactly one if the model has one",
    )
    add(
        "--separator",
        default="auto",
        metavar="auto|TEXT|none",
        help="text for [SEP] in dialogues; auto: the model's separator or end-of-text token",
    )
    add(
        "--separator-space",
        default="keep",
        choices=("keep", "drop"),
        help="the space after a separator",
    )


def add_scoring(parser: argparse.ArgumentParser) -> None:
    """Declare how texts are scored, which only minimal pairs leave open."""
    add = parser.add_argument
    add(
        "--compat",
        choices=tuple(MODES),
        help="score as the programs behind the published numbers did (the README has a table)",
    )
    add(
        "--truncate",
        action="store_true",
        help="cut texts that are too long on the left, where all conditions are identical",
    )
    add(
        "--word-correction",
        action="store_true",
        help="surprisals of words, for tokens that begin with a space (Pimentel and Meister 2024)",
    )


def add_items(parser: argparse.ArgumentParser) -> None:
    """Declare which items are read; see :func:`item_tables`."""
    data = parser.add_mutually_exclusive_group(required=True)
    data.add_argument("--dataset", **_DATASET)
    many(
        data,
        "--suite",
        dest="suites",
        default=None,
        type=Path,
        metavar="FILE.json",
        help="test suites in SyntaxGym's JSON, or folders of them",
    )
    many(parser, "--config", dest="configs", metavar="C", help="configs; default all")
    parser.add_argument(
        "--split", metavar="S", help="one split; default all, or test where there is train"
    )
    add_alike(parser, "--revision")


def add_reading(parser: argparse.ArgumentParser, shared: str) -> None:
    """Declare batches, sharing (of ``shared``, texts that begin alike) and the cache."""
    add = parser.add_argument
    add(
        "--batch-tokens",
        type=positive,
        metavar="N",
        help="most tokens in a forward pass, padding included; default by device and free memory",
    )
    add(
        "--no-sharing",
        dest="share",
        action="store_false",
        help=f"read every text from its beginning, also what {shared} begin with alike",
    )
    add(
        "--cache",
        type=Path,
        metavar="DIR",
        help=f"folder of kept surprisals; default ${VARIABLE} or the user's folder for caches",
    )
    add("--no-cache", action="store_true", help="neither look surprisals up nor keep them")


def add_results(parser: argparse.ArgumentParser, said: str) -> None:
    """Declare the folders of results that a subcommand reads."""
    parser.add_argument("results", nargs="+", type=Path, metavar="RESULTS", help=said)


def add_output(
    parser: argparse.ArgumentParser, said: str, replaced: str, default: Path | None = None
) -> None:
    """Declare ``--output`` and ``--overwrite``."""
    parser.add_argument("--output", type=Path, default=default, metavar="DIR", help=said)
    help_text = f"replace an existing folder of {replaced}"
    parser.add_argument("--overwrite", action="store_true", help=help_text)


def finite(text: str) -> float:
    """A number that is neither infinite nor none, for argparse."""
    number = float(text)
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text} is no number")
    return number


def above_zero(text: str) -> float:
    """A finite number greater than 0, for argparse."""
    number = float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not greater than 0")
    return number


def item_tables(
    arguments: argparse.Namespace, max_items: int | None = None
) -> tuple[Source, Sequence[ItemTable]]:
    """The tables that the options of :func:`add_items` name, and where they are from.

    Raises:
        EvaluationError: they cannot be read, or an option of datasets was given for suites.
    """
    from coherencegym.eval.data.dataset import tables
    from coherencegym.eval.data.source import find_dataset
    from coherencegym.eval.data.syntaxgym import suites

    if not arguments.suites:
        source = find_dataset(arguments.dataset, arguments.revision, arguments.configs)
        return source, list(tables(source, arguments.configs, arguments.split, max_items))
    for name in ("configs", "split", "revision"):
        if getattr(arguments, name):
            option = "--" + name.removesuffix("s")
            raise EvaluationError(f"{option}: a suite's file has none; expected --dataset with it")
    return suites(arguments.suites, max_items)


def chosen(arguments: argparse.Namespace) -> Options:
    """Options of reading and running; what a subcommand does not declare is as it is by default.

    Raises:
        EvaluationError: an option contradicts ``--compat``.
    """
    known = {field.name for field in fields(Options)}
    given = {name: value for name, value in vars(arguments).items() if name in known}
    options = Options(**given, rules=MODES.get(vars(arguments).get("compat") or "", DEFAULT))
    options.check(lambda name: "--" + name.replace("_", "-"))
    return options


def load_model(arguments: argparse.Namespace) -> LoadedModel:
    """The model that the options name.

    Raises:
        EvaluationError: see :func:`eval.models.load.load`.
    """
    from coherencegym.eval.models.load import load

    return load(
        arguments.model,
        arguments.device,
        arguments.dtype,
        arguments=parse_model_arguments(arguments.model_args, arguments.model_revision),
        device_map=arguments.device_map,
        trust_remote_code=arguments.trust_remote_code,
    )


def settings_of(
    arguments: argparse.Namespace, options: Options, names: Sequence[str]
) -> dict[str, Any]:
    """The settings of a run as results record them, these options by their names first.

    Raises:
        EvaluationError: a pair of ``--model-arg`` is wrong.
    """
    about_model = model_settings(arguments, ())
    return {**{name: getattr(arguments, name) for name in names}, **options.record(), **about_model}


def model_settings(arguments: argparse.Namespace, names: Sequence[str]) -> dict[str, Any]:
    """The settings of a run that has no options of reading; see :func:`settings_of`."""
    parsed = parse_model_arguments(arguments.model_args, arguments.model_revision)
    return {
        **{name: getattr(arguments, name) for name in names},
        "model_revision": parsed.revision,
        "model_args": parsed.record(),
        "device_map": arguments.device_map,
        "trust_remote_code": arguments.trust_remote_code,
    }


def output_of(arguments: argparse.Namespace, task: str = "") -> Path:
    """The folder of results that the user names, or ``results/DATA--MODEL``, then the task."""
    if arguments.output:
        return Path(arguments.output)
    data = _name(arguments.dataset) if arguments.dataset else _suites_name(arguments.suites)
    return Path("results") / "--".join(filter(None, (data, _name(arguments.model), task)))


def _name(text: str) -> str:
    return Path(text).resolve().name if Path(text).is_dir() else text.replace("/", "__")


def _suites_name(paths: Sequence[Path]) -> str:
    first = paths[0].resolve()
    more = f"-and-{len(paths) - 1}-more" if len(paths) > 1 else ""
    return (first.name if first.is_dir() else first.stem) + more

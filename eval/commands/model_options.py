"""The options that say which model reads, and how, for every subcommand that runs one."""

from __future__ import annotations

import argparse
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from coherencegym.eval.models.arguments import parse_model_arguments
from coherencegym.eval.models.placement import DEVICE_MAPS
from coherencegym.eval.plan.options import DEFAULT, MODES, Options

if TYPE_CHECKING:
    from coherencegym.eval.models.load import LoadedModel


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``--model``, where it runs, and what its input looks like."""
    add_loading_arguments(parser)
    add_rendering_arguments(parser)
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


def add_loading_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``--model``, and where and how it is loaded."""
    add = parser.add_argument
    add(
        "--model",
        required=True,
        metavar="ID|FOLDER|demo",
        help="any causal language model of transformers: a Hub id, a folder, or the embedded one",
    )
    add("--model-revision", metavar="TAG", help="tag or commit of a Hub model")
    add(
        "--model-arg",
        dest="model_args",
        nargs="+",
        action="extend",
        default=[],
        metavar="KEY=VALUE",
        help="for from_pretrained; also peft=, load_in_8bit=true, attn_implementation=eager, ...",
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


def add_rendering_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what stands before a text, and what ``[SEP]`` in it becomes."""
    add = parser.add_argument
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
        help="what [SEP] in dialogues becomes; auto: the model's separator or end-of-text token",
    )
    add(
        "--separator-space",
        default="keep",
        choices=("keep", "drop"),
        help="the space after a separator",
    )


def chosen_options(arguments: argparse.Namespace) -> Options:
    """How texts are read and run; what a subcommand does not declare is as it is by default.

    Raises:
        EvaluationError: an option contradicts ``--compat``.
    """
    known = {field.name for field in fields(Options)}
    given = {name: value for name, value in vars(arguments).items() if name in known}
    options = Options(**given, rules=MODES.get(arguments.compat, DEFAULT))
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


def model_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """What results record of the options that say more of a model than its name.

    Raises:
        EvaluationError: a pair of ``--model-arg`` is wrong.
    """
    parsed = parse_model_arguments(arguments.model_args, arguments.model_revision)
    return {
        "model_revision": parsed.revision,
        "model_args": parsed.record(),
        "device_map": arguments.device_map,
        "trust_remote_code": arguments.trust_remote_code,
    }

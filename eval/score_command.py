"""``python -m eval score``: read, score, report. The options are here; the work is elsewhere."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from eval.compat import MODES, refuse_options
from eval.placement import DEVICE_MAPS

if TYPE_CHECKING:
    from eval.compat import Rules
    from eval.dataset import ItemTable
    from eval.model import LoadedModel
    from eval.scoring import Scored
    from eval.source import Source

EXAMPLES = """\
  python -m eval --model demo --dataset suites/sentence_order
  python -m eval --model gpt2 --dataset coherencegym/sentence_order --revision v1.0.0
  python -m eval --model ./my-model --dataset coherencegym/story_cloze --output results/mine
  python -m eval --model gpt2 --suite center_embed.json --compat syntaxgym-2021
"""


#: The options that can change a number, as the results record them.
SETTINGS = (
    "configs",
    "split",
    "max_items",
    "bos",
    "separator",
    "separator_space",
    "truncate",
    "compat",
    "batch_tokens",
    "share",
    "seed",
    "model_revision",
    "model_args",
    "device_map",
    "trust_remote_code",
)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return number


def _not_negative(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is less than 0")
    return number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``score``."""
    add = parser.add_argument
    add(
        "--model",
        required=True,
        metavar="ID|FOLDER|demo",
        help="any causal language model of transformers: a Hub id, a folder, or the embedded one",
    )
    data = parser.add_mutually_exclusive_group(required=True)
    data.add_argument("--dataset", metavar="ID|FOLDER", help="a Hub dataset, or a folder of one")
    data.add_argument(
        "--suite",
        dest="suites",
        nargs="+",
        action="extend",
        type=Path,
        metavar="FILE.json",
        help="test suites in SyntaxGym's JSON, or folders of them",
    )
    add(
        "--config",
        dest="configs",
        nargs="+",
        action="extend",
        default=[],
        metavar="C",
        help="configs; default all",
    )
    add("--split", metavar="S", help="one split; default all")
    add("--revision", metavar="TAG", help="tag or commit of a Hub dataset")
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
    add(
        "--batch-tokens",
        type=_positive,
        metavar="N",
        help="most tokens in a batch, padding included",
    )
    add(
        "--no-sharing",
        dest="share",
        action="store_false",
        help="read every text from its beginning, also what an item's conditions begin with alike",
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
        help="what [SEP] in dialogues becomes; auto: the model's separator or end-of-text token",
    )
    add(
        "--separator-space",
        default="keep",
        choices=("keep", "drop"),
        help="the space after a separator",
    )
    add(
        "--compat",
        choices=tuple(MODES),
        help="score as the programs behind the published numbers did (the README has a table)",
    )
    add("--max-items", type=_positive, metavar="N", help="only the first N items of each table")
    add(
        "--truncate",
        action="store_true",
        help="cut texts that are too long on the left, where all conditions are identical",
    )
    add(
        "--seed",
        type=_not_negative,
        default=0,
        metavar="N",
        help="of bootstrapped intervals; default 0",
    )
    add("--output", type=Path, metavar="DIR", help="default results/DATA--MODEL")
    add("--overwrite", action="store_true", help="replace an existing folder of results")
    add("--tokens", action="store_true", help="also write the surprisal of every token")


def run(arguments: argparse.Namespace) -> int:
    """Score a model on a dataset or on suites; prints the table and writes the folder."""
    from eval.compat import DEFAULT
    from eval.folders import check_folder
    from eval.model_arguments import parse
    from eval.report import MARKER, write
    from eval.results import gather
    from eval.table import print_table

    output = arguments.output or _default_output(arguments)
    rules = MODES.get(arguments.compat, DEFAULT)
    refuse_options(
        rules,
        {
            "--bos": (arguments.bos, "auto"),
            "--separator": (arguments.separator, "auto"),
            "--separator-space": (arguments.separator_space, "keep"),
            "--truncate": (arguments.truncate, False),
        },
    )
    about_model = parse(arguments.model_args, arguments.model_revision)
    check_folder(output, arguments.overwrite, MARKER)
    _quiet_libraries()
    # The data first: they are read in a moment, and what is wrong with them shows at once.
    source, read = _read(arguments)
    from eval.model import load

    model = load(
        arguments.model,
        arguments.device,
        arguments.dtype,
        arguments=about_model,
        device_map=arguments.device_map,
        trust_remote_code=arguments.trust_remote_code,
    )
    scored = [(table, _score(arguments, model, table, rules)) for table in read]
    settings = {name: getattr(arguments, name) for name in SETTINGS}
    settings |= {"model_args": about_model.record(), "model_revision": about_model.revision}
    results = gather(source, model, scored, settings)
    write(results, output, overwrite=arguments.overwrite, tokens=arguments.tokens)
    print_table(results)
    print(f"written to {output}")
    return 0


def _read(arguments: argparse.Namespace) -> tuple[Source, Sequence[ItemTable]]:
    """The tables to score, and where they are from.

    Raises:
        EvaluationError: they cannot be read, or an option of datasets was given for suites.
    """
    from eval.dataset import tables
    from eval.errors import EvaluationError
    from eval.source import find
    from eval.syntaxgym import suites

    if not arguments.suites:
        source = find(arguments.dataset, arguments.revision, arguments.configs)
        read = tables(source, arguments.configs, arguments.split, arguments.max_items)
        return source, list(read)
    for option, value in (
        ("--config", arguments.configs),
        ("--split", arguments.split),
        ("--revision", arguments.revision),
    ):
        if value:
            raise EvaluationError(f"{option}: a suite's file has none; expected --dataset with it")
    return suites(arguments.suites, arguments.max_items)


def _default_output(arguments: argparse.Namespace) -> Path:
    def name(text: str) -> str:
        return Path(text).resolve().name if Path(text).is_dir() else text.replace("/", "__")

    data = name(arguments.dataset) if arguments.dataset else _suites_name(arguments.suites)
    return Path("results") / f"{data}--{name(arguments.model)}"


def _suites_name(paths: Sequence[Path]) -> str:
    first = paths[0].resolve()
    more = f"-and-{len(paths) - 1}-more" if len(paths) > 1 else ""
    return (first.name if first.is_dir() else first.stem) + more


def _score(
    arguments: argparse.Namespace, model: LoadedModel, table: ItemTable, rules: Rules
) -> Scored:
    from eval.scoring import score

    with _progress(f"{table.config} ({table.split})") as progress:
        return score(
            model.model,
            model.tokenizer,
            table.items,
            bos=arguments.bos,
            separator_text=arguments.separator,
            separator_space=arguments.separator_space,
            uses_separator=table.separator,
            truncate=arguments.truncate,
            rules=rules,
            share=arguments.share,
            batch_tokens=arguments.batch_tokens,
            progress=progress,
        )


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on standard error if that is a terminal; None, and silence, if not."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _quiet_libraries() -> None:
    """Keep the libraries' warnings off the terminal, and their bars out of pipes."""
    import logging

    import datasets
    import huggingface_hub.utils.logging as hub_logging
    import transformers
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    datasets.logging.set_verbosity_error()
    datasets.disable_progress_bars()
    for name in ("accelerate", "bitsandbytes"):
        logging.getLogger(name).setLevel(logging.ERROR)
    hub_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    if not sys.stderr.isatty():
        disable_progress_bars()

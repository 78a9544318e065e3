"""``coherencegym probe``: which layers know the label. The options; the work is elsewhere."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import Parser, rare
from coherencegym.eval.commands import options
from coherencegym.numbers import not_negative
from coherencegym.terminal import shown_console

if TYPE_CHECKING:
    from coherencegym.eval.tasks.probe.data import ProbeTable
    from coherencegym.eval.tasks.probe.probe import Probed, ProbeOptions, ProbeProgress

EXAMPLES = """\
  coherencegym probe --model gpt2 --dataset coherencegym/discourse_tasks --config relation_gum_rst
  coherencegym probe --model bert-base-uncased --dataset suites/discourse_tasks --pool cls
  coherencegym probe --model gpt2 --dataset suites/discourse_tasks --encoding in-context --dry-run
"""
#: Options of the data, as the results record them.
_RECORDED = ("configs", "split", "max_items")


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``probe``."""
    options.add_tables(parser, "configs; default all that hold labelled examples")
    _add_probing(parser)
    options.add_output(parser, "default results/DATA--MODEL--probe", "results")
    options.add_alike(parser, "--dry-run", "--quiet", "--verbose")


def _add_probing(parser: Parser) -> None:
    from coherencegym.eval.tasks.probe.encoding import ENCODINGS
    from coherencegym.eval.tasks.probe.inputs import CHOICES
    from coherencegym.eval.text.passage import POOLS

    add = parser.group("how it is probed").add_argument
    add(
        "--layers",
        type=layers,
        default=(),
        metavar="all|last|0,4,8",
        help="0 is the embeddings; default all",
    )
    add(
        "--pool",
        choices=POOLS,
        help="the tokens of a segment; default mean, or cls under --compat where the model has it",
    )
    add(
        "--encoding",
        choices=ENCODINGS,
        default="isolated",
        help="isolated: every segment is a text of its own; in-context: cut from the one reading "
        "of the text; whole: the last token of the text alone; default isolated",
    )
    add(
        "--input",
        choices=CHOICES,
        default="published",
        help="the way to put the vectors of slots together: published: that of the config's paper; "
        "pair: with their product and difference; neighbours: with products of neighbours; "
        "default published",
    )
    add(
        "--probe",
        choices=("linear", "mlp"),
        default="linear",
        help="linear: softmax regression; mlp: one hidden layer of 256; default linear",
    )
    rare(add("--seeds", type=not_negative, default=5, metavar="N", help="further fits; default 5"))
    rare(
        add(
            "--random-init",
            type=not_negative,
            default=3,
            metavar="N",
            help="models of the same architecture with new weights beside it; default 3",
        )
    )
    rare(
        add(
            "--seed",
            type=int,
            default=0,
            metavar="N",
            help="the seed of all that is drawn; default 0",
        )
    )
    rare(
        add(
            "--compat",
            choices=("discoeval-2019",),
            default="",
            help="the classifiers of the paper to the letter, for its own items and numbers only",
        )
    )
    options.add_batches(parser)
    add = parser.group(options.READING).add_argument
    rare(
        add(
            "--cache",
            type=Path,
            metavar="DIR",
            help="folder of kept vectors; default the user's folder for caches",
        )
    )
    rare(add("--no-cache", action="store_true", help="neither look vectors up nor keep them"))


def layers(text: str) -> tuple[int, ...]:
    """Numbers of layers, for argparse: ``all`` is none of them, ``last`` is -1."""
    if text == "all":
        return ()
    if text == "last":
        return (-1,)
    try:
        found = tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r}; expected all, last, or numbers with commas between them"
        ) from None
    if found[0] < 0:
        raise argparse.ArgumentTypeError(
            f"layer {found[0]}; expected 0 for the embeddings, or more"
        )
    return found


def run(arguments: argparse.Namespace) -> int:
    """Probe a model on a dataset; prints the table and writes the folder."""
    from coherencegym.eval.commands.running import closed, opened, timed
    from coherencegym.eval.data.notes import of_each
    from coherencegym.eval.data.source import find_dataset
    from coherencegym.eval.tasks.probe.data import read_probe_tables
    from coherencegym.eval.tasks.probe.probe import (
        ProbeOptions,
        load_to_probe,
        probe_options,
        probed,
        settled,
    )
    from coherencegym.eval.tasks.probe.results import gather_probes
    from coherencegym.eval.views.probe.page import write_probes
    from coherencegym.eval.views.probe.table import print_probes

    output, settings = opened(arguments, "probe", _RECORDED)
    given = {one.name: getattr(arguments, one.name) for one in fields(ProbeOptions)}
    chosen = probe_options(**{name: value for name, value in given.items() if value is not None})
    # The data first: they are read in a moment, and what is wrong with them shows at once.
    source = find_dataset(arguments.dataset, arguments.revision, arguments.configs)
    read = {name: getattr(arguments, name) for name in _RECORDED}
    tables, notes = read_probe_tables(source, **read)
    if arguments.dry_run:
        _dry_run(arguments, tables, chosen)
        print(f"would be written to {output}")
        return 0
    model = load_to_probe(
        chosen,
        lambda: options.load_model(arguments),
        lambda: options.load_model(arguments, scores=False),
    )
    folder = _folder(arguments)
    chosen = settled(chosen, model, pooled=arguments.pool is not None)

    def probe(table: ProbeTable) -> Probed:
        rows = len(table.train) + len(table.validation) + len(table.table.rows)
        name, is_quiet = table.table.name, arguments.quiet
        with timed(name, rows, "rows", is_quiet), _progress(name, is_quiet) as progress:
            return probed(model, table, chosen, folder=folder, progress=progress)

    found, more = of_each(tables, probe)
    results = gather_probes(source.noted([*notes, *more]), model, found, chosen, settings)
    return closed(arguments, output, results, write_probes, print_probes)


def _folder(arguments: argparse.Namespace) -> Path | None:
    """The folder of kept vectors; None where nobody wants one."""
    from coherencegym.eval.forward.cache import cache_folder

    return None if arguments.no_cache else cache_folder(arguments.cache) / "states"


@contextmanager
def _progress(what: str, is_quiet: bool) -> Iterator[ProbeProgress]:
    """Progress bars on standard error if that is a terminal, one below the other; else silence."""
    if is_quiet or not sys.stderr.isatty():
        yield lambda step, done, total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=shown_console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def show(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bar.add_task(f"{what}: {step}", total=total)
            bar.update(tasks[step], completed=done, total=total)

        yield show


def _dry_run(
    arguments: argparse.Namespace, tables: Sequence[ProbeTable], chosen: ProbeOptions
) -> None:
    """Print how much work it is; only the model's config and tokenizer are read."""
    from coherencegym.eval.tasks.probe.cost import costs
    from coherencegym.eval.views.probe.table import print_costs

    config, tokenizer = options.model_config(arguments, scores=False)
    print_costs(costs(tables, chosen, config, tokenizer))

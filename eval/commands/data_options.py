"""The options that say which items to read, for every subcommand that reads items."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coherencegym.eval.data.dataset import ItemTable
    from coherencegym.eval.data.source import Source


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``--dataset`` or ``--suite``, ``--config``, ``--split`` and ``--revision``."""
    add = parser.add_argument
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
    add("--split", metavar="S", help="one split; default all, or test where there is train")
    add("--revision", metavar="TAG", help="tag or commit of a Hub dataset")


def read_tables(
    arguments: argparse.Namespace, max_items: int | None = None
) -> tuple[Source, Sequence[ItemTable]]:
    """The tables that the options name, and where they are from.

    Args:
        arguments: with what :func:`add_data_arguments` declares.
        max_items: no more items than this of each table.

    Raises:
        EvaluationError: they cannot be read, or an option of datasets was given for suites.
    """
    from coherencegym.errors import EvaluationError
    from coherencegym.eval.data.dataset import tables
    from coherencegym.eval.data.source import find_dataset
    from coherencegym.eval.data.syntaxgym import suites

    if not arguments.suites:
        source = find_dataset(arguments.dataset, arguments.revision, arguments.configs)
        return source, list(tables(source, arguments.configs, arguments.split, max_items))
    for option, value in (
        ("--config", arguments.configs),
        ("--split", arguments.split),
        ("--revision", arguments.revision),
    ):
        if value:
            raise EvaluationError(f"{option}: a suite's file has none; expected --dataset with it")
    return suites(arguments.suites, max_items)

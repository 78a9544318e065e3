"""Options that several subcommands have, beside those of runs (:mod:`eval.run.options`)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from coherencegym.command_line import Parser, named
from coherencegym.eval.report.formats import TABLE, TABLE_FORMATS
from coherencegym.eval.run.options import DATA, MODEL, WRITTEN

__all__ = ["DATA", "MODEL", "WRITTEN", "named"]


def many(parser: Any, *names: str, **more: Any) -> argparse.Action:
    """Declare an option that takes several values, also when it is given several times."""
    settings = {"nargs": "+", "action": "extend", "default": [], **more}
    action: argparse.Action = parser.add_argument(*names, **settings)
    return action


def add_results(parser: Parser, said: str) -> None:
    """Declare the folders of results that a subcommand reads."""
    parser.add_argument("results", nargs="+", type=Path, metavar="RESULTS", help=said)


def add_format(parser: Parser) -> None:
    """Declare ``--format``."""
    add = parser.group(WRITTEN).add_argument
    said = f"table, markdown, latex; with unrounded numbers csv, json; default {TABLE}"
    add("--format", choices=TABLE_FORMATS, default=TABLE, metavar="FORMAT", help=said)


def add_output(parser: Parser, said: str, replaced: str, default: Path | None = None) -> None:
    """Declare ``--output`` and ``--overwrite``."""
    add = parser.group(WRITTEN).add_argument
    add("--output", type=Path, default=default, metavar="DIR", help=said)
    add("--overwrite", action="store_true", help=f"replace an existing folder of {replaced}")

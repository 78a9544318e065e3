"""``coherencegym reproduce``: tables of papers beside ours. The work is elsewhere."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from coherencegym.command_line import Parser, add_options, finish
from coherencegym.errors import EvaluationError
from coherencegym.numbers import positive
from coherencegym.papers.published import read_papers

if TYPE_CHECKING:
    from coherencegym.eval.report.formats import TableDocument
    from coherencegym.eval.report.grid import Grid
    from coherencegym.reproduction.run import ReproducedRow, Reproduction

_EXAMPLES = """\
  coherencegym reproduce                                papers and their tables
  coherencegym reproduce beyer-2021 --table winograd --model gpt2
  coherencegym reproduce chen-2019 --table 2 --model gpt2 --data-dir ~/corpora
  coherencegym reproduce gauthier-2020 --table suites --model gpt2 --format latex
"""


def make_parser(prog: str = "coherencegym reproduce") -> Parser:
    """The parser of ``coherencegym reproduce``."""
    from coherencegym.eval.commands import options
    from coherencegym.eval.run.options import ModelOptions

    parser = Parser(
        prog,
        "Reproduce a table of a paper: build its suite, run its task in the paper's mode, and\n"
        "print the score of a model beside the published scores.",
        _EXAMPLES,
        takes="PAPER",
    )
    add = parser.add_argument
    add("paper", nargs="?", metavar="PAPER", help="a paper; default: list all tables")
    add(
        "--table",
        metavar="NAME",
        help="number or name of a table; default: list the tables of the paper",
    )
    add("--model", metavar="ID", help="a Hub id, or a folder")
    add("--data-dir", type=Path, metavar="DIR", help="folder of corpus files; default: where "
        "`coherencegym corpora fetch` puts them, fetched if they are open")  # fmt: skip
    add("--output", type=Path, metavar="DIR", help="suites and results; default: "
        "reproduced/PAPER-TABLE")  # fmt: skip
    add("--limit", type=positive, metavar="N", help="read at most N items of each config")
    add_options(parser, ModelOptions, only=("device", "dtype"))
    options.add_format(parser)
    return parser


def main(argv: Sequence[str] | None = None, prog: str = "coherencegym reproduce") -> int:
    """List tables, or compute one again.

    Returns:
        The exit code.
    """
    arguments = make_parser(prog).parse_args(argv)
    from coherencegym.builders.command.declared import explain
    from coherencegym.eval.report.formats import TABLE
    from coherencegym.terminal import data_output

    def run() -> int:
        with data_output(arguments.format != TABLE) as out:
            return _run(arguments, out)

    return finish(prog, run, explain)


def _run(arguments: argparse.Namespace, out: TextIO) -> int:
    from coherencegym.eval.models.libraries import quiet_libraries
    from coherencegym.eval.report.formats import TABLE
    from coherencegym.reproduction.run import find_table, reproduce

    paper, table = arguments.paper, arguments.table
    if paper is None or table is None:
        if arguments.model is not None:
            raise EvaluationError("--model: expected PAPER and --table NAME with it")
        _print_list(paper)
        return 0
    find_table(paper, table)
    if arguments.model is None:
        raise EvaluationError(f"{paper}, table {table}: expected --model, a Hub id or a folder")
    quiet_libraries()
    found = reproduce(
        paper,
        table,
        arguments.model,
        data_dir=arguments.data_dir,
        output=arguments.output,
        limit=arguments.limit,
        device=vars(arguments).get("device", "auto"),
        dtype=vars(arguments).get("dtype", "auto"),
        say=lambda line: print(line, file=sys.stderr, flush=True),
    )
    document = reproduction_document(found)
    if arguments.format != TABLE:
        from coherencegym.eval.report.formats import render_document

        out.write(render_document(document, arguments.format))
    else:
        _print(document)
    return 0


def _print_list(paper: str | None) -> None:
    from coherencegym.loaders.fetching.command import print_rows
    from coherencegym.reproduction.run import find_paper

    papers = read_papers() if paper is None else {paper: find_paper(paper)}
    rows = [
        (name, key, table.title, table.task, table.corpus)
        for name, about in papers.items()
        for key, table in about.tables.items()
    ]
    note = "`coherencegym reproduce PAPER --table NAME --model ID` computes one of them."
    print_rows(("paper", "table", "what it shows", "task", "corpus"), rows, note)


def _print(document: TableDocument) -> None:
    from coherencegym.eval.report import grid

    console = grid.console_for()
    for each in document.grids:
        console.print(grid.rich_block(each, console.width))
    for line in document.lines:
        console.print(grid.plain_text(f"· {line}"), soft_wrap=True)


def reproduction_document(found: Reproduction) -> TableDocument:
    """The table of a reproduction, with the lines below it and its numbers."""
    from coherencegym.eval.report.formats import TableDocument

    paper = f"{found.paper.authors} ({found.paper.venue})"
    table = found.name if found.table.by_layer else f"table {found.name}"
    title = f"{paper}, {table}: {found.table.title}, %"
    lines = [
        f"{found.model}: computed here, with 95 % intervals"
        + (f", in the mode {found.table.compat}" if found.table.compat else ""),
        f"published: {found.table.source}"
        + ("; other programs on the paper's own rows" if found.table.values else ""),
        *found.notes,
        f"suites and results: {found.folder}",
    ]
    return TableDocument([_grid(found, title)], lines, list(_records(found)))


def _grid(found: Reproduction, title: str) -> Grid:
    """The table: its rows downwards, or, where there are more systems than these, the systems."""
    from coherencegym.eval.report import grid

    columns = {"n": [f"{row.n:,}" if row.n else "–" for row in found.rows]}
    deciding = {_deciding(found, row) for row in found.rows}
    ours = found.model if deciding == {found.model} else "here"
    columns[ours] = [grid.share_with_interval(row.score, row.low, row.high) for row in found.rows]
    for number, layer in found.layers.items():
        columns[f"{found.model}, layer {number}"] = [grid.share_cell(row.score) for row in layer]
    same = {hub_id: system for system, hub_id in found.table.models.items()}.get(found.model)
    if same is not None:
        columns[f"minus {same}"] = [_difference(row, same) for row in found.rows]
    for system in found.table.systems:
        columns[system] = [grid.share_cell(row.published.get(system)) for row in found.rows]
    names = [row.name for row in found.rows]
    if len(found.table.systems) + len(found.layers) <= len(names):
        rows = [(name, *cells) for name, *cells in zip(names, *columns.values(), strict=True)]
        heads = ("row", *columns)
    else:
        rows = [(name, *cells) for name, cells in columns.items()]
        heads = ("system", *names)
    made = [grid.GridRow(tuple(cells), bold=cells[0] == ours) for cells in rows]
    return grid.made(heads[0], heads[1:], made, title)


def _deciding(found: Reproduction, row: ReproducedRow) -> str:
    """The model, or the people that a row is of."""
    system = found.table.row(row.name).system
    return system if system.startswith("people") else found.model


def _difference(row: ReproducedRow, system: str) -> str:
    published = row.published.get(system)
    if row.score is None or published is None:
        return "–"
    return f"{100 * (row.score - published):+.1f}"


def _records(found: Reproduction) -> Iterator[dict[str, Any]]:
    about = {"paper": found.paper.title, "table": found.name}
    ours = [(_deciding(found, row), row) for row in found.rows]
    ours += [(f"{found.model}, layer {n}", row) for n, rows in found.layers.items() for row in rows]
    for system, row in ours:
        own = {**about, "row": row.name, "system": system, "is_published": False}
        numbers = {"n": row.n, "score": row.score, "ci_low": row.low, "ci_high": row.high}
        yield {**own, "split": row.split, **numbers}
    none = {"n": None, "ci_low": None, "ci_high": None}
    for row in found.rows:
        for system, value in row.published.items():
            own = {**about, "row": row.name, "system": system, "is_published": True}
            yield {**own, "split": None, "score": value, **none}

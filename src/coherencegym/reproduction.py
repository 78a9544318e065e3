"""``coherencegym reproduce``: a table of a paper computed again, beside the published numbers.

The tables are declared in :mod:`coherencegym.papers`. Their suites are built and their tasks run by
the functions of :mod:`coherencegym.library`.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import Parser, add_options, did_you_mean, finish, positive
from coherencegym.errors import EvaluationError
from coherencegym.papers import Paper, PublishedTable, TableRow, read_papers

if TYPE_CHECKING:
    from coherencegym.eval.report.formats import TableDocument
    from coherencegym.eval.report.grid import Grid
    from coherencegym.eval.statistics.scores import Score

#: The corpus that is a folder of files in SyntaxGym's JSON, which needs no build.
SYNTAXGYM = "syntaxgym"
_EXAMPLES = """\
  coherencegym reproduce                                papers and their tables
  coherencegym reproduce beyer-2021 --table winograd --model gpt2
  coherencegym reproduce chen-2019 --table 2 --model gpt2 --data-dir ~/corpora
  coherencegym reproduce gauthier-2020 --table suites --model gpt2 --format latex
"""


def find_paper(name: str) -> Paper:
    """A paper by its name."""
    papers = read_papers()
    if name not in papers:
        known = f"expected one of {', '.join(papers)}"
        raise EvaluationError(f"{name}: no such paper; {known}{did_you_mean(name, papers)}")
    return papers[name]


def find_table(paper: str, table: str) -> tuple[Paper, PublishedTable]:
    """A table by the names of its paper and its own."""
    found = find_paper(paper)
    if table not in found.tables:
        known = f"expected one of {', '.join(found.tables)}{did_you_mean(table, found.tables)}"
        raise EvaluationError(f"{paper}: no table {table!r}; {known}")
    return found, found.tables[table]


def reproduce(
    paper: str,
    table: str,
    model: str,
    *,
    data_dir: Path | None = None,
    output: Path | None = None,
    limit: int | None = None,
    say: Callable[[str], None] = lambda line: None,
    **options: Any,
) -> TableDocument:
    """Compute a table of a paper again: build its suite, run its task, collect its scores.

    Args:
        paper, table: their names, as ``coherencegym reproduce`` lists them.
        model: a Hub id, or a folder.
        data_dir: a folder of corpus files; None: where corpora are fetched to, by this function too
            where their files are open.
        output: the folder for suites and results; None: ``reproduced/PAPER-TABLE``.
        limit: no more items than this of each config, which the notes say.
        say: the function that is told each step.
        options: those that load the model, as for :func:`coherencegym.score`.

    Returns:
        The table, lines on what differs from the paper, and the numbers of both.
    """
    from coherencegym import library
    from coherencegym.eval.models.load import load_config
    from coherencegym.eval.report.formats import TableDocument

    about, declared = find_table(paper, table)
    load_config(model, scorer=None)  # before minutes of building
    folder = output or Path("reproduced", f"{paper}-{table}")
    scores: list[Score] = []
    refused = defaultdict(list)
    for config, (dataset, split) in _datasets(declared, folder, data_dir, say).items():
        say(f"{declared.task} {model} on {config}")
        part = {"config": config, "split": split} if dataset.is_dir() else {}
        mode = {"compat": declared.compat} if declared.compat else {}
        results = {"output": folder / "results" / config, "overwrite": True, "limit": limit}
        given = {**declared.options, **mode, **options, **part, **results}
        try:
            found = getattr(library, declared.task)(model, dataset, **given)
        except EvaluationError as error:
            if not str(error).startswith(begin := f"config {config!r}: "):
                raise
            refused[str(error).removeprefix(begin)].append(config)
        else:
            scores += [replace(score, config=config) for score in found.rows]
    notes = [*declared.differs, *(f"{', '.join(own)}: {why}" for why, own in refused.items())]
    if not scores:
        said = "no config of the table is there"
        raise EvaluationError(f"{paper}, table {table}: {'; '.join([said, *notes])}")
    name = Path(model).name if Path(model).is_dir() else model
    records = []
    for row in declared.values or declared.rows:
        record, said_of_row = mean_record(declared, row, scores, name, limit)
        records += [record, *published_records(declared, row)]
        notes += said_of_row
    if limit is not None:
        notes.append(f"--limit {limit}: a part of the items, on which the paper has no score")
    lines = [
        f"here: {name}, with 95 % intervals"
        + (f", in the mode {declared.compat}" if declared.compat else ""),
        f"published: {declared.source}"
        + ("; other programs on the paper's own rows" if declared.values else ""),
        *notes,
        f"suites and results: {folder}",
    ]
    title = f"{about.authors} ({about.venue}), table {table}: {declared.title}, %"
    of_paper = [{"paper": about.title, "table": table, **record} for record in records]
    return TableDocument([_grid(records, title)], lines, of_paper)


def mean_record(
    table: PublishedTable, name: str, scores: Sequence[Score], model: str, limit: int | None = None
) -> tuple[dict[str, Any], list[str]]:
    """Our score of a row, the mean of its configs, and lines on what differs from the paper's.

    The interval of a mean is that of independent configs (Zou and Donner 2008).
    """
    about = table.row(name)
    by_config = {one.config: one for one in scores if _is_wanted(one, about, table.metric)}
    found = list(by_config.values())
    values = [one.score for one in found if one.score is not None]
    score = low = high = None
    if values:
        score = math.fsum(values) / len(values)
        ends = [[one.ci_low for one in found], [one.ci_high for one in found]]
        if not any(end is None for own in ends for end in own):
            low, high = (
                score
                + sign
                * math.hypot(*(v - (e or 0.0) for v, e in zip(values, own, strict=True)))
                / len(values)
                for sign, own in zip((-1, 1), ends, strict=True)
            )
    record = {
        "row": name,
        "system": about.system if about.system.startswith("people") else model,
        "is_published": False,
        "n": sum(one.n for one in found),
        "score": score,
        "ci_low": low,
        "ci_high": high,
        "split": ", ".join(dict.fromkeys(one.split for one in found)),
    }
    missing = [one for one in about.configs if not any(_is(config, one) for config in by_config)]
    return record, _notes(record, missing, table.sizes.get(name), limit)


def _notes(
    record: dict[str, Any], missing: Sequence[str], size: int | None, limit: int | None
) -> list[str]:
    from coherencegym.eval.data.syntaxgym import SPLIT

    name, number = record["row"], record["n"]
    if record["score"] is None:
        return [f"{name}: no score here"]
    notes = [f"{name}: without {', '.join(missing)}: not the paper's mean"] if missing else []
    if limit is None and size not in (None, number):
        notes.append(f"{name}: {number:,} items here, {size:,} in the paper")
    if record["split"] not in ("test", SPLIT):
        notes.append(f"{name}: on the {record['split']} split, as there is no test split here")
    return notes


def _is_wanted(score: Score, about: TableRow, metric: str) -> bool:
    return (
        (not about.configs or any(_is(score.config, one) for one in about.configs))
        and score.metric == (about.metric or metric)
        and score.group == about.group
        and (score.system == about.system if about.system else score.level != "reference")
        and score.level not in ("formula", "headline")
        and score.score is not None
    )


def _is(config: str, name: str) -> bool:
    return f"_{config}".endswith(f"_{name}")


def published_records(table: PublishedTable, name: str) -> list[dict[str, Any]]:
    """The paper's scores of a row."""
    none = {"n": None, "ci_low": None, "ci_high": None, "split": None}
    return [
        {"row": name, "system": system, "is_published": True, **none, "score": value / 100}
        for system, value in zip(table.systems, table.values.get(name, ()), strict=False)
        if not math.isnan(value)
    ]


def _grid(records: Sequence[dict[str, Any]], title: str) -> Grid:
    """The rows downwards, or, where there are more systems than these, the systems."""
    from coherencegym.eval.report import grid

    columns: dict[str, dict[str, str]] = {"n": {}, "here": {}}
    for record in records:
        row, limits = record["row"], (record["ci_low"], record["ci_high"])
        cell = grid.share_with_interval(record["score"], *limits)
        if record["is_published"]:
            columns.setdefault(record["system"], {})[row] = cell
        else:
            columns["n"][row] = f"{record['n']:,}" if record["n"] else "–"
            columns["here"][row] = cell
    names = list(columns["n"])
    table = [("row", *columns)]
    table += [(name, *(own.get(name, "–") for own in columns.values())) for name in names]
    if len(columns) - 2 > len(names):
        table = list(zip(*table, strict=True))
    rows = [grid.GridRow(cells, bold=cells[0] == "here") for cells in table[1:]]
    return grid.made(table[0][0], table[0][1:], rows, title)


def _datasets(
    table: PublishedTable, folder: Path, data: Path | None, say: Callable[[str], None]
) -> dict[str, tuple[Path, str | None]]:
    """The config -> its dataset (a build, or a suite's file) and the split to score.

    Some released files lack the test split: then it is that of validation, which the notes say.
    """
    if table.corpus == SYNTAXGYM:
        files = sorted(_syntaxgym_folder(data, say).glob("**/*.json"))
        return {path.stem: (path, None) for path in files if path.stem in table.values}
    from coherencegym.builders.command.run import is_current
    from coherencegym.builders.pipeline.options import BuildOptions
    from coherencegym.builders.registry import suite_named
    from coherencegym.eval.data.source import find_dataset
    from coherencegym.library import build
    from coherencegym.loaders.corpus import CorpusNotFoundError
    from coherencegym.loaders.read import find, how_to_obtain
    from coherencegym.loaders.registry import corpus as corpus_named

    corpus = corpus_named(table.corpus)
    try:
        there = {file.path.name for file in find(corpus, data).files}
    except CorpusNotFoundError:
        if data is not None:
            raise
        _fetch(table.corpus, say)
    else:
        if missing := [name for name in table.needs if name not in there]:
            raise EvaluationError(
                f"{table.corpus}: no {' and no '.join(missing)}, of which the table is; to get the "
                f"files: {how_to_obtain(corpus)}"
            )
    suite = folder / table.suite
    options = BuildOptions(corpora=[table.corpus], data_dir=data)
    if not is_current(suite, suite_named(table.suite), options):
        again = " again, as its files, options or toolkit have changed" if suite.exists() else ""
        say(f"building {table.suite} from {table.corpus}{again}")
        build(table.suite, corpus=table.corpus, data_dir=data, output=suite, overwrite=True)
    built = find_dataset(str(suite)).manifest["configs"]
    wanted = [name for row in table.values or table.rows for name in table.row(row).configs]
    return {
        name: (suite, next((one for one in ("test", "validation") if one in entry["splits"]), None))
        for name, entry in built.items()
        if not wanted or any(_is(name, one) for one in wanted)
    }


def _syntaxgym_folder(data: Path | None, say: Callable[[str], None]) -> Path:
    from coherencegym.loaders.read import data_root

    folder = data_root(data) / SYNTAXGYM
    if not any(folder.glob("**/*.json")):
        if data is not None:
            raise EvaluationError(
                f"{folder}: no suite's file (.json); to get the files: `coherencegym corpora fetch "
                f"{SYNTAXGYM} --data-dir {data}`"
            )
        _fetch(SYNTAXGYM, say)
    return folder


def _fetch(corpus: str, say: Callable[[str], None]) -> None:
    """Fetch a corpus whose files are open; one that is not, or has terms, is an error."""
    from argparse import Namespace

    from coherencegym.loaders.cli import fetch_named

    say(f"fetching {corpus}")
    fetch_named(Namespace(names=[corpus], accept=False, data_dir=None, mirror=None))


def make_parser(prog: str = "coherencegym reproduce") -> Parser:
    """The parser of ``coherencegym reproduce``."""
    from coherencegym.eval.commands.results import add_format
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
    add_format(parser)
    return parser


def main(argv: Sequence[str] | None = None, prog: str = "coherencegym reproduce") -> int:
    """List tables, or compute one again; returns the exit code."""
    arguments = make_parser(prog).parse_args(argv)
    from coherencegym.builders.command.show import explain

    return finish(prog, lambda: _run(arguments), explain)


def _run(arguments: argparse.Namespace) -> int:
    from coherencegym.eval.models.machine import quiet_libraries
    from coherencegym.eval.report.formats import TABLE, show_document
    from coherencegym.terminal import data_output

    given = vars(arguments)
    paper, table, style = (given.pop(name) for name in ("paper", "table", "format"))
    if paper is None or table is None:
        if arguments.model is not None:
            raise EvaluationError("--model: expected PAPER and --table NAME with it")
        _print_list(paper)
        return 0
    find_table(paper, table)
    if arguments.model is None:
        raise EvaluationError(f"{paper}, table {table}: expected --model, a Hub id or a folder")
    quiet_libraries()
    with data_output(style != TABLE) as out:
        document = reproduce(
            paper, table, say=lambda line: print(line, file=sys.stderr, flush=True), **given
        )
        show_document(document, style, out)
    return 0


def _print_list(paper: str | None) -> None:
    from coherencegym.loaders.cli import print_rows

    papers = read_papers() if paper is None else {paper: find_paper(paper)}
    rows = [
        (name, key, table.title, table.task, table.corpus)
        for name, about in papers.items()
        for key, table in about.tables.items()
    ]
    note = "`coherencegym reproduce PAPER --table NAME --model ID` computes one of them."
    print_rows(("paper", "table", "what it shows", "task", "corpus"), rows, note)

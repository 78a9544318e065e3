"""``coherencegym power``: the differences between models that a suite is likely to show."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from coherencegym.command_line import Parser
from coherencegym.eval.commands import options
from coherencegym.numbers import share

if TYPE_CHECKING:
    from coherencegym.eval.data.dataset import ItemTable
    from coherencegym.eval.report.formats import TableDocument

EXAMPLES = """\
  coherencegym power suites/story_cloze
  coherencegym power coherencegym/connectives --discordance 0.2
  coherencegym power suites/winograd --correlation 0.3 --format csv
"""


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``power``."""
    group = parser.group(options.DATA)
    group.add_argument("dataset", metavar="ID|FOLDER", help="a Hub dataset, or a folder of one")
    group.add_argument("--revision", metavar="TAG", help="tag of a Hub dataset; default: newest")
    options.many(group, "--config", dest="configs", metavar="NAME", help="configs; default all")
    add = parser.group("assumptions").add_argument
    said = "share of items on which exactly one of two models is right; default 0.3"
    add("--discordance", type=share, default=0.3, metavar="X", help=said)
    said = "correlation of the outcomes of two items of a cluster; default 0.1"
    add("--correlation", type=share, default=0.1, metavar="X", help=said)
    said = "probability with which the difference is shown; default 0.8"
    add("--power", type=share, default=0.8, metavar="X", help=said)
    options.add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print a row for each config and split of minimal pairs.

    Raises:
        EvaluationError: the dataset cannot be read, or has no minimal pairs.
    """
    from coherencegym.eval.data.dataset import tables
    from coherencegym.eval.data.source import find_dataset
    from coherencegym.eval.report.formats import TABLE, render_document
    from coherencegym.terminal import data_output

    with data_output(arguments.format != TABLE) as out:
        source = find_dataset(arguments.dataset, arguments.revision, arguments.configs)
        read = list(tables(source, arguments.configs, None, None))
        document = _document(read, arguments)
        if arguments.format != TABLE:
            out.write(render_document(document, arguments.format))
            return 0
        from coherencegym.eval.report import grid

        console = grid.console_for()
        console.print(grid.in_width(*document.grids, width=console.width))
        for line in document.lines:
            console.print(grid.plain_text(f"· {line}"), soft_wrap=True)
    return 0


def _document(read: Sequence[ItemTable], arguments: argparse.Namespace) -> TableDocument:
    from coherencegym.eval.report import grid
    from coherencegym.eval.report.formats import TableDocument
    from coherencegym.eval.statistics.effective_size import cluster_pairs
    from coherencegym.eval.statistics.power import effective_items, smallest_difference

    records, rows = [], []
    for table in read:
        clusters = [item.cluster for item in table.items if item.counts_in(table.headline)]
        effective = effective_items(clusters, arguments.correlation)
        found = smallest_difference(effective, arguments.discordance, arguments.power)
        numbers = {"items": len(clusters), "clusters": cluster_pairs(clusters)[0]}
        about = {"config": table.config, "split": table.split}
        records.append({**about, **numbers, "effective": effective, "difference": found})
        cells = (f"{len(clusters):,}", f"{numbers['clusters']:,}", f"{effective:,.0f}")
        name = f"{table.config} ({table.split})"
        rows.append(grid.GridRow((name, *cells, grid.share_cell(found))))
    names = ("items", "clusters", "effective items", "smallest difference, points")
    lines = [
        f"smallest difference of two models' CD scores that a test on the same items (level 0.05) "
        f"shows with a probability of {arguments.power:g}",
        f"assumed: {100 * arguments.discordance:g} % of the items have one model right and one "
        f"wrong; outcomes of two items of a cluster correlate by {arguments.correlation:g}",
    ]
    lines.append(
        "items: those that count in the score of the config; clusters: items of one source text, "
        "or with a text in common, depend on each other (an item of two source texts is in two)"
    )
    if any(record["difference"] is None for record in records):
        lines.append("–: no difference that this discordance allows is shown: too few items")
    return TableDocument([grid.made("config", names, rows)], lines, records)

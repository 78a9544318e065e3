"""The task ``match``: is the rest of a text less surprising after its beginning?"""

from __future__ import annotations

from collections.abc import Iterator

from coherencegym.eval.kinds.halves import Halves
from coherencegym.eval.kinds.items import Condition, Region
from coherencegym.eval.outcomes.label_metrics import AreaUnderCurve
from coherencegym.eval.outcomes.metrics import Accuracy
from coherencegym.eval.outcomes.schema import MODEL
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.plan.requests import Query
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import ReportSection
from coherencegym.eval.report.score_table import score_table
from coherencegym.eval.tasks.match.options import COMMAND, MatchOptions
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.table import Table
from coherencegym.eval.tasks.task import Task, TaskContext

RANKED, DECIDED = AreaUnderCurve("auc", "AUC"), Accuracy("accuracy")


def _query(halves: Halves) -> Query:
    """The second half after the first, and alone; it is region 2 of both."""
    second = Region(2, halves.second)
    both = Condition(
        "together", f"{halves.first} {halves.second}", (Region(1, halves.first), second)
    )
    alone = Condition("alone", halves.second, (Region(1, ""), second))
    read = frozenset({2})
    return Query(halves.item_id, [both, alone], {"together": read, "alone": read})


def match(
    context: TaskContext, table: Table[Halves], options: MatchOptions, writer: OutcomeWriter
) -> list[float | None]:
    """Rank rows by the bits that the first half saves on the second, which are returned."""
    saved: list[float | None] = []
    for answer in context.surprisals(table, list(map(_query, table.rows))):
        bits = {name: float(c.region_bits(2).sum()) for name, c in answer.conditions.items()}
        saved.append(None if answer.too_long else bits["alone"] - bits["together"])
    right = [
        None if bits is None else float((bits > options.saved) == halves.together)
        for halves, bits in zip(table.rows, saved, strict=True)
    ]
    units = writer.units(map(table.unit, table.rows))
    together = [float(halves.together) for halves in table.rows]
    writer.add(units, RANKED.name, MODEL, saved, target=together)
    writer.add(units, DECIDED.name, MODEL, right)
    return saved


def match_sections(found: Results) -> Iterator[ReportSection]:
    """The usual table, and the bits that are saved on each row."""
    yield ReportSection("Scores", score_table(found.rows))
    rows = [
        grid.GridRow((halves.second, "" if bits is None else f"{bits:.1f}"))
        for table, saved in zip(found.inputs, found.details, strict=True)
        for halves, bits in zip(table.rows, saved, strict=True)
    ]
    yield ReportSection("Saved bits", grid.made("second half", ("bits",), rows), is_detail=True)


TASK = Task(
    command=COMMAND,
    metrics=(RANKED, DECIDED),
    run=match,
    sections=match_sections,
)

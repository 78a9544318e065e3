"""The tables of comparisons."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from coherencegym.eval.data.dataset import SCORE_MEANINGS
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import counted, labels, short_model
from coherencegym.eval.report.formats import Shown, TableDocument
from coherencegym.eval.results.comparison import ModelComparison, PairedScore
from coherencegym.eval.statistics.estimators import DISCORDANCE, POWER
from coherencegym.eval.statistics.scores import CONTROLLED_CD, FEW_ITEMS, is_correlation, only_cd
from coherencegym.eval.tasks.score.report import tie_line

#: Bound below which an adjusted p-value is marked.
SIGNIFICANT = 0.05


def comparison_document(comparisons: Sequence[ModelComparison]) -> TableDocument:
    """A table for each comparison with its notes, how to read them, and their numbers."""
    suites = suites_grid(comparisons)
    grids, records = [suites] if suites else [], []
    for comparison in comparisons:
        model, baseline = comparison.names
        about = comparison.baseline
        made = replace(
            comparison_grid(comparison.shown),
            title=f"{suite_title(comparison)}: {_versus(comparison)}",
            notes=tuple(comparison_notes(comparison)),
        )
        grids.append(made)
        place = {"suite": about.suite, "version": about.version, "task": about.task}
        place |= {"baseline": baseline, "model": model}
        place |= {"baseline_signature": about.signature}
        place |= {"model_signature": comparison.model.signature}
        if comparison.headline is not None:
            records.append({**place, **asdict(comparison.headline), "level": "headline"})
        records += [{**place, **asdict(row)} for row in comparison.shown]
    is_controlled = any(row.metric == CONTROLLED_CD for one in comparisons for row in one.shown)
    plain = "plain CD: reference, model; groups are plain"
    legend = [SCORE_MEANINGS["controlled_score"], plain] * is_controlled
    return TableDocument(grids, list(comparison_lines(comparisons)), records, legend)


def suites_grid(comparisons: Sequence[ModelComparison]) -> grid.Grid | None:
    """The headline scores, one row a comparison; None where no suite has any."""
    several = len({one.names for one in comparisons}) > 1
    headings, cells = [], []
    for one in comparisons:
        if one.headline is not None:
            what = f", {CONTROLLED_CD}" * (one.headline.metric == CONTROLLED_CD)
            versus = ": {} against {}".format(*one.names) * several
            headings.append(grid.GridRow((suite_title(one) + what + versus,)))
            cells.append(_cells(one.headline) | {"too close": "", "test": ""})
    if not cells:
        return None
    versus = "" if several else f": {_versus(comparisons[0])}"
    made = grid.of_cells("suite", headings, cells, optional=_OPTIONAL)
    return replace(made, title="Headline scores" + versus)


def _versus(comparison: ModelComparison) -> str:
    return "{} against {} (reference)".format(*comparison.names)


def suite_title(comparison: ModelComparison) -> str:
    """The suite of a comparison, with its version."""
    about = comparison.baseline
    return " ".join(filter(None, (about.suite, about.version)))


def comparison_grid(rows: Sequence[PairedScore]) -> grid.Grid:
    """One row for each config, and indented below it one for each of its groups.

    Columns that have nothing to say are left out.
    """
    headings = [
        grid.GridRow((name,), int(row.level != "all"), bold=row.level == "all")
        for row, name in zip(rows, labels(rows), strict=True)
    ]
    return grid.of_cells("config", headings, list(map(_cells, rows)), optional=_OPTIONAL)


#: Columns for which there may be no room, the first of them first.
_OPTIONAL = ("too close", "test", "left out", "plain CD, %", "p")


def _cells(row: PairedScore) -> dict[str, str]:
    difference = grid.share_with_interval(row.difference, row.ci_low, row.ci_high, "+.1f")
    plain = row.baseline_plain_score, row.plain_score
    return {
        "items": counted(row.n),
        "left out": f"{row.left_out:,}" if row.left_out else "",
        "too close": f"{row.too_close:,}" if row.too_close else "",
        "reference, %": grid.share_cell(row.baseline_score),
        "model, %": grid.share_cell(row.score),
        "difference [95 % interval]": difference,
        "plain CD, %": "" if row.plain_score is None else ", ".join(map(grid.share_cell, plain)),
        "test": "McNemar" if row.test == "mcnemar" else row.test,
        "p": _p(row.p),
        "p (Holm)": _p(row.p_holm) + ("*" if significant(row) else " "),
    }


def significant(row: PairedScore) -> bool:
    """Tell whether the adjusted p-value is below 5 %."""
    return row.p_holm is not None and row.p_holm < SIGNIFICANT


def _p(value: float | None) -> str:
    return "<0.001" if value is not None and value < 0.001 else grid.number_cell(value)


def comparison_notes(comparison: ModelComparison) -> Iterator[str]:
    """Notes for a reader of one comparison."""
    for obstacle in comparison.obstacles:
        yield f"compared although not comparable: {obstacle}"
    asked = comparison.baseline.asked
    units = "units" if asked is None else asked.command.units
    if only_cd(comparison.rows):
        units = "predictions"
    if comparison.unpaired:
        yield f"{comparison.unpaired:,} {units} are left out: only one of the two has them"
    if comparison.headline is not None and comparison.headline.visible is not None:
        yield (
            f"smallest difference of the headline scores that a test of {comparison.headline.n:,} "
            f"items{' so weighted' * (comparison.headline.metric == CONTROLLED_CD)} shows with a "
            f"power of {POWER:g}: "
            f"{grid.share_cell(comparison.headline.visible)} points, where one model is right and "
            f"the other wrong on {DISCORDANCE:.0%} of them"
        )
    for remark in comparison.remarks:
        yield f"differs: {remark}"
    for who, count in (
        ("the reference model", _most(comparison, lambda row: row.undefined_baseline)),
        ("the other model", _most(comparison, lambda row: row.undefined)),
    ):
        if count:
            yield f"undefined or too long for {who}, so left out for both: {count:,} {units}"
    for who, side in (("reference", comparison.baseline), ("other", comparison.model)):
        if ties := tie_line(side.outcomes, side.tables):
            yield f"{ties} (the {who} model, {short_model(side.model_name)})"
    if hidden := len(replace(comparison, details=True).shown) - len(comparison.shown):
        yield f"{hidden:,} rows of groups of items are left out; --details prints and tests them"
    counted = [row for row in comparison.rows if not is_correlation(row.metric)]
    if counted and not any(row.baseline_higher or row.higher for row in counted):
        yield "the two models make the same predictions on all items"


def _most(comparison: ModelComparison, count: Callable[[PairedScore], int]) -> int:
    found: dict[tuple[str, str], int] = defaultdict(int)
    for row in comparison.rows:
        if row.level == "all":
            table = row.config, row.split
            found[table] = max(found[table], count(row))
    return sum(found.values())


def comparison_lines(comparisons: Sequence[ModelComparison]) -> Iterator[str]:
    """What the marks and numbers of the tables are."""
    rows = [row for comparison in comparisons for row in comparison.shown]
    number = sum(row.p is not None for row in rows)
    tests = f"{number} tests" if number != 1 else "one test"
    of_all = f" of all {len(comparisons)} comparisons" if len(comparisons) > 1 else ""
    yield f"p (Holm): corrected for the {tests}{of_all} printed; * below {SIGNIFICANT:g}"
    headlines = sum(one.headline is not None for one in comparisons)
    if headlines > 1:
        yield f"headline scores: p (Holm) is corrected for their own {headlines:,} tests"
    if any(is_correlation(row.metric) for row in rows):
        yield "correlations (Spearman) are shown times 100"
    yield (
        "differences are in percentage points; a row's interval excludes 0 if its p is below 0.05"
    )
    if any(row.n < FEW_ITEMS for row in rows):
        yield f"! fewer than {FEW_ITEMS} items: read the interval, not the difference"


@dataclass(frozen=True, repr=False)
class Comparisons(Shown):
    """Comparisons of models with a baseline, which show themselves as results do.

    Attributes:
        comparisons: one for each model; ``comparisons[0].rows`` are its paired scores.
    """

    comparisons: Sequence[ModelComparison]

    @property
    def document(self) -> TableDocument:
        """The tables; their numbers have a row for each difference (a share)."""
        return comparison_document(self.comparisons)

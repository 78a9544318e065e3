"""The tables of comparisons on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from coherencegym.eval.results.comparison import ModelComparison
from coherencegym.eval.results.labels import labels, printable
from coherencegym.eval.results.paired_scores import PairedScore
from coherencegym.eval.statistics.scores import CD
from coherencegym.eval.tasks.score.summary import FEW_ITEMS

#: An adjusted p-value below this is marked.
SIGNIFICANT = 0.05
_TESTS = {"mcnemar": "McNemar"}


def print_comparisons(
    comparisons: Sequence[ModelComparison], names: Sequence[tuple[str, str]], console: Any = None
) -> None:
    """Print a table for each comparison, and below them how to read them.

    Args:
        comparisons: at least one.
        names: what to call the model and the baseline of each.
        console: rich's; None: standard output.
    """
    from rich.console import Console

    console = console or Console(highlight=False)
    if not console.is_terminal:
        # In a pipe rich assumes 80 columns and would cut names short.
        console = Console(file=console.file, width=160, highlight=False)
    for comparison, (model, baseline) in zip(comparisons, names, strict=True):
        console.print(f"{model} against {baseline} (baseline)", markup=False, style="bold")
        console.print(comparison_table(comparison, console.width))
        for note in notes(comparison):
            console.print(f"· {note}", markup=False)
        console.print()
    for line in legend(comparisons):
        console.print(f"· {line}", markup=False)


#: Columns that a narrow terminal does without, the first to go first.
_SPARE = ("test", "p", "95 % interval")
#: Characters to which a name is folded before a column goes.
_NAME = 24


def comparison_table(comparison: ModelComparison, width: int) -> Any:
    """A rich table: one row for each config, and indented below it one for each of its groups.

    Columns that have nothing to say are left out, and so are the p-value without correction, the
    name of the test and at last the interval where they do not fit into the width (characters).
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    rows = comparison.shown
    names = [printable(name) for name in labels(rows)]
    for spared in range(len(_SPARE) + 1):
        columns = _columns(rows, _SPARE[:spared])
        widths = [max(map(len, (head, *cells))) for head, cells in columns.items()]
        if min(_NAME, max(map(len, names))) + sum(widths) + 2 * len(widths) + 2 <= width:
            break
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("config, group", min_width=16, overflow="fold")
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for number, (row, name) in enumerate(zip(rows, names, strict=True)):
        # A Text: rich would read a formula's square brackets as markup.
        cells = [Text(column[number]) for column in columns.values()]
        table.add_row(Text(name), *cells, style="bold" if row.level == "all" else "")
    return table


def _columns(rows: Sequence[PairedScore], without: Sequence[str]) -> dict[str, list[str]]:
    interval = "95 % interval" not in without
    columns = {
        "items": [f"{row.n:,}" + (" !" if row.n < FEW_ITEMS else "") for row in rows],
        "left out": [f"{row.left_out:,}" if row.left_out else "" for row in rows],
        "too close": [f"{row.too_close:,}" if row.too_close else "" for row in rows],
        "baseline": [_number(row.baseline_score) for row in rows],
        "model": [_number(row.score) for row in rows],
        "difference" + " [95 % interval]" * interval: [_difference(row, interval) for row in rows],
        "test": [_TESTS.get(row.test, row.test) for row in rows],
        "p": [_p(row.p) for row in rows],
        "p (Holm)": [_p(row.p_holm) + ("*" if significant(row) else " ") for row in rows],
    }
    return {
        name: cells for name, cells in columns.items() if name not in without and set(cells) - {""}
    }


def significant(row: PairedScore) -> bool:
    """Whether the adjusted p-value is below 5 %."""
    return row.p_holm is not None and row.p_holm < SIGNIFICANT


def notes(comparison: ModelComparison) -> Iterator[str]:
    """What a reader of one comparison must know."""
    for obstacle in comparison.obstacles:
        yield f"compared although not comparable (--anyway): {printable(obstacle)}"
    if comparison.unpaired:
        yield f"{comparison.unpaired:,} predictions that only one of the two has are left out"
    for remark in comparison.remarks:
        yield f"differs: {printable(remark)}"
    what = "predictions" if all(row.measure == CD for row in comparison.rows) else "sentences"
    for who, number in (
        ("the baseline", _most(comparison, lambda row: row.undefined_baseline)),
        ("the model", _most(comparison, lambda row: row.undefined)),
    ):
        if number:
            yield f"undefined or too long for {who}, so left out for both: {number:,} {what}"
    hidden = len(comparison.rows) - len(comparison.shown)
    if hidden:
        yield f"{hidden:,} finer rows: only in comparison.json (--output), without correction"
    if not any(row.baseline_higher or row.higher for row in comparison.rows):
        yield "no item is judged differently"


def _most(comparison: ModelComparison, count: Callable[[PairedScore], int]) -> int:
    """Over tables, the count of the measure that has the most units."""
    found: dict[tuple[str, str], int] = {}
    for row in comparison.rows:
        if row.level == "all":
            table = row.config, row.split
            found[table] = max(found.get(table, 0), count(row))
    return sum(found.values())


def legend(comparisons: Sequence[ModelComparison]) -> Iterator[str]:
    """How to read the tables."""
    rows = [row for comparison in comparisons for row in comparison.shown]
    tests = {row.test for row in rows}
    if "mcnemar" in tests:
        yield "McNemar: McNemar's exact test, where every item is of another discourse or family"
    if any(test.startswith("sign flips") for test in tests):
        yield (
            "sign flips: permutation test over discourses or families, where one gives several "
            "items or an item has several predictions"
        )
    if any(test.startswith("swaps") for test in tests):
        yield "swaps: permutation test that swaps what both models said of a document (Yeh 2000)"
    if "DeLong" in tests:
        yield "DeLong: test of two areas under the ROC curve on the same sentences, over documents"
    numbers = sorted({sum(row.p is not None for row in one.shown) for one in comparisons})
    listed = " or ".join(map(str, numbers))
    among = " of one comparison" if len(comparisons) > 1 else ""
    yield (
        f"p (Holm): corrected for the {listed} tests printed{among}; * below {SIGNIFICANT:g}"
        + ("; not corrected for the number of comparisons" if len(comparisons) > 1 else "")
    )
    yield "interval of the difference: of each row by itself; it excludes 0 where p is below 0.05"
    if any(row.n < FEW_ITEMS for row in rows):
        yield f"! fewer than {FEW_ITEMS} items: read the interval, not the difference"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _difference(row: PairedScore, with_interval: bool) -> str:
    if row.difference is None:
        return "–"
    if not with_interval or row.ci_low is None or row.ci_high is None:
        return f"{row.difference:+.3f}"
    return f"{row.difference:+.3f} [{row.ci_low:+.3f}, {row.ci_high:+.3f}]"


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return "<0.001" if value < 0.001 else f"{value:.3f}"

"""Changes from checkpoint to checkpoint: tables for a terminal and for Markdown, and as files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from coherencegym.escapes import markdown_text
from coherencegym.eval.data.baselines import BASELINE_WORDS
from coherencegym.eval.report import grid
from coherencegym.eval.report.formats import TableDocument
from coherencegym.eval.results.folder import write_json
from coherencegym.eval.results.learning import learning_curves
from coherencegym.eval.results.run_table import table_of
from coherencegym.eval.results.runs import Run
from coherencegym.eval.results.step_changes import CurveChanges, StepChange
from coherencegym.eval.results.steps import Axis, short_count
from coherencegym.eval.statistics.intervals import INTERVALS
from coherencegym.eval.statistics.paired import FLIPS
from coherencegym.eval.statistics.scores import FEW_ITEMS
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.views.compare_report import COMPARISON_FILE
from coherencegym.eval.views.compare_table import SIGNIFICANT
from coherencegym.eval.views.plots_curve import write_curves
from coherencegym.eval.views.training.table import ABOVE
from coherencegym.files.folders import written_beside

#: The tables among the files.
MARKDOWN = "steps.md"
#: Columns that a narrow terminal does without.
_SPARE = ("p",)
#: Names of the facts of a curve.
_ABOUT = ("training", "suite", "unit", "controlled")


def print_changes(changes: Sequence[CurveChanges], console: Any = None) -> None:
    """Print a table for each suite of each training, one of all suites, and how to read them."""
    console = grid.console_for(console)
    for one in changes:
        console.print(grid.plain_text(_title(one), "bold"))
        choices = [changes_grid(one, without) for without in ((), _SPARE)]
        console.print(grid.in_width(*choices, width=console.width))
        grid.print_below(console, _notes(one))
        console.print()
    for table in summary_grids(changes):
        console.print(grid.rich_block(table, console.width))
    grid.print_below(console, _legend(changes))


def changes_document(changes: Sequence[CurveChanges]) -> TableDocument:
    """The tables of changes for papers, and their numbers for programs."""
    grids = [replace(changes_grid(one), title=_title(one)) for one in changes]
    lines = [f"{_title(one)}: {note}" for one in changes for note in _notes(one)]
    records = [
        {**{name: getattr(one.curve, name) for name in _ABOUT}, **asdict(change)}
        for one in changes
        for change in one.all
    ]
    return TableDocument([*grids, *summary_grids(changes)], [*lines, *_legend(changes)], records)


def summary_grids(changes: Sequence[CurveChanges]) -> Iterator[grid.Grid]:
    """A table for each training: a row for each suite, from its first checkpoint to its last."""
    trainings: dict[tuple[str, str], list[CurveChanges]] = {}
    for one in changes:
        trainings.setdefault((one.curve.training, one.curve.unit), []).append(one)
    for (training, unit), own in trainings.items():
        headings = [grid.GridRow((one.curve.suite + " †" * one.curve.controlled,)) for one in own]
        cells = [_summary(one) for one in own]
        title = f"{training}: the last checkpoint against the first, by {unit or 'count'}"
        yield replace(grid.of_cells("suite", headings, cells, (), list(cells[0])), title=title)


def _summary(one: CurveChanges) -> dict[str, str]:
    curve, change = one.curve, one.last_against_first
    first, last = curve.heads[0], curve.heads[-1]
    moved = [
        f"{'+' if step.difference > 0 else '−'} at {short_count(step.after)}"
        for step in one.steps
        if step.p_holm < SIGNIFICANT
    ]
    above = None if curve.controlled else curve.above_from
    return {
        "items": f"{last.n:,}",
        "first, %": f"{grid.share_cell(first.score)} ({short_count(curve.counts[0])})",
        "last, %": f"{grid.share_cell(last.score)} ({short_count(curve.counts[-1])})",
        **_change_cells(change),
        "steps with a change": ", ".join(moved) or "–",
        ABOVE: "–" if above is None else short_count(above),
    }


def changes_grid(one: CurveChanges, without: Sequence[str] = ()) -> grid.Grid:
    """The rows of a suite: its steps, each with its change, and the last against the first."""
    curve = one.curve
    unit = curve.unit or "count"
    about = zip(curve.counts, curve.heads, [None, *one.steps], strict=True)
    rows = [(short_count(count), _cells(head, change)) for count, head, change in about]
    if one.whole is not None:
        name = f"{short_count(one.whole.after)} against {short_count(one.whole.before)}"
        rows.append((name, _cells(None, one.whole)))
    headings = [grid.GridRow((name,)) for name, _ in rows]
    cells = [{name: cell for name, cell in own.items() if name not in without} for _, own in rows]
    return grid.of_cells(unit, headings, cells)


def _cells(head: Headline | None, change: StepChange | None) -> dict[str, str]:
    score = ""
    if head is not None:
        score = grid.share_with_interval(head.score, head.ci_low, head.ci_high)
        score += " *" if head.is_above_known else "  "
    return {"score, % [95 % interval]": score, **_change_cells(change)}


def _change_cells(change: StepChange | None) -> dict[str, str]:
    if change is None:
        return dict.fromkeys(("change [95 % interval]", "p", "p (Holm)"), "")
    limits = change.difference, change.ci_low, change.ci_high
    return {
        "change [95 % interval]": grid.share_with_interval(*limits, "+.1f"),
        "p": _p(change.p),
        "p (Holm)": _p(change.p_holm) + ("*" if change.p_holm < SIGNIFICANT else " "),
    }


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else grid.number_cell(value)


def _title(one: CurveChanges) -> str:
    head = one.curve.heads[-1]
    return f"{one.curve.suite} · {one.curve.training} · {head.words}, {head.n:,} items"


def _notes(one: CurveChanges) -> Iterator[str]:
    curve, head = one.curve, one.curve.heads[-1]
    baselines = {
        head.chance_name: head.chance,
        **{words: getattr(head, name) for name, words in BASELINE_WORDS.items()},
    }
    named = ", ".join(f"{n} {grid.share_cell(s)}" for n, s in baselines.items() if s is not None)
    above = curve.above_from
    if curve.controlled:
        yield "this suite has controls: read the differences from them, not only these scores"
    elif above is None:
        yield f"not above its baselines ({named}) at the last {curve.unit or 'count'}"
    else:
        yield f"above its baselines ({named}) from {curve.unit or 'count'} {short_count(above)} on"
    for obstacle in one.obstacles:
        yield f"compared although not comparable: {obstacle}"
    if left_out := max(change.left_out for change in one.all):
        yield f"items that are undefined or too long for one of two checkpoints: up to {left_out:,}"
    if head.n < FEW_ITEMS:
        yield f"fewer than {FEW_ITEMS} items: read the interval, not the change"


def _legend(changes: Sequence[CurveChanges]) -> Iterator[str]:
    steps = sum(len(one.steps) for one in changes)
    wholes = sum(one.whole is not None for one in changes)
    yield (
        "score *: the whole interval is above chance, and above all baselines where there are any"
    )
    yield (
        "change: the difference from the checkpoint before, in percentage points, on the items "
        "that both answered; its interval excludes 0 if p is below 0.05 (permutation tests over "
        "discourses or families, or McNemar's test if every item is from another discourse)"
    )
    apart = f", and separately for the {wholes:,} tests of a last against a first" if wholes else ""
    yield (
        f"p (Holm): corrected for the {steps:,} tests of a checkpoint against the checkpoint before"
        f"{apart}; * below {SIGNIFICANT:g}"
    )
    if any(one.curve.controlled for one in changes):
        yield "† this suite has controls: read the differences in the reports, not only this score"


def write_changes(
    changes: Sequence[CurveChanges],
    runs: Sequence[Run],
    axis: Axis,
    folder: Path,
    *,
    seed: int,
    overwrite: bool = False,
) -> None:
    """Write ``comparison.json``, ``steps.md`` and the learning curve, whole or not at all.

    Raises:
        EvaluationError: the folder exists and overwriting was not asked for.
    """
    with written_beside(folder, overwrite) as work:
        about = {"seed": seed, "intervals": INTERVALS, "flips": FLIPS}
        content = {"format": 1, "settings": about, "steps": [_as_json(one) for one in changes]}
        write_json(content, work / COMPARISON_FILE)
        tables = summary_grids(changes)
        lines = [line for table in tables for line in grid.titled_markdown(table, "# ")]
        lines += [line for one in changes for line in _markdown(one)]
        lines += [f"- {markdown_text(line)}" for line in _legend(changes)]
        (work / MARKDOWN).write_bytes(("\n".join(lines) + "\n").encode("utf-8", "replace"))
        write_curves(learning_curves(table_of(runs, axis)), work)


def _as_json(one: CurveChanges) -> dict[str, Any]:
    curve = one.curve
    points = zip(curve.counts, curve.heads, curve.folders, strict=True)
    return {
        **{name: getattr(curve, name) for name in _ABOUT},
        "above_baselines_from": curve.above_from,
        "scores": [{"count": n, "folder": folder, **asdict(head)} for n, head, folder in points],
        "changes": [asdict(change) for change in one.steps],
        "last_against_first": asdict(one.whole) if one.whole else None,
        "obstacles": list(one.obstacles),
    }


def _markdown(one: CurveChanges) -> Iterator[str]:
    yield from (f"## {markdown_text(_title(one))}", "", *grid.markdown(changes_grid(one)), "")
    yield from (f"- {markdown_text(note)}" for note in _notes(one))
    yield ""

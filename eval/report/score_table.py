"""The table of scores of any task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from coherencegym.eval.data.notes import table_name
from coherencegym.eval.report.blocks import counted, formula_labels
from coherencegym.eval.report.grid import Grid, GridRow, of_cells, score_with_interval
from coherencegym.eval.statistics.scores import REFERENCE, Score, is_correlation


def interval_cell(score: Score) -> str:
    """A score in its cell, with its interval: in per cent, or as it is where it is signed."""
    return score_with_interval(score.score, score.ci_low, score.ci_high, score.metric)


def score_table(
    scores: Sequence[Score], cell: Callable[[Score], str] = interval_cell, unit: str = ", %"
) -> Grid:
    """A table with a column for each metric.

    A table of the dataset has a line for the model, and below it one for each way to decide and
    each baseline; then a line for each group of its units, and for each way to decide of these. A
    group that has all units is left out.
    """
    tables: dict[tuple[str, str], dict[str, dict[str, dict[str, Score]]]] = {}
    for score, formula in zip(scores, formula_labels(scores), strict=True):
        parts = tables.setdefault((score.config, score.split), {"": {"": {}}})
        part = score.group or (formula if score.level == "formula" else "")
        parts.setdefault(part, {"": {}}).setdefault(score.system, {})[score.metric] = score
    metrics = dict.fromkeys(score.metric for score in scores)
    columns = {metric: metric + unit * (not is_correlation(metric)) for metric in metrics}
    headings, cells = [], []
    for (config, split), parts in tables.items():
        for part, systems in parts.items():
            for system, line in systems.items():
                first = next(iter(line.values()), None)
                number = first.n if first else 0
                if part and (first is None or first.level == REFERENCE or _same(first, parts[""])):
                    continue
                level = bool(part) + bool(system)
                named = ": ".join(filter(None, (part * (not systems[""]), system)))
                name = "  " * level + (named or part or table_name(config, split))
                is_own = not part and first is not None and first.level != REFERENCE
                is_detail = bool(level) and not (is_own and not systems[""])
                row = GridRow((name,), level, bold=not level, is_detail=is_detail)
                headings.append(row)
                counts = first.counts.items() if first else ()
                own = {"n": counted(number) if first else ""}
                for metric, header in columns.items():
                    own[header] = cell(line[metric]) if metric in line else ""
                    if metric in line and line[metric].n != number:
                        own[header] += f" (n = {counted(line[metric].n)})"
                own["left out"] = ", ".join(f"{number:,} {why}" for why, number in counts)
                cells.append(own)
    # The last first, and never the first two.
    optional = "left out", *[*columns.values()][:1:-1]
    return of_cells("config", headings, cells, ("", "–"), ("n",), optional)


def _same(part: Score, whole: Mapping[str, Mapping[str, Score]]) -> bool:
    # A part that has all units of its table.
    known = whole.get(part.system, {}).get(part.metric)
    return known is not None and known.n == part.n

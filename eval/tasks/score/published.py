"""Published scores beside those of a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from coherencegym.eval.data.source import Published
from coherencegym.eval.plan.options import SYNTAXGYM_2021
from coherencegym.eval.report import grid

#: The mode in which scores of Beyer et al. (2021) and of SyntaxGym's authors were computed.
PUBLISHED_MODE = SYNTAXGYM_2021.name


#: Rows of published scores on the terminal; results.json has them all.
PUBLISHED_ROWS = 12


def published_title(mode: str) -> str:
    """The title of published scores beside those of a run in a mode."""
    comparable = "not comparable with the figures above"
    if mode == PUBLISHED_MODE:
        comparable = "comparable where the model is the same"
    return f"published, % (same corpus, {PUBLISHED_MODE} mode; {comparable})"


def published_block(rows: Sequence[Published], title: str) -> grid.Grid:
    """A row for each row of a paper's table, a column for each model."""
    models = list(dict.fromkeys(row.model for row in rows))
    sources = list(dict.fromkeys(row.source for row in rows))
    several = len(sources) > 1
    scores: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for row in rows:
        scores[row.config, row.row, row.source][row.model] = row.score
    lines = []
    for (config, name, source), by_model in list(scores.items())[:PUBLISHED_ROWS]:
        heading = ", ".join(filter(None, (config, name))) or "all"
        cells = [grid.share_cell(by_model.get(model)) for model in models]
        lines.append(grid.GridRow((heading, *cells, *[source] * several)))
    notes = [] if several else [sources[0]]
    if len(scores) > PUBLISHED_ROWS:
        notes.append(f"{len(scores) - PUBLISHED_ROWS} more rows in results.json")
    return grid.Grid(
        title,
        ("config, row", *models, *["source"] * several),
        (False, *[True] * len(models), *[False] * several),
        tuple(lines),
        tuple(notes),
    )

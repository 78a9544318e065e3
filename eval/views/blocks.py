"""What stands below the table of scores: controls, lengths, published scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coherencegym.eval.data.source import Published
from coherencegym.eval.plan.options import SYNTAXGYM_2021
from coherencegym.eval.results.labels import difference_labels, formula_labels
from coherencegym.eval.results.results import Results
from coherencegym.eval.tasks.score.controls import Difference
from coherencegym.eval.tasks.score.lengths import LengthCorrelation
from coherencegym.eval.views.grid import Grid, Row, made

#: The mode in which scores of Beyer et al. (2021) and of SyntaxGym's authors were computed.
PUBLISHED_MODE = SYNTAXGYM_2021.name
#: Rows of published scores on the terminal; results.json has them all.
PUBLISHED_ROWS = 12


def blocks(results: Results) -> Iterator[Grid]:
    """The blocks that have something to say."""
    if results.differences:
        yield difference_block(results.differences)
    if lengths := shown_lengths(results.lengths):
        yield length_block(lengths)
    if results.published:
        yield published_block(results.published, str(results.settings.get("compat") or ""))


def difference_block(differences: Sequence[Difference]) -> Grid:
    """A row for each config, control and formula."""
    rows = [
        Row(
            (
                name,
                f"{row.n:,}, {row.n_control:,}",
                f"{_signed(row.margin_mean)}, {_signed(row.control_margin_mean)}",
                f"{_signed(row.difference)} {_interval(row.ci_low, row.ci_high)}".rstrip(),
            )
        )
        for row, name in zip(differences, difference_labels(differences), strict=True)
    ]
    names = ("items", "margins", "difference [95 % interval]")
    title = "mean margin minus that of the control, bits"
    return made("config − control", names, rows, title)


def shown_lengths(lengths: Sequence[LengthCorrelation]) -> list[LengthCorrelation]:
    """Those that are noteworthy, and those that the suite asks for where lengths differ."""
    return [row for row in lengths if row.noteworthy or (row.asked and row.n_differ)]


def length_block(lengths: Sequence[LengthCorrelation]) -> Grid:
    """A row for each formula."""
    title = (
        "correlation of the margin with the difference in length (tokens, predicted side − other)"
    )
    splits = len({row.split for row in lengths}) > 1
    rows = [
        Row(
            (
                f"{row.config}{f' ({row.split})' if splits else ''}, {name}",
                f"{row.n:,}",
                f"{row.n_differ:,}",
                _signed(row.tokens_mean, 2),
                _signed(row.pearson, 2),
                _signed(row.spearman, 2),
            )
        )
        for row, name in zip(lengths, formula_labels(lengths), strict=True)
    ]
    names = ("items", "that differ", "tokens more", "Pearson", "Spearman")
    return made("config, prediction", names, rows, title)


def published_block(rows: Sequence[Published], mode: str) -> Grid:
    """A row for each row of a paper's table, a column for each model.

    Args:
        rows: what was published.
        mode: of this run, where it is not the default.
    """
    comparable = (
        "comparable where corpus and model are the same"
        if mode == PUBLISHED_MODE
        else "not comparable with the figures above"
    )
    title = f"published (original corpora, {PUBLISHED_MODE} mode; {comparable})"
    models = list(dict.fromkeys(row.model for row in rows))
    sources = list(dict.fromkeys(row.source for row in rows))
    several = len(sources) > 1
    scores: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in rows:
        scores.setdefault((row.config, row.row, row.source), {})[row.model] = row.score
    lines = []
    for (config, name, source), by_model in list(scores.items())[:PUBLISHED_ROWS]:
        cells = [f"{by_model[m]:.3f}" if m in by_model else "–" for m in models]
        heading = ", ".join(filter(None, (config, name))) or "all"
        lines.append(Row((heading, *cells, *[source] * several)))
    notes = [] if several else [sources[0]]
    if len(scores) > PUBLISHED_ROWS:
        notes.append(f"{len(scores) - PUBLISHED_ROWS} more rows in results.json")
    return Grid(
        title,
        ("config, row", *models, *["source"] * several),
        (False, *[True] * len(models), *[False] * several),
        tuple(lines),
        tuple(notes),
    )


def _signed(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:+.{digits}f}"


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"[{low:+.3f}, {high:+.3f}]"

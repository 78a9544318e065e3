"""What stands below the table of scores: controls, lengths, published scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from coherencegym.eval.data.published import Published
from coherencegym.eval.kinds.compat import SYNTAXGYM_2021
from coherencegym.eval.results.labels import difference_labels, formula_labels
from coherencegym.eval.results.results import Results
from coherencegym.eval.tasks.score.controls import Difference
from coherencegym.eval.tasks.score.lengths import LengthCorrelation

#: The mode in which scores of Beyer et al. (2021) and of SyntaxGym's authors were computed.
PUBLISHED_MODE = SYNTAXGYM_2021.name
#: Rows of published scores on the terminal; results.json has them all.
PUBLISHED_ROWS = 12


def blocks(results: Results) -> Iterator[Any]:
    """The blocks that have something to say, as rich tables."""
    if results.differences:
        yield difference_block(results.differences)
    if lengths := shown_lengths(results.lengths):
        yield length_block(lengths)
    if results.published:
        yield published_block(results.published, str(results.settings.get("compat") or ""))


def difference_block(differences: Sequence[Difference]) -> Any:
    """A row for each config, control and formula."""
    title = "mean margin minus that of the control, bits"
    table = _table()
    table.add_column("config − control", min_width=20, overflow="fold")
    for name in ("items", "margins", "difference [95 % interval]"):
        table.add_column(name, justify="right", no_wrap=True)
    for row, name in zip(differences, difference_labels(differences), strict=True):
        _add_row(
            table,
            name,
            f"{row.n:,}, {row.n_control:,}",
            f"{_signed(row.margin_mean)}, {_signed(row.control_margin_mean)}",
            f"{_signed(row.difference)} {_interval(row.ci_low, row.ci_high)}".rstrip(),
        )
    return _block(title, table)


def shown_lengths(lengths: Sequence[LengthCorrelation]) -> list[LengthCorrelation]:
    """Those that are noteworthy, and those that the suite asks for where lengths differ."""
    return [row for row in lengths if row.noteworthy or (row.asked and row.n_differ)]


def length_block(lengths: Sequence[LengthCorrelation]) -> Any:
    """A row for each formula."""
    title = (
        "correlation of the margin with the difference in length (tokens, predicted side − other)"
    )
    table = _table()
    table.add_column("config, prediction", min_width=20, overflow="fold")
    for name in ("items", "that differ", "tokens more", "Pearson", "Spearman"):
        table.add_column(name, justify="right", no_wrap=True)
    splits = len({row.split for row in lengths}) > 1
    for row, name in zip(lengths, formula_labels(lengths), strict=True):
        split = f" ({row.split})" if splits else ""
        _add_row(
            table,
            f"{row.config}{split}, {name}",
            f"{row.n:,}",
            f"{row.n_differ:,}",
            _signed(row.tokens_mean, 2),
            _signed(row.pearson, 2),
            _signed(row.spearman, 2),
        )
    return _block(title, table)


def published_block(rows: Sequence[Published], mode: str) -> Any:
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
    table = _table()
    models = list(dict.fromkeys(row.model for row in rows))
    sources = list(dict.fromkeys(row.source for row in rows))
    table.add_column("config, row", min_width=20, overflow="fold")
    for model in models:
        table.add_column(_text(model), justify="right", no_wrap=True)
    if len(sources) > 1:
        table.add_column("source", overflow="fold")
    scores: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in rows:
        scores.setdefault((row.config, row.row, row.source), {})[row.model] = row.score
    for (config, name, source), by_model in list(scores.items())[:PUBLISHED_ROWS]:
        cells = [f"{by_model[m]:.3f}" if m in by_model else "–" for m in models]
        cells += [source] * (len(sources) > 1)
        _add_row(table, ", ".join(filter(None, (config, name))) or "all", *cells)
    notes = [sources[0]] if len(sources) == 1 else []
    if len(scores) > PUBLISHED_ROWS:
        notes.append(f"{len(scores) - PUBLISHED_ROWS} more rows in results.json")
    return _block(title, table, notes)


def _table() -> Any:
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))


def _block(title: str, table: Any, notes: Sequence[str] = ()) -> Any:
    """A table under its title, which may be the wider of the two, and notes under the table."""
    from rich.console import Group
    from rich.padding import Padding

    return Padding(Group(_text(title), table, *map(_text, notes)), (0, 0, 0, 1))


def _add_row(table: Any, *cells: str) -> None:
    # Texts: rich would read a formula's square brackets as markup.
    table.add_row(*map(_text, cells))


def _text(content: str) -> Any:
    from rich.text import Text

    return Text(content)


def _signed(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:+.{digits}f}"


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"[{low:+.3f}, {high:+.3f}]"

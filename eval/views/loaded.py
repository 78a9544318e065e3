"""Results that were read from their folder, as a notebook and ``print`` show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherencegym.eval.report import grid
from coherencegym.eval.report.labels import labels
from coherencegym.eval.results.loaded import LoadedResults
from coherencegym.eval.statistics.scores import FEW_ITEMS, Score, shown_rows
from coherencegym.eval.views import frames
from coherencegym.eval.views.findings import headline_line
from coherencegym.eval.views.html_report import notebook_cell

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]


@dataclass(frozen=True, repr=False)
class ShownResults(LoadedResults):
    """Loaded results that a notebook shows as a table, and that print as one."""

    def to_pandas(self, kind: frames.Kind = "scores") -> pandas.DataFrame:
        """A table of the results as a data frame; see :func:`eval.views.frames.rows`."""
        return frames.to_pandas(self, kind)

    def __str__(self) -> str:
        return grid.as_printed(self._print)

    def _repr_html_(self) -> str:
        return notebook_cell([_score_grid(self.rows)])

    def _print(self, console: Any) -> None:
        about = self.dataset
        grid.print_heading(console, about["suite"], about["version"], self.model["name"])
        if self.headline is not None:
            console.print(grid.plain_text(headline_line(self.headline)), soft_wrap=True)
        console.print(grid.in_width(_score_grid(self.rows), width=console.width))
        grid.print_notes(
            console, self.notes, self.signature, verbose=False, shown_by="report.html shows them"
        )


def _score_grid(scores: Sequence[Score]) -> grid.Grid:
    shown = list(shown_rows(scores))
    rows = [
        grid.GridRow(
            (
                name,
                f"{one.n:,}" + " !" * (one.n < FEW_ITEMS),
                grid.score_with_interval(one.score, one.ci_low, one.ci_high, one.metric),
            ),
            int(one.level != "all"),
            bold=one.level == "all",
        )
        for one, name in zip(shown, labels(shown), strict=True)
    ]
    return grid.made("config, group", ("n", "score [95 % interval]"), rows)

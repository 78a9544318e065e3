"""Comparisons as a notebook and ``print`` show them: the tables of the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherencegym.eval.report.grid import as_printed
from coherencegym.eval.results.comparison import ModelComparison
from coherencegym.files.frames import data_frame

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]


@dataclass(frozen=True, repr=False)
class Comparisons:
    """Comparisons of models with a baseline, which show themselves as results do.

    Attributes:
        comparisons: one for each model; ``comparisons[0].rows`` are its paired scores.
        names: model and baseline of each.
    """

    comparisons: Sequence[ModelComparison]
    names: Sequence[tuple[str, str]]

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each difference (a share), with its interval, test and p-values."""
        from coherencegym.eval.views.compare_table import comparison_document

        return data_frame(comparison_document(self.comparisons, self.names).records)

    def __str__(self) -> str:
        from coherencegym.eval.views.compare_table import print_comparisons

        return as_printed(lambda console: print_comparisons(self.comparisons, self.names, console))

    def _repr_html_(self) -> str:
        from dataclasses import replace

        from coherencegym.eval.report.notebook import notebook_cell
        from coherencegym.eval.views.compare_table import comparison_grid

        grids: list[Any] = [
            replace(comparison_grid(one.shown), title=f"{model} against {baseline} (reference)")
            for one, (model, baseline) in zip(self.comparisons, self.names, strict=True)
        ]
        return notebook_cell(grids)

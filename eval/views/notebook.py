"""Results as a notebook and ``print`` show them: the tables of the terminal."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from coherencegym.eval.results.comparison import ModelComparison
from coherencegym.eval.results.results import Results
from coherencegym.eval.tasks.score.summary import shown_rows


@dataclass(frozen=True, repr=False)
class ShownResults(Results):
    """Results that a notebook shows as tables, and that print as the terminal has them."""

    def __str__(self) -> str:
        from rich.console import Console

        from coherencegym.eval.views.table import print_scores

        file = io.StringIO()
        print_scores(self, Console(file=file, highlight=False))
        return file.getvalue()

    def _repr_html_(self) -> str:
        """The tables, notes and signature as HTML: no script, no request, all escaped."""
        from coherencegym.eval.views.html_report import templates
        from coherencegym.eval.views.table import score_blocks, score_grid

        text: str = (
            templates()
            .get_template("notebook.html.jinja")
            .render(results=self, grids=[score_grid(shown_rows(self.scores)), *score_blocks(self)])
        )
        return text


def shown_results(results: Results) -> ShownResults:
    """The same results, which show themselves."""
    return ShownResults(**{field.name: getattr(results, field.name) for field in fields(results)})


@dataclass(frozen=True, repr=False)
class Comparisons:
    """Comparisons of models with a baseline, which show themselves as results do.

    Attributes:
        comparisons: one for each model; ``comparisons[0].rows`` are its paired scores.
        names: model and baseline of each.
    """

    comparisons: Sequence[ModelComparison]
    names: Sequence[tuple[str, str]]

    def __str__(self) -> str:
        from rich.console import Console

        from coherencegym.eval.views.compare_table import print_comparisons

        file = io.StringIO()
        print_comparisons(self.comparisons, self.names, Console(file=file, highlight=False))
        return file.getvalue()

    def _repr_html_(self) -> str:
        from dataclasses import replace

        from coherencegym.eval.views.compare_table import comparison_grid
        from coherencegym.eval.views.html_report import templates

        grids: list[Any] = [
            replace(comparison_grid(one.shown), title=f"{model} against {baseline} (baseline)")
            for one, (model, baseline) in zip(self.comparisons, self.names, strict=True)
        ]
        text: str = templates().get_template("notebook.html.jinja").render(grids=grids)
        return text

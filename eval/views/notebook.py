"""Results as a notebook and ``print`` show them: the tables of the terminal."""

from __future__ import annotations

import io
from dataclasses import dataclass, fields

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

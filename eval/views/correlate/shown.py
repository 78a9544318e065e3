"""Results of ``correlate`` as a notebook and ``print`` show them."""

from __future__ import annotations

from dataclasses import dataclass, fields

from coherencegym.eval.tasks.correlate.results import CorrelationResults
from coherencegym.eval.views.correlate.table import correlation_grid, print_correlations
from coherencegym.eval.views.grid import as_printed


@dataclass(frozen=True, repr=False)
class ShownCorrelations(CorrelationResults):
    """Correlations that a notebook shows as a table, and that print as the terminal has them.

    ``rows`` has the scores (:class:`eval.statistics.scores.Score`), ``headline`` the one number.
    """

    def __str__(self) -> str:
        return as_printed(lambda console: print_correlations(self, console, verbose=False))

    def _repr_html_(self) -> str:
        from coherencegym.eval.views.html_report import notebook_cell

        return notebook_cell([correlation_grid(self.rows)], self)


def shown_correlations(results: CorrelationResults) -> ShownCorrelations:
    """The same results, which show themselves."""
    found = {field.name: getattr(results, field.name) for field in fields(results)}
    return ShownCorrelations(**found)

"""Results on spans as a notebook and ``print`` show them."""

from __future__ import annotations

from dataclasses import dataclass, fields

from coherencegym.eval.report.grid import as_printed
from coherencegym.eval.tasks.spans.results import SpanResults
from coherencegym.eval.views.spans.table import beside_grids, coherence_grid, print_spans


@dataclass(frozen=True, repr=False)
class ShownSpans(SpanResults):
    """Results on spans that a notebook shows as tables, and that print as the terminal has them.

    ``scores`` has the figures of each config (:class:`eval.tasks.spans.results.SpanScores`),
    ``answered`` the answer to every span.
    """

    def __str__(self) -> str:
        return as_printed(lambda console: print_spans(self, console, verbose=False))

    def _repr_html_(self) -> str:
        from coherencegym.eval.views.html_report import notebook_cell

        return notebook_cell([coherence_grid(self), *beside_grids(self)], self)


def shown_spans(results: SpanResults) -> ShownSpans:
    """The same results, which show themselves."""
    return ShownSpans(**{field.name: getattr(results, field.name) for field in fields(results)})

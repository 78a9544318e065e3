"""Results of a probe as a notebook and ``print`` show them."""

from __future__ import annotations

from dataclasses import dataclass, fields

from coherencegym.eval.report.grid import as_printed
from coherencegym.eval.tasks.probe.results import ProbeResults
from coherencegym.eval.views.probe.table import (
    beside_grid,
    print_probes,
    probes_grid,
    published_grids,
)


@dataclass(frozen=True, repr=False)
class ShownProbes(ProbeResults):
    """Results of a probe that a notebook shows as tables, and that print as the terminal has them.

    ``scores`` has the figures of each config (:class:`eval.tasks.probe.results.ProbeScores`),
    ``probed`` the fits of every layer.
    """

    def __str__(self) -> str:
        return as_printed(lambda console: print_probes(self, console, verbose=False))

    def _repr_html_(self) -> str:
        from coherencegym.eval.views.html_report import notebook_cell

        return notebook_cell([probes_grid(self), beside_grid(self), *published_grids(self)], self)


def shown_probes(results: ProbeResults) -> ShownProbes:
    """The same results, which show themselves."""
    return ShownProbes(**{field.name: getattr(results, field.name) for field in fields(results)})

"""The folder of a probe: tables of fits and predictions, the curve by layer, and ``report.html``.

The page is as safe as that of items (:mod:`eval.views.html_report`): every text is escaped, nothing
runs, and nothing is fetched.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coherencegym.eval.results.folder import PREDICTIONS_FILE, results_folder, write_rows
from coherencegym.eval.results.runs import run_of
from coherencegym.eval.tasks.probe.results import (
    LAYERS_FILE,
    ProbeResults,
    label_rows,
    label_schema,
    layer_rows,
    layer_schema,
)
from coherencegym.eval.tasks.score.summary import shown_rows
from coherencegym.eval.views.html_report import page_of, title_of, write_html
from coherencegym.eval.views.probe.curves import layer_curves
from coherencegym.eval.views.probe.plot import LayerCurve, write_layers
from coherencegym.eval.views.probe.table import (
    beside_grid,
    meanings,
    probe_verdict,
    probes_grid,
    published_grids,
)
from coherencegym.eval.views.strips import strip_grid

#: Rows of each table that are on the page.
_MOST_ROWS = 200


def write_probes(results: ProbeResults, folder: Path, *, overwrite: bool = False) -> None:
    """Write a folder of results, whole or not at all.

    Raises:
        FileExistsError: the folder exists and overwriting was not asked for.
    """
    from coherencegym.eval.views.plots import plot_runs

    with results_folder(results, folder, overwrite=overwrite) as work:
        write_rows(layer_rows(results), layer_schema(), work / LAYERS_FILE)
        write_rows(label_rows(results), label_schema(), work / PREDICTIONS_FILE)
        plot_runs([run_of(results)], work)
        write_layers(layer_curves(results), title_of(results), work)
        write_html(_page(results, work / "layers.svg"), work)


def _page(results: ProbeResults, figure: Path) -> str:
    rows = shown_rows(results.rows)
    drawn = base64.b64encode(figure.read_bytes()).decode()
    return page_of(
        "probe.html.jinja",
        results=results,
        title=title_of(results),
        verdict=probe_verdict(results),
        meanings=meanings(results),
        drawn=strip_grid(rows, counts=False),
        strips=rows,
        legends=("bag of words", "most frequent label"),
        grids=[probes_grid(results), beside_grid(results), *published_grids(results)],
        figure=f"data:image/svg+xml;base64,{drawn}",
        described="; ".join(_described(curve) for curve in layer_curves(results)),
        tables=list(_tables(results)),
    )


def _described(curve: LayerCurve) -> str:
    """A curve in words."""
    values = ", ".join(
        f"layer {layer} {100 * value:.1f} %"
        for layer, value in zip(curve.layers, curve.test, strict=True)
    )
    return f"{curve.config}: {values}"


def _tables(results: ProbeResults) -> Iterator[dict[str, Any]]:
    for own in results.probed:
        names = own.table.labels
        rows: list[dict[str, Any]] = [
            {
                "label": " or ".join((row.label, *row.also)),
                "called": called,
                "wrong": called not in (row.label, *row.also),
                "probability": math.exp(log[names.index(row.label)]),
                "slots": [" ".join(slot.segments) for slot in row.slots],
            }
            for row, called, log in zip(
                own.tested, own.called(own.chosen), own.chosen.log_probabilities, strict=True
            )
        ]
        rows.sort(key=lambda row: row["probability"])
        yield {"name": own.table.table.name, "rows": rows[:_MOST_ROWS], "total": len(rows)}

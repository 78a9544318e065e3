"""The curves of a probe by layer, and their figure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from coherencegym.eval.report import figures
from coherencegym.eval.report.blocks import cut
from coherencegym.eval.statistics.scores import BAG_OF_WORDS, MOST_FREQUENT, Score
from coherencegym.eval.tasks.probe.task import ACCURACY

#: Panels of a row.
_ACROSS = 3


@dataclass(frozen=True)
class LayerCurve:
    """The accuracies (shares) of one model on one config, by layer.

    Attributes:
        model, config: names.
        draws: the rows of ``layers.parquet`` by their draw: those of the model itself, 0, and of
            each randomly initialised one.
        baselines: the accuracies that no layer changes, by system.
    """

    model: str
    config: str
    draws: Mapping[int, Sequence[Mapping[str, Any]]]
    baselines: Mapping[str, float | None]

    @property
    def fits(self) -> Sequence[Mapping[str, Any]]:
        """The fits of the model."""
        return self.draws[0]

    @property
    def chosen(self) -> Mapping[str, Any]:
        """The fit of the layer that validation chose."""
        return max(self.fits, key=lambda fit: (fit["validation"], -fit["layer"]))


def curves_of(
    model: str, fits: Iterable[Mapping[str, Any]], scores: Iterable[Score]
) -> Iterator[LayerCurve]:
    """The curve of each config, from the rows of ``layers.parquet`` and the scores of the run."""
    reached: dict[tuple[str, str], dict[str, float | None]] = {}
    for score in scores:
        if not score.group and score.metric == ACCURACY:
            reached.setdefault((score.config, score.split), {})[score.system] = score.score
    tables: dict[tuple[str, str], dict[int, list[Mapping[str, Any]]]] = {}
    for fit in fits:
        draws = tables.setdefault((fit["config"], fit["split"]), {})
        draws.setdefault(fit["draw"], []).append(fit)
    for place, draws in tables.items():
        yield LayerCurve(model, place[0], draws, reached.get(place, {}))


def draw_layers(curves: Sequence[LayerCurve], title: str) -> Any:
    """A panel for each config, in which every model has a line and a band."""
    panels: dict[str, list[LayerCurve]] = {}
    for curve in curves:
        panels.setdefault(curve.config, []).append(curve)
    across = min(_ACROSS, len(panels))
    down = -(-len(panels) // across)
    figure = figures.new_figure(max(5.0, 3.9 * across), 1.0 + 3.0 * down, layout="constrained")
    grid = figure.subplots(down, across, squeeze=False, sharex=False)
    models = list(dict.fromkeys(curve.model for curve in curves))
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, (config, own) in zip(grid.flat, panels.items(), strict=False):
        _panel(axes, config, own, models)
    handles: Mapping[str, Any] = {
        label: handle
        for axes in grid.flat
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figures.legend_below(figure, list(handles.values()), 3)
    figure.suptitle(cut(title, 70), fontsize=11, fontweight="bold")
    return figure


def _panel(axes: Any, config: str, curves: Sequence[LayerCurve], models: Sequence[str]) -> None:
    from matplotlib.ticker import MaxNLocator

    for curve in curves:
        place = models.index(curve.model)
        colour, mark = figures.colour(place), figures.mark(place)
        layers = [fit["layer"] for fit in curve.fits]
        per_cent = [100 * fit["test"] for fit in curve.fits]
        low = [100 * (fit["low"] or 0.0) for fit in curve.fits]
        high = [100 * (1.0 if fit["high"] is None else fit["high"]) for fit in curve.fits]
        axes.plot(layers, per_cent, color=colour, marker=mark, markersize=4, label=curve.model)
        axes.fill_between(layers, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(
            [curve.chosen["layer"]],
            [100 * curve.chosen["test"]],
            color=colour,
            marker="o",
            markersize=11,
            fillstyle="none",
            linestyle="none",
            label="chosen on validation" if place == 0 else None,
        )
        if random := [fits for draw, fits in curve.draws.items() if draw]:
            of_layers = zip(*random, strict=True)
            drawn = [[100 * fit["test"] for fit in own] for own in of_layers]
            low, middle, high = ([of(own) for own in drawn] for of in (min, fmean, max))
            label = "random init" if len(models) == 1 else f"random init, {curve.model}"
            style = {"color": colour, "linestyle": figures.DASHED, "linewidth": 1}
            axes.plot(layers, middle, label=label, **style)
            axes.fill_between(layers, low, high, color=colour, alpha=0.08, linewidth=0)
    baselines = {BAG_OF_WORDS: figures.PARTIAL_INPUT, MOST_FREQUENT: figures.CHANCE_LINE}
    for label, colour in baselines.items():
        if (value := curves[0].baselines.get(label)) is not None:
            axes.axhline(
                100 * value, color=colour, linestyle=figures.DASHED, linewidth=1.2, label=label
            )
    axes.set_title(cut(config, 40), fontsize=9)
    axes.set_xlabel("layer (0: embeddings)", fontsize=9)
    axes.set_ylabel("accuracy on test, %", fontsize=9)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.tick_params(labelsize=8)


def write_layers(curves: Sequence[LayerCurve], title: str, folder: Path) -> None:
    """Write ``layers`` as PNG and SVG."""
    with figures.style():
        figures.save(draw_layers(curves, title), folder / "layers.png")

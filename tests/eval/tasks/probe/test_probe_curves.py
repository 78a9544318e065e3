"""The map of accuracies by config and layer, and the mean of the best layers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coherencegym.eval.tasks.probe.curves import (
    LayerCurve,
    draw_layer_map,
    mean_best_layers,
    write_layers,
)


def curve(model: str, config: str, test: Sequence[float], chosen: int) -> LayerCurve:
    layers = range(len(test))
    return LayerCurve(model, config, "test", layers, test, test, test, chosen, [], None, 0.5)


CURVES = [
    curve("m", "order", [0.5, 0.75, 0.625], 1),
    curve("m", "position", [0.2, 0.2, 0.2], 2),
    curve("n", "order", [0.4, 0.45, 0.6], 2),
    curve("one layer", "order", [0.4], 0),
    curve("one layer", "position", [0.4], 0),
]


def test_the_mean_is_of_models_with_several_configs_and_layers() -> None:
    assert mean_best_layers(CURVES) == {"m": 1.5}


def test_a_row_of_the_map_goes_from_its_lowest_to_its_highest_and_frames_the_chosen() -> None:
    figure = draw_layer_map(CURVES[:2], "suite")
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == ["50.0", "75.0", "62.5", *["20.0"] * 3]
    cells = [patch for patch in axes.patches if patch.get_width() == 1]
    frames = [patch for patch in axes.patches if patch.get_width() < 1]
    assert [int(frame.get_x()) for frame in frames] == [1, 2]
    dark = [sum(cell.get_facecolor()[:3]) for cell in cells]
    assert dark[1] < dark[2] < dark[0]
    assert dark[3] == dark[4] == dark[5] == dark[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["order", "position"]


def test_the_map_is_of_models_with_several_configs(tmp_path: Path) -> None:
    assert write_layers(CURVES, "suite", tmp_path) == []
    assert {path.name for path in tmp_path.iterdir()} >= {"layers.png", "layer_map.svg"}
    (tmp_path / "one").mkdir()
    write_layers(CURVES[2:3], "suite", tmp_path / "one")
    assert not (tmp_path / "one" / "layer_map.png").exists()

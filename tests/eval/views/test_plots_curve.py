"""The learning curve holds what the headlines say: asserted on matplotlib's artists."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from support.results import made_run

from coherencegym.eval.data.notes import caution
from coherencegym.eval.report.figures import style
from coherencegym.eval.report.formats import print_document
from coherencegym.eval.results.run_table import (
    LearningCurve,
    learning_curves,
    short_count,
    table_of,
)
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.results import Results, TableFacts
from coherencegym.eval.views.overview import (
    overview,
    write_overview,
)
from coherencegym.eval.views.plots import draw_curves, write_curves
from coherencegym.files.folders import CHECKSUMS

pytestmark = pytest.mark.usefixtures("real_figures")

HEAD = Headline(over=("c",), n=40, score=0.5, ci_low=0.4, ci_high=0.6)


def a_curve(counts: Sequence[float], training: str = "m@step*", **more: Any) -> LearningCurve:
    heads = [replace(HEAD, score=0.5 + place / 10) for place in range(len(counts))]
    return replace(LearningCurve(training, "toy 1.0.0", "step", counts, heads), **more)


def draw(*curves: LearningCurve) -> Any:
    with style():
        return draw_curves(curves)


def lines(axes: Any) -> dict[str, tuple[list[float], list[float]]]:
    return {
        line.get_gid(): (list(line.get_xdata()), [round(y, 6) for y in line.get_ydata()])
        for line in axes.lines
    }


def legend(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_points_a_band_and_baselines() -> None:
    curve = a_curve([1, 2, 3])
    heads = [
        replace(head, partial_input_score=0.55, lexical_overlap_score=0.52) for head in curve.heads
    ]
    heads[0] = replace(heads[0], ci_low=None, ci_high=None)
    figure = draw(replace(curve, heads=heads))
    (axes,) = figure.axes
    found = lines(axes)
    assert found["curve-0"] == ([1, 2, 3], [50, 60, 70])
    assert [
        found[name][1][0]
        for name in ("partial-input baseline", "lexical-overlap baseline", "chance")
    ] == [
        *(55, 52, 50),
    ]
    assert "human performance" not in found
    (band,) = (each for each in axes.collections if each.get_gid() == "band-0")
    corners = {(float(x), round(float(y), 6)) for x, y in band.get_paths()[0].vertices}
    # There is none at the first step, whose interval is not known.
    assert corners == {(2, 40), (2, 60), (3, 40), (3, 60)}
    assert figure.get_suptitle() == "m@step*"
    assert axes.get_title() == "toy 1.0.0  (n=40)"
    assert legend(figure) == [
        *(
            "score with 95 % interval",
            "partial-input baseline",
            "lexical-overlap baseline",
            "chance",
        ),
    ]


@pytest.mark.parametrize(
    ("counts", "scale", "said"),
    [
        ([100, 200, 1900], "linear", "steps of training"),
        ([100, 200, 2000], "log", "steps of training, logarithmic"),
        ([0, 100, 200], "linear", "steps of training"),
        ([0, 1, 143_000], "symlog", "steps of training, logarithmic"),
    ],
)
def test_the_axis_is_logarithmic_where_steps_are_far_apart(
    counts: Sequence[float], scale: str, said: str
) -> None:
    (axes,) = draw(a_curve(counts)).axes
    assert axes.get_xscale() == scale
    assert axes.get_xlabel() == said


@pytest.mark.parametrize(
    ("counts", "ticks"),
    [([2e5, 5e6], [2e5, 5e5, 1e6, 2e6, 5e6]), ([1, 1e6], [1, 10, 1e2, 1e3, 1e4, 1e5, 1e6])],
)
def test_a_logarithmic_axis_has_several_ticks(
    counts: Sequence[float], ticks: Sequence[float]
) -> None:
    (axes,) = draw(a_curve(counts)).axes
    low, high = axes.get_xlim()
    assert [tick for tick in axes.get_xticks() if low <= tick <= high] == pytest.approx(ticks)


def test_a_panel_for_each_suite_and_a_line_for_each_training() -> None:
    one, two = a_curve([1, 2], "/home/me/a/step*"), a_curve([1, 3], "/home/me/b/step*")
    figure = draw(one, two, replace(one, suite="other", controlled=True))
    first, second, *_ = figure.axes
    assert {name for name in lines(first) if name.startswith("curve")} == {"curve-0", "curve-1"}
    assert [name for name in lines(second) if name.startswith("curve")] == ["curve-0"]
    assert second.get_title() == "other †  (n=40)"
    assert first.get_ylim() == second.get_ylim()
    assert legend(figure)[:2] == [str(Path("a/step*")), str(Path("b/step*"))]
    assert legend(figure)[-1].startswith("† this suite has controls")
    alike = draw(one, replace(two, training="/home/you/a/step*"))
    assert legend(alike)[:2] == ["/home/me/a/step*", "/home/you/a/step*"]


def test_counts_as_names_of_checkpoints_have_them() -> None:
    counts = (0, 8, 500, 1500, 143_000, 10_000_000, 4e9)
    assert [short_count(count) for count in counts] == [
        *("0", "8", "500", "1.5k", "143k", "10M", "4B"),
    ]


def a_run(model: str) -> Results:
    tables = (TableFacts("c", "test", "0" * 64),)
    return made_run(model, "toy", tables, headline=HEAD, name="toy")


def test_an_overview_of_checkpoints_has_the_curve(tmp_path: Path) -> None:
    shown = overview([a_run("run/step1"), a_run("run/step2")])
    for name in ("one", "again"):
        write_overview(shown, tmp_path / name)
    names = [CHECKSUMS, "curve.png", "curve.svg", "index.html", "overview.md"]
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == names
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    ElementTree.fromstring((tmp_path / "one/curve.svg").read_text())
    assert "![learning curve](curve.png)" in (tmp_path / "one/overview.md").read_text()
    page = (tmp_path / "one/index.html").read_text()
    assert 'src="data:image/svg+xml;base64,' in page
    assert "Learning curve</h2>" in page


def lines_of(*runs: Results, width: int = 200) -> list[str]:
    file = io.StringIO()
    print_document(
        overview(runs).document,
        Console(file=file, width=width, force_terminal=True, color_system=None),
    )
    return [" ".join(line.split()) for line in file.getvalue().splitlines()]


def test_the_checkpoints_of_a_training_stand_in_their_order() -> None:
    """Whichever is the best; a sentence is of the last."""
    heads = {9: 0.55, 80: 0.4, 700: 0.5, 1000: 0.6}
    runs = [
        replace(
            a_run(f"run/step{count}"),
            headline=replace(
                HEAD, ci_low=low, score=low + 0.1, ci_high=1.0, partial_input_score=0.45
            ),
            notes=[caution("† fewer"), caution("the score is no better than chance")],
        )
        for count, low in sorted(heads.items(), reverse=True)
    ]
    shown = overview(runs)
    assert list(shown.models.values()) == ["step9", "step80", "step700", "step1000"]
    found = lines_of(*runs)
    assert sum("above chance on" in line for line in found) == 1
    assert any(line.startswith("· step1000 is above chance on 1 of 1") for line in found)
    assert "· fewer: toy 1.0.0" in found
    assert not any("no better than" in line for line in found)
    # What reads nothing has its own name where it does not guess.
    named = [
        replace(one, headline=replace(one.headline, chance_name="best constant answer"))
        for one in runs
        if one.headline is not None
    ]
    assert legend(draw_curves(learning_curves(table_of(named))))[-1] == "best constant answer"
    assert any(
        line.startswith("· other is above chance") for line in lines_of(*runs, a_run("other"))
    )


@pytest.mark.parametrize(
    ("counts", "ticks"),
    [((10, 20, 30, 40), [10, 20, 30, 40]), ((5,), [5]), ((10, 11, 40), [16, 24, 32, 40])],
)
def test_few_checkpoints_that_are_apart_each_have_a_label(
    counts: tuple[float, ...], ticks: list[float]
) -> None:
    (axes,) = draw(a_curve(counts)).axes
    low, high = axes.get_xlim()
    assert [tick for tick in axes.get_xticks() if low <= tick <= high] == ticks


def test_people_and_the_whole_legend_stand_in_the_figure() -> None:
    judged = replace(
        HEAD,
        partial_input_score=0.5,
        lexical_overlap_score=0.4,
        surface_score=0.6,
        human_score=0.9,
        human_n=10,
    )
    curve = replace(a_curve([1, 2]), heads=[judged, judged])
    figure = draw(curve)
    assert legend(figure)[-2:] == ["human performance", "chance"]
    figure.canvas.draw()
    drawn = figure.legends[0].get_window_extent()
    assert drawn.x0 >= 0
    assert drawn.x1 <= figure.bbox.width


def test_models_that_are_no_checkpoints_have_none(tmp_path: Path) -> None:
    runs = [a_run("opt-125m"), a_run("opt-350m"), a_run("run/step1")]
    write_curves(learning_curves(table_of(runs)), tmp_path)
    assert list(tmp_path.iterdir()) == []
    write_overview(overview(runs), tmp_path / "overview")
    assert sorted(path.name for path in (tmp_path / "overview").iterdir()) == [
        CHECKSUMS,
        "index.html",
        "overview.md",
    ]
    assert "Learning curve" not in (tmp_path / "overview/index.html").read_text()

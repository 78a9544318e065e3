"""Plots hold what the scores say: asserted on matplotlib's artists, not on pixels."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from support.results import dataset_facts, made_run, model_facts

from coherencegym.eval.report.figures import colour, mark, style
from coherencegym.eval.statistics.scores import CD, Score
from coherencegym.eval.tasks.results import Results, TableFacts
from coherencegym.eval.views.plots import draw_scores, plot_runs, series_of

pytestmark = pytest.mark.usefixtures("real_figures")

NOTHING: dict[str, Any] = {field.name: None for field in fields(Score)}
BLANK = Score(
    **{
        **NOTHING,
        **dict.fromkeys(("formula", "aggregation", "group", "system"), ""),
        **{"metric": CD, "chance": 0.5, "chance_name": "chance"},
        **{"n": 40, "clusters": 40, "human_n": 0, "counts": {}},
        "split": "test",
        "level": "all",
        "ci_method": "clopper-pearson",
    }
)


def one(score: float | None, config: str = "c", **more: Any) -> Score:
    low, high = (None, None) if score is None else (max(0, score - 0.1), min(1, score + 0.1))
    return replace(BLANK, config=config, **{"score": score, "ci_low": low, "ci_high": high, **more})


def a_run(model: str, scores: Sequence[Score], suite: str = "toy", **more: Any) -> Results:
    tables = [TableFacts(score.config, score.split, "0" * 64) for score in scores]
    own: dict[str, Any] = {"model": model_facts(model, commit="c" + model), "rows": scores}
    return made_run(model, suite, tables, **{**own, **more})


def points(figure: Any, gid: str) -> list[tuple[float, float]]:
    """x and row of the points of one collection, in the order of the rows."""
    found = [c for axes in figure.axes for c in axes.collections if c.get_gid() == gid]
    return sorted(
        ((float(x), float(y)) for c in found for x, y in c.get_offsets()), key=lambda p: p[1]
    )


def segments(figure: Any, gid: str) -> list[list[list[float]]]:
    found = [c for axes in figure.axes for c in axes.collections if c.get_gid() == gid]
    return [segment.tolist() for c in found for segment in c.get_segments()]


def draw(runs: Sequence[Results]) -> Any:
    with style():
        return draw_scores(runs)


def names(figure: Any) -> list[str]:
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def test_a_point_and_an_interval_for_each_score() -> None:
    scores = [
        one(0.75, partial_input_score=0.6, human_score=0.9, human_ci_low=0.8, human_ci_high=1.0),
        one(0.25, level="group", group="g"),
        one(None, "d", n=0),
    ]
    figure = draw([a_run("m", scores)])
    assert points(figure, "score-0") == [(0.75, 0.0), (0.25, 1.0)]
    (whole, part) = segments(figure, "interval-score-0")
    assert (whole, part) == ([[0.65, 0.0], [0.85, 0.0]], [[0.15, 1.0], [0.35, 1.0]])
    assert points(figure, "human") == [(0.9, 0.26)]
    assert [[x for x, _ in s] for s in segments(figure, "partial input")] == [[0.6, 0.6]]
    (chance,) = (line for line in figure.axes[0].lines if line.get_gid() == "chance")
    assert list(chance.get_xdata()) == [0.5, 0.5]
    assert names(figure) == ["c  (n=40)", "  g  (n=40)", "d  (n=0)"]
    assert figure.get_suptitle() == "toy 1.0.0\nm"
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()][2:] == [
        "50",
        "75",
        "100",
    ]


def test_no_mark_hides_another() -> None:
    same: dict[str, Any] = {"partial_input_score": 0.7, "human_score": 0.7, "human_ci_low": None}
    figure = draw([a_run("m", [one(0.7, **same)])])
    marks = {c.get_gid(): c for c in figure.axes[0].collections if c.get_gid()}
    assert marks["partial input"].get_zorder() < marks["score-0"].get_zorder()
    ((_, low), (_, high)) = segments(figure, "partial input")[0]
    rows_an_inch = 1.0 / (figure.axes[0].get_window_extent().height / figure.dpi / 4.2)
    radius = marks["score-0"].get_sizes()[0] ** 0.5 / 2 / 72 * rows_an_inch
    assert low < -radius < radius < high
    assert points(figure, "human")[0][1] > points(figure, "score-0")[0][1]


def test_models_stand_beside_each_other_in_one_row() -> None:
    runs = [
        a_run("a", [one(0.7), one(0.2, "only_a")]),
        a_run("b", [one(0.3, n=35), one(0.9, "only_b")]),
    ]
    figure = draw(runs)
    assert names(figure) == ["c  (n=35–40)", "only_a  (n=40)", "only_b  (n=40)"]
    first, second = points(figure, "score-0"), points(figure, "score-1")
    assert [x for x, _ in first] == [0.7, 0.2]
    assert [x for x, _ in second] == [0.3, 0.9]
    assert [round(y) for _, y in first] == [0, 1]
    assert [round(y) for _, y in second] == [0, 2]
    assert first[0][1] < second[0][1]
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["a", "b", "chance"]


def test_runs_of_one_model_on_several_suites_are_one_series() -> None:
    both = [a_run("m", [one(0.7)]), a_run("m", [one(0.8)], "other")]
    assert series_of(both) == {"m": both}
    assert names(draw(both)) == ["toy c  (n=40)", "other c  (n=40)"]


def test_runs_of_one_model_on_the_same_rows_are_told_apart_by_folder() -> None:
    runs = [a_run("m", [one(0.7)], folder=Path(f"results/{name}")) for name in ("x", "y")]
    assert [*series_of(runs)] == ["m (x)", "m (y)"]
    deep = [replace(run, folder=Path(f"{place}/x")) for run, place in zip(runs, "pq", strict=True)]
    assert [*series_of(deep)] == ["m (p/x)", "m (q/x)"]


def test_other_rows_of_a_config_never_share_its_row() -> None:
    first = a_run("a", [one(0.7)])
    other = TableFacts("c", "test", "1" * 64)
    second = replace(a_run("b", [one(0.8)]), dataset=dataset_facts("toy", other, version="2.0.0"))
    assert names(draw([first, second])) == [
        "c [1.0.0 0000000]  (n=40)",
        "c [2.0.0 1111111]  (n=40)",
    ]


def test_colours_and_marks_together_repeat_late() -> None:
    looks = [(colour(number), mark(number)) for number in range(24)]
    assert len(set(looks)) == 24
    assert len({mark(number) for number in range(6)}) == 6


def test_the_same_data_are_the_same_bytes(tmp_path: Path) -> None:
    runs = [a_run("a", [one(0.7)]), a_run("b", [one(0.4)])]
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        plot_runs(runs, tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "first").iterdir())
    assert files == ["scores.png", "scores.svg"]
    for file in files:
        content = (tmp_path / "first" / file).read_bytes()
        assert content == (tmp_path / "second" / file).read_bytes()
        assert b"dc:date" not in content


def test_the_users_own_settings_of_matplotlib_change_nothing(tmp_path: Path) -> None:
    import matplotlib

    runs = [a_run("a", [one(0.7)])]
    (tmp_path / "plain").mkdir()
    (tmp_path / "own").mkdir()
    plot_runs(runs, tmp_path / "plain")
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.hashsalt": "x"}):
        plot_runs(runs, tmp_path / "own")
        assert matplotlib.rcParams["font.size"] == 30
    for file in ("scores.png", "scores.svg"):
        assert (tmp_path / "own" / file).read_bytes() == (tmp_path / "plain" / file).read_bytes()


def test_a_reader_who_prefers_dark_pages_gets_dark_figures(tmp_path: Path) -> None:
    plot_runs([a_run("a", [one(0.7)])], tmp_path)
    drawn = (tmp_path / "scores.svg").read_text()
    (own,) = re.findall(r"<style[^>]*>(.*?)</style>", drawn)
    assert own.startswith("@media (prefers-color-scheme: dark) {svg {filter: invert(")
    # What matplotlib styles stays.
    assert own.endswith("}*{stroke-linejoin: round; stroke-linecap: butt}")


def test_characters_that_no_font_has_are_drawn_without_a_word(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot_runs([a_run("a", [one(0.7, "\U0010abcd$x_1$")])], tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_dollars_are_no_formula(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    plot_runs([a_run("$\\nothing$", [one(0.7, "$\\bad{$")])], tmp_path / "p")
    assert len(list((tmp_path / "p").iterdir())) == 2

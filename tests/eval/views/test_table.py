"""The table on the terminal and the plot."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.results import JudgedPrediction, made_difference, made_run, made_scores

from coherencegym.eval.data.notes import Note, caution, detail
from coherencegym.eval.kinds.items import Item, Outcome
from coherencegym.eval.report import grid
from coherencegym.eval.report.grid import print_notes
from coherencegym.eval.statistics.scores import Score, shown_rows
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.outcomes import Difference
from coherencegym.eval.tasks.score.report import difference_block, score_grid
from coherencegym.eval.views.plots import plot_runs


def run(scores: list[Score], **more: Any) -> Results:
    return made_run("a model", rows=scores, **more)


NAME = "a_corpus_with_a_long_name_dialogue_context_sep"


@pytest.fixture
def scores(make_item: Callable[..., Item]) -> list[Score]:
    evaluated = []
    for number in range(40):
        item = make_item(
            {"a": ["x"]}, "f", item_id=f"d{number}/x", moved=number < 4, kind=number < 32
        )
        outcome = Outcome(number % 3 > 0, False, number % 3 - 0.5)
        formulas = ("[(1;%a%)-1] > 0", "(1;%a%) > 0")
        evaluated += [JudgedPrediction(item, f, "mean", (), outcome) for f in formulas]
    scores = made_scores(evaluated, config=NAME, split="test", breakdowns=("moved", "kind"))
    return [
        replace(score, partial_input_score=0.6125) if score.formula == formulas[0] else score
        for score in scores
    ]


def printed(scores: list[Score], width: int) -> str:
    from rich.console import Console

    file = io.StringIO()
    Console(file=file, width=width).print(grid.in_width(score_grid(shown_rows(scores)), width))
    return file.getvalue()


def in_short(scores: list[Score], width: int, most: int | None = None) -> tuple[str, list[str]]:
    """What a terminal has where nobody asks for more, and what it leaves out."""
    from rich.console import Console

    file = io.StringIO()
    shown, left = grid.fitted(score_grid(shown_rows(scores)), width, most)
    Console(file=file, width=width).print(grid.rich_block(shown, width))
    return file.getvalue(), left


def below(width: int, *notes: Note, **more: Any) -> list[str]:
    """The lines below a table on a terminal."""
    from rich.console import Console

    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=True, color_system=None)
    print_notes(console, notes, "model:a b|data:c|rows:0123456789ab|device:cpu", **more)
    return file.getvalue().splitlines()


def test_cautions_stand_first_and_details_are_folded() -> None:
    notes = (detail("partial input: ..."), caution("! fewer than 30 items"), caution("too long: 4"))
    cautions = ["· ! fewer than 30 items", "· too long: 4"]
    assert below(90, *notes)[:3] == [*cautions, "· partial input: ..."]
    assert below(90, *notes)[3].startswith("model:a b|")
    assert below(99, *notes, hidden=["published scores"]) == [
        *cautions,
        "· not shown: published scores, 1 detail, signature; report.html and --verbose have them",
    ]


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160])
def test_nothing_is_cut_at_any_width(width: int, scores: list[Score]) -> None:
    text = printed(scores, width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    # A name is broken only where it and one number have no room.
    assert (NAME if width > 70 else NAME[:15]) in text
    # Columns without room are in tables below, each with the names.
    assert (text.count("config") > 1) == (width < 160)
    for number in ("65.0 [48.3, 79.4]", "+0.475", "36"):
        assert number in text


@pytest.mark.parametrize("width", [80, 100])
def test_columns_without_room_are_named(width: int, scores: list[Score]) -> None:
    text, left = in_short(scores, width)
    assert max(map(len, text.splitlines())) <= width
    assert "65.0 [48.3, 79.4]" in text
    assert "moved=false" not in text
    *columns, groups = left
    assert groups == "4 detailed rows"
    assert columns == ["column margin, bits"] * (width < 100)
    assert ("+0.475" in text) == (width == 100)
    assert "partial" not in text  # of the rows that are left out


def test_rows_beyond_a_screen_are_counted(scores: list[Score]) -> None:
    rows = [replace(scores[0], config=f"c{number}", level="all") for number in range(9)]
    text, left = in_short(rows, 100, 8)
    assert "c7" in text
    assert "c8" not in text
    assert left == ["1 row"]


def test_all_comes_first_and_parts_are_indented(scores: list[Score]) -> None:
    lines = printed(scores, 160).splitlines()
    places = [
        next(i for i, line in enumerate(lines) if line.startswith(start))
        for start in (NAME, "  [(1;%a%)-1] > 0 mean", "  moved=false", "  kind=true")
    ]
    assert places == sorted(places)
    assert "61.3" in lines[places[1]]
    assert not any("moved=true" in line for line in lines)  # of four items


def test_columns_without_anything_are_left_out(scores: list[Score]) -> None:
    assert "undefined" not in printed(scores, 160)
    assert "partial" in printed(scores, 160)
    bare = [replace(score, partial_input_score=None, counts={"identical": 3}) for score in scores]
    assert "undefined" in printed(bare, 160)
    assert "partial" not in printed(bare, 160)


def test_human_scores_have_a_column_where_there_are_any(scores: list[Score]) -> None:
    assert "human" not in printed(scores, 160)
    evaluated = [replace(scores[0], human_score=0.875, human_n=8), *scores[1:]]
    lines = printed(evaluated, 160).splitlines()
    assert "human" in lines[0]
    assert "87.5 (8)" in next(line for line in lines if NAME in line)


@pytest.fixture
def differences() -> list[Difference]:
    numbers = (60, 55, 60, 50, 0.25, -0.1, 0.35, 0.2, 0.5)
    full = made_difference(NAME, "test", f"{NAME}_2", "f", "mean", *numbers, "t")
    lone = replace(full, control="few", ci_low=None, ci_high=None, ci_method="", difference=-0.5)
    empty = replace(lone, control="none", n_control=0, control_margin_mean=None, difference=None)
    return [full, lone, empty]


@pytest.mark.parametrize("width", [80, 100, 160])
def test_no_block_is_cut_at_any_width(width: int, differences: list[Difference]) -> None:
    from rich.console import Console

    file = io.StringIO()
    console = Console(file=file, width=width)
    console.print(difference_block(differences))
    text = file.getvalue()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    for number in ("+0.350 [+0.200, +0.500]", "60, 55", "+0.250, -0.100"):
        assert number in text


@pytest.mark.usefixtures("real_figures")
@pytest.mark.parametrize("copies", [0, 1, 30])
def test_a_plot_of_any_number_of_rows(copies: int, scores: list[Score], tmp_path: Path) -> None:
    from matplotlib.image import imread

    rows = [replace(score, config=f"c{i}") for i in range(copies) for score in scores]
    plot_runs([run(rows)], tmp_path)
    image: Any = imread(tmp_path / "scores.png")
    assert image.shape[1] == 1200
    assert image.shape[0] < 8000
    assert copies == 0 or image.std() > 0.05


@pytest.mark.usefixtures("real_figures")
def test_a_score_without_items_is_in_the_plot_without_a_point(
    scores: list[Score], tmp_path: Path
) -> None:
    empty = replace(scores[0], n=0, score=None, ci_low=None, ci_high=None)
    plot_runs([run([empty])], tmp_path)
    assert (tmp_path / "scores.png").stat().st_size > 1000


def of_groups(*counts: int) -> grid.Grid:
    """Configs without a cell of their own, each with so many systems below it."""
    rows = []
    for config, count in zip("ab", counts, strict=True):
        rows.append(grid.GridRow((f"config_{config}", "", "")))
        rows += [grid.GridRow((f"  system {n}", "1" * 30, "2" * 30), 1) for n in range(count)]
    return grid.made("config", ("first", "second"), rows)


def test_each_part_of_a_table_has_the_headings_of_its_rows() -> None:
    from rich.console import Console

    file = io.StringIO()
    Console(file=file, width=60).print(grid.in_width(of_groups(2, 1), 60))
    lines = [line.split()[0] for line in file.getvalue().splitlines() if "config_" in line]
    assert lines == ["config_a", "config_b"] * 2
    assert file.getvalue().count("system 0") == 4


@pytest.mark.parametrize(("most", "shown"), [(3, 3), (4, 3), (5, 3), (6, 6), (2, 2)])
def test_no_group_of_rows_is_cut_but_the_first(most: int, shown: int) -> None:
    table, left = grid.fitted(of_groups(2, 2), 100, most)
    assert len(table.rows) == shown
    assert left == [f"{6 - shown} rows"] * (shown < 6)

"""The overview of several runs: which suites and models, and what it says of them."""

from __future__ import annotations

import html
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

from support.results import made_run

from coherencegym.eval.data.notes import caution, detail
from coherencegym.eval.report.formats import print_document
from coherencegym.eval.results.folder import MARKER, run_folders
from coherencegym.eval.results.run_table import table_of
from coherencegym.eval.tasks.headline import Headline, headline_line
from coherencegym.eval.tasks.results import Results, TableFacts
from coherencegym.eval.tasks.score.outcomes import Difference
from coherencegym.eval.views.overview import (
    overview,
    overview_grid,
    reading_lines,
    write_overview,
)

HEAD = Headline(over=("c",), n=40, score=0.8, ci_low=0.7, ci_high=0.9)
NONE = replace(HEAD, n=0, score=None, ci_low=None, ci_high=None)
BOTH = replace(HEAD, partial_input_score=0.6, human_score=0.9)


def run(suite: str, head: Headline | None, model: str = "me/demo", data: str = "") -> Results:
    folder = Path(f"out/{suite}--{model.replace('/', '__')}")
    tables = [TableFacts("c", "test", data or suite)]
    return made_run(model, suite, tables, headline=head, name=data or suite, folder=folder)


def facts(run: Results, **changed: Any) -> Results:
    return replace(run, dataset={**run.dataset, **changed})


def lines(*runs: Results, width: int = 160) -> list[str]:
    from rich.console import Console

    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=True, color_system=None)
    print_document(overview(runs).document, console)
    return [line.strip() for line in file.getvalue().splitlines()]


def test_a_sentence_counts_what_the_whole_interval_is_above() -> None:
    beaten = replace(BOTH, partial_input_score=0.75)
    runs = [run("a", BOTH), run("b", beaten), run("c", HEAD), run("d", replace(BOTH, ci_low=0.5))]
    runs.append(run("e", replace(BOTH, lexical_overlap_score=0.75)))
    sentence, words = table_of(runs).sentences
    said = "demo is above chance on 4 of 5 suites, and above its known baselines, too, on 1 of 4."
    assert sentence == said
    assert words.endswith("known baselines are partial input, lexical overlap.")


def test_a_row_a_suite_and_a_column_a_model() -> None:
    runs = [run("a", BOTH), run("b", HEAD), run("a", HEAD, "you/other"), run("b", NONE, "c")]
    table = overview_grid(table_of(runs))
    assert table.headers == (
        "suite",
        "items",
        "demo",
        "other",
        "c",
        "partial input",
        "human performance",
        "chance",
    )
    assert [row.cells for row in table.rows] == [
        (
            *("a 1.0.0", "40", "80.0 [70.0, 90.0] *", "80.0 [70.0, 90.0]  ", "–"),
            *("60.0", "90.0", "50.0"),
        ),
        ("b 1.0.0", "40", "80.0 [70.0, 90.0]  ", "–", "–  ", "–", "–", "50.0"),
    ]
    assert table.title.endswith("[95 % interval], best model first")
    # A column that nobody has a number in is left out.
    alone = overview_grid(table_of([run("b", HEAD)]))
    assert alone.headers == ("suite", "items", "demo", "chance")
    assert alone.rows[0].cells[-1] == "50.0"


def test_languages_have_a_column_where_results_have_several() -> None:
    runs = [
        made_run("me/demo", suite, [TableFacts("c", "test", suite, language=code)], headline=HEAD)
        for suite, code in (("a", "en"), ("b", "nl"))
    ]
    assert "language" not in overview_grid(table_of([runs[1]])).headers
    table = overview_grid(table_of(runs))
    assert table.headers[:3] == ("suite", "language", "items")
    assert [row.cells[1] for row in table.rows] == ["en", "nl"]


def test_models_with_other_items_show_both_numbers() -> None:
    fewer = replace(BOTH, n=38, partial_input_score=0.6004, human_score=0.8)
    both = table_of([run("a", BOTH), run("a", fewer, "you/other")])
    (row,) = overview_grid(both).rows
    assert row.cells[1] == "38–40"
    # Equal as they are printed is printed once.
    assert row.cells[-3:] == ("60.0", "80.0 or 90.0", "50.0")
    (line,) = (line for line in reading_lines(both) if line.startswith("items: "))
    assert "fewer items" in line
    alike = table_of([run("a", BOTH), run("a", BOTH, "you/other")])
    assert not any(line.startswith("items: ") for line in reading_lines(alike))


def test_a_mean_over_configs_is_said() -> None:
    several = replace(HEAD, over=("a", "b", "c", "d"))
    assert "(mean of a, b, c and 1 more, equally weighted, 40 items)" in headline_line(several)


def test_no_two_suites_or_models_have_one_name() -> None:
    found = table_of([run("a", HEAD, "me/x", "one"), run("a", HEAD, "you/x", "two")])
    one, two = (column.whole_name for column in found.columns)
    assert (one, two) == ("a 1.0.0 · dataset one", "a 1.0.0 · dataset two")
    # Where the names are the same the rows tell them apart.
    alike = [facts(run("a", HEAD, "me/x", data), name="mine/a") for data in ("one", "two")]
    one, two = (column.whole_name for column in table_of(alike).columns)
    assert one.startswith("a 1.0.0 · rows ")
    assert one != two
    # By the digest that a signature has.
    signed = facts(alike[0], rows_sha256="b5623e3baa48" + "0" * 52)
    names = [column.whole_name for column in table_of([signed, alike[1]]).columns]
    assert "a 1.0.0 · rows b5623e3baa48" in names
    assert list(found.models.values()) == ["me/x", "you/x"]


def test_a_suite_is_a_line_and_what_has_no_room_is_named() -> None:
    names = [f"suite_{letter}" for letter in "abcdefgh"]
    for models, width, left in (
        (4, 100, "not shown: intervals;"),
        (4, 60, "not shown: intervals, columns partial input, human performance"),
        (9, 60, "chance, items, model8, model7, model6, model5;"),
    ):
        runs = [run(name, BOTH, f"m{i}/model{i}") for name in names for i in range(models)]
        shown = lines(*runs, width=width)
        assert max(map(len, shown)) <= width
        assert left in " ".join(shown)
        for name in names:
            (row,) = (line for line in shown if line.startswith(name))
            assert row.count("80.0 *") == min(models, 5)


def test_files_lead_to_the_reports(tmp_path: Path) -> None:
    runs = [
        replace(run("a", BOTH, "<b>m|x"), folder=tmp_path / "a & b"),
        replace(run("b", HEAD), folder=tmp_path / "b"),
    ]
    write_overview(overview(runs), tmp_path / "overview")
    page = html.unescape((tmp_path / "overview/index.html").read_text())
    assert '<a href="../a%20%26%20b/report.html">80.0' in page
    assert "default-src 'none'; script-src 'none'; style-src 'sha256-" in page
    assert "&lt;b&gt;" in (tmp_path / "overview/index.html").read_text()
    text = (tmp_path / "overview/overview.md").read_text()
    assert "](../b/report.html)" in text
    assert "demo is above chance on 1 of 1 suites" in text


def test_it_shows_itself() -> None:
    shown = overview([run("a", BOTH)])
    assert "demo is above chance" in str(shown)
    assert r"80.0 \[70.0, 90.0\]" in shown._repr_markdown_()


def test_a_suite_with_controls_says_that_its_score_is_not_all() -> None:
    about: Any = {"formula": "f", "aggregation": "sum", "difference": 1.0}
    ends: Any = {"ci_low": 0.5, "ci_high": 1.5}
    of_control = Difference(config=BOTH.over[0], split="test", control="d", **about, **ends)
    controlled = replace(run("a", BOTH), differences=[of_control])
    # That of a config beside the number is no control of it.
    beside = replace(of_control, config="crossed")
    (column,) = table_of([replace(controlled, differences=[beside])]).columns
    assert not column.is_controlled
    shown = lines(controlled, run("b", BOTH))
    sentence, words = table_of([controlled, run("b", BOTH)]).sentences
    assert "above chance on 1 of 1 suites" in sentence
    assert words.endswith("suites with controls (†) are not counted.")
    assert any(line.startswith("a 1.0.0 †") for line in shown)
    assert not any(line.startswith("b 1.0.0 †") for line in shown)
    assert (
        "· † compare this score with those of its controls: the report has the differences" in shown
    )


def test_the_best_model_comes_first() -> None:
    def head(score: float) -> Headline:
        return replace(HEAD, score=score)

    runs = [run("a", head(0.6), "low"), run("a", head(0.9), "high"), run("a", None, "none")]
    assert list(table_of(runs).models.values()) == ["high", "low", "none"]
    # By the mean over what all have: a suite that one alone was scored on says nothing.
    runs += [run("b", head(0.9), "low"), run("b", head(0.5), "high"), run("c", head(0.1), "low")]
    assert list(table_of(runs).models.values()) == ["low", "high", "none"]
    # Without such a suite, and among equals, in the order of the runs.
    apart = [run("a", head(0.6), "one"), run("b", head(0.9), "two")]
    assert list(table_of(apart).models.values()) == ["one", "two"]
    assert list(table_of(apart[::-1]).models.values()) == ["two", "one"]


def test_cautions_stand_under_it_each_once_with_what_it_is_of(tmp_path: Path) -> None:
    marked, long = caution("† no start-of-text token"), caution("too long: 4")
    folded = detail("partial input: a classifier")
    runs = [replace(run(name, HEAD), notes=(folded, marked)) for name in "abcde"]
    runs.append(replace(run("a", HEAD, "you/other"), notes=(long,)))
    said = [
        "no start-of-text token: a 1.0.0 (demo), b 1.0.0 (demo), c 1.0.0 (demo) and 2 more",
        "too long: 4: a 1.0.0 (other)",
    ]
    assert lines(*runs)[-2:] == [f"· {line}" for line in said]
    assert not any("classifier" in line for line in lines(*runs))
    write_overview(overview(runs), tmp_path / "overview")
    page = html.unescape((tmp_path / "overview/index.html").read_text())
    text = (tmp_path / "overview/overview.md").read_text()
    for line in said:
        assert f"<li><bdi>{line}</bdi></li>" in page
        assert f"- {line}\n" in text
    # Of one model it goes without saying.
    assert lines(*runs[:1])[-1] == "· no start-of-text token: a 1.0.0"


def test_few_items_are_those_of_the_number_that_is_shown() -> None:
    """A run's own table may have a row of few items beside a headline over many."""
    few = caution("! fewer than 30 items: read the interval, not the score")
    many = replace(run("many", HEAD), notes=(few,))
    assert not any("fewer than" in line for line in lines(many))
    own = [many, run("few", replace(HEAD, n=29)), run("none", None)]
    assert lines(*own)[-1] == "· fewer than 30 items: read the interval, not the score: few 1.0.0"


def test_runs_of_a_training_lie_a_level_deeper(tmp_path: Path) -> None:
    names = ("one", "training/step1", "training/step2", "seeds", "seeds/seed0", ".half", "a/b/c")
    for name in names:
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / name / MARKER).touch()
    found = ["one", "seeds", "training/step1", "training/step2"]
    assert run_folders([tmp_path]) == [tmp_path / name for name in found]
    assert run_folders([tmp_path], levels=1) == [tmp_path / "one", tmp_path / "seeds"]
    assert run_folders([tmp_path / "one", tmp_path]) == [tmp_path / name for name in found]
    assert run_folders([tmp_path / "none"]) == [tmp_path / "none"]

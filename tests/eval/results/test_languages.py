"""Languages by suites and models: which columns become one, and what pages and figures show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coherencegym.eval.results.languages import language_table
from coherencegym.eval.results.run_table import RunTable, table_of
from coherencegym.eval.results.runs import Run, TableFacts
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.views.languages import language_grids, language_runs, records_by_language
from coherencegym.eval.views.leaderboard.cells import Site
from coherencegym.eval.views.leaderboard.pages import render_index
from coherencegym.eval.views.overview import overview_document
from coherencegym.eval.views.plots import plot_runs

HEAD = Headline(over=("c",), n_cells=1, n=40, score=0.8, ci_low=0.7, ci_high=0.9)


def run(*languages: str, model: str = "a", suite: str = "toy", **settings: Any) -> Run:
    """A run on a config of each language; those of several have a score a language."""
    tables = [TableFacts(f"c_{one}", "test", one * 32, 40, language=one) for one in languages]
    heads = {one: replace(HEAD, score=0.6, n=20, over=(f"c_{one}",)) for one in languages}
    head = replace(HEAD, over=tuple(table.config for table in tables))
    return Run(
        *(model, model, suite, "1.0.0", tables, []),
        headline=head,
        languages=heads if len(heads) > 1 else {},
        signature=f"{model} {suite} {languages} {settings}",
        settings=settings,
    )


def cells(table: RunTable) -> list[tuple[str, ...]]:
    (grid,) = language_grids(table)
    return [grid.headers, *(tuple(map(str.strip, row.cells)) for row in grid.rows)]


def test_configs_of_one_language_each_stand_in_one_column() -> None:
    runs = [run("nl"), run("zh"), run("nl", model="b"), run("nl", "de", suite="other")]
    assert cells(table_of(runs)) == [
        ("language", "toy 1.0.0 · a", "toy 1.0.0 · b", "other 1.0.0 · a"),
        ("de", "–", "–", "60.0 [70.0, 90.0] (20)"),
        ("nl", "80.0 [70.0, 90.0] (40)", "80.0 [70.0, 90.0] (40)", "60.0 [70.0, 90.0] (20)"),
        ("zh", "80.0 [70.0, 90.0] (40)", "–", "–"),
    ]


@pytest.mark.parametrize("other", [run("nl", "zh", model="b"), run("zh", tie=1)])
def test_what_cannot_be_compared_has_columns_of_its_own(other: Run) -> None:
    """The same language on other rows, or other settings."""
    found = language_table(table_of([run("nl"), other]))
    assert len(found.columns) == 2
    assert len({column.name for column in found.columns}) == 2
    assert {len(column.columns) for column in found.columns} == {1}


@pytest.mark.parametrize("runs", [[run("nl"), run("nl", model="b")], [run(""), run("en")]])
def test_one_language_changes_nothing(runs: list[Run], tmp_path: Path) -> None:
    table = table_of(runs)
    assert not language_grids(table)
    assert not language_runs(table)
    assert records_by_language(table) == table.records
    assert 'id="languages"' not in render_index(Site(table, "title"))


def test_pages_records_and_figure_have_the_table(tmp_path: Path) -> None:
    runs = [run("nl", "zh"), run("nl", "zh", model="b")]
    table = table_of(runs)
    (grid,) = language_grids(table)
    assert grid.title == "toy 1.0.0, CD scores by language in per cent [95 % interval] (items)"
    assert grid in overview_document(table).grids
    assert 'id="languages"' in render_index(Site(table, "title"))
    records = [(one["language"], one["model"], one["n"]) for one in records_by_language(table)]
    assert records[:2] == [("", "a", 40), ("", "b", 40)]
    assert records[2:4] == [("nl", "a", 20), ("zh", "a", 20)]
    drawn = [(one.suite, [score.config for score in one.scores]) for one in language_runs(table)]
    assert drawn == [("toy 1.0.0", ["nl", "zh"])] * 2
    plot_runs(runs, tmp_path)
    assert (tmp_path / "languages.svg").is_file()

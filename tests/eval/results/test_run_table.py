"""The columns of a table: what stands in one can be compared, and what differs is named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.results import made_run, model_facts

from coherencegym.eval.results.run_table import RunTable, table_of
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.results import Results, TableFacts

HEAD = Headline(over=("c",), n=40, score=0.8, ci_low=0.7, ci_high=0.9)
TABLE = TableFacts("c", "test", "ab" * 32, 40)


def made(
    model: str = "me/a", score: float = 0.8, *, table: TableFacts = TABLE, **about: Any
) -> Results:
    """A run of a model on one table."""
    dtype = about.pop("dtype", "float32")
    task = about.pop("task", "score")
    settings = about.pop("settings", {})
    head = replace(HEAD, score=score, over=(table.config,))
    signature = repr((model, score, table, sorted(settings.items()), dtype, task, about))
    own: dict[str, Any] = {"settings": settings, "task": task, "signature": signature}
    facts = model_facts(model, dtype)
    return made_run(model, "toy", (table,), **{**own, "model": facts, "headline": head, **about})


def words(table: RunTable) -> list[tuple[str, tuple[str, ...], list[str]]]:
    """Name, differences and models of each column."""
    return [
        (column.name, column.differs, [table.models[model] for model in column.runs])
        for column in table.columns
    ]


def test_runs_on_the_same_rows_by_the_same_settings_stand_in_one_column() -> None:
    table = table_of([made("me/a", 0.6), made("me/b", 0.9)])
    assert words(table) == [("toy 1.0.0", (), ["a", "b"])]
    assert list(table.models.values()) == ["b", "a"]  # the best first


@pytest.mark.parametrize(
    ("other", "differs"),
    [
        ({"table": replace(TABLE, sha256="cd" * 32)}, "rows "),
        ({"table": replace(TABLE, items=7)}, "items 7"),
        ({"table": replace(TABLE, config="d")}, "configs d"),
        ({"table": replace(TABLE, split="validation")}, "splits validation"),
        ({"settings": {"truncate": True}}, "--truncate true"),
        ({"settings": {"compat": "syntaxgym-2021"}}, '--compat "syntaxgym-2021"'),
        ({"settings": {"intervals": "another way"}}, '--intervals "another way"'),
        ({"settings": {"of_a_later_release": 3}}, "--of-a-later-release 3"),
        ({"settings": {"rules": {"joins_regions": True}}}, "rule joins_regions true"),
        ({"version": "2.0.0"}, ""),
        ({"task": "detect"}, ""),
        ({"suite": "other"}, ""),
    ],
)
def test_what_differs_stands_apart_and_says_in_what(other: dict[str, Any], differs: str) -> None:
    table = table_of([made("me/a"), made("me/b", **other)])
    assert [len(column.runs) for column in table.columns] == [1, 1]
    names = {(column.name, *column.differs) for column in table.columns}
    assert len(names) == 2
    assert any(differs in " ".join(said) for _, *said in names)


def test_what_is_of_the_model_or_the_machine_is_no_difference() -> None:
    settings = {"batch_tokens": 9, "device": "cuda", "seed": 3, "numeric_error": {"mean": 1e-6}}
    settings |= {"rules": {"tie_bits": 0.1}, "versions": {"torch": "1"}}
    table = table_of([made("me/a"), made("me/b", settings=settings, data="elsewhere")])
    assert words(table) == [("toy 1.0.0", (), ["a", "b"])]


def test_columns_of_one_suite_with_configs_of_several_corpora_have_their_names() -> None:
    tables = [replace(TABLE, config=name) for name in ("gum", "sample", "ted")]
    table = table_of(made("me/a", table=table) for table in tables)
    assert [c.differs for c in table.columns] == [
        ("configs gum",),
        ("configs sample",),
        ("configs ted",),
    ]


def test_no_two_models_have_one_name_and_precision_is_another_row() -> None:
    table = table_of([made("me/a"), made("you/a"), made("me/a", 0.7, dtype="bfloat16")])
    assert sorted(table.models.values()) == ["me/a (bfloat16)", "me/a (float32)", "you/a (float32)"]
    same = table_of([made("me/a"), made("me/a")])
    (column,) = same.columns
    assert [len(own) for own in column.runs.values()] == [1]


def test_several_runs_of_a_model_in_a_column_are_all_kept() -> None:
    table = table_of([made("me/a", 0.8), made("me/a", 0.7, settings={"device": "cuda"})])
    (column,) = table.columns
    (own,) = column.runs.values()
    assert len(own) == 2
    assert column.shown[next(iter(table.models))] is own[-1]


def test_a_run_without_a_headline_has_its_only_score() -> None:
    one = made("me/a")
    assert replace(one, headline=None).number is None
    from coherencegym.eval.statistics.scores import Score

    score = Score(
        config="c", split="test", group="", level="all", n=3, score=0.5, ci_low=0.1, ci_high=0.9
    )
    alone = replace(one, headline=None, rows=[score])
    assert alone.number is not None
    assert (alone.number.score, alone.number.n, alone.number.over) == (0.5, 3, ("c",))


def test_another_task_on_the_same_rows_shares_no_column() -> None:
    """The last of several runs of a model in a column is shown, and that of another task beside."""
    runs = [made("me/a", 0.1), made("me/a", 0.6, task="detect"), made("me/a", 0.9)]
    table = table_of(runs)
    assert [(c.name, c.number(m).score) for c in table.columns for m in c.runs] == [  # type: ignore[union-attr]
        ("toy 1.0.0", 0.9),
        ("toy 1.0.0, detect", 0.6),
    ]


def test_how_a_masked_model_is_read_tells_models_and_not_columns() -> None:
    masked = {"scorer": "pll", "masking": "original"}
    table = table_of([made("me/a"), made("me/b", settings=masked), made("me/c", task="spans")])
    assert words(table)[0] == ("toy 1.0.0", (), ["a", "b (pll, original)"])
    # Ways to ask a model something are settings of the task.
    asked = [made("me/a", task="spans", settings={"scorer": name}) for name in ("prompt", "pairs")]
    assert len(table_of(asked).columns) == 2


RUNS = [
    made("me/a"),
    made("me/b", 0.7),
    made("me/b", 0.7, settings={"truncate": True}),
    made("me/c", 0.6, version="2.0.0"),
    made("me/c", 0.6, table=replace(TABLE, sha256="cd" * 32)),
]


@given(st.lists(st.sampled_from(RUNS), min_size=1))
def test_every_run_has_one_place(chosen: list[Results]) -> None:
    table = table_of(chosen)
    kept = [one for c in table.columns for own in c.runs.values() for one in own]
    assert {one.signature for one in kept} == {one.signature for one in chosen}
    assert len(kept) == len({one.signature for one in chosen})

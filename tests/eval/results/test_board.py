"""The columns of a board: what stands in one can be compared, and what differs is named."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.eval.results.board import (
    Board,
    Entry,
    ModelFacts,
    SuiteFacts,
    TableFacts,
    board_of,
)
from coherencegym.eval.results.runs import Run
from coherencegym.eval.tasks.headline import Headline

HEAD = Headline(over=("c",), n_cells=1, n=40, score=0.8, ci_low=0.7, ci_high=0.9)
TABLE = TableFacts("c", "test", "ab" * 32, 40)


def entry(
    model: str = "me/a", score: float = 0.8, *, table: TableFacts = TABLE, **about: Any
) -> Entry:
    """A run of a model on one table."""
    dtype = about.pop("dtype", "float32")
    task = about.pop("task", "score")
    settings = about.pop("settings", {})
    head = replace(HEAD, score=score, over=(table.config,))
    known: dict[str, Any] = {"suite": "toy", "version": "1.0.0", "headline": head, **about}
    run = Run(
        model=model,
        commit=f"sha256:{model}",
        rows={},
        scores=[],
        settings=settings,
        signature=repr((model, score, table, sorted(settings.items()), dtype, task, about)),
        **known,
    )
    return Entry(run, task, ModelFacts(dtype=dtype), SuiteFacts(tables=(table,)))


def words(board: Board) -> list[tuple[str, tuple[str, ...], list[str]]]:
    """Name, differences and models of each column."""
    return [
        (column.name, column.differs, [board.models[model] for model in column.entries])
        for column in board.columns
    ]


def test_runs_on_the_same_rows_by_the_same_settings_stand_in_one_column() -> None:
    board = board_of([entry("me/a", 0.6), entry("me/b", 0.9)])
    assert words(board) == [("toy 1.0.0", (), ["a", "b"])]
    assert list(board.models.values()) == ["b", "a"]  # the best first
    ((better, worse),) = board.pairs()
    assert (board.models[better], board.models[worse]) == ("b", "a")


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
    board = board_of([entry("me/a"), entry("me/b", **other)])
    assert [len(column.entries) for column in board.columns] == [1, 1]
    assert board.pairs() == []
    names = {(column.name, *column.differs) for column in board.columns}
    assert len(names) == 2
    assert any(differs in " ".join(said) for _, *said in names)


def test_what_is_of_the_model_or_the_machine_is_no_difference() -> None:
    settings = {"batch_tokens": 9, "device": "cuda", "seed": 3, "numeric_error": {"mean": 1e-6}}
    settings |= {"rules": {"tie_bits": 0.1}, "versions": {"torch": "1"}}
    board = board_of([entry("me/a"), entry("me/b", settings=settings, data="elsewhere")])
    assert words(board) == [("toy 1.0.0", (), ["a", "b"])]


def test_columns_of_one_suite_with_configs_of_several_corpora_have_their_names() -> None:
    tables = [replace(TABLE, config=name) for name in ("gum", "sample", "ted")]
    board = board_of(entry("me/a", table=table) for table in tables)
    assert [c.differs for c in board.columns] == [
        ("configs gum",),
        ("configs sample",),
        ("configs ted",),
    ]


def test_no_two_models_have_one_name_and_precision_is_another_row() -> None:
    board = board_of([entry("me/a"), entry("you/a"), entry("me/a", 0.7, dtype="bfloat16")])
    assert sorted(board.models.values()) == ["me/a (bfloat16)", "me/a (float32)", "you/a (float32)"]
    same = board_of([entry("me/a"), entry("me/a")])
    (column,) = same.columns
    assert [len(own) for own in column.entries.values()] == [1]


def test_several_runs_of_a_model_in_a_column_are_all_kept() -> None:
    board = board_of([entry("me/a", 0.8), entry("me/a", 0.7, settings={"device": "cuda"})])
    (column,) = board.columns
    (own,) = column.entries.values()
    assert len(own) == 2
    assert column.shown[next(iter(board.models))] is own[0]


def test_a_run_without_a_headline_has_its_only_score() -> None:
    one = entry("me/a")
    assert replace(one, run=replace(one.run, headline=None)).number is None
    from coherencegym.eval.statistics.scores import Score

    score = Score(
        config="c", split="test", group="", level="all", n=3, score=0.5, ci_low=0.1, ci_high=0.9
    )
    alone = replace(one, run=replace(one.run, headline=None, scores=[score]))
    assert alone.number is not None
    assert (alone.number.score, alone.number.n, alone.number.over) == (0.5, 3, ("c",))


ENTRIES = [
    entry("me/a"),
    entry("me/b", 0.7),
    entry("me/b", 0.7, settings={"truncate": True}),
    entry("me/c", 0.6, version="2.0.0"),
    entry("me/c", 0.6, table=replace(TABLE, sha256="cd" * 32)),
]


def test_the_order_of_sources_changes_nothing() -> None:
    boards = {repr(board_of(order)) for order in permutations(ENTRIES)}
    assert len(boards) == 1


@given(st.lists(st.sampled_from(ENTRIES), min_size=1))
def test_every_run_has_one_place(chosen: list[Entry]) -> None:
    board = board_of(chosen)
    kept = [one for c in board.columns for own in c.entries.values() for one in own]
    assert {one.run.signature for one in kept} == {one.run.signature for one in chosen}
    assert len(kept) == len({one.run.signature for one in chosen})
    for better, worse in board.pairs():
        assert board.shared(better, worse)
        assert list(board.models).index(better) < list(board.models).index(worse)

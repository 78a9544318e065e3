"""Which runs are of checkpoints of one training, and what they count."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.results import made_difference, made_run, model_facts

from coherencegym.eval.results.run_table import (
    Step,
    learning_curves,
    step_of,
    table_of,
)
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.results import Results, TableFacts

HEAD = Headline(over=("c",), n=40, score=0.8, ci_low=0.7, ci_high=0.9)


TABLE = TableFacts("c", "test", "0" * 64)


def run(
    model: str,
    revision: str | None = None,
    score: float | None = 0.8,
    table: TableFacts = TABLE,
    **more: Any,
) -> Results:
    settings = {"model_revision": revision}
    head = replace(HEAD, score=score)
    facts = model_facts(model, commit=f"{model}{revision}")
    own: dict[str, Any] = {"settings": settings, "headline": head, "name": "toy", "model": facts}
    return made_run(model, "toy", (table,), **{**own, **more})


@pytest.mark.parametrize(
    ("model", "revision", "expected"),
    [
        ("me/model", "step1000", Step("me/model@step*", "step", 1000)),
        ("me/model", "step0", Step("me/model@step*", "step", 0)),
        ("me/model", "step1000-tokens4B", Step("me/model@step*-tokens*", "step", 1000)),
        ("me/model", "stage1-tokens2.5B", Step("me/model@stage1-tokens*", "token", 2.5e9)),
        ("me/model", "seed_0-step_20k", Step("me/model@seed_0-step_*", "step", 20_000)),
        ("me/model", "chck_10M", Step("me/model@chck_*", "word", 10_000_000)),
        ("runs/a/checkpoint-500/", None, Step("runs/a/checkpoint-*", "step", 500)),
        ("runs/a/global_step7", None, Step("runs/a/global_step*", "step", 7)),
        ("runs/EPOCH3", None, Step("runs/EPOCH*", "epoch", 3)),
        ("me/model-step10", "main", None),
        ("facebook/opt-125m", None, None),
        ("gpt2", "v1.0.0", None),
        ("timestep5", None, None),
        ("step10mice", None, None),
        ("me/model", "1000M", Step("me/model@*", "", 1e9)),
        ("me/model", "500", Step("me/model@*", "", 500)),
        ("runs/a/500", None, Step("runs/a/*", "", 500)),
        ("models/7b", None, None),
        ("me/model", "1.0", None),
        ("me/model", "deadbeef7", None),
        (".", None, None),
    ],
)
def test_the_step_of_a_checkpoint(model: str, revision: str | None, expected: Step | None) -> None:
    assert step_of(run(model, revision)) == expected


def test_a_curve_has_its_checkpoints_in_the_order_of_their_steps() -> None:
    scores = {"step200": 0.7, "step1k": 0.9, "step3": 0.5}
    runs = [run("me/model", revision, score) for revision, score in scores.items()]
    runs += [run("me/model"), run("me/model", "step9", None), run("me/other", "step7")]
    (curve,) = learning_curves(table_of(runs))
    assert (curve.training, curve.suite, curve.unit) == ("me/model@step*", "toy 1.0.0", "step")
    assert curve.counts == [3, 200, 1000]
    assert [head.score for head in curve.heads] == [0.5, 0.7, 0.9]
    assert not curve.controlled


def test_scores_of_other_rows_or_suites_are_never_joined() -> None:
    first = run("me/model", "step1")
    other_rows = run("me/model", "step2", table=TableFacts("c", "test", "1" * 64))
    assert learning_curves(table_of([first, other_rows])) == []
    assert learning_curves(table_of([first, run("me/model", "step2", suite="other")])) == []
    other_configs = run("me/model", "step2")
    head = replace(HEAD, over=("d",))
    assert learning_curves(table_of([first, replace(other_configs, headline=head)])) == []
    assert len(learning_curves(table_of([first, other_configs]))) == 1


def test_a_suite_with_controls_is_known() -> None:
    row = made_difference("c", "test", "k", "f", "mean", 9, 9, 9, 9, 1.0, 0.5, 0.5, 0.25, 0.75, "b")
    (curve,) = learning_curves(
        table_of([run(f"a/step{count}", differences=[row]) for count in (1, 2)])
    )
    assert curve.controlled

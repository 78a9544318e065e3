"""The one number of a suite: what it is over, and how it is averaged."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from support.results import Evaluated, JudgedPrediction, evaluated_table, made_outcomes

from coherencegym.eval.commands.cli import main
from coherencegym.eval.kinds.items import Item, Outcome
from coherencegym.eval.outcomes.estimates import estimates
from coherencegym.eval.outcomes.label_metrics import AreaUnderCurve
from coherencegym.eval.outcomes.schema import MODEL, UnitRow
from coherencegym.eval.outcomes.tables import Cells, OutcomeTables, OutcomeWriter
from coherencegym.eval.results.folder import read_results
from coherencegym.eval.statistics.balance import weighted_interval
from coherencegym.eval.tasks.headline import Headline, baseline_notes, mean_headline
from coherencegym.eval.tasks.score.summary import headline_of, summarise

#: Whether the prediction of each item holds, by the group that it is in.
Met = Mapping[str, Sequence[bool]]


def table(config: str, met: Met, split: str = "test", **about: Any) -> Evaluated:
    """A table and its predictions: an item for each prediction, discourses shared by tables."""
    evaluated = []
    for group, values in met.items():
        groups = (group, about["headline"]) if about.get("headline") and group else ()
        for number, holds in enumerate(values):
            name = f"{config} {group} {number}"
            item = Item(name, 1, (), (), f"d{number}", "toy")
            outcome = Outcome(holds, False, 1.0 if holds else -1.0)
            evaluated.append(JudgedPrediction(item, "f", "mean", groups, outcome, ""))
    return evaluated_table(evaluated, config, split, **about)


def headline(
    *tables: Evaluated, partial_input: Mapping[tuple[str, str], float] = MappingProxyType({})
) -> Headline | None:
    """The headline of tables, with the baseline's scores by config and group."""
    outcomes = made_outcomes(*tables)
    own = [table for table, _ in tables]
    scores = [
        replace(one, partial_input_score=partial_input.get((one.config, one.group)))
        for table in own
        for one in summarise(outcomes, table)
    ]
    return headline_of(own, outcomes, scores)


def test_configs_have_the_same_weight() -> None:
    found = headline(table("a", {"": [True] * 4}), table("b", {"": [True, False]}))
    assert found is not None
    assert (found.over, found.n, found.score) == (("a", "b"), 6, 0.75)
    values, weights = [1.0, 1.0, 1.0, 1.0, 1.0, 0.0], [0.125] * 4 + [0.25] * 2
    known = weighted_interval(values, weights, ["d0", "d1", "d2", "d3", "d0", "d1"])
    assert (found.ci_low, found.ci_high, found.ci_method) == (known.low, known.high, known.method)


def test_one_config_has_the_interval_of_its_row() -> None:
    """Also where items have several predictions, which show more than one would."""
    evaluated = []
    for number in range(12):
        item = Item(f"i{number}", 1, (), (), f"d{number}", "toy")
        for place in range(3):
            outcome = Outcome((number * place) % 4 < 2, False, 1.0)
            evaluated.append(JudgedPrediction(item, f"f{place}", "mean", (), outcome, ""))
    own = evaluated_table(evaluated, "a", "test")
    (row,) = (s for s in summarise(made_outcomes(own), own[0]) if s.level == "all")
    found = headline(own)
    assert found is not None
    assert (found.score, found.ci_low, found.ci_high) == (row.score, row.ci_low, row.ci_high)
    assert row.ci_low is not None


def test_items_of_the_headline_group_count_alike_whatever_other_group_they_are_in() -> None:
    met = {"as → since": [True, True], "as → while": [False] * 6, "": [True] * 9}
    found = headline(table("a", met, headline="different sense"))
    assert found is not None
    assert (found.n, found.score) == (8, 0.25)


def test_a_config_that_is_not_in_it_is_left_out() -> None:
    out = table("b", {"": [False] * 9}, in_headline=False)
    found = headline(table("a", {"": [True, False]}), out)
    assert found is not None
    assert (found.over, found.score) == (("a",), 0.5)
    assert headline(out) is None


def test_splits_of_a_config_are_read_as_one() -> None:
    test, train = (table("a", {"": met}, split) for split, met in (("x", [True]), ("y", [False])))
    found = headline(test, train, table("b", {"": [True]}))
    assert found is not None
    assert (found.n, found.score) == (3, 0.75)


def test_others_are_averaged_only_where_every_config_has_one() -> None:
    met = {"": [True, False]}
    known = {("a", ""): 0.6, ("b", ""): 0.8}
    found = headline(table("a", met), table("b", met), partial_input=known)
    assert found is not None
    assert found.partial_input_score == pytest.approx(0.7)
    assert found.human_score is None
    found = headline(table("a", met), table("b", {"": [True]}), partial_input={("a", ""): 0.6})
    assert found is not None
    assert found.partial_input_score is None


def test_human_performance_has_an_interval_of_one_config_and_n_of_all() -> None:
    def judged(config: str, score: float) -> Evaluated:
        human = {"group": "", "score": score, "ci_low": 0.3, "ci_high": 1.0, "n": 5}
        return table(config, {"": [True, False]}, humans=(human,))

    def human(found: Headline | None) -> tuple[float | None, ...]:
        assert found is not None
        return found.human_score, found.human_ci_low, found.human_ci_high, found.human_n

    assert human(headline(judged("a", 0.8))) == (0.8, 0.3, 1.0, 5)
    assert human(headline(judged("a", 0.5), judged("b", 1.0))) == (0.75, None, None, 10)
    assert human(headline(judged("a", 0.8), table("b", {"": [True]}))) == (None, None, None, 0)


AREA = AreaUnderCurve("auc", "AUC")


def ranked(values: Mapping[str, Sequence[float | None]], clusters: str = "d") -> OutcomeTables:
    """Tables of units of which every other one is to be found, by config."""
    writer = OutcomeWriter()
    for config, own in values.items():
        names = [f"{config}{number}" for number in range(len(own))]
        ids = writer.units(
            UnitRow(config=config, split="test", item=name,
                 cluster=f"{clusters if config == 'other' else 'd'}{number}")
            for number, name in enumerate(names)
        )  # fmt: skip
        targets = [float(number % 2 == 0) for number in range(len(own))]
        writer.add(ids, "auc", MODEL, own, target=targets)
        # Another metric is no part of it.
        writer.add(ids, "place", MODEL, [1.0] * len(own))
    return writer.tables()


def areas(tables: OutcomeTables) -> list[Cells]:
    return [tables.cells(own) for (_, _, name, _), own in tables.series.items() if name == "auc"]


def mean_area(outcomes: OutcomeTables) -> Headline | None:
    known = dict.fromkeys((key[2] for key in outcomes.series), AREA)
    rows = [score for *_, score in estimates(outcomes, known)]
    return mean_headline(outcomes, rows, rows, AREA)


def test_areas_of_tables_are_averaged_and_one_is_itself() -> None:
    one, other = [3.0, 1.0, 2.0, 4.0, None], [5.0, 1.0, 6.0, 2.0]
    found = mean_area(ranked({"a": one, "b": other, "none": [1.0]}))
    assert found is not None
    assert (found.over, found.n, found.metric) == (("a", "b"), 8, "AUC")
    assert found.score == pytest.approx((0.5 + 1.0) / 2)
    tables = ranked({"a": one})
    alone = mean_area(tables)
    (known,) = map(AREA.estimate, areas(tables))
    assert alone is not None
    assert (alone.score, alone.ci_low, alone.ci_high) == (known.value, known.low, known.high)
    assert mean_area(ranked({"a": [1.0]})) is None


def test_tables_of_the_same_discourses_say_less_than_of_others() -> None:
    draw = random.Random(1)
    values = [draw.gauss(n % 2 == 0, 1) for n in range(60)]
    (once,) = areas(ranked({"a": values}))
    value = AREA.estimate(once).value

    def width(tables: OutcomeTables) -> float:
        found = AREA.mean(areas(tables))
        assert found.value == value
        assert found.low is not None
        assert found.high is not None
        return found.high - found.low

    alone = width(ranked({"a": values}))
    same, others = (
        width(ranked({"a": values, "other": values}, clusters)) for clusters in ("d", "x")
    )
    # Ranks vary less than what an interval of so many units allows for.
    assert alone > same > 0.8 * alone > others


def test_results_have_it_and_a_run_reads_it(
    write_dataset: Any,
    pair_items: list[Item],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    items = [replace(item, extra={}) for item in pair_items]
    folder = write_dataset(tmp_path / "set", items, config="own", in_headline=True)
    write_dataset(folder, items, config="other", in_headline=False)
    out = tmp_path / "results"
    asked = ["--model", "demo", "--dataset", str(folder), "--output", str(out), "--no-cache"]
    assert main(["score", *asked]) == 0
    written = json.loads((out / "results.json").read_text())
    own = next(s for s in written["scores"] if s["config"] == "own" and s["level"] == "all")
    assert written["headline"]["over"] == ["own"]
    assert "(8 items)" in capsys.readouterr().out
    assert written["headline"]["score"] == own["score"]
    found = read_results(out).headline
    assert found is not None
    assert (found.over, found.score, found.n) == (("own",), own["score"], own["n"])
    del written["headline"]
    (out / "results.json").write_text(json.dumps(written))
    assert read_results(out).headline is None


@pytest.mark.parametrize(
    ("low", "partial_input", "said"),
    [
        (0.6, 0.55, []),
        (0.6, None, []),
        (0.5, None, ["the score is no better than chance"]),
        (0.6, 0.6, ["the score is no better than the partial-input baseline"]),
        (0.4, 0.6, ["the score is no better than chance or the partial-input baseline"]),
        (None, 0.6, []),
    ],
)
def test_a_score_that_is_no_better_than_a_baseline_is_said(
    low: float | None, partial_input: float | None, said: list[str]
) -> None:
    about: dict[str, Any] = {"over": ("c",), "n": 40, "score": 0.7, "ci_high": 0.9}
    headline = Headline(**about, ci_low=low, partial_input_score=partial_input)
    assert [(note.kind, note.text) for note in baseline_notes(headline)] == [
        ("caution", text) for text in said
    ]
    assert not list(baseline_notes(None))
    below = Headline(**about | {"ci_high": 0.49}, ci_low=0.2)
    assert [str(note) for note in baseline_notes(below)] == [
        "the score is no better than chance",
        "the whole interval is below chance",
    ]

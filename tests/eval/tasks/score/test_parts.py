"""Tables that are scored in parts: the same numbers as of the whole, and little is kept of each."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.results import JudgedPrediction, add_judged, evaluated_table, made_outcomes

from coherencegym.eval.commands.cli import main
from coherencegym.eval.data import dataset
from coherencegym.eval.data.stored_items import StoredItems
from coherencegym.eval.kinds.items import Item, Outcome
from coherencegym.eval.outcomes.schema import MODEL
from coherencegym.eval.outcomes.tables import OutcomeTables, OutcomeWriter
from coherencegym.eval.tasks.score import scored_table
from coherencegym.eval.tasks.score.outcomes import (
    ACCURACY,
    MARGIN,
    OF_MODEL,
    differences,
    prediction_rows,
)
from coherencegym.eval.tasks.score.summary import headline_of, summarise
from coherencegym.files import parquet

#: Each text alone in its batch: surprisals do not depend on what else is in a part.
ALONE = ("--device", "cpu", "--no-cache", "--no-sharing", "--batch-tokens", "1", "--tokens")


@pytest.fixture(scope="module")
def suite(
    tmp_path_factory: pytest.TempPathFactory,
    save_model: Callable[..., Path],
    make_item: Callable[..., Item],
    pair_items: list[Item],
    write_dataset: Callable[..., Path],
) -> Path:
    """A model, and a dataset of a config and its control, with families, groups and columns."""
    # After every part a run collects garbage, which need not be looked for in all that is there.
    gc.freeze()
    folder = tmp_path_factory.mktemp("parts")
    save_model(folder / "model", n_positions=96)
    for config in ("neutral", "moved"):
        items = [
            make_item(
                {
                    c.condition_name: [config, *(r.content for r in c.regions)]
                    for c in item.conditions
                },
                "(3;%shuffled%) > (3;%original%)",
                "(2;%shuffled%) > (2;%original%)",
                item_id=item.item_id,
                groups=(f"of {number % 3}", "counted"),
                moved=number % 2 == 0,
                family=f"f{number // 2}" if number > 3 else None,
                filter_model="somebody/else",
            )
            for number, item in enumerate(pair_items)
        ]
        write_dataset(
            folder / "data",
            items,
            config,
            extra={"moved": "bool", "family": "string", "filter_model": "string"},
            breakdowns=["moved"],
            headline="counted",
            controls=["neutral"] if config == "moved" else [],
            length_confound=True,
        )
    return folder


def scored(suite: Path, name: str, *words: str, code: int = 0) -> Path:
    """The folder of scores, which the command ended with this code for."""
    output = suite / name
    paths = ["--model", str(suite / "model"), "--dataset", str(suite / "data")]
    assert main([*paths, *words, "--output", str(output), "--overwrite"]) == code
    return output


def told(output: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((output / "results.json").read_text())
    return found


def rows(output: Path) -> dict[str, list[dict[str, Any]]]:
    from pyarrow import parquet

    return {path.name: parquet.read_table(path).to_pylist() for path in output.glob("*.parquet")}


@pytest.fixture(scope="module")
def whole(suite: Path) -> Path:
    """The folder of scores of tables that are read whole."""
    return scored(suite, "whole", *ALONE)


@pytest.mark.parametrize("part", [1, 3, 8])
def test_scores_in_parts_are_those_of_the_whole(
    part: int, suite: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset, "PART", part)
    # The rows of a part may end anywhere in a row group.
    monkeypatch.setattr(parquet, "_ROW_GROUP", 7)
    monkeypatch.setattr(parquet, "_PYTHON_ROWS", 5)
    parts = scored(suite, "parts", *ALONE)
    assert rows(parts) == rows(whole)
    expected, found = told(whole), told(parts)
    assert found == expected
    assert found["differences"]
    assert found["headline"]["n"] == 10
    assert (parts / "report.html").read_bytes() == (whole / "report.html").read_bytes()


def test_a_table_in_parts_is_gone_through_once_and_its_first_items_are_on_the_page(
    suite: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from coherencegym.eval.tasks.score import scoring

    gone: list[StoredItems] = []
    asked: list[Item] = []
    go_through: Any = StoredItems.__iter__
    ask: Any = scoring.__dict__["plan_queries"]

    def counted(self: StoredItems) -> Any:
        gone.append(self)
        return go_through(self)

    def counted_asking(
        model: Any, tokenizer: Any, items: Sequence[Item], *more: Any, **how: Any
    ) -> Any:
        asked.extend(items)
        return ask(model, tokenizer, items, *more, **how)

    monkeypatch.setattr(dataset, "PART", 3)
    monkeypatch.setattr(scored_table, "_MOST_SHOWN", 8)
    with monkeypatch.context() as patched:
        patched.setattr(StoredItems, "__iter__", counted)
        patched.setattr(scoring, "plan_queries", counted_asking)
        found = told(scored(suite, "sampled", *ALONE))
    assert len(gone) == len(set(map(id, gone))) == 2
    assert len(asked) == len(set(map(id, asked))) > 0
    page = (suite / "sampled" / "report.html").read_text()
    assert "<bdi>neutral (test)</bdi> 4" in page
    shown = [item for item in range(8) if f'"id":"d{item}/shuffled"' in page]
    assert len(shown) == 4
    # Whatever the parts are.
    monkeypatch.setattr(dataset, "PART", 5)
    scored(suite, "sampled-too", *ALONE)
    assert (suite / "sampled-too" / "report.html").read_text() == page
    expected = told(whole)
    for name in ("scores", "headline", "differences", "dataset"):
        assert found[name] == expected[name]


def test_nothing_is_left_of_a_run_that_ends_in_a_later_part(
    suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from coherencegym.eval import surprisal

    monkeypatch.setattr(dataset, "PART", 3)
    whole = surprisal.surprisals
    parts: list[int] = []

    def stops(*arguments: Any, **options: Any) -> Any:
        parts.append(len(arguments[2].queries))
        if len(parts) == 3:
            raise KeyboardInterrupt
        return whole(*arguments, **options)

    monkeypatch.setattr(scored_table, "surprisals", stops)
    before = set(suite.iterdir())
    scored(suite, "ended", *ALONE, code=130)
    assert parts == [3, 3, 2]
    assert set(suite.iterdir()) == before


# ------------------------------------------------------------------------------------ outcomes

FORMULAS = ("(1;%a%) > (1;%b%)", "(1;%a%) < (1;%b%)")


@st.composite
def evaluated_items(draw: st.DrawFn) -> list[list[JudgedPrediction]]:
    """The evaluated predictions of some items, by item."""
    found = []
    for number in range(draw(st.integers(1, 12))):
        family = draw(st.sampled_from(["", "f", "ü", "z"]))
        extra = {
            "family": family,
            "moved": draw(st.booleans()),
            "kind": draw(st.sampled_from("ab")),
        }
        item = Item(f"i{number}", 1, (), (), f"d{draw(st.integers(0, 5))}", "toy", (), extra)
        own = []
        for _ in range(draw(st.integers(1, 3))):
            margin = draw(st.none() | st.floats(-9, 9))
            outcome = draw(
                st.sampled_from(
                    [Outcome((margin or 0) > 0, False, margin), Outcome(False, True, margin)]
                )
            )
            reason = draw(st.sampled_from(["", "", "", "too_long", "identical", "empty"]))
            groups = draw(st.sampled_from([(), ("g",), ("h", "g"), ("g", "g")]))
            formula = draw(st.sampled_from(FORMULAS))
            own.append(
                JudgedPrediction(
                    item,
                    formula,
                    draw(st.sampled_from(["mean", "sum"])),
                    groups,
                    None if reason else outcome,
                    reason,
                    draw(st.booleans()),
                    draw(st.booleans()),
                )
            )
        found.append(own)
    return found


@settings(max_examples=12)
@given(
    items=evaluated_items(),
    cuts=st.lists(st.integers(0, 12), max_size=3).map(sorted),
    headline=st.sampled_from(["", "g"]),
)
def test_outcomes_of_parts_are_those_of_the_whole(
    items: list[list[JudgedPrediction]], cuts: list[int], headline: str
) -> None:
    """The tables that a folder of results has, and what scores there are of them."""

    def filled(parts: Iterable[list[list[JudgedPrediction]]]) -> tuple[OutcomeTables, list[Any]]:
        writer = OutcomeWriter()
        for part in parts:
            add_judged(writer, table, [one for own in part for one in own])
        add_judged(writer, *control)
        outcomes = writer.tables()
        return outcomes, [
            summarise(outcomes, table),
            differences(outcomes, "c", "s", ["k"]),
            headline_of([table, control[0]], outcomes, []),
        ]

    flat = [prediction for own in items for prediction in own]
    about: dict[str, Any] = {"breakdowns": ("moved", "kind"), "headline": headline}
    table, _ = evaluated_table(flat, **about)
    control = evaluated_table(flat[::-1], "k", **about)
    bounds = [0, *cuts, len(items)]
    found, scores = filled(items[low:high] for low, high in pairwise(bounds))
    whole, expected = filled([items])
    assert found.units.equals(whole.units)
    assert found.outcomes.equals(whole.outcomes)
    assert found.systems == whole.systems
    assert scores == expected


@given(items=evaluated_items())
def test_the_value_of_an_item_is_the_share_of_its_defined_predictions(
    items: list[list[JudgedPrediction]],
) -> None:
    outcomes = made_outcomes(evaluated_table([prediction for own in items for prediction in own]))
    values = ACCURACY.counted(outcomes.cells(outcomes.places_of("c", "s", *OF_MODEL)))
    bits = outcomes.places_of("c", "s", MARGIN.name, MODEL)
    margins = MARGIN.counted(outcomes.cells(bits))
    shares, means = [], []
    for own in items:
        defined = [prediction.outcome for prediction in own if prediction.outcome]
        if defined:
            shares.append((sum(one.met for one in defined) / len(defined), len(defined)))
        known = [outcome.margin for outcome in defined if outcome.margin is not None]
        if known:
            means.append((pytest.approx(sum(known) / len(known)), len(known)))
    assert list(zip(values.value, values.weight, strict=True)) == shares
    assert list(zip(margins.value, margins.weight, strict=True)) == means


@given(items=evaluated_items())
def test_clusters_are_numbered_in_the_order_of_their_names(
    items: list[list[JudgedPrediction]],
) -> None:
    """The same in two tables of a run."""
    flat = [prediction for own in items for prediction in own]
    outcomes = made_outcomes(evaluated_table(flat), evaluated_table(flat[::2], "k"))
    names = sorted({prediction.item.cluster for prediction in flat})
    for config, own in (("c", flat), ("k", flat[::2])):
        places = outcomes.places_of(config, "s", *OF_MODEL)
        expected = [names.index(one.item.cluster) for one in own if one.outcome]
        assert outcomes.cells(places).cluster.tolist() == expected


@given(items=evaluated_items())
def test_rows_say_what_became_of_every_prediction(items: list[list[JudgedPrediction]]) -> None:
    flat = [prediction for own in items for prediction in own]
    outcomes = made_outcomes(evaluated_table(flat, breakdowns=("moved", "kind")))
    found = list(prediction_rows(outcomes))
    assert [(row["item_id"], row["cluster"]) for row in found] == [
        (one.item.item_id, one.item.cluster) for one in flat
    ]
    assert [(row["formula"], row["aggregation"], row["groups"]) for row in found] == [
        (one.formula, one.aggregation, list(one.groups)) for one in flat
    ]
    assert [row["columns"] for row in found] == [
        [f"moved={str(one.item.extra['moved']).lower()}", f"kind={one.item.extra['kind']}"]
        for one in flat
    ]
    assert [(row["met"], row["tie"], row["margin"]) for row in found] == [
        (one.outcome.met, one.outcome.tie, one.outcome.margin) if one.outcome else (None,) * 3
        for one in flat
    ]
    assert [(row["too_close"], row["reason"]) for row in found] == [
        (one.too_close, one.reason) for one in flat
    ]
    first = outcomes.flags(outcomes.places_of("c", "s", *OF_MODEL), "first token left out")
    assert first.tolist() == [one.first_left_out for one in flat]


def test_of_a_prediction_a_hundred_bytes_and_some_stay() -> None:
    made = [
        JudgedPrediction(
            Item(f"a long name/{part}/{n}", 1, (), (), f"d{part}-{n}", "toy", (), {"moved": True}),
            FORMULAS[0],
            "mean",
            ("g",),
            Outcome(True, False, 1.0),
        )
        for part in range(10)
        for n in range(100)
    ]
    outcomes = made_outcomes(evaluated_table(made, breakdowns=("moved",)))
    # Names and ids are among them.
    assert (outcomes.units.nbytes + outcomes.outcomes.nbytes) / len(made) < 144

"""Baselines of pairs beside a model: on the very items that were scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.datasets import write_decisions, write_table

import coherencegym as cg
from coherencegym.errors import EvaluationError
from coherencegym.eval.data import dataset
from coherencegym.eval.data.dataset import LEXICAL_OVERLAP, PARTIAL_INPUT, baselines_path, tables
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.kinds.items import ITEMS, Condition, Item, Prediction, Region
from coherencegym.eval.outcomes.schema import MODEL, UnitRow
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.results.comparison import count_compared
from coherencegym.eval.results.folder import read_results
from coherencegym.eval.results.written import write_results
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.outcomes import ACCURACY, BASELINE_SYSTEMS, OF_MODEL

FORMULA = "(2;%odd%) > (2;%plain%)"
#: What two baselines decide on six items with one prediction each; one of them left the last out.
DECIDED = {
    PARTIAL_INPUT: (1.0, 0.0, 0.5, 1.0, 1.0),
    LEXICAL_OVERLAP: (1.0, 1.0, 1.0, 0.0, 0.0, 0.0),
}


def item(number: int, filler: str = "") -> Item:
    first = f"Lily saw {number} dogs.{filler}"
    texts = {"odd": " Then tea sang.", "plain": " Then they ran home."}
    conditions = tuple(
        Condition(name, first + text, (Region(1, first), Region(2, text)))
        for name, text in texts.items()
    )
    predictions = (Prediction(FORMULA, "mean", ()),)
    genre = {"genre": "ab"[number % 2]}
    return Item(f"i{number}", number + 1, conditions, predictions, f"d{number}", "t", extra=genre)


def made(
    folder: Path,
    items: Sequence[Item],
    decided: Mapping[str, Sequence[float]] = DECIDED,
    **about: Any,
) -> Path:
    """A dataset of items with the file of decisions that a build writes."""
    write_table(
        *(folder, ITEMS, "toy", {"test": items}, "pairs"),
        extra={"genre": "string"},
        breakdowns=["genre"],
        **about,
    )
    return write_decisions(folder, items, decided)


def scored(folder: Path, **options: Any) -> Results:
    found = cg.score("demo", folder, **options)
    assert isinstance(found, Results)
    return found


def beside(found: Results, group: str = "") -> tuple[float | None, float | None]:
    (row,) = [one for one in found.rows if one.level in ("all", "column") and one.group == group]
    return row.partial_input_score, row.lexical_overlap_score


def test_a_selection_has_the_baselines_of_its_own_items(tmp_path: Path) -> None:
    folder = made(tmp_path / "d", [item(n) for n in range(6)])
    whole, first = scored(folder), scored(folder, limit=4)
    # Of the sixth item the partial-input baseline has not decided.
    assert beside(whole) == (3.5 / 5, 3 / 6)
    assert beside(whole, "genre=a") == (2.5 / 3, 2 / 3)
    assert beside(whole, "genre=b") == (1 / 2, 1 / 3)
    assert beside(first) == (2.5 / 4, 3 / 4)
    assert beside(first, "genre=a") == (1.5 / 2, 2 / 2)
    assert first.headline is not None
    assert first.headline.partial_input_score == 2.5 / 4


def test_an_item_that_is_not_in_the_score_is_in_no_baseline(tmp_path: Path) -> None:
    items = [item(n, " So it went on." * 300 * (n == 1)) for n in range(4)]
    found = scored(made(tmp_path / "d", items))
    assert (found.rows[0].n, beside(found)) == (3, (2.5 / 3, 2 / 3))


def test_baselines_are_systems_with_outcomes(tmp_path: Path) -> None:
    found = scored(made(tmp_path / "d", [item(n) for n in range(6)]))
    systems = [(one.role, one.label) for one in found.outcomes.systems]
    assert systems == [
        ("model", ""),
        ("baseline", "partial input"),
        ("baseline", "lexical overlap"),
    ]
    held = {
        system.label: [row.value for row in found.outcomes.rows(places)]
        for (_, _, name, system), places in found.outcomes.series.items()
        if name == ACCURACY.name and system.role == "baseline"
    }
    assert held == {
        "partial input": [*DECIDED[PARTIAL_INPUT]],
        "lexical overlap": [1, 1, 1, 0, 0, 0],
    }
    places = found.outcomes.places_of("pairs", "test", *OF_MODEL)
    assert {row.system.role for row in found.outcomes.rows(places)} == {"model"}


def test_the_difference_is_paired_by_item(tmp_path: Path) -> None:
    found = scored(made(tmp_path / "d", [item(n) for n in range(6)]))
    values = found.outcomes.cells(found.outcomes.places_of("pairs", "test", *OF_MODEL)).value
    partial, overlap = found.more["over_baselines"]
    assert (partial["baseline"], partial["n"]) == (PARTIAL_INPUT, 5)
    assert partial["difference"] == pytest.approx(sum(values[:5]) / 5 - 3.5 / 5)
    assert (overlap["baseline"], overlap["n"]) == (LEXICAL_OVERLAP, 6)
    assert overlap["difference"] == pytest.approx(sum(values) / 6 - 3 / 6)


def test_parts_have_the_same_baselines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path / "d", [item(n) for n in range(6)])
    expected = scored(folder).rows
    monkeypatch.setattr(dataset, "PART", 2)
    (table,) = tables(find_dataset(str(folder)), in_parts=True)
    assert table.baselines is not None
    assert [len(table.baselines.decisions(part)[PARTIAL_INPUT]) for part in table.parts()] == [
        2,
        2,
        1,
    ]
    assert scored(folder).rows == expected


def test_results_with_baselines_are_read_back(tmp_path: Path) -> None:
    found = scored(made(tmp_path / "d", [item(n) for n in range(6)]))
    write_results(found, tmp_path)
    saved = read_results(tmp_path, outcomes=True)
    assert saved.outcomes.outcomes.equals(found.outcomes.outcomes)
    # Two models are not compared by what the dataset decided.
    assert count_compared(saved, saved.outcomes) == 6


def test_decisions_that_are_not_those_that_were_published_are_one_line(tmp_path: Path) -> None:
    items = [item(n) for n in range(6)]
    folder = made(tmp_path / "d", items)
    path = folder / baselines_path("pairs", "test")
    other = made(tmp_path / "e", items, {LEXICAL_OVERLAP: (0.0,) * 6})
    path.write_bytes((other / baselines_path("pairs", "test")).read_bytes())
    with pytest.raises(EvaluationError, match="not the decisions that were published") as said:
        scored(folder)
    assert "config 'pairs', split 'test': baselines/pairs/test-" in str(said.value)
    path.unlink()
    with pytest.raises(EvaluationError, match=r"no baselines/pairs/.*which the manifest lists"):
        scored(folder)


def test_more_decisions_than_predictions_are_one_line(tmp_path: Path) -> None:
    twice = [item(n) for n in range(2)]
    folder = made(tmp_path / "d", [*twice, item(2)])
    (table,) = tables(find_dataset(str(folder)))
    assert table.baselines is not None
    bare = Item("i0", 1, twice[0].conditions, (), "d0", "t")
    with pytest.raises(EvaluationError, match="item 'i0': 1 decisions; expected at most 0"):
        table.baselines.decisions([bare])


def test_two_baselines_take_few_bytes() -> None:
    """Less than 60 bytes an item beside the outcomes of the model."""
    count = 10_000
    sizes = []
    for names in ((), DECIDED):
        writer = OutcomeWriter()
        about: Any = {"config": "c", "split": "test", "formula": "f", "aggregation": "mean"}
        ids = writer.units(UnitRow(item=f"i{n}", cluster=f"d{n}", **about) for n in range(count))
        writer.add(ids, "accuracy", MODEL, [1.0] * count)
        writer.add(ids, "margin", MODEL, [1.0] * count, target=[1.0] * count)
        for name in names:
            writer.add(ids, "accuracy", BASELINE_SYSTEMS[name], [1.0] * count)
        tables = writer.tables()
        sizes.append((tables.units.nbytes + tables.outcomes.nbytes) / count)
    assert sizes[1] - sizes[0] < 60

"""Suites in SyntaxGym's JSON: what is written is read back by a reader that knows the format only.

The reader here is written from the description of the format and shares nothing with the writer.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonlines
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.suites import WITHOUT_PAIRS, Sample

from coherencegym.builders.export.syntaxgym import (
    ODD_NAME,
    item_records,
    refusal,
    suite_json,
    suite_table,
)
from coherencegym.builders.export.write import export
from coherencegym.builders.registry import SUITES
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main as evaluate
from coherencegym.eval.data.dataset import ItemTable, tables
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.data.syntaxgym import suites as evaluator_reads
from coherencegym.eval.kinds.items import ITEMS, Condition, Item, Prediction, Region

METRICS = {"sum", "mean", "median", "range", "max", "min"}


def read_suite(path: Path) -> dict[str, Any]:
    """A suite: name, metric, formulas, and item number -> condition -> region contents."""
    suite = json.loads(path.read_text(encoding="utf-8"))
    assert list(suite) == ["meta", "region_meta", "predictions", "items"]
    assert {"name", "metric"} <= set(suite["meta"])
    assert suite["meta"]["name"] == path.stem
    assert suite["meta"]["metric"] in METRICS
    names = suite["region_meta"]
    assert list(names) == [str(number) for number in range(1, len(names) + 1)]
    assert all(isinstance(name, str) and name for name in names.values())
    assert all(set(p) == {"type", "formula"} for p in suite["predictions"])
    assert {p["type"] for p in suite["predictions"]} == {"formula"}
    items: dict[int, dict[str, list[str]]] = {}
    for item in suite["items"]:
        assert set(item) == {"item_number", "conditions"}
        assert item["item_number"] not in items
        own = items[item["item_number"]] = {}
        for condition in item["conditions"]:
            assert set(condition) == {"condition_name", "regions"}
            numbers = [region["region_number"] for region in condition["regions"]]
            assert numbers == list(range(1, len(names) + 1))
            own[condition["condition_name"]] = [r["content"] for r in condition["regions"]]
    conditions = {frozenset(item) for item in items.values()}
    assert len(conditions) == 1
    return {
        "metric": suite["meta"]["metric"],
        "formulas": [prediction["formula"] for prediction in suite["predictions"]],
        "items": items,
    }


def as_syntaxgym_joins(regions: list[str]) -> str:
    return " ".join(content.lstrip() for content in regions if content.strip())


def read_all(folder: Path) -> dict[str, dict[str, Any]]:
    return {path.stem: read_suite(path) for path in sorted(folder.glob("*.json"))}


def exported(build_folder: Path, folder: Path) -> tuple[dict[str, dict[str, Any]], list[str]]:
    lines = export(find_dataset(str(build_folder)), "syntaxgym", folder)
    return read_all(folder), lines


# Two suites have no items.
@pytest.mark.parametrize("name", sorted({*SUITES} - {*WITHOUT_PAIRS}))
def test_the_samples_come_back(name: str, built_sample: Sample, tmp_path: Path) -> None:
    """Every text and every formula that went in comes out, or is counted as left out."""
    folder, _ = built_sample(name)
    if name == "speaker_commitment":  # every text holds the separator
        with pytest.raises(
            EvaluationError, match=r"nothing to write; .*: 60, a text holds \[SEP\]"
        ):
            exported(folder, tmp_path / "out")
        assert not (tmp_path / "out").exists()
        return
    found, lines = exported(folder, tmp_path / "out")
    with jsonlines.open(tmp_path / "out" / "items.jsonl") as records:
        ids = {(record["suite"], record["item_number"]): record["item_id"] for record in records}
    assert len(ids) == sum(len(each["items"]) for each in found.values())
    total = 0
    built = find_dataset(str(folder))
    about = built.manifest["configs"]
    for table in (t for t in tables(built) if not about[t.config].get("is_diagnostic")):
        mine = {k: v for k, v in found.items() if k.startswith(f"{table.config}-{table.split}")}
        left_out = 0
        for item in table.items:
            there = {k: v for k, v in mine.items() if item.item_number in v["items"]}
            if not there:
                left_out += 1
                continue
            predictions = {(v["metric"], f) for v in there.values() for f in v["formulas"]}
            assert predictions == {(p.metric, p.formula) for p in item.predictions}
            for stem, each in there.items():
                assert ids[stem, item.item_number] == item.item_id
                texts = {
                    condition: as_syntaxgym_joins(regions)
                    for condition, regions in each["items"][item.item_number].items()
                }
                assert texts == {c.condition_name: c.content for c in item.conditions}
        said = [line for line in lines if f" {table.config} ({table.split}): " in line]
        assert sum(int(line.split("): ")[1].split(",")[0]) for line in said) == left_out
        total += len(table.items) - left_out
    assert lines[0].startswith(f"for SyntaxGym: {total} items in {len(found)} suite")
    compare_with_evaluator(found, tmp_path / "out")


def compare_with_evaluator(found: dict[str, dict[str, Any]], folder: Path) -> None:
    """Hold what the reader here reads to what the evaluator does."""
    _, read = evaluator_reads(folder)
    assert {table.config for table in read} == set(found)
    for table in read:
        own = found[table.config]
        assert [item.item_number for item in table.items] == list(own["items"])
        for item in table.items:
            assert [p.formula for p in item.predictions] == own["formulas"]
            assert {p.metric for p in item.predictions} == {own["metric"]}
            texts = {
                condition: as_syntaxgym_joins(regions)
                for condition, regions in own["items"][item.item_number].items()
            }
            assert {c.condition_name: c.content for c in item.conditions} == texts


def region_bits(folder: Path) -> dict[tuple[str, str, str, int], tuple[int, float]]:
    """Config, item, condition and region -> tokens and bits, from the results of a run."""
    rows: list[dict[str, Any]] = pq.read_table(folder / "regions.parquet").to_pylist()
    return {
        (row["config"], row["item_id"], row["condition_name"], row["region_number"]): (
            row["n_tokens"],
            row["sum_bits"],
        )
        for row in rows
    }


def test_an_exported_suite_scores_as_the_build_does(built_sample: Sample, tmp_path: Path) -> None:
    """Through the command line, with the demo model: the same tokens and bits for every region."""
    folder, _ = built_sample("winograd")
    found, _ = exported(folder, tmp_path / "out")
    command = ["--model", "demo", "--output"]
    assert evaluate([*command, str(tmp_path / "a"), "--dataset", str(folder)]) == 0
    assert evaluate([*command, str(tmp_path / "b"), "--dataset", str(tmp_path / "out")]) == 0
    ours, theirs = region_bits(tmp_path / "a"), region_bits(tmp_path / "b")
    with jsonlines.open(tmp_path / "out" / "items.jsonl") as records:
        ids = {
            f"{record['suite']}/{record['item_number']}": record["item_id"] for record in records
        }
    assert {stem for stem, *_ in theirs} == set(found)
    assert {identifier for _, identifier, *_ in theirs} == set(ids)
    for (stem, identifier, condition, region), (tokens, bits) in theirs.items():
        config = stem.split("-")[0]
        own_tokens, own_bits = ours[config, ids[identifier], condition, region]
        # Texts are batched with others, so that the last digits differ.
        assert tokens == own_tokens
        assert bits == pytest.approx(own_bits, abs=1e-3)
    scores = json.loads((tmp_path / "b" / "results.json").read_text())["scores"]
    assert {(score["level"], score["n"]) for score in scores} == {("all", 71), ("all", 34)}


def test_the_evaluator_reads_what_is_written(shapes: Path, tmp_path: Path) -> None:
    found, _ = exported(shapes, tmp_path / "out")
    _, read = evaluator_reads(tmp_path / "out")
    assert {table.config for table in read} == set(found)
    for table in read:
        assert len(table.items) == len(found[table.config]["items"])


def test_items_that_differ_are_in_several_suites(shapes: Path, tmp_path: Path) -> None:
    found, _ = exported(shapes, tmp_path / "out")
    assert sorted(found) == [
        # As a temporal connective and as a preposition it has the same predictions.
        "shapes_connective-test-1",
        "shapes_connective-test-2",
        "shapes_connective-test-3",
        "shapes_mention-test-mean",
        "shapes_mention-test-sum",
        "shapes_turns-test",
    ]
    causal, temporal, since = (found[f"shapes_connective-test-{n}"] for n in (1, 2, 3))
    assert list(causal["items"]) == [1, 4]
    assert causal["items"][4]["while"] == ["They ate", "while", "they were hungry."]
    assert causal["formulas"] == [
        "(3;%since%) > (3;%original%)",
        "(3;%while%) > (3;%original%)",
        "(3;%while%) > (3;%since%)",
    ]
    assert temporal["formulas"] == causal["formulas"][:2]
    assert list(since["items"][3]) == ["original", "as", "while"]
    by_mean, by_sum = found["shapes_mention-test-mean"], found["shapes_mention-test-sum"]
    assert (by_mean.pop("metric"), by_sum.pop("metric")) == ("mean", "sum")
    assert by_mean == by_sum


def test_what_the_format_cannot_say_is_left_out_and_counted(shapes: Path, tmp_path: Path) -> None:
    found, lines = exported(shapes, tmp_path / "out")
    assert list(found["shapes_turns-test"]["items"]) == [1, 4]
    assert lines == [
        f"for SyntaxGym: 9 items in 6 suites, written to {tmp_path / 'out'}",
        "left out for SyntaxGym, shapes_turns (test): 1, "
        "a text holds [SEP], which SyntaxGym would take literally",
        "left out for SyntaxGym, shapes_turns (test): 1, "
        "no space before region 2, where SyntaxGym puts one",
    ]
    report = (tmp_path / "out" / "SUITES.md").read_text()
    assert "| `shapes_turns` | test | 1 | no space before region 2" in report


def test_groups_are_kept_beside(shapes: Path, tmp_path: Path) -> None:
    exported(shapes, tmp_path / "out")
    with jsonlines.open(tmp_path / "out" / "items.jsonl") as records:
        first = next(iter(records))
    assert first["suite"] == "shapes_connective-test-1"
    assert first["item_id"] == "connective1/x"
    assert first["groups"][0] == {
        "formula": "(3;%since%) > (3;%original%)",
        "groups": ["as_causal → since", "different sense, same syntax"],
    }


def test_groups_are_those_of_the_metric() -> None:
    one = item(1, "by sum")
    more = Prediction("(1;%b%) > (1;%a%)", "mean", ("by mean",)), Prediction("2 > 1", "mean")
    both = Item(**{**vars(one), "predictions": (*one.predictions, *more)})
    found = [
        [record["groups"] for record in item_records(suite)]
        for suite in suite_table(table_of(both)).made
    ]
    formula = "(1;%b%) > (1;%a%)"
    assert found == [
        [[{"formula": formula, "groups": ["by sum"]}]],
        [[{"formula": formula, "groups": ["by mean"]}, {"formula": "2 > 1", "groups": []}]],
    ]


def test_an_export_that_is_there_is_kept(shapes: Path, tmp_path: Path) -> None:
    exported(shapes, tmp_path / "out")
    with pytest.raises(EvaluationError, match="out exists; name another folder"):
        exported(shapes, tmp_path / "out")


def test_the_same_build_gives_the_same_bytes(shapes: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        exported(shapes, tmp_path / name)
    one, two = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
        for name in ("one", "two")
    )
    assert one == two
    assert len(one) == 9


def table_of(*items: Item) -> ItemTable:
    return ItemTable("c", "test", items, "", False, False)


def item(number: int, *groups: str, formula: str = "(1;%b%) > (1;%a%)") -> Item:
    predictions = tuple(Prediction(formula, "sum", (group,) if group else ()) for group in groups)
    conditions = tuple(Condition(name, name, (Region(1, name),)) for name in ("a", "b"))
    return Item(f"i{number}", number, conditions, predictions, "d", "c")


def test_several_suites_of_a_config_are_numbered() -> None:
    made = suite_table(
        table_of(
            item(1, "x one"),
            item(2, "x two", formula="(1;%a%) > (1;%b%)"),
            item(3, "", formula="(1;%b%) > 1"),
            item(4, "", formula="(1;%b%) > 2"),
            item(5, "x one"),
        )
    )
    assert [(suite.name, len(suite.items)) for suite in made.made] == [
        ("c-test-1", 2),
        ("c-test-2", 1),
        ("c-test-3", 1),
        ("c-test-4", 1),
    ]


@pytest.mark.parametrize("name", ["two words", "a%b", "schön", ""])
def test_conditions_that_its_formulas_cannot_name_are_left_out(name: str) -> None:
    conditions = (Condition(name, "x", (Region(1, "x"),)),)
    assert refusal(Item("i", 1, conditions, (Prediction("f", "sum"),), "d", "c")) == ODD_NAME


def test_the_order_of_conditions_and_predictions_makes_no_new_suite() -> None:
    one = item(1, "g", formula="(1;%b%) > (1;%a%)")
    two = Item(
        **{**vars(one), "item_number": 2, "item_id": "i2", "conditions": one.conditions[::-1]}
    )
    made = suite_table(table_of(one, two))
    assert [suite.name for suite in made.made] == ["c-test"]


#: Anything that may stand in a text.
contents = st.text(st.sampled_from("ab .,'\n\t\u00a0é"), max_size=6)


@given(st.lists(contents, min_size=1, max_size=4), st.lists(st.sampled_from(["", " ", "  ", "\n"])))
def test_an_item_is_taken_just_when_its_text_comes_back(
    regions: list[str], gaps: list[str]
) -> None:
    gaps = [*gaps, "", "", "", ""][: len(regions)]
    text = "".join(content + gap for content, gap in zip(regions, gaps, strict=True))
    parts = tuple(Region(number, content) for number, content in enumerate(regions, start=1))
    made = Item("i", 1, (Condition("a", text, parts),), (Prediction("f", "sum"),), "d", "c")
    try:
        ITEMS.check(made)
    except ValueError:
        return
    found = suite_table(table_of(made)).made
    comes_back = as_syntaxgym_joins([content.strip() for content in regions]) == text
    assert len(found) == (not refusal(made)) == comes_back
    for suite in found:
        ((written,),) = (
            [[r["content"] for r in c["regions"]] for c in each["conditions"]]
            for each in suite_json(suite, (), "", "")["items"]
        )
        assert all(content == content.strip() for content in written)
        assert as_syntaxgym_joins(written) == text

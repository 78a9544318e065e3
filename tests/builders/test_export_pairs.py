"""Pairs of texts, and the task files that read the same pairs from the published rows."""

from __future__ import annotations

import ast
import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jinja2
import jsonlines
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.task_files import read_task
from support.toy_shapes import HEADLINE

from coherencegym.builders.export.harness import (
    ExportedRelease,
    HarnessTask,
    harness_files,
    module_text,
    tasks,
)
from coherencegym.builders.export.item_pairs import (
    NO_PAIR,
    SAME_TEXT,
    SEPARATED,
    compared,
    row_pairs,
)
from coherencegym.builders.export.pairs import pair_table
from coherencegym.builders.export.write import Exports, export_build
from coherencegym.builders.release.rows import data_path
from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.kinds.formula import parse_formula
from coherencegym.eval.kinds.items import Condition, Item, Prediction, Region

RELEASE = ExportedRelease("me/shapes", "v1.2.0", "1.2.0", "shapes", {})


def records(folder: Path, name: str) -> list[dict[str, Any]]:
    with jsonlines.open(folder / f"{name}.jsonl") as lines:
        return list(lines)


def load_task(folder: Path, name: str) -> dict[str, Any]:
    """A task with what its template says, as the harness puts them together."""
    place = folder / "tasks" / "coherencegym_shapes"
    own = read_task(place / f"coherencegym_shapes_{name}.yaml")
    return {**read_task(place / own.pop("include")), **own}


def choices(folder: Path, rows: Any, task: dict[str, Any]) -> list[list[str]]:
    """The choices of a task's documents, as the harness makes them from the rows."""
    module_name, function = task["process_docs"].removeprefix("function ").split(".")
    path = folder / "tasks" / "coherencegym_shapes" / f"{module_name}.py"
    rows = getattr(loaded(path), function)(rows)
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
    template = environment.from_string(task["doc_to_choice"])
    return [ast.literal_eval(template.render(**row)) for row in rows]


def loaded(path: Path) -> Any:
    """A Python file as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def published(build_folder: Path, task: dict[str, Any]) -> Any:
    """The rows that a task reads, as the Hub will have them."""
    path = build_folder / data_path(task["dataset_name"], task["test_split"])
    return pq.read_table(path).to_pylist()


def pairs_of(found: list[dict[str, Any]]) -> list[list[str]]:
    return [[record["sentence_bad"], record["sentence_good"]] for record in found]


def test_a_record_has_what_blimp_has_and_where_it_is_from(exported: Path) -> None:
    first, second = records(exported, "shapes_mention-test")
    assert first == {
        "sentence_good": "Ann ran. She fell.",
        "sentence_bad": "Ann ran. Ann fell.",
        "field": "discourse",
        "linguistics_term": "shapes",
        "UID": "shapes_mention",
        "simple_LM_method": True,
        "lexically_identical": False,
        "pairID": "0",
        "item_id": "mention1/x",
        "discourse_id": "mention1",
        "cluster": "mention1",
        "corpus": "shapes",
        "config": "shapes_mention",
        "split": "test",
        "good_condition": "pronoun",
        "bad_condition": "repetition",
        "groups": ["mean", "sum"],
        # Both metrics are about the same two texts: one pair.
        "predictions": [
            {"region": "2", "metric": "mean", "groups": ["mean"]},
            {"region": "2", "metric": "sum", "groups": ["sum"]},
        ],
    }
    assert second["pairID"] == "1"


def test_real_blimp_files_have_the_same_keys(shared: Path, exported: Path) -> None:
    own = records(exported, "shapes_mention-test")[0]
    for file in (shared / "corpora" / "blimp").glob("*.jsonl"):
        with jsonlines.open(file) as lines:
            theirs = next(iter(lines))
        # Of BLiMP's keys only the two about prefixes have no meaning here.
        assert set(theirs) - set(own) == {"one_prefix_method", "two_prefix_method"}
        for key in set(theirs) & set(own):
            assert type(theirs[key]) is type(own[key])


def test_every_replacement_is_a_pair(exported: Path) -> None:
    found = records(exported, "shapes_connective-test")
    assert [(r["item_id"], r["good_condition"], r["bad_condition"]) for r in found[:4]] == [
        ("connective1/x", "original", "since"),
        ("connective1/x", "original", "while"),
        ("connective1/x", "since", "while"),
        ("connective2/x", "original", "since"),
    ]
    assert found[0]["groups"] == ["as_causal → since", HEADLINE]
    assert found[2]["sentence_good"] == "He slept since it was late."
    # The connective is outside region 3: the whole texts differ by more than the region does.
    assert not any(record["simple_LM_method"] for record in found)
    assert len(found) == 3 + 2 + 3 + 3 + 2


def test_a_separator_is_refused_and_said(shapes: Path, tmp_path: Path) -> None:
    lines = export_build(shapes, Exports(pairs=tmp_path / "out"))
    assert lines == [
        f"as texts: 18 pairs, and 4 tasks for lm-evaluation-harness, written to {tmp_path / 'out'}",
        f"left out as pairs, shapes_turns (test): 1, {SEPARATED}",
        # Of `as` as a preposition: no aggregate has them.
        "in no task, shapes_connective (test): 2 pairs, in groups that no aggregate has",
    ]
    assert [r["item_id"] for r in records(tmp_path / "out", "shapes_turns-test")] == [
        "turns1/x",
        "turns3/x",
        "turns4/x",
    ]
    assert f"| `shapes_turns` | test | 1 | {SEPARATED} |" in (
        tmp_path / "out" / "PAIRS.md"
    ).read_text(encoding="utf-8")


SHAPES_TASKS = {
    "coherencegym_shapes_shapes_connective_different_sense_same_syntax",
    "coherencegym_shapes_shapes_connective_different_over_same_same_syntax",
    "coherencegym_shapes_shapes_mention",
    "coherencegym_shapes_shapes_turns",
}


def test_tasks_read_the_release_and_give_the_pairs_that_are_written(
    shapes: Path, exported: Path
) -> None:
    names = {path.stem for path in (exported / "tasks").glob("*/*_shapes_*.yaml")}
    assert names == SHAPES_TASKS
    for name in names:
        task = load_task(exported, name.removeprefix("coherencegym_shapes_"))
        assert task["task"] == name
        assert task["tag"] == "coherencegym"
        assert task["dataset_path"] == "YOUR_NAME/shapes"
        assert task["dataset_kwargs"] == {"revision": "v1.0.0"}
        assert task["output_type"] == "multiple_choice"
        assert (task["doc_to_text"], task["target_delimiter"], task["doc_to_target"]) == ("", "", 1)
        # It would stand before every text.
        assert "description" not in task
        made = choices(exported, published(shapes, task), task)
        assert task["metadata"]["pairs"] == len(made)
        # From the files that are written with them come the same documents.
        about = task["metadata"]
        local = loaded(exported / "local.py").pairs(**about)[about["split"]]
        assert choices(exported, local, task) == made
    for name, same, number in (("shapes_mention", 2, 2), ("shapes_turns", 3, 3)):
        task = load_task(exported, name)
        assert task["metadata"]["same_comparison_as_the_suite"] == same
        wanted = pairs_of(records(exported, f"{name}-test"))
        assert choices(exported, published(shapes, task), task) == wanted
        assert len(wanted) == number


def test_a_config_with_a_headline_has_a_task_for_each_group(shapes: Path, exported: Path) -> None:
    found = records(exported, "shapes_connective-test")
    for name, group, number in (
        ("different_sense_same_syntax", HEADLINE, 8),
        ("different_over_same_same_syntax", "different > same, same syntax", 3),
    ):
        task = load_task(exported, f"shapes_connective_{name}")
        wanted = pairs_of([record for record in found if group in record["groups"]])
        assert choices(exported, published(shapes, task), task) == wanted
        assert len(wanted) == number


def item(*predictions: Prediction, texts: dict[str, list[str]], number: int = 1) -> Item:
    conditions = tuple(
        Condition(name, " ".join(parts), tuple(Region(i, t) for i, t in enumerate(parts, start=1)))
        for name, parts in texts.items()
    )
    return Item(f"i{number}", number, conditions, predictions, f"d{number}", "c")


def table(*items: Item, headline: str = "", split: str = "test") -> ItemTable:
    return ItemTable("c", split, items, "", False, False, headline=headline)


TEXTS = {"a": ["x", "y", "z"], "b": ["x", "q", "z"], "copy": ["x", "y", "z"]}


@pytest.mark.parametrize(
    ("formula", "metric", "same"),
    [
        ("(*;%b%) > (*;%a%)", "sum", True),
        ("(*;%b%) > (*;%a%)", "mean", False),
        ("(3;%b%) > (3;%a%)", "sum", False),  # the texts before it differ
        ("(2;%b%) > (2;%a%)", "sum", False),  # what follows is not compared
        ("(1;%b%) > (1;%a%)", "sum", False),
    ],
)
def test_when_the_whole_texts_are_what_the_suite_compares(
    formula: str, metric: str, same: bool
) -> None:
    made = pair_table(table(item(Prediction(formula, metric), texts=TEXTS)), "s")
    assert [record["simple_LM_method"] for record in made.records] == [same]


@pytest.mark.parametrize(("joint", "same"), [(" ", True), ("", False)])
def test_a_rest_of_the_text_begins_where_no_token_reaches_across(joint: str, same: bool) -> None:
    conditions = tuple(
        Condition(name, f"x{joint}{end}", (Region(1, "x"), Region(2, end)))
        for name, end in (("a", "y"), ("b", "z"))
    )
    one = Item("i", 1, conditions, (Prediction("(2;%b%) > (2;%a%)", "sum"),), "d", "c")
    made = pair_table(table(one), "s")
    assert [record["simple_LM_method"] for record in made.records] == [same]


def test_what_is_no_pair_is_counted() -> None:
    predictions = [
        Prediction("(1;%a%) > (2;%b%)", "sum"),
        Prediction("(1;%a%) - (1;%b%) > 0", "sum"),
        Prediction("(1;%a%) = (1;%b%)", "sum"),
        Prediction("(2;%a%) > (2;%copy%)", "sum"),
        Prediction("(2;%a%) > (2;%copy%)", "mean"),
        Prediction("(2;%a%) < (2;%b%)", "sum", ("left",)),
    ]
    made = pair_table(table(item(*predictions, texts=TEXTS)), "s")
    assert made.refused == {NO_PAIR: 3, SAME_TEXT: 1}
    (record,) = made.records
    assert (record["good_condition"], record["bad_condition"]) == ("a", "b")
    (task,) = tasks(made, RELEASE)
    assert task.function == "process_docs"


def written(made: list[HarnessTask]) -> dict[str, Any]:
    """The file of the last of some tasks."""
    return read_task(
        harness_files(made, RELEASE)[f"tasks/coherencegym_shapes/{made[-1].name}.yaml"]
    )


def test_names_of_tasks_that_are_not_of_the_test_split() -> None:
    one = item(Prediction("(2;%b%) > (2;%a%)", "sum"), texts=TEXTS)
    (task,) = tasks(pair_table(table(one, split="validation"), "s"), RELEASE)
    assert task.name == "coherencegym_shapes_c_validation"
    assert written([task])["test_split"] == "validation"


@pytest.mark.parametrize("headline", ["mean", "sum", ""])
def test_a_task_is_main_if_its_accuracy_is_what_the_headline_score_averages(headline: str) -> None:
    by = (Prediction("(*;%b%) > (*;%a%)", metric, (metric,)) for metric in ("mean", "sum"))
    texts = {"a": ["x", "y"], "b": ["x", "longer"]}
    made = pair_table(table(item(*by, texts=texts), headline=headline), "s")
    release = replace(RELEASE, configs={"c": {"in_headline": True}})
    (task,) = tasks(made, release)
    assert (task.same, task.main) == (1, headline == "sum")
    assert task.note.endswith("shorter one in 1 of 1 pairs: a sum favours the shorter text.")
    assert ("row `sum` of `coherencegym score`), not the headline" in task.note) != task.main
    about = {"c": {"in_headline": True, "headline_value": "moved=true"}}
    assert not tasks(made, replace(release, configs=about))[0].main


def test_no_task_without_a_pair() -> None:
    made = pair_table(table(item(Prediction("(2;%b%) > 3", "sum"), texts=TEXTS)), "s")
    assert tasks(made, RELEASE) == []
    assert harness_files([], RELEASE) == {}


@given(st.text(), st.text(min_size=1).filter(lambda group: group != "another"))
def test_whatever_groups_are_called_tasks_stay_what_they_are(detail: str, group: str) -> None:
    """Groups come from datasets that strangers publish; they become YAML and Python."""
    one = item(Prediction("(2;%b%) > (2;%a%)", "sum", (detail, group)), texts=TEXTS)
    made = tasks(pair_table(table(one, headline="another"), "s"), RELEASE)
    for task in made:
        assert written([task])["task"] == task.name
        assert set(task.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_")
    tree = ast.parse(module_text(made))
    *_, last = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    (task,) = made
    assert task.group == group
    assert last.name == task.function
    call = last.body[1]
    assert isinstance(call, ast.Return)
    assert ast.unparse(call) == ast.unparse(ast.parse(f"return process_docs(rows, {group!r})"))


names = st.text("ab %;()>1*", min_size=1, max_size=4)
regions = st.sampled_from(["*", "1", "2", "12"])


@given(regions, names, names, st.sampled_from("<>="), st.booleans())
def test_comparisons_are_read_as_the_evaluator_reads_them(
    region: str, left: str, right: str, sign: str, spaced: bool
) -> None:
    space = " " if spaced else ""
    formula = f"({region};%{left}%){space}{sign}{space}({region};%{right}%)"
    found = compared(formula)
    if "%" in left + right or sign == "=" or left == right:
        if "%" not in left + right:
            assert found is None
        return
    tree: Any = parse_formula(formula)
    assert tree.operator == sign
    good, bad = (right, left) if sign == ">" else (left, right)
    assert found == (region, good, bad)
    assert {tree.left.condition, tree.right.condition} == {good, bad}


def test_pairs_are_made_of_rows_as_json_has_them() -> None:
    row = {
        "item_id": "i",
        "discourse_id": "d",
        "conditions": [
            {"condition_name": "a", "content": "good"},
            {"condition_name": "b", "content": "bad"},
        ],
        "predictions": [{"formula": "(*;%b%) > (*;%a%)", "metric": "sum", "groups": ["g"]}],
    }
    ((pair, reason),) = row_pairs(json.loads(json.dumps(row)))
    assert pair is not None
    assert (pair["sentence_good"], pair["sentence_bad"], reason) == ("good", "bad", "")

"""Pairs of texts, and the task files that read the same pairs from the published rows."""

from __future__ import annotations

import ast
import importlib.util
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import log
from pathlib import Path
from typing import Any

import jsonlines
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.suites import Sample
from support.task_files import read_task
from support.toy_shapes import HEADLINE

from coherencegym.builders.export.item_pairs import (
    GOES_ON,
    JOINED,
    NO_PAIR,
    SAME_TEXT,
    SEPARATED,
    WITHOUT_TEXT,
    compared,
    process_docs,
    process_results,
    row_pairs,
)
from coherencegym.builders.export.pairs import (
    HarnessTask,
    harness_files,
    module_text,
    pair_table,
    tasks,
)
from coherencegym.builders.export.write import ExportedRelease, export
from coherencegym.builders.release.manifest import data_path
from coherencegym.escapes import markdown_text
from coherencegym.eval.data.dataset import ItemTable, tables
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.kinds.formula import WHOLE, parse_formula
from coherencegym.eval.kinds.items import TIE_BITS, Condition, Item, Prediction, Region
from coherencegym.eval.kinds.table_kind import to_row
from coherencegym.eval.models.load import load
from coherencegym.eval.plan.options import Options
from coherencegym.eval.plan.requests import Query
from coherencegym.eval.surprisal import ScoredCondition, surprisals

RELEASE = ExportedRelease("me/shapes", "v1.2.0", "1.2.0", "shapes", {})


def records(folder: Path, name: str) -> list[dict[str, Any]]:
    with jsonlines.open(folder / f"{name}.jsonl") as lines:
        return list(lines)


def load_task(folder: Path, name: str) -> dict[str, Any]:
    """A task with what its template says, as the harness puts them together."""
    place = folder / "tasks" / "coherencegym_shapes"
    own = read_task(place / f"coherencegym_shapes_{name}.yaml")
    return {**read_task(place / own.pop("include")), **own}


def documents(folder: Path, rows: Any, task: dict[str, Any]) -> list[dict[str, Any]]:
    """The documents of a task, as the harness makes them from the rows."""
    module_name, function = task["process_docs"].removeprefix("function ").split(".")
    path = folder / "tasks" / "coherencegym_shapes" / f"{module_name}.py"
    made: list[dict[str, Any]] = getattr(loaded(path), function)(rows).to_list()
    return made


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


def pairs_of(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = ("sentence_good", "sentence_bad", "context_good", "context_bad")
    return [{name: record[name] for name in names} | {"tokens": 1} for record in found]


def test_a_record_has_what_blimp_has_and_where_it_is_from(exported: Path) -> None:
    first, second = records(exported, "shapes_mention-test")
    assert first == {
        "field": "discourse",
        "linguistics_term": "shapes",
        "UID": "shapes_mention",
        "simple_LM_method": True,
        "lexically_identical": False,
        "pairID": "0",
        "corpus": "shapes",
        "config": "shapes_mention",
        "split": "test",
        "sentence_good": "Ann ran. She fell.",
        "sentence_bad": "Ann ran. Ann fell.",
        "context_good": "Ann ran.",
        "context_bad": "Ann ran.",
        "item_id": "mention1/x",
        "discourse_id": "mention1",
        "cluster": "mention1",
        "good_condition": "pronoun",
        "bad_condition": "repetition",
        "region": "2",
        "metric": "sum",
        "groups": ["sum"],
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
    # The connective is outside region 3, which a mean is over: the same words after another one.
    assert {(record["context_good"], record["simple_LM_method"]) for record in found[:3]} == {
        ("He slept as", False),
        ("He slept since", False),
    }
    assert len(found) == 3 + 2 + 3 + 3 + 2


def test_a_separator_is_refused_and_said(shapes: Path, tmp_path: Path) -> None:
    lines = export(find_dataset(str(shapes)), "pairs", tmp_path / "out")
    assert lines == [
        f"as texts: 18 pairs, and 3 tasks for lm-evaluation-harness, written to {tmp_path / 'out'}",
        "left out as pairs, shapes_mention (test): 2, metric mean, where other tools compare sums",
        f"left out as pairs, shapes_turns (test): 1, {SEPARATED}",
        # Of `as` as a preposition: no aggregate has them.
        "in no task, shapes_connective (test): 2 pairs, in groups that no aggregate has",
        # The config's score is over means, of other words.
        "in no task, shapes_mention (test): 2 pairs, in groups that no aggregate has",
    ]
    assert [r["item_id"] for r in records(tmp_path / "out", "shapes_turns-test")] == [
        "turns1/x",
        "turns3/x",
        "turns4/x",
    ]
    assert f"| `shapes_turns` | test | 1 | {markdown_text(SEPARATED)} |" in (
        tmp_path / "out" / "PAIRS.md"
    ).read_text(encoding="utf-8")


SHAPES_TASKS = {
    "coherencegym_shapes_shapes_connective_different_sense_same_syntax",
    "coherencegym_shapes_shapes_connective_different_over_same_same_syntax",
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
        # Every text is read after the start token alone.
        assert (task["doc_to_text"], task["target_delimiter"]) == ("", "")
        assert task["doc_to_choice"] == "choices"
        # It would stand before every text.
        assert "description" not in task
        made = documents(exported, published(shapes, task), task)
        assert task["metadata"]["pairs"] == sum(len(document["pairs"]) for document in made)
        # From the files that are written with them come the same documents.
        about = task["metadata"]
        local = loaded(exported / "local.py").pairs(**about)[about["split"]]
        assert documents(exported, local, task) == made
        for document in made:
            read = [text for pair in document["pairs"] for text in (*pair.values(),)[:4]]
            assert len(set(document["choices"])) == len(document["choices"])
            assert set(document["choices"]) <= set(read)


def test_a_config_with_a_headline_has_a_task_for_each_group(shapes: Path, exported: Path) -> None:
    found = records(exported, "shapes_connective-test")
    for name, group, number in (
        ("different_sense_same_syntax", HEADLINE, 8),
        ("different_over_same_same_syntax", "different > same, same syntax", 3),
    ):
        task = load_task(exported, f"shapes_connective_{name}")
        wanted = pairs_of([record for record in found if group in record["groups"]])
        made = documents(exported, published(shapes, task), task)
        assert [pair for document in made for pair in document["pairs"]] == wanted
        assert len(wanted) == number


def item(*predictions: Prediction, texts: dict[str, list[str]], number: int = 1) -> Item:
    conditions = tuple(
        Condition(name, " ".join(parts), tuple(Region(i, t) for i, t in enumerate(parts, start=1)))
        for name, parts in texts.items()
    )
    return Item(f"i{number}", number, conditions, predictions, f"d{number}", "c")


def table(*items: Item, headline: str = "", split: str = "test") -> ItemTable:
    return ItemTable("c", split, items, "", False, False, headline=headline)


TEXTS = {
    "a": ["x", "y", "z"],
    "b": ["x", "q", "z"],
    "copy": ["x", "y", "z"],
    "empty": ["x", "", "z"],
    "sep": ["x", "[SEP]", "z"],
    "q": ["[q", "y", "z"],
    "late": ["", "y", "z"],
}


@pytest.mark.parametrize(
    ("formula", "metric", "found"),
    [
        ("(*;%b%) > (*;%a%)", "sum", ("x y z", "x q z", "", "")),
        ("(*;%b%) > (*;%a%)", "mean", "metric mean, where other tools compare sums"),
        ("(3;%b%) > (3;%a%)", "sum", ("x y z", "x q z", "x y", "x q")),
        ("(3;%b%) > (3;%a%)", "mean", ("x y z", "x q z", "x y", "x q")),  # the same words
        ("(3;%b%) > (3;%a%)", "median", "metric median, where other tools compare sums"),
        ("(2;%b%) > (2;%a%)", "sum", ("x y", "x q", "x", "x")),  # what follows is not read
        ("(2;%b%) > (2;%a%)", "mean", "metric mean, where other tools compare sums"),
        ("(1;%b%) > (1;%a%)", "sum", SAME_TEXT),
        ("(2;%a%) > (2;%copy%)", "sum", SAME_TEXT),
        ("(1;%a%) > (2;%b%)", "sum", NO_PAIR),
        ("(2;%a%) > (2;%unknown%)", "sum", NO_PAIR),
        ("(2;%b%) + (3;%b%) > (3;%a%) + (2;%a%)", "sum", ("x y z", "x q z", "x", "x")),
        ("(1;%a%) + (3;%a%) > (1;%b%) + (3;%b%)", "sum", NO_PAIR),
        ("(2;%a%) + (2;%a%) > (2;%b%) + (2;%b%)", "sum", NO_PAIR),
        ("(1;%a%) - (1;%b%) > 0", "sum", NO_PAIR),
        ("(1;%a%) = (1;%b%)", "sum", NO_PAIR),
        ("(2;%empty%) > (2;%a%)", "sum", WITHOUT_TEXT),
        ("(3;%sep%) > (3;%a%)", "sum", SEPARATED),
        ("(1;%sep%) > (1;%q%)", "sum", ("[q", "x", "", "")),  # it stands behind what is compared
        ("(2;%late%) > (2;%a%)", "sum", ("x y", " y", "x", "")),
        (
            "(2;%late%) > (2;%a%)",
            "mean",
            "metric mean, where other tools compare sums",
        ),  # another token where a text begins
    ],
)
def test_what_sums_decide_is_a_pair_and_all_else_has_a_reason(
    formula: str, metric: str, found: Any
) -> None:
    made = pair_table(table(item(Prediction(formula, metric), texts=TEXTS)), "s")
    if made.refused:
        assert (made.refused, made.made) == ({found: 1}, [])
    else:
        assert [tuple(pair.values())[:4] for pair in pairs_of(made.made)] == [found]


@pytest.mark.parametrize(
    ("before", "joint", "end", "after", "reason"),
    [
        ("x", " ", "y", "", ""),
        ("x", "\n\n", "y", " z", ""),
        ("x", "", "y", "", JOINED),
        ("x", "", ", y", ". z", ""),  # no tokenizer of words joins them
        ("cold—", "", "but", "", JOINED),  # several do
        ("x", "", "-y", "", JOINED),
        ("7", "", ", y", "", JOINED),
        ("x", " ", "y", "z", GOES_ON),
        ("x", " ", "y.", ", z", GOES_ON),
    ],
)
def test_a_region_begins_and_ends_where_no_token_reaches_across(
    before: str, joint: str, end: str, after: str, reason: str
) -> None:
    rest = after.strip()
    conditions = tuple(
        Condition(
            name,
            f"{before}{joint}{end}{own}{after}",
            (Region(1, before), Region(2, end + own), Region(3, rest)),
        )
        for name, own in (("a", ""), ("b", " " + end.lstrip(", ")))
    )
    one = Item("i", 1, conditions, (Prediction("(2;%b%) > (2;%a%)", "sum"),), "d", "c")
    made = pair_table(table(one), "s")
    assert list(made.refused) == [reason] * bool(reason)
    assert len(made.made) == (not reason)


def test_an_accuracy_is_over_the_pairs_of_an_item_and_a_tie_is_no_success() -> None:
    texts = {"a": ["x", "y"], "b": ["x", "z"], "c": ["w", "y"]}
    predictions = [
        Prediction("(2;%b%) > (2;%a%)", "sum"),
        Prediction("(2;%c%) > (2;%a%)", "mean"),
        Prediction("(2;%b%) < (2;%a%)", "sum"),
    ]
    pairs = [pair for pair, _ in row_pairs(to_row(item(*predictions, texts=texts))) if pair]
    (document,) = process_docs(pairs)
    assert document["choices"] == ["x y", "x z", "w y", "x", "w"]

    def accuracy(*logs: float) -> float:
        return process_results(document, [(log, False) for log in logs])["acc"]

    assert accuracy(-5, -6, -9, -2, -3) == pytest.approx(2 / 3)
    # By the whole text it would be wrong, but not by the region.
    assert accuracy(-5, -6, -4.5, -2, -1) == pytest.approx(2 / 3)
    assert accuracy(-5, -6, -4.5, -2, -1.5) == pytest.approx(1 / 3)
    assert accuracy(-5, -5.00005, -9, -2, -3) == pytest.approx(1 / 3)


@pytest.mark.parametrize("suite", ["coreference", "winograd"])
def test_log_probabilities_of_texts_decide_as_the_evaluator_does(
    suite: str, built_sample: Sample, demo_once: None
) -> None:
    demo = load("demo", device="cpu")

    def bits(texts: Iterable[Sequence[Condition]]) -> list[Mapping[str, ScoredCondition]]:
        queries = [
            Query("", each, {one.condition_name: frozenset({WHOLE}) for one in each})
            for each in texts
        ]
        answers = surprisals(demo.model, demo.tokenizer, queries, Options()).items
        return [answer.conditions for answer in answers]

    made, items = [], []
    for whole in tables(find_dataset(str(built_sample(suite)[0]))):
        one = replace(whole, items=tuple(whole.items)[:15])
        made += pair_table(one, suite).made
        items += [(whole.config, item) for item in one.items]
    own = bits([item.conditions for _, item in items])
    scored = {
        (config, item.item_id): (item, found)
        for (config, item), found in zip(items, own, strict=True)
    }
    texts = {text for pair in made for text in (*pairs_of([pair])[0].values(),)[:4] if text}
    (read,) = bits([[Condition(text, text, (Region(1, text),)) for text in texts]])
    after_others = 0
    for pair in made:
        item, found = scored[pair["config"], pair["item_id"]]
        values = {}
        for side in ("bad", "good"):
            condition = item.condition(pair[f"{side}_condition"])
            region = WHOLE if pair["region"] == WHOLE else int(pair["region"])
            if region != WHOLE:
                start, end = condition.region_offsets[region - 1]
                assert pair[f"sentence_{side}"] == condition.content[:end]
                assert pair[f"context_{side}"] == condition.content[:start].rstrip()
            own_bits = found[condition.condition_name].region_bits(region)
            values[side] = own_bits.mean() if pair["metric"] == "mean" else own_bits.sum()
        after_others += pair["context_bad"] != pair["context_good"]
        (document,) = process_docs([pair])
        logs = [-log(2) * read[text].region_bits(WHOLE).sum() for text in document["choices"]]
        met = values["bad"] - values["good"] > TIE_BITS
        assert process_results(document, [(each, False) for each in logs]) == {"acc": float(met)}
    assert after_others > 10


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


def test_a_task_is_main_if_its_accuracy_is_what_the_headline_score_is_over() -> None:
    by = [Prediction("(*;%b%) > (*;%a%)", metric, (metric,)) for metric in ("mean", "sum")]
    release = replace(RELEASE, configs={"c": {"in_headline": True}})

    def made(*predictions: Prediction, headline: str = "") -> list[HarnessTask]:
        one = table(item(*predictions, texts={"a": ["x", "y"], "b": ["x", "z"]}), headline=headline)
        return tasks(pair_table(one, "s"), release)

    assert made(*by, headline="mean") == []
    (task,) = made(*by, headline="sum")
    assert (task.name, task.main) == ("coherencegym_shapes_c", True)
    assert task.note == "acc is the CD score in the row `c` of `coherencegym score`."
    # Without a headline a config's score is over both: the sums have a row of their own.
    (task,) = made(*by)
    assert (task.name, task.main) == ("coherencegym_shapes_c_sum", False)
    assert task.note == "acc is the CD score in the row `sum` of `coherencegym score`."
    (task,) = made(by[1], replace(by[1], formula="(1;%b%) > (1;%a%)"))
    assert (task.name, task.main) == ("coherencegym_shapes_c", False)
    assert task.note.startswith("acc is over 1 of the 2 predictions in the row `c` of")
    release = replace(RELEASE, configs={"c": {"in_headline": False}})
    assert not made(by[1])[0].main


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
            {
                "condition_name": name,
                "content": text,
                "regions": [{"region_number": 1, "content": text}],
            }
            for name, text in (("a", "good"), ("b", "bad"))
        ],
        "predictions": [{"formula": "(*;%b%) > (*;%a%)", "metric": "sum", "groups": ["g"]}],
    }
    ((pair, reason),) = row_pairs(json.loads(json.dumps(row)))
    assert pair is not None
    assert (pair["sentence_good"], pair["sentence_bad"], reason) == ("good", "bad", "")

"""Pairs of people's own: tuples, frames and files become items, and what is wrong is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pytest

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.dataset import tables
from coherencegym.eval.data.pairs import (
    GOOD_AND_BAD,
    PairChoices,
    are_pairs,
    table_of_pairs,
)
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.kinds.items import ITEMS, Item, contrasted
from coherencegym.eval.run.data import items_of_pairs
from coherencegym.eval.run.texts import labelled_texts
from coherencegym.eval.tasks.options import options_from

GOOD, BAD = "The dog sat.", "Sat dog the."


def items(pairs: Any, **how: Any) -> list[Item]:
    """The items of some pairs, each of which can be read."""
    _, table = table_of_pairs(pairs, options_from(PairChoices, how))
    return [ITEMS.from_row(item) for item in table.items]


def test_a_pair_is_an_item_that_predicts_the_second_to_be_more_surprising() -> None:
    (item,) = items([(GOOD, BAD)])
    assert [one.content for one in item.conditions] == [GOOD, BAD]
    assert [(one.formula, one.metric) for one in item.predictions] == [
        ("(1;%bad%) > (1;%good%)", "sum")
    ]
    assert (item.item_id, item.cluster) == ("000001", "000001")


@pytest.mark.parametrize(
    ("context", "text", "content"),
    [
        ("Tom saw", "a dog.", "Tom saw a dog."),
        ("Tom saw", " a dog.", "Tom saw a dog."),
        ("User: hi\n", "Hello.", "User: hi\nHello."),
        ("", "A dog.", "A dog."),
    ],
)
def test_a_context_is_read_before_both_and_not_compared(
    context: str, text: str, content: str
) -> None:
    (item,) = items([(context, text, BAD)], aggregation="mean")
    assert item.conditions[0].content == content
    assert [one.content for one in item.conditions[0].regions] == [context.strip(), text.strip()]
    assert item.predictions[0].formula == "(2;%bad%) > (2;%good%)"
    assert item.predictions[0].metric == "mean"


@pytest.mark.parametrize("columns", GOOD_AND_BAD)
def test_columns_that_people_have_are_known(columns: tuple[str, str]) -> None:
    row = dict(zip(columns, (GOOD, BAD), strict=True))
    for given in (pd.DataFrame([row]), [row]):
        assert are_pairs(given)
        (item,) = items(given)
        assert [one.content for one in item.conditions] == [GOOD, BAD]


def test_pairs_of_the_same_texts_are_one_cluster() -> None:
    pairs = [(GOOD, BAD), ("It rained.", "Rained it."), (GOOD, BAD), (BAD, GOOD), (GOOD, BAD)]
    found = [one.cluster for one in items(pairs)]
    assert found == ["000001", "000002", "000001", "000004", "000001"]


def test_columns_may_be_named_and_cluster_and_group() -> None:
    rows = [
        {"x": f"{GOOD} {n}", "y": BAD, "document": n // 2, "genre": "ab"[n % 2], "pair_id": f"p{n}"}
        for n in range(4)
    ]
    how = {"good": "x", "bad": "y", "cluster_by": "document", "group_by": "genre"}
    _, table = table_of_pairs(rows, options_from(PairChoices, how), limit=3)
    assert table.breakdowns == ("genre",)
    assert [one.cluster for one in table.items] == ["0", "0", "1"]
    assert [one.extra["genre"] for one in table.items] == ["a", "b", "a"]
    assert [one.item_id for one in table.items] == ["p0", "p1", "p2"]


def as_csv(path: Path, rows: list[dict[str, str]]) -> None:
    pd.DataFrame(rows).to_csv(path, index=False)


def as_tsv(path: Path, rows: list[dict[str, str]]) -> None:
    pd.DataFrame(rows).to_csv(path, index=False, sep="\t")


def as_jsonl(path: Path, rows: list[dict[str, str]]) -> None:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def as_parquet(path: Path, rows: list[dict[str, str]]) -> None:
    pd.DataFrame(rows).to_parquet(path)


@pytest.mark.parametrize(
    ("ending", "write"),
    [("csv", as_csv), ("tsv", as_tsv), ("jsonl", as_jsonl), ("parquet", as_parquet)],
)
def test_files_keep_texts_as_they_are(
    tmp_path: Path, ending: str, write: Callable[[Path, list[dict[str, str]]], None]
) -> None:
    """Also such as look like a number, a date, a missing value, or have quotes."""
    texts = ["1984", "NA", "2020-01-02", 'He said "no", and left.', "ünï\ttab"]
    path = tmp_path / f"mine.{ending}"
    write(path, [{"good": text, "bad": BAD} for text in texts])
    source, table = table_of_pairs(path)
    assert (source.suite, table.config) == ("mine", "mine")
    assert [one.conditions[0].content for one in table.items] == texts


@pytest.mark.parametrize(
    ("pairs", "how", "said"),
    [
        ([], {}, "no pair; expected at least one"),
        ([("a",)], {}, "pair 1: ('a',); expected (good, bad) or (context, good, bad)"),
        ([(GOOD, BAD), (GOOD, " ")], {}, "row 2: bad: ' '; expected a text"),
        ([(GOOD, None)], {}, "row 1: bad: None; expected a text"),
        ([{"x": GOOD, "y": BAD}], {}, "columns x, y; expected sentence_good/sentence_bad, good"),
        ([{"good": GOOD, "bad": BAD}], {"good": "god"}, "no column 'god'; there are good, bad"),
        ([{"good": GOOD, "bad": BAD}], {"cluster_by": "d"}, "no column 'd'"),
        ([{"good": GOOD, "bad": BAD, "id": 7}] * 2, {}, "row 2: '7' is the id of row 1"),
        (
            [(GOOD, BAD)],
            {"aggregation": "total"},
            "aggregation='total'; expected one of 'mean', 'sum'",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(pairs: Any, how: Any, said: str) -> None:
    with pytest.raises(EvaluationError) as error:
        table_of_pairs(pairs, options_from(PairChoices, how))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_no_table_is_refused(tmp_path: Path) -> None:
    for name, content in (("a.jsonl", "{"), ("a.parquet", "no"), ("a.csv", 'a\n"b')):
        (tmp_path / name).write_text(content)
        with pytest.raises(EvaluationError, match=f"{name}: cannot be read"):
            table_of_pairs(tmp_path / name)
    with pytest.raises(EvaluationError, match=r"a.xlsx: expected a file that ends in \.csv"):
        table_of_pairs(tmp_path / "a.xlsx")


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet"])
@pytest.mark.parametrize("content", ["", "\ufeff\n \n"])
def test_an_empty_file_is_called_empty(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    expected = "the file is empty; expected columns such as sentence_good and better, and rows$"
    with pytest.raises(EvaluationError, match=f"{name}: {expected}"):
        table_of_pairs(path, PairChoices(bad="better"))
    with pytest.raises(EvaluationError, match=r"empty; expected a column 'text', and rows$"):
        labelled_texts(path)
    with pytest.raises(EvaluationError, match=r"a\.txt: the file is empty; expected a text on"):
        labelled_texts(path.replace(tmp_path / "a.txt"))
    (tmp_path / "a.txt").replace(path)
    if name != "a.tsv":  # which no loader of the Hub's library reads
        with pytest.raises(EvaluationError, match=rf"cannot be read \(.*{name} is empty\)$"):
            list(tables(find_dataset(str(tmp_path))))


def test_pairs_have_the_baselines_of_suites() -> None:
    """A word that only worse texts have gives them away; repeated words do not, here they tie."""
    pairs = [(f"A b{i}.", f"Some word{i} xyz.") for i in range(40)]
    (table,) = items_of_pairs(pairs).tables
    assert table.baselines is not None
    table.baselines.check()
    decided = table.baselines.decisions(table.items)
    assert decided["partial_input"] == {item.item_id: [1.0] for item in table.items}
    assert decided["lexical_overlap"] == {}
    first = list(table.items)[:1]
    assert [*table.baselines.decisions(first)["partial_input"]] == [first[0].item_id]
    # Every good side is the shorter one: no weights undo that.
    assert table.baselines.weights(table.items) == {} == decided["surface"]


def test_the_context_is_what_words_are_repeated_from() -> None:
    pairs = [("The cat sat.", "The cat slept.", "Rain fell."), ("It rained.", "Go.", "It rained!")]
    (table,) = items_of_pairs(pairs).tables
    assert table.baselines is not None
    decided = table.baselines.decisions(table.items)
    assert [*decided["lexical_overlap"].values()] == [[1.0], [0.0]]
    assert decided["partial_input"] == {}  # too few to learn from
    first = next(iter(table.items))
    assert contrasted(first).views == {"good": ("The cat slept.",), "bad": ("Rain fell.",)}


def test_an_empty_cell_of_a_context_is_no_context(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(f"context,good,bad\n,{GOOD},{BAD}\nTom looked.,{GOOD},{BAD}\n", "utf-8")
    _, of_file = table_of_pairs(path)
    of_frame = items(pd.read_csv(path))
    assert [one.content for item in of_frame for one in item.conditions] == [
        *(GOOD, BAD),
        *(f"Tom looked. {GOOD}", f"Tom looked. {BAD}"),
    ]
    assert of_frame == list(of_file.items)


def test_unknown_columns_are_named_with_the_options_that_take_them() -> None:
    with pytest.raises(EvaluationError, match="with --good and --bad, in Python good= and bad="):
        items([{"a": GOOD, "b": BAD}])

"""``coherencegym show``: what it says of an item, on the terminal and in a pipe."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands import one_line
from support.results import NO_TABLE

from coherencegym.eval.commands.cli import main
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.plan.options import DEFAULT, Options
from coherencegym.eval.tasks.score.predictions import prediction_outcomes
from coherencegym.eval.tasks.score.scoring import score_items
from coherencegym.eval.views.item_text import item_lines, outcome_text, tokens_of

FORMULA = "(2;%shuffled%) > (2;%original%)"


@pytest.fixture(scope="module")
def saved(
    tmp_path_factory: pytest.TempPathFactory,
    save_model: Callable[..., Path],
    make_item: Callable[..., Item],
    pair_items: list[Item],
    write_dataset: Callable[..., Path],
) -> Path:
    """A folder with a model, and a dataset of two configs that have one item in common."""
    folder = tmp_path_factory.mktemp("show")
    save_model(folder / "model")
    for config, items in (("one", pair_items[:5]), ("two", pair_items[4:])):
        write_dataset(folder / "data", items, config, extra={"moved": "bool"})
    return folder


def show(saved: Path, *words: str) -> int:
    return main(
        [
            *("show", "--model", str(saved / "model"), "--dataset", str(saved / "data")),
            *("--device", "cpu", *words),
        ]
    )


@pytest.fixture(scope="module")
def model(make_model: Callable[..., Any], make_tokenizer: Callable[..., Any]) -> tuple[Any, Any]:
    tokenizer = make_tokenizer(sep="<sep>")
    return make_model("gpt2", tokenizer), tokenizer


#: The lines on an item.
Lines = Callable[..., list[str]]


@pytest.fixture(scope="module")
def lines(model: tuple[Any, Any]) -> Lines:
    """What is said of an item under a tiny model."""

    def make(item: Item, chosen: Sequence[str] = ()) -> list[str]:
        scored = score_items(*model, [item], Options(every_token=True)).items[0]
        shown = item_lines(scored, NO_TABLE, model[1], chosen, rules=DEFAULT)
        return [line for line, _ in shown]

    return make


def test_every_token_changes_no_value_and_leaves_none_out(
    model: tuple[Any, Any], pair_items: list[Item]
) -> None:
    some, every = (
        score_items(*model, pair_items, Options(every_token=each)) for each in (False, True)
    )
    for few, all_ in zip(some.items, every.items, strict=True):
        for name, condition in all_.conditions.items():
            assert np.isnan(condition.bits[0])
            assert not np.isnan(condition.bits[1:]).any()
            read = few.conditions[name].bits
            assert np.isnan(read[1:]).any()
            np.testing.assert_allclose(
                condition.bits, np.where(np.isnan(read), condition.bits, read), atol=1e-4
            )
            np.testing.assert_allclose(
                condition.region_bits(2), few.conditions[name].region_bits(2), atol=1e-4
            )


def test_a_listing_in_a_pipe(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show(saved, "--item", "d1/shuffled") == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "\x1b" not in printed.out
    lines = printed.out.splitlines()
    assert lines[0] == "d1/shuffled  (one, test)"
    assert lines.index("original") < lines.index("shuffled") < lines.index("predictions")
    tokens = [re.fullmatch(r"  (\S+) +([\d.]+|–)  +(\d|–)", line) for line in lines]
    rows = [match.groups() for match in tokens if match]
    assert rows[0] == ("<s>", "–", "–")
    assert sum(bits == "–" for _, bits, _ in rows) == 2
    assert {region for _, _, region in rows} == {"–", "1", "2"}
    widths = {len(line) for line, match in zip(lines, tokens, strict=True) if match}
    assert len(widths) <= 2  # at most one for each condition
    values = re.search(r"region 2 of shuffled ([\d.]+), region 2 of original ([\d.]+)", printed.out)
    verdict = re.search(r"(met|not met), margin ([+-][\d.]+) bits: (\S.*) \(mean\)", printed.out)
    assert values
    assert verdict
    margin = float(values[1]) - float(values[2])
    assert float(verdict[2]) == pytest.approx(margin, abs=2e-3)
    assert verdict[1] == ("met" if margin > 0 else "not met")
    assert verdict[3] == FORMULA
    own = [float(bits) for _, bits, region in rows if region == "2"]
    assert np.mean(own[: len(own) // 2]) == pytest.approx(float(values[2]), abs=0.01)


def test_values_are_those_that_a_run_reports(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from pyarrow import parquet

    words = ["--model", str(saved / "model"), "--dataset", str(saved / "data"), "--device", "cpu"]
    assert main([*words, "--output", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    assert show(saved, "--item", "d2/shuffled") == 0
    printed = capsys.readouterr().out
    rows = parquet.read_table(tmp_path / "out" / "regions.parquet").to_pylist()
    for row in rows:
        if (row["config"], row["item_id"]) == ("one", "d2/shuffled"):
            found = re.search(rf"region 2 of {row['condition_name']} ([\d.]+)", printed)
            assert found
            assert float(found[1]) == pytest.approx(row["mean_bits"], abs=1e-3)


def test_an_item_is_named_by_how_its_id_begins_or_ends(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["d1"], ["1/shuffled"], ["d4/shuffled", "--config", "two"]):
        assert show(saved, "--item", *words) == 0
        assert capsys.readouterr().out.startswith("d")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--item", "d33/shuffled"], "no such item among 8; the nearest are d3/shuffled"),
        (["--item", ""], "no such item"),
        (["--item", "shuffled"], "8 items begin or end so: d0/shuffled"),
        (["--item", "d4/shuffled"], "is in the configs one, two; choose one with --config"),
        (["--item", "d1", "--config", "three"], "no config 'three'"),
        (["--item", "d1", "--conditions", "x"], "no condition 'x'; expected one of original"),
        (["--item", "d1", "--compat", "syntaxgym-2021", "--bos", "never"], "--bos"),
    ],
)
def test_what_the_user_can_mend_is_one_line(
    words: list[str], what: str, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show(saved, *words) == 2
    printed = capsys.readouterr()
    assert what in one_line(printed.err)
    assert printed.out == ""


def test_an_item_in_two_splits_asks_for_the_split(pair_items: list[Item]) -> None:
    from coherencegym.errors import EvaluationError
    from coherencegym.eval.data.dataset import ItemTable
    from coherencegym.eval.views.item_text import find_item

    tables = [ItemTable("c", s, tuple(pair_items), "", False, False) for s in ("dev", "test")]
    with pytest.raises(EvaluationError, match="the splits dev, test; choose one with --split"):
        find_item(tables, "d1/shuffled")
    table, item = find_item(tables[1:], "d1")
    assert (table.split, item.item_id) == ("test", "d1/shuffled")


def test_only_chosen_conditions_and_what_can_be_said_of_them(
    lines: Lines, make_item: Callable[..., Item]
) -> None:
    item = make_item(
        {name: ["It rained", word] for name, word in (("a", "so"), ("b", "yet"), ("unread", "as"))},
        "(2;%a%) > (2;%b%)",
        "(1;%a%) < 99",
    )
    names = ("a", "b", "unread")
    assert [line for line in lines(item) if line in names] == ["a", "b"]
    chosen = lines(item, ["a", "unread"])
    assert [line for line in chosen if line in names] == ["a", "unread"]
    assert [line.partition(": ")[2] for line in chosen if "margin" in line] == [
        "(1;%a%) < 99 (mean)"
    ]
    assert chosen[-1] == "  1 more read conditions that are not shown"


def test_a_difference_within_the_error_of_the_run_is_too_close_to_call(
    model: tuple[Any, Any], pair_items: list[Item]
) -> None:
    (scored,) = score_items(*model, pair_items[:1], Options(every_token=True)).items
    for error, close in ((0.0, False), (1e6, True)):
        first, *_ = prediction_outcomes(scored, NO_TABLE, error=error)
        assert outcome_text(first).endswith("too close to call") == close


def test_separators_and_parts_of_characters_have_names(
    model: tuple[Any, Any], make_item: Callable[..., Item]
) -> None:
    item = make_item({"a": ["Hi 👍", "[SEP] no"], "b": ["Hi", "[SEP] yes"]}, "(2;%a%) > (2;%b%)")
    scored = score_items(*model, [item], Options(every_token=True)).items[0]
    tokens = tokens_of(scored.conditions["a"], item.condition("a").content, model[1])
    assert tokens[0] == ("<s>", None, None)
    ((_, bits, region),) = (token for token in tokens if token[0] == "<sep>")
    assert region is None
    assert bits is not None
    assert sum("👍" in text for text, _, _ in tokens) == 1
    assert all(bits is not None and bits > 0 for _, bits, _ in tokens[1:])


def test_an_item_that_cannot_be_shown_says_why(
    make_item: Callable[..., Item],
    make_model: Callable[..., Any],
    make_tokenizer: Callable[..., Any],
) -> None:
    from coherencegym.errors import EvaluationError

    tokenizer = make_tokenizer(eos=None)
    model = make_model("gpt2", tokenizer, n_positions=16)
    long = make_item({"a": ["It rained. " * 20], "b": ["It"]}, "(1;%a%) > (1;%b%)")
    dialogue = make_item({"a": ["Hi [SEP] no"], "b": ["Hi"]}, "(1;%a%) > (1;%b%)")
    for item, what in ((long, "too long"), (dialogue, "--separator")):
        scored = score_items(model, tokenizer, [item], Options(every_token=True)).items[0]
        with pytest.raises(EvaluationError, match=what):
            list(item_lines(scored, NO_TABLE, tokenizer, rules=DEFAULT))

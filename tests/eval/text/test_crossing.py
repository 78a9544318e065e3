"""Tokens that hold several words: what crosses into a scored region counts alike, or not at all.

The oracle is the plain model in float64, and the places that the tokenizer itself says.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import tiny_tokenizers as tiny
from support.results import JudgedPrediction, judged_predictions

import coherencegym as cg
from coherencegym.eval.commands.cli import main
from coherencegym.eval.kinds.formula import WHOLE
from coherencegym.eval.kinds.items import METRICS, Condition, Item, Region
from coherencegym.eval.plan.requests import Query
from coherencegym.eval.surprisal import surprisals
from coherencegym.eval.tasks.score.scoring import region_value, score_items

TEXTS = [
    "one of the men ran to the park and one of the dogs ran to the house",
    "in the end of the day she was in the park",
]


class Oracle:
    """A tiny model of a tokenizer whose tokens hold several words, read in float64."""

    def __init__(self, make_model: Callable[..., Any]) -> None:
        self.tokenizer = tiny.several_words(TEXTS)
        self.model = make_model("llama", self.tokenizer)
        self._exact = copy.deepcopy(self.model).double()

    def bits(self, text: str) -> list[tuple[int, int, float]]:
        """First character that is no space, end, and surprisal (bits) of each token of a text."""
        import torch

        found = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        ids = [self.tokenizer.bos_token_id, *found["input_ids"]]
        with torch.inference_mode():
            logs = self._exact(torch.tensor([ids])).logits[0].log_softmax(-1) / math.log(2)
        return [
            (
                len(text) - len(text[start:].lstrip()),
                len(text[:end].rstrip()),
                -float(logs[n, ids[n + 1]]),
            )
            for n, (start, end) in enumerate(found["offset_mapping"])
        ]

    def total(self, text: str) -> float:
        """The surprisal (bits) of a whole text."""
        return math.fsum(bits for _, _, bits in self.bits(text))


@pytest.fixture(scope="module")
def oracle(make_model: Callable[..., Any]) -> Oracle:
    return Oracle(make_model)


def evaluate(oracle: Oracle, item: Item) -> list[JudgedPrediction]:
    (scored,) = score_items(oracle.model, oracle.tokenizer, [item]).items
    return list(judged_predictions(scored))


WORDS = st.sampled_from(["one", "of", "the", "men", "dogs", "ran", "to", "park", "day", "x", "—"])


@given(st.lists(WORDS, min_size=1, max_size=7), st.data())
def test_regions_add_up_to_the_text_and_one_without_a_token_has_no_value(
    oracle: Oracle, words: list[str], data: st.DataObject
) -> None:
    text = " ".join(words)
    places = data.draw(st.lists(st.integers(0, len(text)), max_size=3).map(sorted))
    cuts = [0, *places, len(text)]
    parts = [text[a:b] for a, b in pairwise(cuts)]
    condition = Condition("c", text, tuple(Region(n, part) for n, part in enumerate(parts, 1)))
    query = Query("q", [condition], {"c": frozenset({WHOLE})})
    (answer,) = surprisals(oracle.model, oracle.tokenizer, [query]).items
    read = answer.conditions["c"]
    tokens = oracle.bits(text)
    ends = list(accumulate(map(len, parts)))
    for number, (part, end) in enumerate(zip(parts, ends, strict=True), 1):
        own = [bits for start, _, bits in tokens if end - len(part) <= start < end]
        values = {metric: region_value(read, number, metric) for metric in METRICS}
        if not own:
            nothing = None if part.strip() else 0.0
            assert values == {**dict.fromkeys(METRICS), "sum": nothing}
        else:
            assert values["sum"] == pytest.approx(math.fsum(own), abs=1e-4)
    sums = [region_value(read, number, "sum") or 0.0 for number in range(1, len(parts) + 1)]
    assert math.fsum(sums) == pytest.approx(oracle.total(text), abs=1e-3)
    crossing = sum(any(a < place < b for place in ends) for a, b, _ in tokens)
    assert len(read.encoding.crossing) == crossing


def test_a_pair_whose_context_shares_a_token_with_one_text_is_undefined(oracle: Oracle) -> None:
    """Else "the dogs ran" would have the bits of "ran" alone."""
    pairs = [
        ("one of", "the dogs ran", "dogs the ran"),
        # Both begin within "of the dogs".
        ("one of", "the dogs ran", "the dogs day"),
        ("she was", "in the park", "park in the"),
    ]
    model = oracle.model, oracle.tokenizer
    found: Any = cg.score(model, pairs)
    rows = list(cg.rows(found, "predictions"))
    assert [row["reason"] for row in rows] == ["crossing", "", ""]
    for (context, good, bad), row in list(zip(pairs, rows, strict=True))[1:]:
        margin = oracle.total(f"{context} {bad}") - oracle.total(f"{context} {good}")
        assert row["margin"] == pytest.approx(margin, abs=1e-3)
    text = str(found)
    assert "undefined: 1, a token crosses the edge of a compared region in one" in text
    assert "3 tokens cross the edge of a compared region; each counts" in text


@pytest.mark.parametrize(
    ("formula", "metric", "reason"),
    [
        # a: "of the dogs" crosses from 1 into 2; b: it does not; c: as in a.
        ("(2;%a%) > (2;%b%)", "sum", "crossing"),
        ("(1;%a%) > (1;%b%)", "mean", "crossing"),
        ("(2;%a%) > (2;%c%)", "sum", ""),
        ("(1;%a%) > (1;%c%)", "mean", ""),
        ("(1;%a%) > (2;%a%)", "sum", "crossing"),
        ("(3;%a%) > (3;%b%)", "mean", ""),
        ("(*;%a%) > (*;%b%)", "mean", ""),
        ("(1;%a%) + (2;%a%) > (1;%b%) + (2;%b%)", "sum", ""),
        ("(1;%a%) + (2;%a%) > (1;%b%) + (2;%b%)", "mean", "crossing"),
        ("(1;%b%) > (1;%c%) | (3;%a%) > (3;%b%)", "sum", "crossing"),
        ("(2;%a%) - (2;%b%) > (2;%c%) - (2;%b%)", "sum", ""),
        # d: all of 2 is in that token.
        ("(2;%d%) > (2;%b%)", "sum", "crossing"),
        ("(2;%d%) > (2;%e%)", "sum", "empty"),
    ],
)
def test_a_token_must_cross_alike_on_both_sides(
    oracle: Oracle, make_item: Callable[..., Item], formula: str, metric: str, reason: str
) -> None:
    texts = {
        "a": ["one of", "the dogs ran", "to the park"],
        "b": ["one of", "dogs the ran", "to the house"],
        "c": ["men of", "the dogs ran", "to the men"],
        "d": ["one of", "the dogs", "men"],
        "e": ["one of", "the dogs", "park"],
    }
    (found,) = evaluate(oracle, make_item(texts, formula, metric=metric))
    assert found.reason == reason


def test_words_that_share_a_token_are_one_row(oracle: Oracle) -> None:
    text = "one of the dogs ran to the park"
    with pytest.warns(UserWarning, match=r"2 rows are of several words each, which share a token"):
        found = cg.surprisal((oracle.model, oracle.tokenizer), [text], by="word")
    assert found.word.tolist() == ["one", "of the dogs", "ran to the", "park"]
    assert [text[a:b] for a, b in zip(found.start, found.end, strict=True)] == found.word.tolist()
    expected = [bits for _, _, bits in oracle.bits(text)]
    assert found.bits.tolist() == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("by", ["word", "token"])
def test_what_begins_in_the_context_has_no_bits(oracle: Oracle, by: Any) -> None:
    model = oracle.model, oracle.tokenizer
    said = r"1 of 2 texts begin within the last token of their context; the words in this token"
    with pytest.warns(UserWarning, match=said):
        found = cg.surprisal(model, ["the dogs ran", "park"], contexts=["one of", "she"], by=by)
    assert [word.strip() for word in found[by]] == ["the dogs", "ran", "park"]
    assert found.start.tolist() == [0, 9, 0]
    assert [math.isnan(bits) for bits in found.bits] == [True, False, False]
    assert found.bits[1] == pytest.approx(oracle.bits("one of the dogs ran")[-1][2], abs=1e-4)


def test_the_command_says_so_beside_the_rows(
    oracle: Oracle, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    oracle.model.save_pretrained(tmp_path / "model")
    oracle.tokenizer.save_pretrained(tmp_path / "model")
    (tmp_path / "t.csv").write_text("context,text\none of,the dogs ran\n", "utf-8")
    words = ["surprisal", str(tmp_path / "t.csv"), "--model", str(tmp_path / "model")]
    assert main([*words, "--context", "context", "--no-cache"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 3
    assert "1 of 1 texts begin within the last token of their context" in err
    assert "1 rows are of several words each" in err

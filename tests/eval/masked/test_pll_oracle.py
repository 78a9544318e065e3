"""Pseudo-log-likelihoods against an oracle: one row at a time, full softmax, float64.

The oracle shares no code with the scorer: it has its own words (the tokenizer's), masks a copy of
what the tokenizer gives for a text, and never pads, batches or selects.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tiny_encoders import MASKED, masked_model, masked_tokenizer

from coherencegym.eval.forward.cache import Cache
from coherencegym.eval.forward.passes import Forward, Questions
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.plan.options import Options
from coherencegym.eval.surprisal import Surprisals
from coherencegym.eval.tasks.score.numeric_error import measure_error
from coherencegym.eval.tasks.score.scoring import score_items
from coherencegym.eval.text.masks import MaskingChoice


def oracle_bits(
    model: Any,
    tokenizer: Any,
    text: str,
    *,
    within_word: bool = True,
    ahead: int = 0,
    asked: Sequence[bool] | None = None,
) -> tuple[list[int], list[float]]:
    """Ids, and -log2 p of every token but those around the text; `model` is in float64.

    ``asked``: the tokens that are wanted, each of which takes a pass; by default all.
    """
    encoded = tokenizer(text)
    ids, words = encoded["input_ids"], encoded.word_ids()
    bits = []
    for place, word in enumerate(words):
        if word is None or not (asked is None or asked[place]):
            bits.append(math.nan)
            continue
        row = list(ids)
        row[place] = tokenizer.mask_token_id
        for later in range(place + 1, len(ids)) if within_word else ():
            if words[later] == word:
                row[later] = tokenizer.mask_token_id
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([row])).logits[0, place - ahead].double()
        bits.append(-float(torch.log_softmax(logits, -1)[ids[place]]) / math.log(2))
    return ids, bits


#: Every option but the scorer as it is by default.
MASKED_OPTIONS = Options(scorer="auto")


def way(kind: str) -> dict[str, Any]:
    """How an architecture is scored."""
    return {"scorer": "mntp" if kind == "llama" else "auto"}


@pytest.fixture(scope="module")
def whole(make_item: Callable[..., Item]) -> Item:
    """Whole texts, with a word of several tokens, in both conditions."""
    return make_item(
        {"a": ["The weekend was sad.", "It was raining."], "b": ["It was raining.", "A dog."]},
        "(*;%a%) > (*;%b%)",
        "(1;%a%) > (2;%b%)",
        item_id="d9/whole",
    )


@pytest.mark.parametrize("masking", ["within_word_l2r", "original"])
@pytest.mark.parametrize("kind", MASKED)
def test_scores_equal_the_float64_oracle(
    kind: str, masking: Any, pair_items: list[Item], whole: Item
) -> None:
    tokenizer = masked_tokenizer(kind)
    model = masked_model(kind, tokenizer)
    items = [*pair_items[:2], whole]
    options = Options(masking=masking, batch_tokens=150, **way(kind))
    scored = score_items(model, tokenizer, items, options)
    assert 1 < len(scored.plan.batches) < len(scored.plan.sequences)
    exact = copy.deepcopy(model).double()
    how = {"within_word": masking != "original", "ahead": int(kind == "llama")}
    compared = 0
    for item, result in zip(items, scored.items, strict=True):
        for condition in item.conditions:
            found = result.conditions[condition.condition_name]
            read = {1, 2} if item is whole else {2}
            asked = [region in read for region in found.encoding.regions]
            ids, bits = oracle_bits(exact, tokenizer, condition.content, asked=asked, **how)
            assert list(found.encoding.ids) == ids
            for value, region, mine in zip(bits, found.encoding.regions, found.bits, strict=True):
                if region not in read:
                    assert math.isnan(mine)
                else:
                    assert mine == pytest.approx(value, abs=1e-4)
                    compared += 1
    assert compared > 60


def test_the_two_ways_of_masking_differ_where_words_have_several_tokens(whole: Item) -> None:
    tokenizer = masked_tokenizer("bert")
    model = masked_model("bert", tokenizer)
    ways: tuple[MaskingChoice, ...] = ("within_word_l2r", "original")
    options = [replace(MASKED_OPTIONS, masking=masking) for masking in ways]
    found = [score_items(model, tokenizer, [whole], each).items[0] for each in options]
    l2r, original = (one.conditions["a"] for one in found)
    words = l2r.encoding.words
    inner = [a == b for a, b in pairwise(words)] + [False]
    same = np.isclose(l2r.bits, original.bits, equal_nan=True)
    assert any(inner)
    assert (same == ~np.array(inner)).all()


@pytest.mark.parametrize("kind", [kind for kind in MASKED if kind != "llama"])
def test_the_head_is_computed_where_it_is_read_and_nowhere_else(kind: str) -> None:
    model, questions, rows = masked_model(kind, masked_tokenizer(kind)), Questions(2, 6), []
    for row, place in ((0, 2), (1, 1), (1, 4)):
        questions.want(row, np.array([place]), np.array([7]))
    model.get_output_embeddings().register_forward_hook(
        lambda head, arguments, output: rows.append(output.shape[:-1].numel())
    )
    with torch.inference_mode():
        Forward(model, padding=0).read(torch.arange(12).reshape(2, 6), questions)
    assert rows == [3]


def by_name(scored: Surprisals[Item]) -> Mapping[tuple[str, str], np.ndarray]:
    return {
        (one.item.item_id, name): condition.bits
        for one in scored.items
        for name, condition in one.conditions.items()
    }


@settings(max_examples=3, deadline=None)
@given(order=st.permutations(range(4)), batch_tokens=st.integers(1, 900))
def test_order_and_batch_size_never_change_a_score(
    order: list[int], batch_tokens: int, pair_items: list[Item]
) -> None:
    tokenizer = masked_tokenizer("roberta")
    model = masked_model("roberta", tokenizer)
    expected = by_name(score_items(model, tokenizer, pair_items[:4], MASKED_OPTIONS))
    items = [pair_items[i] for i in order]
    options = replace(MASKED_OPTIONS, batch_tokens=batch_tokens)
    found = by_name(score_items(model, tokenizer, items, options))
    for key, bits in expected.items():
        np.testing.assert_allclose(bits, found[key], atol=1e-4)


def test_rows_that_look_alike_are_run_once(make_item: Callable[..., Item]) -> None:
    """Conditions that differ in one token share the row in which it is masked."""
    tokenizer = masked_tokenizer("bert")
    model = masked_model("bert", tokenizer)
    names = {"red": "a", "sad": "b"}
    single = [word for word in ("dog", "ball", "park", "day") if len(tokenizer.tokenize(word)) == 1]
    first, second = single[:2]
    names = {"a": first, "b": second}
    conditions = {name: ["The", word, "was out."] for name, word in names.items()}
    item = make_item(conditions, "(2;%a%) > (2;%b%)")
    again = make_item(conditions, "(2;%a%) > (2;%b%)", item_id="d2/again")
    scored = score_items(model, tokenizer, [item, again], MASKED_OPTIONS)
    (sequence,) = scored.plan.sequences
    assert sequence.masked is not None
    assert len(sequence.masked.targets) == 2
    assert scored.plan.head_rows == 1
    exact = copy.deepcopy(model).double()
    for one in scored.items:
        for name in names:
            _, bits = oracle_bits(exact, tokenizer, one.item.conditions["ab".index(name)].content)
            assert one.conditions[name].region_bits(2) == pytest.approx(bits[2], abs=1e-4)


def test_nothing_is_asked_twice_whatever_is_masked(tmp_path: Path, pair_items: list[Item]) -> None:
    """A second run asks for nothing; the original masking only for what it masks otherwise."""
    tokenizer = masked_tokenizer("bert")
    model = masked_model("bert", tokenizer)
    runs: dict[str, Surprisals[Item]] = {}
    ways: tuple[MaskingChoice, ...] = ("within_word_l2r", "within_word_l2r", "original")
    for masking in ways:
        options = Options(scorer="pll", masking=masking)
        with Cache(tmp_path, options.identity()) as cache:
            scored = score_items(model, tokenizer, pair_items[:3], options, store=cache)
        if masking in runs:
            assert scored.execution.ran == []
            for key, bits in by_name(runs[masking]).items():
                np.testing.assert_array_equal(bits, by_name(scored)[key])
        runs.setdefault(masking, scored)
    original = runs["original"]
    assert 0 < len(original.execution.ran) < len(original.plan.sequences)
    alone = replace(MASKED_OPTIONS, masking="original")
    fresh = score_items(model, tokenizer, pair_items[:3], alone)
    for key, bits in by_name(fresh).items():
        np.testing.assert_allclose(bits, by_name(original)[key], atol=1e-4)


def test_smaller_batches_where_memory_ends(
    pair_items: list[Item], monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = masked_tokenizer("bert")
    model = masked_model("bert", tokenizer)
    expected = by_name(score_items(model, tokenizer, pair_items[:2], MASKED_OPTIONS))
    inner = model.forward

    def small(input_ids: Any = None, attention_mask: Any = None, **more: Any) -> Any:
        if input_ids.numel() > 100:
            raise torch.OutOfMemoryError("out of memory")
        return inner(input_ids=input_ids, attention_mask=attention_mask, **more)

    monkeypatch.setattr(model, "forward", small)
    scored = score_items(model, tokenizer, pair_items[:2], MASKED_OPTIONS)
    assert scored.execution.halved > 0
    for key, bits in by_name(scored).items():
        np.testing.assert_allclose(bits, expected[key], atol=1e-4)


def test_half_precision_is_held_to_float32(pair_items: list[Item]) -> None:
    tokenizer = masked_tokenizer("bert")
    half = masked_model("bert", tokenizer).bfloat16()
    found = by_name(score_items(half, tokenizer, pair_items[:2], MASKED_OPTIONS))
    scored = score_items(half, tokenizer, pair_items[:2], MASKED_OPTIONS, twice=True)
    assert measure_error(half, tokenizer, [(pair_items[:2], None)], MASKED_OPTIONS) > 0
    exact = by_name(score_items(half.float(), tokenizer, pair_items[:2], MASKED_OPTIONS))
    assert len(scored.execution.again) == len(scored.plan.sequences)
    read = {index: float(bits[0]) for index, bits in scored.execution.again.items()}
    assert {round(value, 3) for value in read.values()} == {
        round(float(bit), 3) for bits in exact.values() for bit in bits[~np.isnan(bits)]
    }
    assert any(np.nanmax(np.abs(found[key] - exact[key])) > 1e-3 for key in exact)

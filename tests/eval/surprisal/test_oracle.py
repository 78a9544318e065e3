"""Surprisals against an oracle: one sequence at a time, full softmax, float64.

The oracle shares no code with the scorer: it has its own tokens-to-regions rule, written for
characters, and never pads, batches, cuts or selects.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coherencegym.eval.kinds.items import Condition, Item
from coherencegym.eval.plan.options import Options
from coherencegym.eval.tasks.score.scoring import score_items

KINDS = ("gpt2", "llama", "gpt_neox", "opt", "mamba", "gemma2")


def oracle_bits(model: Any, ids: list[int]) -> list[float]:
    """-log2 p of every token but the first; `model` is in float64."""
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([ids])).logits[0]
    # Mamba's forward returns float32 whatever its weights are; the softmax is in float64 for all.
    logs = torch.log_softmax(logits.double(), dim=-1) / math.log(2)
    return [math.nan, *(-float(logs[p - 1, ids[p]]) for p in range(1, len(ids)))]


def oracle_region(condition: Condition, start: int, end: int) -> int:
    """By looking at each character of the token: the region of the first that is not a space."""
    first = next((i for i in range(start, end) if not condition.content[i].isspace()), None)
    if first is None:
        first = next(i for i in range(start, 10**6) if not condition.content[i].isspace())
    place = 0
    for region in condition.regions:
        place = condition.content.index(region.content, place)
        if place <= first < place + len(region.content):
            return region.region_number
        place += len(region.content)
    raise AssertionError("a character in no region")


@pytest.mark.parametrize("bos", ["auto", "never"])
@pytest.mark.parametrize("kind", KINDS)
def test_scores_equal_the_float64_oracle(
    kind: str,
    bos: Any,
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
    pair_items: list[Item],
    make_item: Callable[..., Item],
) -> None:
    tokenizer = make_tokenizer()
    model = make_model(kind, tokenizer)
    whole = make_item(
        {"a": ["The dog was sad.", "It was raining."], "b": ["It was raining.", "A dog."]},
        "(*;%a%) > (*;%b%)",
        "(1;%a%) > (2;%b%)",
        item_id="d9/whole",
    )
    items = [*pair_items, whole]
    scored = score_items(model, tokenizer, items, Options(bos=bos, batch_tokens=160))
    assert scored.plan.padded_tokens > scored.plan.tokens
    assert 1 < len(scored.plan.batches) < len(scored.plan.sequences)

    exact = copy.deepcopy(model).double()
    compared = 0
    for item, result in zip(items, scored.items, strict=True):
        for condition in item.conditions:
            encoded = tokenizer(
                condition.content, add_special_tokens=False, return_offsets_mapping=True
            )
            ids, offsets = list(encoded["input_ids"]), list(encoded["offset_mapping"])
            start = [] if bos == "never" else [tokenizer.bos_token_id]
            bits = oracle_bits(exact, start + ids)
            found = result.conditions[condition.condition_name]
            assert list(found.encoding.ids) == start + ids
            regions = [oracle_region(condition, a, b) for a, b in offsets]
            expected = bits[len(start) :]
            read = {2} if item is not whole else {1, 2}
            for place, (value, region) in enumerate(zip(expected, regions, strict=True)):
                mine = found.bits[len(start) + place]
                if region not in read or math.isnan(value):
                    assert math.isnan(mine)
                else:
                    assert mine == pytest.approx(value, abs=1e-4)
                    compared += 1
            for region in read:
                values = [
                    v
                    for v, r in zip(expected, regions, strict=True)
                    if r == region and not math.isnan(v)
                ]
                assert found.region_bits(region).mean() == pytest.approx(np.mean(values), abs=1e-4)
    assert compared > 150


def test_surprisals_are_far_from_uniform(
    make_tokenizer: Callable[..., Any], make_model: Callable[..., Any], pair_items: list[Item]
) -> None:
    """Else the comparison with the oracle could not tell one token from another."""
    tokenizer = make_tokenizer()
    scored = score_items(make_model("gpt2", tokenizer), tokenizer, pair_items)
    bits = np.concatenate(
        [c.region_bits(2) for item in scored.items for c in item.conditions.values()]
    )
    assert bits.std() > 1


class FullLogits(torch.nn.Module):  # type: ignore[misc]
    """A model whose forward cannot select rows, as those outside transformers."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner, self.config = inner, inner.config

    def get_input_embeddings(self) -> Any:
        return self.inner.get_input_embeddings()

    def forward(self, input_ids: Any) -> Any:
        return self.inner(input_ids=input_ids)


def test_models_that_cannot_select_rows_score_the_same(
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
    pair_items: list[Item],
) -> None:
    tokenizer = make_tokenizer()
    model = make_model("gpt2", tokenizer)
    expected = score_items(model, tokenizer, pair_items)
    found = score_items(FullLogits(model), tokenizer, pair_items)
    for a, b in zip(expected.items, found.items, strict=True):
        for name, condition in a.conditions.items():
            np.testing.assert_allclose(condition.bits, b.conditions[name].bits, atol=1e-4)


@settings(max_examples=4)
@given(order=st.permutations(range(8)), batch_tokens=st.integers(1, 600))
def test_order_and_batch_size_never_change_a_score(
    order: list[int],
    batch_tokens: int,
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
    pair_items: list[Item],
) -> None:
    tokenizer = make_tokenizer()
    model = make_model("gpt2", tokenizer)
    expected = score_items(model, tokenizer, pair_items)
    items = [pair_items[i] for i in order]
    found = score_items(model, tokenizer, items, Options(batch_tokens=batch_tokens))
    for place, index in enumerate(order):
        for name, condition in expected.items[index].conditions.items():
            again = found.items[place].conditions[name]
            np.testing.assert_allclose(condition.bits, again.bits, atol=1e-4)


def test_a_surprisal_that_is_not_finite_stops_the_run_with_the_item_named(
    make_tokenizer: Callable[..., Any], make_model: Callable[..., Any], pair_items: list[Item]
) -> None:
    tokenizer = make_tokenizer()
    model = make_model("gpt2", tokenizer)
    torch.nn.init.constant_(model.transformer.ln_f.weight, math.nan)
    with pytest.raises(ValueError, match=r"d\d/shuffled: .*not finite; expected another revision"):
        score_items(model, tokenizer, pair_items)
    with pytest.raises(ValueError, match=r"d\d/shuffled: .*not finite; try --dtype float32"):
        score_items(model.half(), tokenizer, pair_items)


def test_a_tokenizer_of_another_model_is_refused(
    make_tokenizer: Callable[..., Any], make_model: Callable[..., Any], pair_items: list[Item]
) -> None:
    tokenizer = make_tokenizer()
    model = make_model("gpt2", tokenizer, vocab_size=50)
    with pytest.raises(ValueError, match="belongs to the model"):
        score_items(model, tokenizer, pair_items)

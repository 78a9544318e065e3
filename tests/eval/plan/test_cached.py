"""Plans that models share: made once for tokenizers that do the same, and told apart by content."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from coherencegym.eval import surprisal
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.plan import requests
from coherencegym.eval.plan.cached_plans import CachedPlans, identity_of
from coherencegym.eval.plan.options import Options
from coherencegym.eval.surprisal import Surprisals
from coherencegym.eval.tasks.score.scoring import score_items


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is encoded and planned, call by call."""
    done: list[str] = []
    for module, name in ((surprisal, "prepare"), (requests, "make_plan")):
        real = getattr(module, name)

        def counted(*given: Any, _name: str = name, _real: Any = real, **how: Any) -> Any:
            done.append(_name)
            return _real(*given, **how)

        monkeypatch.setattr(module, name, counted)
    return done


def bits(scored: Surprisals[Item]) -> list[Any]:
    return [
        (name, one.encoding.ids, one.bits.tobytes())
        for item in scored.items
        for name, one in item.conditions.items()
    ]


def test_models_with_one_tokenizer_are_planned_once(
    work: list[str],
    pair_items: list[Item],
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
) -> None:
    items, plans = tuple(pair_items), CachedPlans()
    # The same tokenizer, read again for each model, and models of two sizes.
    models = []
    for more in ({}, {"n_embd": 48}):
        tokenizer = make_tokenizer()
        models.append((make_model("gpt2", tokenizer, **more), tokenizer))
    expected = [bits(score_items(*one, items)) for one in models]
    assert expected[0] != expected[1]
    work.clear()
    found = [bits(score_items(*one, items, plans=plans.of(one[1]))) for one in (*models, models[0])]
    assert found == [*expected, expected[0]]
    assert work == ["prepare", "make_plan"]


@pytest.mark.parametrize("what", ["tokenizer", "context", "options", "items", "separator"])
def test_what_is_read_otherwise_is_planned_apart(
    what: str,
    work: list[str],
    pair_items: list[Item],
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
) -> None:
    items, plans = tuple(pair_items), CachedPlans()
    tokenizer = make_tokenizer()
    model = make_model("gpt2", tokenizer)
    score_items(model, tokenizer, items, plans=plans.of(tokenizer))
    options = Options()
    how: dict[str, Any] = {}
    if what == "tokenizer":
        # No other name, no other size: one merge is taken before another.
        tokenizer = swapped(tokenizer)
    elif what == "context":
        model = make_model("gpt2", tokenizer, n_positions=48)
    elif what == "options":
        options = Options(bos="never")
    elif what == "items":
        items = items[:-1]
    else:
        how = {"uses_separator": True}
    found = score_items(model, tokenizer, items, options, plans=plans.of(tokenizer), **how)
    assert work == 2 * ["prepare", "make_plan"]
    assert bits(found) == bits(score_items(model, tokenizer, items, options, **how))


def swapped(tokenizer: Any) -> Any:
    """The same tokenizer but for the order of its first two merges."""
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    content = json.loads(tokenizer.backend_tokenizer.to_str())
    content["model"]["merges"][:2] = content["model"]["merges"][1::-1]
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(content)), bos_token="<s>", eos_token="</s>"
    )


def test_the_identity_of_a_tokenizer_is_what_it_does(make_tokenizer: Callable[..., Any]) -> None:
    one, same = make_tokenizer(), make_tokenizer()
    same.name_or_path = "elsewhere"
    assert identity_of(one) == identity_of(same) is not None
    assert identity_of(one) != identity_of(swapped(one))
    others = [make_tokenizer(bos="</s>"), make_tokenizer(eos=None), make_tokenizer(sep="</s>")]
    assert len({identity_of(one), *map(identity_of, others)}) == 4
    same.add_tokens(["[NEW]"])
    assert identity_of(one) != identity_of(same)

    class InPython:
        """A tokenizer that has no backend, and may do anything."""

    assert identity_of(InPython()) is None


def test_a_tokenizer_that_is_like_no_other_is_never_shared(
    work: list[str],
    pair_items: list[Item],
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("coherencegym.eval.plan.cached_plans.identity_of", lambda _: None)
    plans, tokenizer = CachedPlans(), make_tokenizer()
    model = make_model("gpt2", tokenizer)
    for _ in range(2):
        score_items(model, tokenizer, pair_items, plans=plans.of(tokenizer))
    assert work == 2 * ["prepare", "make_plan"]


def test_no_more_is_kept_than_the_bound() -> None:
    plans, made = CachedPlans(most_tokens=10), []

    def make(number: int) -> int:
        made.append(number)
        return number

    things = [object() for _ in range(3)]
    for _ in range(2):
        for number, thing in zip((6, 7, 4), things, strict=True):
            assert plans.once(thing, "way", partial(make, number), int) == number
    # The second one is too much beside the first, and the third is not.
    assert made == [6, 7, 4, 7]

"""Every way to run a plan against float64, on tiny models of many architectures.

The oracle reads one sequence at a time, with a full softmax, and shares no code with the scorer.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tiny_models import BOTH, BUDGET, MODELS, VOCABULARY, Memory, requests, tiny

from coherencegym.errors import EvaluationError
from coherencegym.eval.forward.cache import Cache
from coherencegym.eval.forward.execute import execute
from coherencegym.eval.forward.passes import Forward, run_alone, run_batch
from coherencegym.eval.forward.trial import TOLERANCE, Trials, to_try, try_sharing
from coherencegym.eval.forward.wrapped import fused_activations
from coherencegym.eval.kinds.items import TIE_BITS
from coherencegym.eval.models.config import limits_of
from coherencegym.eval.plan.plan import Batch, Budget, Plan, make_batches, make_plan
from coherencegym.eval.text.sequence import Sharing, TokenSequence


def oracle(model: Any, sequence: TokenSequence) -> np.ndarray:
    """Bits at a run's positions; ``model`` is in float64."""
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([sequence.ids[: sequence.length]])).logits[0]
    logs = torch.log_softmax(logits.double(), dim=-1) / math.log(2)
    return np.array([-float(logs[p - 1, sequence.ids[p]]) for p in sequence.positions])


def worst(found: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> float:
    return float(np.abs(np.concatenate(list(found)) - np.concatenate(list(expected))).max())


@pytest.mark.parametrize("kind", MODELS)
def test_batched_and_shared_equal_float64(kind: str) -> None:
    model, ways = tiny(kind), MODELS[kind][1]
    plan = make_plan(requests(), BUDGET, limits=limits_of(model.config))
    exact = copy.deepcopy(model).double()
    expected = [oracle(exact, sequence) for sequence in plan.sequences]
    assert np.concatenate(expected).std() > 1  # else nothing could be told apart

    apart = execute(model, plan, BUDGET, share=False)
    assert apart.sharing is None
    assert apart.plan.padded_tokens > apart.plan.tokens
    assert worst(apart.bits, expected) < 1e-4

    forward = Forward(model, limits=plan.limits)
    for way in BOTH:
        shared_plan = plan.batched(BUDGET, sharing=way)
        assert len(shared_plan.batches) > 2
        found = try_sharing(forward, shared_plan, way)
        assert found.passed is (way in ways), found
        if found.passed:
            batches = [
                (batch, run_batch(forward, plan.sequences, batch)) for batch in shared_plan.batches
            ]
            pairs = [p for batch, bits in batches for p in zip(batch.indices, bits, strict=True)]
            assert worst([bits for _, bits in pairs], [expected[run] for run, _ in pairs]) < 1e-4

    together = execute(model, plan, BUDGET, share=True)
    assert together.sharing is not None
    assert together.sharing.passed is bool(ways)
    assert any(batch.prefixes for batch in together.plan.batches) is ("packed" in ways)
    assert together.plan.shares is bool(ways)
    assert worst(together.bits, expected) < 1e-4


@pytest.fixture(scope="module")
def gpt2() -> Any:
    return tiny("gpt2")


@pytest.fixture(scope="module")
def alone(gpt2: Any) -> list[np.ndarray]:
    """Each run of the plan by itself."""
    plan = make_plan(requests(), BUDGET)
    forward = Forward(gpt2)
    return [run_alone(forward, plan.sequences, index) for index in range(len(plan.sequences))]


@settings(max_examples=25)
@given(
    st.permutations(range(len(requests()))),
    st.integers(1, 300),
    st.integers(1, 100),
    st.integers(1, 500),
    st.booleans(),
)
def test_batches_order_and_sharing_change_nothing(
    gpt2: Any,
    alone: list[np.ndarray],
    order: list[int],
    tokens: int,
    rows: int,
    cached: int,
    share: bool,
) -> None:
    asked = requests()
    budget = Budget(tokens, rows, cached)
    plan = make_plan([asked[place] for place in order], budget)
    execution = execute(gpt2, plan, budget, share=share)
    found = [execution.bits[index] for index in plan.sequence_of_request if index is not None]
    assert worst(found, [alone[place] for place in order]) < 1e-4


class Liar(torch.nn.Module):  # type: ignore[misc]
    """Hands on a cache, and does not quite go on from it."""

    def __init__(self, inner: Any, bits: float) -> None:
        super().__init__()
        self.inner, self.config, self.bits = inner, inner.config, bits

    def get_input_embeddings(self) -> Any:
        return self.inner.get_input_embeddings()

    def forward(
        self, input_ids: Any, past_key_values: Any = None, logits_to_keep: Any = 0, **more: Any
    ) -> Any:
        if "attention_mask" in more:
            raise ValueError("no masks of pairs")
        output = self.inner(
            input_ids=input_ids,
            past_key_values=past_key_values,
            logits_to_keep=logits_to_keep,
            **more,
        )
        if past_key_values is not None:
            output.logits[..., 5::7] += self.bits
        return output


def test_a_model_that_goes_on_a_little_wrongly_is_refused(
    gpt2: Any, alone: list[np.ndarray]
) -> None:
    plan = make_plan(requests(), BUDGET)
    execution = execute(Liar(gpt2, 0.05), plan, BUDGET)
    assert execution.sharing is not None
    assert not execution.sharing.passed
    assert "bits, where 0.0001 are allowed" in execution.sharing.reason
    assert worst(execution.bits, alone) < 1e-4
    assert execute(Liar(gpt2, 0.0), plan, BUDGET).plan.shares


def test_what_mixes_tokens_beside_attention_is_never_packed() -> None:
    """Weights as small as at the start of a training hide it from a trial of few texts."""
    for kind in ("lfm2", "lfm2_moe", "jamba", "minimax"):
        model = tiny(kind, initializer_range=0.005)
        plan = make_plan(requests(), BUDGET, sharing="packed")
        found = try_sharing(Forward(model), plan, "packed")
        assert not found.passed, kind
        assert "mixes tokens where no attention mask reaches" in found.reason
        assert execute(model, plan, BUDGET).sharing != found


def test_the_trial_holds_what_is_promised() -> None:
    """A cache that is gone on from wrongly, by less than 1e-3 bits (Jamba's)."""
    model = tiny("jamba", initializer_range=0.03)
    plan = make_plan(requests(), BUDGET, sharing="cache")
    found = try_sharing(Forward(model), plan, "cache")
    assert found.difference is not None
    assert TOLERANCE < found.difference < 1e-3
    assert not found.passed
    assert TOLERANCE == TIE_BITS == 1e-4


def test_a_cache_that_is_not_put_in_order_is_found_by_the_trial() -> None:
    """MiniMax's is right where all rows go on from one beginning, as those of long texts do."""
    generator = torch.Generator().manual_seed(5)

    def tokens(count: int) -> tuple[int, ...]:
        return tuple(torch.randint(3, VOCABULARY, (count,), generator=generator).tolist())

    asked = []
    for family, (shared, ends) in enumerate(
        [(60, (9, 4)), (50, (9, 3)), (12, (3, 3)), (12, (3, 3))]
    ):
        beginning = tokens(shared)
        texts = [beginning + tokens(end) for end in ends]
        asked += [
            TokenSequence(ids, tuple(range(1, len(ids))), True, family=family) for ids in texts
        ]
    budget = Budget(tokens=100, head_rows=150, cached=150)
    model, plan = tiny("minimax", initializer_range=0.005), make_plan(asked)
    groups = [len(batch.groups) for batch in plan.batched(budget, sharing="cache").batches]
    assert groups == [1, 1, 2]
    found = execute(model, plan, budget)
    assert found.sharing is not None
    assert not found.sharing.passed
    assert "its cache cannot be handed on (RuntimeError" in found.sharing.reason
    exact = copy.deepcopy(model).double()
    assert worst(found.bits, [oracle(exact, sequence) for sequence in plan.sequences]) < 1e-4


class Failing(Liar):
    """Goes on from a cache so many times."""

    def __init__(self, inner: Any, times: int) -> None:
        super().__init__(inner, 0.0)
        self.times = times

    def forward(
        self, input_ids: Any, past_key_values: Any = None, logits_to_keep: Any = 0, **more: Any
    ) -> Any:
        self.times -= past_key_values is not None
        if past_key_values is not None and self.times < 0:
            raise AssertionError("a shape that it does not expect")
        return super().forward(input_ids, past_key_values, logits_to_keep, **more)


def test_a_model_that_fails_behind_its_trial_goes_on_unshared(
    gpt2: Any, alone: list[np.ndarray]
) -> None:
    budget = Budget(tokens=60, head_rows=60, cached=120)
    plan = make_plan(requests())
    shared = plan.batched(budget, sharing="cache")
    tried, _ = to_try(shared)
    assert sum(batch.shares for batch in shared.batches) > len(tried) + 1
    execution = execute(Failing(gpt2, len(tried) + 1), plan, budget)
    assert execution.sharing is not None
    assert not execution.sharing.passed
    assert "AssertionError: a shape that it does not expect" in execution.sharing.reason
    assert sorted(execution.ran) == list(range(len(plan.sequences)))  # each once
    assert worst(execution.bits, alone) < 1e-4


def test_half_precision_is_held_to_what_batching_does_to_it(gpt2: Any) -> None:
    plan = make_plan(requests(), BUDGET, sharing="cache")
    half = copy.deepcopy(gpt2).bfloat16()
    found = try_sharing(Forward(half), plan, "cache")
    assert found.passed, found
    assert found.tolerance == TOLERANCE
    assert not try_sharing(Forward(Liar(half, 3.0)), plan, "cache").passed


def test_the_error_of_half_precision_is_measured_and_kept(gpt2: Any) -> None:
    plan = make_plan(requests(), BUDGET)
    half = copy.deepcopy(gpt2).bfloat16()
    store = Memory()
    twice = [1, 4, 9]
    first = execute(half, plan, BUDGET, store=store, twice=twice)
    assert sorted(first.again) == twice
    exact = copy.deepcopy(half).double()
    expected = [oracle(exact, plan.sequences[index]) for index in twice]
    assert worst([first.again[index] for index in twice], expected) < 1e-4
    assert worst([first.bits[index] for index in twice], expected) > 1e-3
    again = execute(Small(half, 0), plan, BUDGET, store=store, twice=twice)
    assert worst(list(again.again.values()), list(first.again.values())) == 0
    # Others are read when they are asked for, those that are known are not.
    more = execute(half, plan, BUDGET, store=store, twice=[*twice, 5])
    assert sorted(more.again) == sorted([*twice, 5])
    assert execute(gpt2, plan, BUDGET, twice=twice).again == {}


def test_gelu_in_one_kernel_is_the_same_function_and_is_put_back(gpt2: Any) -> None:
    from transformers.activations import NewGELUActivation

    ids = torch.tensor([[5, 6, 7, 8]])
    with torch.inference_mode():
        expected = gpt2(input_ids=ids).logits
        with fused_activations(gpt2):
            assert not any(isinstance(m, NewGELUActivation) for m in gpt2.modules())
            found = gpt2(input_ids=ids).logits
    assert float((found - expected).abs().max()) < 1e-4
    assert sum(isinstance(m, NewGELUActivation) for m in gpt2.modules()) == 2


@pytest.mark.parametrize("way", BOTH)
def test_the_trial_takes_the_longest_beginning_and_unequal_ends(way: Sharing) -> None:
    plan = make_plan(requests(), BUDGET, sharing=way)
    batches, compared = to_try(plan)
    assert 1 <= len(batches) <= 4
    assert 4 <= len(compared) <= 12
    assert set(compared) <= {index for number in batches for index in plan.batches[number].indices}
    behind = [plan.sequences[index].length - prefix for index, prefix in compared.items()]
    groups = [p for b in plan.batches for p in zip(b.groups, b.shared, strict=True)]
    unequal = [
        max(lengths) - min(lengths)
        for group, _ in groups
        if (lengths := [plan.sequences[index].length for index in group])
    ]
    assert max(compared.values()) == max(prefix for group, prefix in groups if len(group) > 1)
    assert max(behind) - min(behind) >= max(unequal)
    assert max(behind) >= 2
    assert max(sequence.length for sequence in plan.sequences) == max(
        plan.sequences[i].length for i in compared
    )
    rows = {
        group[-1]: prefix + sum(plan.sequences[i].length - prefix for i in group)
        for group, prefix in groups
    }
    assert max(rows, key=rows.__getitem__) in compared


def test_what_the_trial_has_run_is_not_run_again(gpt2: Any) -> None:
    plan = make_plan(requests(), BUDGET)
    model = Small(gpt2, 10**6)
    execution = execute(model, plan, BUDGET)
    assert execution.sharing is not None
    assert execution.sharing.results
    # Beside the batches of the plan the model reads a few texts by themselves.
    passes = sum(batch.passes for batch in execution.plan.batches)
    _, compared = to_try(execution.plan)
    apart = sum(plan.sequences[index].length for index in compared)
    assert len(compared) <= 8
    assert passes + len(compared) <= len(model.sizes) <= passes + len(compared) + 2
    assert sum(model.sizes) <= execution.plan.padded_tokens + 1.5 * apart


def test_rows_are_right_where_all_or_none_of_the_beginning_is_read(gpt2: Any) -> None:
    ids = [(*range(5, 25), end, 3, 4) for end in (40, 41)]
    for positions in ((21,), (20, 21), tuple(range(1, 23)), (3, 22), (2, 20)):
        sequences = [TokenSequence(each, positions) for each in ids]
        found = run_batch(Forward(gpt2), sequences, Batch(((0, 1),), 20, 22, 0))
        apart = run_batch(Forward(gpt2), sequences, Batch(((0,), (1,)), 0, 22, 0))
        assert worst(found, apart) < 1e-5
        rows = run_batch(Forward(gpt2), sequences, Batch(((0, 1),), 0, 24, 0, (20,)))
        assert worst(rows, apart) < 1e-5


class Small(torch.nn.Module):  # type: ignore[misc]
    """A model in a memory of so many tokens."""

    def __init__(self, inner: Any, room: int) -> None:
        super().__init__()
        self.inner, self.config, self.room = inner, inner.config, room
        self.sizes: list[int] = []

    def get_input_embeddings(self) -> Any:
        return self.inner.get_input_embeddings()

    def forward(
        self, input_ids: Any, past_key_values: Any = None, logits_to_keep: Any = 0, **more: Any
    ) -> Any:
        self.sizes.append(input_ids.numel())
        if input_ids.numel() > self.room:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")
        return self.inner(
            input_ids=input_ids,
            past_key_values=past_key_values,
            logits_to_keep=logits_to_keep,
            **more,
        )


def tries(model: Any, plan: Plan, trials: Trials) -> bool:
    """Whether a model reads more than the batches of a plan."""
    counted = Small(model, 10**6)
    execution = execute(counted, plan, BUDGET, trials=trials)
    assert execution.sharing is not None
    assert execution.sharing.passed
    return len(counted.sizes) > sum(batch.passes for batch in execution.plan.batches)


def test_what_is_tried_holds_for_a_run_and_in_its_cache_for_the_next(
    gpt2: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(requests())
    longer = make_plan(
        [
            replace(each, ids=(*each.ids, *each.ids[:9]), positions=(len(each.ids) + 8,))
            for each in requests()
        ]
    )
    with Cache(tmp_path, {"model": "gpt2"}) as store:
        trials = Trials(store)
        assert tries(gpt2, plan, trials)
        assert not tries(gpt2, plan, trials)
        assert tries(gpt2, longer, trials)
        assert not tries(gpt2, plan, trials)
        assert tries(tiny("gpt2", n_head=4), plan, trials)
        assert tries(copy.deepcopy(gpt2).double(), plan, trials)
        with monkeypatch.context() as changed:
            changed.setattr(torch, "__version__", "another")
            assert tries(gpt2, plan, trials)
    with Cache(tmp_path, {"model": "gpt2"}) as store:
        assert not tries(gpt2, longer, Trials(store))
        # A model with code of its own is tried each time.
        monkeypatch.setattr(Small, "__module__", "transformers_modules.small")
        trials = Trials(store)
        assert tries(gpt2, plan, trials)
        assert tries(gpt2, plan, trials)


@pytest.mark.parametrize("share", [False, True])
def test_where_memory_ends_batches_are_halved(
    gpt2: Any, alone: list[np.ndarray], share: bool
) -> None:
    large = Budget(tokens=2000, head_rows=2000, cached=4000)
    plan = make_plan(requests(), large)
    small = Small(gpt2, 160 if share else 70)
    ticks: list[tuple[int, int]] = []
    execution = execute(
        small, plan, large, share=share, progress=lambda done, total: ticks.append((done, total))
    )
    assert execution.halved >= 2
    assert execution.plan.shares is share
    assert worst(execution.bits, alone) < 1e-4
    assert sorted(execution.ran) == list(range(len(plan.sequences)))  # each once
    assert ticks[-1][0] == ticks[-1][1]
    assert [done for done, _ in ticks] == sorted(done for done, _ in ticks)


def test_without_memory_for_the_trial_it_is_halved(gpt2: Any, alone: list[np.ndarray]) -> None:
    plan = make_plan(requests(), BUDGET)
    execution = execute(Small(gpt2, 80), plan, BUDGET)
    assert execution.sharing is not None
    assert execution.sharing.passed
    assert execution.halved == 1
    assert execution.plan.shares
    assert worst(execution.bits, alone) < 1e-4


def test_without_memory_for_any_trial_nothing_is_shared(gpt2: Any, alone: list[np.ndarray]) -> None:
    plan = make_plan(requests(), BUDGET)
    execution = execute(Small(gpt2, 38), plan, BUDGET)
    assert execution.sharing is not None
    assert execution.sharing.reason == "the memory does not suffice for a trial"
    assert not execution.plan.shares
    assert worst(execution.bits, alone) < 1e-4


def test_one_text_that_does_not_fit_is_said_in_one_line(gpt2: Any) -> None:
    plan = make_plan(requests(), BUDGET)
    with pytest.raises(EvaluationError, match=r"out of memory for one text of \d+ tokens"):
        execute(Small(gpt2, 25), plan, BUDGET, share=False)


def test_other_errors_of_a_model_are_not_taken_for_memory(gpt2: Any) -> None:
    class Broken(Small):
        def forward(self, *arguments: Any, **more: Any) -> Any:
            raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        execute(Broken(gpt2, 1), make_plan(requests(), BUDGET), BUDGET, share=False)


@pytest.mark.parametrize("share", [False, True])
def test_what_is_stored_is_not_run_again(gpt2: Any, alone: list[np.ndarray], share: bool) -> None:
    plan = make_plan(requests(), BUDGET)
    store = Memory()
    first = execute(Small(gpt2, 10**6), plan, BUDGET, share=share, store=store)
    assert store.puts == len(first.plan.batches)
    model = Small(gpt2, 10**6)
    second = execute(model, plan, BUDGET, share=share, store=store)
    assert model.sizes == []
    assert (second.cached, second.plan.batches) == (len(plan.sequences), ())
    assert all((a == b).all() for a, b in zip(first.bits, second.bits, strict=True))

    for key in list(store.kept)[::2]:
        del store.kept[key]
    third = execute(gpt2, plan, BUDGET, share=share, store=store)
    assert third.cached == len(plan.sequences) // 2
    assert worst(third.bits, alone) < 1e-4


def test_nothing_to_run() -> None:
    plan = make_plan([], BUDGET)
    assert isinstance(plan, Plan)
    assert execute(None, plan, BUDGET).bits == []


@pytest.mark.parametrize(
    ("share", "alike", "ways"),
    [(True, True, ["packed"]), (True, False, ["packed"]), (False, True, ["none"])],
)
def test_batches_are_made_once(
    gpt2: Any, monkeypatch: pytest.MonkeyPatch, share: bool, alike: bool, ways: list[str]
) -> None:
    made: list[str] = []

    def counted(*arguments: Any, sharing: Sharing, **more: Any) -> Any:
        made.append(sharing)
        return make_batches(*arguments, sharing=sharing, **more)

    monkeypatch.setattr("coherencegym.eval.plan.plan.make_batches", counted)
    asked = [each if alike else replace(each, family=-1) for each in requests()]
    execution = execute(gpt2, make_plan(asked), BUDGET, share=share)
    assert made == ways
    assert execution.plan.shares is (share and alike)

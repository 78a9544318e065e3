"""A device whose memory ends: every text that fits alone is read, in whatever batches it takes."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from support.tiny_models import VOCABULARY, requests, tiny

from coherencegym.errors import EvaluationError
from coherencegym.eval.forward import passes
from coherencegym.eval.forward.execute import Execution, execute
from coherencegym.eval.forward.passes import Forward, run_alone
from coherencegym.eval.models.machine import send
from coherencegym.eval.plan.plan import Budget, Plan, make_plan
from coherencegym.eval.text.sequence import TokenSequence

CPU = torch.device("cpu")
#: Budgets of an optimist and of a pessimist.
BUDGETS = (Budget(4000, 4000, 8000), Budget(60, 40, 100))


@dataclass
class Device:
    """A fake device: what a pass holds is counted in numbers, and more than there is raises.

    Attributes:
        room: numbers that it holds: so many for each token, a row of logits for each row read.
        most: the most that a pass has held.
    """

    room: int
    most: int = 0

    def onto(self, model: Any, width: int = 64) -> Any:
        """Put a model on it."""
        held = [0]

        def take(count: int) -> None:
            held[0] += count
            if held[0] > self.room:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")
            self.most = max(self.most, held[0])

        def begin(module: Any, arguments: Any, keywords: Any) -> None:
            held[0] = 0
            take(keywords["input_ids"].numel() * width)

        model.register_forward_pre_hook(begin, with_kwargs=True)
        model.get_output_embeddings().register_forward_hook(lambda *a: take(a[-1].numel()))
        return model


def plan_of(longest: int) -> Plan:
    """The usual items, and a text by itself that is much longer than they are."""
    ids = (1, *(3 + place * 7 % 90 for place in range(longest)))
    alone = TokenSequence(ids, tuple(range(1, len(ids))), family=99, word_starts=(5, longest - 1))
    return make_plan([*requests(), alone])


def worst(found: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> float:
    return max(float(np.abs(a - b).max()) for a, b in zip(found, expected, strict=True))


def run(model: Any, plan: Plan, budget: Budget, share: bool, **more: Any) -> Execution:
    return execute(model, plan, budget, share=share, beginnings=(7, 8, 40), **more)


@pytest.fixture(scope="module")
def expected() -> list[np.ndarray]:
    plan, forward = plan_of(120), Forward(tiny("gpt2"), (7, 8, 40))
    return [run_alone(forward, plan.sequences, index) for index in range(len(plan.sequences))]


@pytest.mark.parametrize("share", [True, False])
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize(
    "room",
    [
        10**6,
        # The longest text fits with all of its logits, with half of them, and with one row.
        120 * (64 + VOCABULARY),
        120 * 64 + 60 * VOCABULARY,
        120 * 64 + VOCABULARY,
    ],
)
def test_no_text_that_fits_alone_is_refused(
    room: int, budget: Budget, share: bool, expected: list[np.ndarray]
) -> None:
    device = Device(room)
    execution = run(device.onto(tiny("gpt2")), plan_of(120), budget, share)
    assert worst(execution.bits, expected) < 1e-4
    assert sorted(execution.ran) == list(range(len(execution.plan.sequences)))
    assert device.most <= room
    assert (execution.halved > 0) is (room < 10**6 and (budget is BUDGETS[0] or room < 19_000))


def test_a_text_that_does_not_fit_with_one_row_is_refused() -> None:
    device = Device(120 * 64 + VOCABULARY - 1)
    with pytest.raises(EvaluationError, match="out of memory for one text of 120 tokens"):
        run(device.onto(tiny("gpt2")), plan_of(120), BUDGETS[0], share=False)


def test_half_precision_is_measured_on_what_fits(expected: list[np.ndarray]) -> None:
    half = copy.deepcopy(tiny("gpt2")).bfloat16()
    device, plan = Device(120 * 64 + 9 * VOCABULARY), plan_of(120)
    every = range(len(plan.sequences))
    execution = run(device.onto(half), plan, BUDGETS[0], True, twice=every)
    assert 0 < len(execution.again) < len(every)
    assert worst(execution.bits, expected) < 1
    exact = run(copy.deepcopy(half).float(), plan, BUDGETS[0], True)
    for index, bits in execution.again.items():
        assert worst([bits], [exact.bits[index]]) < 1e-4


def test_a_trial_without_memory_leaves_the_batches_what_they_were() -> None:
    plan = make_plan(requests())
    # The trial asks for all of the longest text's tokens, which is too much at any budget.
    execution = run(Device(3000).onto(tiny("gpt2")), plan, Budget(90, 60, 200), True)
    assert execution.sharing is not None
    assert not execution.sharing.passed
    assert "memory" in execution.sharing.reason
    assert len(execution.plan.batches) < len(plan.sequences)


def test_the_parts_of_a_sequence_read_all_of_it_once() -> None:
    sequence = TokenSequence(tuple(range(20)), (3, 4, 9, 12), word_starts=(4, 10, 13))
    parts = sequence.parts(2)
    assert [part.places for part in parts] == [[3, 4], [9, 10], [12, 13]]
    reads = [read for part in parts for read in part.reads().tolist()]
    assert sorted(reads, key=str) == sorted(sequence.reads().tolist(), key=str)
    assert {part.ids for part in parts} == {sequence.ids}


@pytest.mark.parametrize("room", [10**6, 120 * 64 + 60 * VOCABULARY])
def test_the_next_batch_is_on_its_way_before_one_is_waited_for(
    room: int, expected: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[tuple[str, int]] = []
    start, finish = passes.start_batch, passes.Started.finish

    def starting(forward: Any, sequences: Any, batch: Any) -> passes.Started:
        found = start(forward, sequences, batch)
        events.append(("start", id(found)))
        return found

    def finishing(started: passes.Started) -> list[np.ndarray]:
        events.append(("wait", id(started)))
        return finish(started)

    def kept(model: Any, plan: Plan, device: str) -> list[np.ndarray]:
        monkeypatch.setattr(Forward, "device", SimpleNamespace(type=device))
        events.clear()
        execution = run(model, plan, BUDGETS[0 if room < 10**6 else 1], share=False)
        assert sorted(execution.ran) == list(range(len(plan.sequences)))
        return execution.bits

    monkeypatch.setattr("coherencegym.eval.forward.execute.start_batch", starting)
    monkeypatch.setattr(passes.Started, "finish", finishing)
    monkeypatch.setattr(
        "coherencegym.eval.forward.passes.send", lambda values, device: send(values, CPU)
    )
    monkeypatch.setattr("coherencegym.eval.forward.execute.beside_longer", lambda *_: None)
    plan = plan_of(120)
    model = Device(room).onto(tiny("gpt2"))
    assert worst(kept(model, plan, "elsewhere"), expected) < 1e-4
    if room == 10**6:
        names = [name for name, _ in events]
        assert names[:4] == ["start", "start", "wait", "start"]
        assert names[-2:] == ["wait", "wait"]
        waited = [key for name, key in events if name == "wait"]
        assert waited == [key for name, key in events if name == "start"]
    assert worst(kept(model, plan, "cpu"), expected) < 1e-4
    if room == 10**6:
        assert [name for name, _ in events][:4] == ["start", "wait", "start", "wait"]

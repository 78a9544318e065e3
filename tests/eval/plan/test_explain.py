"""What a run would cost, without running it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoModelForCausalLM

from coherencegym.eval.commands.cli import main
from coherencegym.eval.forward.logits import Forward
from coherencegym.eval.forward.passes import run_batch
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.plan.explain import operations, weights_of
from coherencegym.eval.plan.plan import Budget, Request, make_plan
from coherencegym.eval.text.sequence import Sharing


def requests() -> list[Request]:
    asked = []
    for family, length in enumerate((20, 31, 24)):
        beginning = tuple(range(3, 3 + length))
        for end in ((5, 6, 7), (8, 6, 7, 9, 9), (9, 3)):
            ids = beginning + end
            asked.append(Request(ids, (length - 3, *range(length, len(ids))), family))
    return asked


@pytest.mark.parametrize("sharing", ["none", "cache", "packed"])
@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_operations_are_those_that_torch_counts(
    kind: str, sharing: Sharing, make_tokenizer: Callable[..., Any], make_model: Callable[..., Any]
) -> None:
    model = make_model(kind, make_tokenizer())
    # One text, or one group, a batch: what is counted is then without padding but for the ends.
    plan = make_plan(requests(), Budget(1, 10**6, 10**6, 0))
    if sharing != "none":
        plan = plan.batched(Budget(10**6, 10**6, 10**6, 0), sharing=sharing)
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        for batch in plan.batches:
            run_batch(Forward(model), plan.sequences, batch)
    counted = counter.get_total_flops()
    # torch does not count attention either; with sharing there is some padding at the ends.
    expected = operations(plan, *weights_of(model.config, AutoModelForCausalLM))
    assert counted >= expected
    assert expected == pytest.approx(counted, rel=0.15 if plan.shares else 0)


def test_the_weights_of_a_model_are_counted_without_its_weights(
    make_tokenizer: Callable[..., Any], make_model: Callable[..., Any]
) -> None:
    model = make_model("gpt2", make_tokenizer())
    width, vocabulary = 32, model.config.vocab_size
    expected = 2 * 12 * width * width, vocabulary * width
    assert weights_of(model.config, AutoModelForCausalLM) == expected


def test_work_by_hand() -> None:
    plan = make_plan([Request((1, 2, 3, 4), (3,))], Budget(10, 10, 10))
    # Three tokens read, one row of logits.
    assert operations(plan, 100, 50) == 2 * 100 * 3 + 2 * 50


def test_the_command_prints_and_loads_nothing(
    tmp_path: Path,
    pair_items: list[Item],
    write_dataset: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from datasets import Value
    from transformers import AutoModelForCausalLM

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("weights were loaded")

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", refuse)
    data = write_dataset(tmp_path / "data", pair_items, extra={"moved": Value("bool")})
    argv = ["--model", "demo", "--dataset", str(data), "--output", str(tmp_path / "out")]
    for more in ([], ["--no-sharing"], ["--word-correction"]):
        assert main([*argv, "--dry-run", *more]) == 0
        out = capsys.readouterr().out
        assert "toy_context (test)" in out
        assert "…" not in out
        assert "read once: tokens that the model reads" in out
        assert re.search(r"about [\d.]+ \w+ on this machine's processor", out)
    assert not (tmp_path / "out").exists()

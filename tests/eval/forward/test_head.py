"""Output heads, in float32 or by tiles: exact where they apply, gone afterwards, nowhere else."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from coherencegym.eval.forward import wrapped
from coherencegym.eval.forward.passes import Forward, Questions
from coherencegym.eval.forward.wrapped import float32_head

LLAMA = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
#: With a bias, with soft-capping, with a scale before and after: what models do with their logits.
KINDS: dict[str, dict[str, Any]] = {
    "gpt2": {"n_embd": 32, "n_layer": 2, "n_head": 2},
    "llama": LLAMA,
    "gemma2": {**LLAMA, "head_dim": 8, "final_logit_softcapping": 4.0},
    "cohere": {**LLAMA, "logit_scale": 0.25},
    "granite": {**LLAMA, "logits_scaling": 3.0},
    "phi": {**LLAMA, "num_key_value_heads": 4, "partial_rotary_factor": 0.5},
}
IDS = torch.tensor([[5, 17, 90, 3, 44, 71, 8], [9, 2, 2, 60, 31, 1, 90]])


def make(kind: str, dtype: torch.dtype = torch.bfloat16) -> Any:
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.manual_seed(1)
    special = dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"))
    config = AutoConfig.for_model(
        kind, **KINDS[kind], vocab_size=101, initializer_range=0.3, **special
    )
    model = AutoModelForCausalLM.from_config(config).eval()
    bias = model.get_output_embeddings().bias
    if bias is not None:
        torch.nn.init.normal_(bias)
    return model.to(dtype)


def logits(model: Any, **settings: Any) -> torch.Tensor:
    with torch.inference_mode():
        found: torch.Tensor = model(input_ids=IDS, use_cache=False, **settings).logits
    return found


def with_head_in(model: Any, dtype: torch.dtype) -> Any:
    """The same model, whose head alone is another: its weights and what goes in are converted."""
    other = copy.deepcopy(model)
    head = torch.nn.Linear(1, 1)
    old = other.get_output_embeddings()
    head.weight = torch.nn.Parameter(old.weight.detach().to(dtype))
    head.bias = torch.nn.Parameter(old.bias.detach().to(dtype)) if old.bias is not None else None
    head.register_forward_pre_hook(lambda _, given: (given[0].to(dtype),))
    other.set_output_embeddings(head)
    return other


def bits(given: torch.Tensor) -> torch.Tensor:
    """Surprisals under logits, without adding an error of their own."""
    chosen = given[:, :-1].double().gather(2, IDS[:, 1:, None])[..., 0]
    return (torch.logsumexp(given[:, :-1].double(), 2) - chosen) / math.log(2)


@pytest.mark.parametrize("parts", [1, 7])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("kind", KINDS)
def test_logits_are_those_of_a_float32_head(
    kind: str, dtype: torch.dtype, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wrapped, "_ELEMENTS", 32 * math.ceil(101 / parts))
    model = make(kind, dtype)
    half = logits(model)
    expected = logits(with_head_in(model, torch.float32))
    exact = logits(with_head_in(model, torch.float64))
    with float32_head(model) as changed:
        found = logits(model)
    assert changed
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-4)
    error = (bits(found) - bits(exact)).abs().max()
    assert error < 1e-4
    assert error * 20 < (bits(half) - bits(exact)).abs().max()


def test_rows_are_kept_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make("gemma2")
    keep = torch.zeros(IDS.shape, dtype=torch.bool)
    keep[0, 2] = keep[1, 5] = True
    with float32_head(model):
        every, some = logits(model), logits(model, logits_to_keep=keep)
    torch.testing.assert_close(some, every[keep], rtol=1e-5, atol=1e-5)


def test_the_model_comes_back_as_it_was() -> None:
    model = make("gpt2")
    head = model.get_output_embeddings()
    before, state = logits(model), dict(head.__dict__)
    with pytest.raises(RuntimeError), float32_head(model):
        model(input_ids=IDS.float())
    assert head.__dict__ == state
    assert torch.equal(logits(model), before)
    with float32_head(model), float32_head(model) as again:
        # The inner one finds a head that somebody has changed.
        assert not again
        assert logits(model).dtype == torch.float32
    assert torch.equal(logits(model), before)


class OwnLinear(torch.nn.Linear):  # type: ignore[misc]
    """What quantized and adapted layers are to torch."""


class OwnParameter(torch.nn.Parameter):  # type: ignore[misc]
    """What quantized weights are to torch."""


def own_linear(model: Any) -> None:
    model.lm_head.__class__ = OwnLinear


def own_weights(model: Any) -> None:
    model.lm_head.weight = OwnParameter(model.lm_head.weight.detach())


def elsewhere(model: Any) -> None:
    model.lm_head.to("meta")


def hooked(model: Any) -> None:
    model.lm_head.register_forward_hook(lambda *_: None)


def hooked_before(model: Any) -> None:
    model.lm_head.register_forward_pre_hook(lambda *_: None)


def replaced(model: Any) -> None:
    model.lm_head.forward = model.lm_head.forward


def in_float32(model: Any) -> None:
    model.to(torch.float32)


def headless(model: Any) -> None:
    model.set_output_embeddings(None)


@pytest.mark.parametrize(
    "change",
    [own_linear, own_weights, elsewhere, hooked, hooked_before, replaced, headless, in_float32],
)
def test_other_heads_are_left_alone(change: Callable[[Any], None]) -> None:
    model = make("llama")
    change(model)
    head = model.get_output_embeddings()
    before = dict(head.__dict__) if head is not None else {}
    with float32_head(model) as changed:
        assert not changed
        assert head is None or head.__dict__ == before


@pytest.mark.parametrize("target", ["lm_head", "q_proj"])
def test_a_head_with_an_adapter_is_left_alone(target: str) -> None:
    peft = pytest.importorskip("peft", reason="peft is not installed")
    model = make("llama")
    config = peft.LoraConfig(target_modules=[target], init_lora_weights=False)
    adapted = peft.get_peft_model(model, config).eval()
    for one in (adapted, adapted.get_base_model()):
        before = logits(one)
        with float32_head(one) as changed:
            assert changed == (target != "lm_head")
            found = logits(one)
        if changed:
            assert found.dtype == torch.float32
            torch.testing.assert_close(found, before.float(), rtol=0.02, atol=0.02)
        else:
            assert torch.equal(found, before)


def test_what_accelerate_puts_around_the_head_stays() -> None:
    hooks = pytest.importorskip("accelerate.hooks", reason="accelerate is not installed")
    model = make("llama")
    expected = logits(with_head_in(model, torch.float32))
    calls = []

    class Counting(hooks.ModelHook):  # type: ignore[misc, name-defined]
        def pre_forward(self, module: Any, *given: Any, **more: Any) -> Any:
            calls.append(1)
            return given, more

    hooks.add_hook_to_module(model.lm_head, Counting())
    state = dict(model.lm_head.__dict__)
    with float32_head(model) as changed:
        assert changed
        torch.testing.assert_close(logits(model), expected, rtol=1e-5, atol=1e-5)
    assert len(calls) == 1
    assert model.lm_head.__dict__ == state


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("kind", KINDS)
def test_a_gpu_sums_halves_in_float32(kind: str) -> None:
    model = make(kind)
    hidden = torch.randn(2, 5, model.get_output_embeddings().weight.shape[1])
    head = model.get_output_embeddings().cuda()
    with float32_head(model) as changed, torch.inference_mode():
        found = head(hidden.to(torch.bfloat16).cuda()).cpu()
    assert changed
    weight, bias = head.weight.cpu().double(), head.bias
    expected = hidden.to(torch.bfloat16).double() @ weight.t()
    expected += bias.cpu().double() if bias is not None else 0
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("bias", [False, True])
def test_tiles_give_what_all_logits_give(bias: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrapped, "_TILE", 7)
    monkeypatch.setattr(wrapped, "_TILE_ROWS", 4)
    torch.manual_seed(2)
    head, hidden = torch.nn.Linear(8, 30, bias=bias), 4 * torch.randn(10, 8)
    rows, tokens = np.array([0, 9, 3, 3, 4, 5]), np.array([29, 0, 6, 7, 21, 13])
    with torch.inference_mode():
        found = wrapped.nats_in_tiles(head, hidden, rows, tokens)
        assert len(wrapped.nats_in_tiles(head, hidden, rows[:0], tokens[:0])) == 0
        exact = -head.double()(hidden.double()).log_softmax(-1)[rows, tokens]
    assert torch.allclose(found.double(), exact, rtol=0, atol=2e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_tiles_are_for_heads_whose_logits_nobody_changes(kind: str) -> None:
    model = make(kind, torch.float32)
    forward = Forward(model)
    questions = Questions(*IDS.shape)
    for row in range(len(IDS)):
        questions.want(row, np.arange(6), IDS[row, 1:].numpy())
    with torch.inference_mode():
        found, _ = forward.read(IDS, questions)
        logs = copy.deepcopy(model).double()(input_ids=IDS).logits[:, :-1].log_softmax(-1)
    exact = -logs.gather(2, IDS[:, 1:, None]).flatten()
    assert torch.allclose(found.double(), exact, rtol=0, atol=1e-4)
    assert forward._is_bare is (kind in ("gpt2", "llama", "phi"))
    assert "forward" not in model.get_output_embeddings().__dict__


def test_logits_that_are_changed_in_their_place_are_no_answer() -> None:
    model = make("gpt2", torch.float32)
    hidden = torch.randn(2, 32)
    with wrapped.head_in_tiles(model, lambda head, given: given.sum()) as answer_of:
        logits = model.get_output_embeddings()(hidden)
        assert answer_of(logits) is not None
        assert answer_of(logits + 0) is None
        assert answer_of(logits.mul_(2)) is None

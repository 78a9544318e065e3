"""Windows and positions that depend on the length: whatever texts stand beside each other.

The oracle is float64 and reads one whole text at a time.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.eval.forward.execute import execute
from coherencegym.eval.forward.passes import Forward, run_alone, run_batch
from coherencegym.eval.forward.trial import beside_longer, to_try
from coherencegym.eval.models.config import UNLIMITED, Limits, limits_of
from coherencegym.eval.plan.plan import Budget, Plan, make_plan
from coherencegym.eval.text.sequence import Sharing, TokenSequence

VOCABULARY = 97
#: Several groups in a batch, so that short and long ones could meet.
BUDGET = Budget(tokens=2000, head_rows=2000, cached=4000)

_LLAMA = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 1024,
}
_FACTORS = {"short_factor": [1.0, 1.0, 1.0, 1.0], "long_factor": [1.0, 2.0, 5.0, 9.0]}
_EXPERTS = {"num_local_experts": 2, "num_experts_per_tok": 1}


def _windows(window: int) -> dict[str, tuple[str, dict[str, Any], tuple[Sharing, ...]]]:
    """Architectures with windows of this size, and the way in which they share beginnings."""
    slid = {**_LLAMA, "sliding_window": window}
    kinds = {"layer_types": ["sliding_attention", "full_attention"]}
    gemma = {**slid, **kinds, "head_dim": 8, "query_pre_attn_scalar": 8}
    local = {
        "hidden_size": 32,
        "num_layers": 2,
        "num_heads": 4,
        "max_position_embeddings": 1024,
        "attention_types": [[["global", "local"], 1]],
        "window_size": window,
    }
    chunked = {
        **_LLAMA,
        **_EXPERTS,
        "attention_chunk_size": window,
        "layer_types": ["chunked_attention", "full_attention"],
        "intermediate_size_mlp": 48,
        "head_dim": 8,
        "moe_layers": [],
    }
    return {
        f"mistral {window}": ("mistral", slid, ("packed",)),
        f"gemma2 {window}": ("gemma2", gemma, ("packed",)),
        f"gemma3 {window}": ("gemma3_text", gemma, ("packed",)),
        f"gpt-oss {window}": ("gpt_oss", {**slid, **kinds, **_EXPERTS, "head_dim": 8}, ("packed",)),
        f"llama4 {window}": ("llama4_text", chunked, ("packed",)),
        # Its rows have to fit into the window, whose columns it counts.
        f"gpt-neo {window}": ("gpt_neo", local, ("packed", "cache")),
    }


def _longrope(kind: str, **more: Any) -> tuple[str, dict[str, Any], tuple[Sharing, ...]]:
    rope = {"rope_type": "longrope", "rope_theta": 10000.0, **_FACTORS, **more}
    rope["original_max_position_embeddings"] = 64
    options = {**_LLAMA, "original_max_position_embeddings": 64, "rope_parameters": rope}
    return kind, options, ("packed",)


MODELS = {
    **_windows(32),
    **_windows(128),
    "phi3 64": _longrope("phi3"),
    "phimoe 64": _longrope("phimoe", short_mscale=1.0, long_mscale=1.3),
    # A short window and two sets of positions at once.
    "phi3 64, window 32": (
        "phi3",
        {**_longrope("phi3")[1], "sliding_window": 32},
        ("packed",),
    ),
}


def tiny(name: str) -> Any:
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.manual_seed(0)
    kind, options, _ = MODELS[name]
    if kind == "phimoe":
        options = {**options, **_EXPERTS}
    config = AutoConfig.for_model(
        kind,
        vocab_size=VOCABULARY,
        initializer_range=0.3,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=None,
        **options,
    )
    return AutoModelForCausalLM.from_config(config, experts_implementation="eager").eval()


def requests() -> list[TokenSequence]:
    """Items on both sides of 32, 64 and 128 tokens, and across each; the last token is not read."""
    generator = torch.Generator().manual_seed(1)

    def tokens(count: int) -> tuple[int, ...]:
        return tuple(torch.randint(3, VOCABULARY, (count,), generator=generator).tolist())

    asked = []
    shapes = [
        (12, (5, 9, 7)),
        (20, (8, 11, 31, 12)),  # 32, and one token more
        (24, (40, 41, 42, 60)),  # 64
        (40, (3, 30)),
        (90, (12, 37, 38, 44)),  # 128
        (140, (5, 25, 12)),
        (9, (3, 150)),
    ]
    for family, (shared, ends) in enumerate(shapes):
        beginning = tokens(shared)
        for end in ends:
            ids = beginning + tokens(end)
            first = shared if family % 2 else 1
            asked.append(
                TokenSequence(ids, tuple(range(first, len(ids) - family % 3)), True, family=family)
            )
    return asked


def oracle(model: Any, request: TokenSequence) -> np.ndarray:
    """Bits at a request's positions; the model is in float64 and reads the whole text."""
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([request.ids])).logits[0]
    logs = torch.log_softmax(logits.double(), dim=-1) / math.log(2)
    return np.array([-float(logs[p - 1, request.ids[p]]) for p in request.positions])


def worst(plan: Plan, bits: list[np.ndarray], expected: list[np.ndarray]) -> float:
    """The largest difference in bits."""
    assert None not in plan.sequence_of_request
    found = (bits[index] for index in plan.sequence_of_request if index is not None)
    pairs = zip(found, expected, strict=True)
    return max(float(np.abs(one - other).max()) for one, other in pairs)


@pytest.mark.parametrize("name", MODELS)
def test_texts_on_both_sides_of_a_limit_are_read_as_if_alone(name: str) -> None:
    model = tiny(name)
    exact = copy.deepcopy(model).double()
    asked = requests()
    expected = [oracle(exact, request) for request in asked]
    limits = limits_of(model.config)
    assert limits.boundaries
    plan = make_plan(asked, BUDGET, limits=limits)
    for share in (True, False):
        execution = execute(model, plan, BUDGET, share=share)
        assert worst(plan, execution.bits, expected) < 1e-4
        assert execution.plan.shares is share, execution.sharing
        assert execution.beside is None or execution.beside.passed, execution.beside
        assert share or execution.beside
    # Whatever a trial could be led to believe: every way that this model takes is right everywhere.
    for way in MODELS[name][2]:
        batches = plan.batched(BUDGET, sharing=way).batches
        forward = Forward(model, limits=limits)
        found = [np.empty(0)] * len(plan.sequences)
        for batch in batches:
            bits = run_batch(forward, plan.sequences, batch)
            for index, own in zip(batch.indices, bits, strict=True):
                found[index] = own
        assert worst(plan, found, expected) < 1e-4


def test_the_models_tell_texts_apart_by_their_limits() -> None:
    """What the tests above would miss, were the limits not heeded, is whole bits."""
    asked = requests()
    for name in ("mistral 32", "gemma2 32", "phi3 64"):
        model = tiny(name)
        limits = limits_of(model.config)
        plan = make_plan(asked, BUDGET, limits=limits)
        sharing: Sharing = "none" if limits.lengths else "packed"
        # Limits that say nothing: one mask for all, one batch for all.
        careless = make_plan(asked, BUDGET, sharing=sharing)
        alone = execute(model, plan, Budget(1, 1, 1), share=False).bits
        differences = [
            np.abs(bits - alone[index]).max()
            for batch in careless.batches
            if batch.shares is (sharing == "packed")
            for index, bits in zip(
                batch.indices, run_batch(Forward(model), careless.sequences, batch), strict=True
            )
            if len(careless.sequences[index].positions) == len(alone[index])
        ]
        assert max(differences) > 0.5


@dataclass(frozen=True)
class _Config:
    """A config with any attributes."""

    attributes: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.attributes[name]
        except KeyError:
            raise AttributeError(name) from None


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({}, UNLIMITED),
        ({"sliding_window": None, "max_position_embeddings": 512}, UNLIMITED),
        ({"sliding_window": 16}, Limits(sliding=16)),
        (
            {"sliding_window": 16, "layer_types": ["full_attention"]},
            Limits(layers=frozenset({"full_attention"})),
        ),
        ({"window_size": 256, "attention_window": 128}, Limits(own=128)),
        ({"window_size": [3, 4], "index_topk": True}, UNLIMITED),
        (
            {
                "rope_parameters": {
                    "full_attention": {
                        "rope_type": "longrope",
                        "original_max_position_embeddings": 64,
                    },
                    "sliding_attention": {"rope_type": "default"},
                }
            },
            Limits(lengths=(64,)),
        ),
        (
            {
                "rope_scaling": {"type": "su", "long_factor": [1.0], "short_factor": [1.0]},
                "original_max_position_embeddings": 4096,
            },
            Limits(lengths=(4096,)),
        ),
        ({"rope_parameters": {"rope_type": "yarn", "factor": 4.0}}, UNLIMITED),
    ],
)
def test_limits_are_read_from_a_config(attributes: dict[str, Any], expected: Limits) -> None:
    assert limits_of(_Config(attributes)) == expected


def test_every_rope_function_of_transformers_is_known() -> None:
    """A new one has to be read: do its positions depend on how long the batch is?"""
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    known = {"linear", "dynamic", "yarn", "longrope", "llama3", "proportional"}
    assert set(ROPE_INIT_FUNCTIONS) <= known


def test_texts_beyond_what_dynamic_positions_begin_at_are_not_scored() -> None:
    from coherencegym.eval.models.config import context_length

    rope = {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 10000.0}
    from transformers import AutoConfig

    config = AutoConfig.for_model(
        "llama", **{**_LLAMA, "max_position_embeddings": 64, "rope_parameters": rope}
    )
    assert context_length(config) == 64
    assert limits_of(config) == UNLIMITED


@given(
    st.lists(st.integers(2, 40), min_size=1, max_size=12),
    st.sampled_from(["none", "packed", "cache"]),
    st.sets(st.integers(1, 45), max_size=3),
    st.integers(0, 60),
)
def test_no_batch_crosses_a_length_and_no_row_a_window(
    lengths: list[int], sharing: Sharing, boundaries: set[int], own: int
) -> None:
    limits = Limits(own=own, lengths=tuple(sorted(boundaries)))
    asked = [
        TokenSequence(
            (*range(length), 1000 + number), tuple(range(1, length)), True, family=number // 4
        )
        for number, length in enumerate(lengths)
    ]
    plan = make_plan(asked, BUDGET, sharing=sharing, limits=limits)
    assert sorted(i for batch in plan.batches for i in batch.indices) == list(
        range(len(plan.sequences))
    )
    for batch in plan.batches:
        assert len({limits.side(plan.sequences[index].length) for index in batch.indices}) == 1
        for group, prefix in zip(batch.groups, batch.prefixes, strict=False):
            row = prefix + sum(plan.sequences[index].length - prefix for index in group)
            assert not own or row <= own
        if batch.prefix:
            assert limits.side(batch.length) == 0


def test_the_trial_takes_both_sides_of_every_limit() -> None:
    limits = Limits(sliding=32, lengths=(64,))
    plan = make_plan(requests(), BUDGET, sharing="packed", limits=limits)
    _, compared = to_try(plan)
    lengths = sorted(plan.sequences[index].length for index in compared)
    groups = [
        max(plan.sequences[index].length for index in group)
        for batch in plan.batches
        if batch.shares
        for group in batch.groups
    ]
    for boundary in (32, 64):
        assert max(length for length in groups if length <= boundary) in lengths
        assert min(length for length in groups if length > boundary) in lengths


class Stretched(torch.nn.Module):  # type: ignore[misc]
    """A model whose positions depend on the batch, of which its config says nothing."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner, self.config = inner, inner.config

    def get_input_embeddings(self) -> Any:
        return self.inner.get_input_embeddings()

    def forward(self, input_ids: Any, logits_to_keep: Any = 0, **more: Any) -> Any:
        if more:
            raise ValueError("nothing is shared")
        step = 1 + (input_ids.shape[1] > 40)
        positions = torch.arange(input_ids.shape[1])[None] * step
        return self.inner(
            input_ids=input_ids, position_ids=positions, logits_to_keep=logits_to_keep
        )


@pytest.mark.parametrize("share", [True, False])
def test_a_model_that_reads_texts_otherwise_beside_longer_ones_reads_them_alone(
    share: bool,
) -> None:
    model = Stretched(tiny("mistral 128"))
    large = Budget(tokens=10_000, head_rows=10_000, cached=0)
    plan = make_plan(requests(), large)
    assert len(plan.batches) == 1
    execution = execute(model, plan, large, share=share)
    assert execution.beside is not None
    assert not execution.beside.passed
    assert "bits, where 0.0001 are allowed" in execution.beside.reason
    assert all(len(batch.indices) == 1 for batch in execution.plan.batches)
    forward = Forward(model)
    alone = [run_alone(forward, plan.sequences, index) for index in range(len(plan.sequences))]
    assert max(float(np.abs(a - b).max()) for a, b in zip(execution.bits, alone, strict=True)) == 0


def test_texts_of_one_length_need_no_trial() -> None:
    requests = [TokenSequence((1, 2, 3, end), (3,), True, family=end) for end in (4, 5)]
    plan = make_plan(requests, BUDGET)
    assert beside_longer(Forward(tiny("mistral 32")), plan) is None
    assert [sequence.length for sequence in plan.sequences] == [3, 3]
    assert TokenSequence((1, 2, 3), (2,), whole=True).length == 3

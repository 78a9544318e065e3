"""One shape on a device: ``python -m benchmarks.gpu_worker JOB``, of which benchmarks.gpu knows."""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.data import read_items, texts
from benchmarks.measure import (
    Cost,
    base_memory,
    machine,
    multiply_rate,
    peak_memory,
    timed,
)
from benchmarks.models import floating_point_work, make_model
from coherencegym.eval.kinds.items import Item

#: Items whose surprisals are held to float32, and batches whose waits are counted.
_EXACT_ITEMS = 6
_COUNTED = 4
#: Matrix products of which the best is the device's rate, by shape, where few are enough to see
#: that the program runs.
_TRIES = {"tiny": 2}
#: Bits of standard deviation that random logits are given: those of a trained model.
_SPREAD = 3.0
#: Other tools by their names in :data:`benchmarks.tools.TOOLS`, and their batches.
_OTHERS = (("loglikelihood", "auto"), ("token_score", 32), ("prompt_logprobs", 100_000))


@dataclass
class Measuring:
    """A shape's measurements, written to a file after each.

    Attributes:
        path: of the file.
        ends: when nothing more is begun, by the clock ``time.monotonic``.
        found: what was measured, for JSON.
    """

    path: Path
    ends: float
    found: dict[str, Any] = field(default_factory=dict)

    def take(self, *names: str, by: Callable[[dict[str, Any]], None]) -> bool:
        """Let a measurement fill a dictionary under these names, and tell whether it did.

        An error in it is noted there, and goes no further.
        """
        into = self.found
        for name in names:
            into = into.setdefault(name, {})
        try:
            if time.monotonic() > self.ends:
                raise TimeoutError("no time was left")
            by(into)
        except Exception as error:
            into["failed"] = f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"
            # It holds the tensors that were in the way.
            error.__traceback__ = None
        gc.collect()
        if self.found["device"] != "cpu":
            import torch

            torch.cuda.empty_cache()
        self.path.write_text(json.dumps(self.found, indent=1))
        return "failed" not in into


def work(job: Mapping[str, Any]) -> dict[str, Any]:
    """Estimate all of a shape."""
    from transformers import AutoTokenizer
    from transformers.utils import logging

    logging.set_verbosity_error()
    device, dtype, folder = job["device"], job["dtype"], Path(job["data"])
    measuring = Measuring(Path(job["path"]), time.monotonic() + job["seconds"])
    measuring.found.update(device=device, dtype=dtype, shape=job["shape"])
    tokenizer = AutoTokenizer.from_pretrained(folder / "tokenizer")
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    made: list[Any] = []
    # Memory is counted after a collection, which need not look through the libraries each time.
    gc.collect()
    gc.freeze()

    def rate(into: dict[str, Any]) -> None:
        into.update(machine(device))
        into["multiply_rate"] = multiply_rate(device, dtype, _TRIES.get(job["shape"], 30))

    def make(into: dict[str, Any]) -> None:
        with timed(device) as cost:
            made.append(spread(make_model(job["shape"], device, dtype, vocabulary=len(tokenizer))))
        parameters = list(made[0].parameters())
        into["seconds"] = cost.seconds
        into["parameters"] = sum(p.numel() for p in parameters)
        into["bytes"] = sum(p.numel() * p.element_size() for p in parameters)

    measuring.take("machine", by=rate)
    if not measuring.take("model", by=make):
        return measuring.found
    model = made[0]
    measuring.take("attention", by=lambda into: into.update(attention(model, device, dtype)))
    tables = [
        _Table(measuring, path.stem, model, tokenizer, read_items(path)[: job["items"]])
        for path in sorted(folder.glob("*.jsonl"))
    ]
    for step in (_Table.fast, _Table.beside, _Table.in_half, _Table.in_float32):
        if step is _Table.in_float32:
            measuring.take("widening", by=lambda into: model.float() and None)
        for table in tables:
            step(table)
    return measuring.found


def spread(model: Any) -> Any:
    """The model with a head that says as much as a trained one: else all tokens are as likely."""
    import torch

    head = model.get_output_embeddings().weight
    with torch.no_grad():
        # What comes out of the last norm has a length of about the root of its width.
        now = float(head.float().std()) * head.shape[1] ** 0.5
        head.mul_(_SPREAD * 0.6931 / now)
    return model


@dataclass
class _Run:
    """What a run of this project gave."""

    cost: Cost
    scored: Any
    tokens: list[list[float]]


def scored(
    model: Any, tokenizer: Any, items: Sequence[Item], device: str, share: bool = True
) -> _Run:
    """Score items; of each condition the bits of the tokens of the region that is read."""
    from coherencegym.eval.plan.options import Options
    from coherencegym.eval.tasks.score.scoring import score_items

    base = base_memory(device)
    with timed(device) as cost:
        found = score_items(model, tokenizer, items, Options(share=share))
    peak = peak_memory(device)
    cost.peak_bytes = None if base is None or peak is None else max(0, peak - base)
    tokens = [
        one.conditions[c.condition_name].region_bits(c.regions[-1].region_number).tolist()
        for one in found.items
        for c in one.item.conditions
    ]
    return _Run(cost, found, tokens)


def told(run: _Run, model: Any, rate: float | None) -> dict[str, Any]:
    """A run in figures."""
    execution, plan = run.scored.execution, run.scored.plan
    seconds = run.cost.seconds
    about = {
        "seconds": seconds,
        "peak_bytes": run.cost.peak_bytes,
        "tokens": plan.tokens,
        "tokens_once": plan.tokens_once,
        "padded_tokens": plan.padded_tokens,
        "batches": len(plan.batches),
        "tokens_a_second": plan.tokens / seconds,
        "halved": execution.halved,
        "sharing": "none",
    }
    if rate:
        about["share_of_multiply_rate"] = floating_point_work(model.config, plan) / seconds / rate
    if (trial := execution.sharing) is not None:
        packed = any(batch.prefixes for batch in plan.batches)
        about["sharing"] = ("packed" if packed else "cache") if trial.passed else "refused"
        about["trial"] = {
            "difference": trial.difference,
            "reason": trial.reason,
        }
    return about


def waits(model: Any, plan: Any, device: str) -> dict[str, Any]:
    """The host's waits in a few batches, all in all and by their cause."""
    from benchmarks.waits import host_waits, warned_of
    from coherencegym.eval.forward.passes import Forward, run_batch
    from coherencegym.eval.forward.wrapped import float32_head, fused_activations

    forward = Forward(model, limits=plan.limits)
    batches = plan.batches[:: max(1, len(plan.batches) // _COUNTED)][:_COUNTED]
    with fused_activations(model), float32_head(model):
        # Nothing is counted that is done once.
        run_batch(forward, plan.sequences, batches[0])
        with warned_of() if device != "cpu" else host_waits() as causes:
            for batch in batches:
                run_batch(forward, plan.sequences, batch)
    return {"a_batch": causes.total() / len(batches), "causes": dict(causes)}


def attention(model: Any, device: str, dtype: str) -> dict[str, Any]:
    """Attention of a packed batch: which kernel takes its mask, and seconds beside the others.

    One layer's queries, keys and values for 16 rows of 500 tokens, in which a beginning of 80 and
    six rests of 70 stand.
    """
    import torch

    config, rows, length = model.config, (2 if device == "cpu" else 16), 500
    heads = config.num_attention_heads
    shape = (rows, heads, length, config.hidden_size // heads)
    query, key, value = (
        torch.randn(shape, device=device, dtype=getattr(torch, dtype)) for _ in range(3)
    )
    place = torch.arange(length, device=device)
    text = torch.clamp((place - 80) // 70 + 1, min=0)
    position = torch.where(text > 0, 80 + (place - 80) % 70, place)
    found: dict[str, Any] = {"kernels": {}}

    def sdpa(mask: Any) -> Callable[[], Any]:
        function = torch.nn.functional.scaled_dot_product_attention
        return lambda: function(query, key, value, attn_mask=mask, is_causal=mask is None)

    def best(function: Callable[[], Any]) -> float:
        function()
        took = []
        for _ in range(5):
            with timed(device) as cost:
                function()
            took.append(cost.seconds)
        return min(took)

    from coherencegym.eval.forward.passes import added

    seen = ((text[:, None] == text) | (text == 0)) & (position <= position[:, None])
    mask = added(seen.expand(rows, -1, -1), getattr(torch, dtype))
    choose = getattr(torch, "_fused_sdp_choice", None)
    for name, given in (("causal, without a mask", None), ("packed rows' mask", mask)):
        found[name] = best(sdpa(given))
        if choose is not None:
            number = choose(query, key, value, given, 0.0, given is None)
            found["kernels"][name] = torch.nn.attention.SDPBackend(number).name
    if device != "cpu":
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention

        def visible(batch: Any, head: Any, q: Any, k: Any) -> Any:
            return ((text[q] == text[k]) | (text[k] == 0)) & (position[k] <= position[q])

        block = create_block_mask(visible, None, None, length, length, device=device)
        compiled = torch.compile(flex_attention)
        found["FlexAttention"] = best(lambda: compiled(query, key, value, block_mask=block))
    return found


def differences(
    found: Sequence[Sequence[float]], expected: Sequence[Sequence[float]], items: Sequence[Item]
) -> dict[str, Any]:
    """How far two readings of the same conditions are apart.

    Returns:
        ``token``, ``mean``: the largest difference of a token and of a region's mean (bits), with
        the median of both; ``changed``: of ``pairs`` of an item's first condition and another, how
        many have another order by their means.
    """
    tokens = [
        abs(a - b)
        for one, other in zip(found, expected, strict=True)
        for a, b in zip(one, other, strict=True)
    ]
    means = [(sum(a) / len(a), sum(b) / len(b)) for a, b in zip(found, expected, strict=True)]
    apart = [abs(a - b) for a, b in means]
    pairs = changed = start = 0
    for item in items:
        end = start + len(item.conditions)
        (one, other), *rest = means[start:end]
        pairs += len(rest)
        changed += sum((a > one) != (b > other) for a, b in rest)
        start = end
    return {
        "token": max(tokens),
        "token_median": median(tokens),
        "mean": max(apart),
        "mean_median": median(apart),
        "pairs": pairs,
        "changed": changed,
    }


@dataclass
class _Table:
    """The items of a data set, and what is measured with them."""

    measuring: Measuring
    name: str
    model: Any
    tokenizer: Any
    items: Sequence[Item]
    halves: list[list[float]] = field(default_factory=list)

    def _take(self, name: str, by: Callable[[dict[str, Any]], None]) -> None:
        self.measuring.take("datasets", self.name, name, by=by)

    @property
    def device(self) -> str:
        return str(self.measuring.found["device"])

    def _scored(self, items: Sequence[Item], share: bool = True) -> _Run:
        return scored(self.model, self.tokenizer, items, self.device, share)

    def fast(self) -> None:
        """Time this project, with and without sharing, and count what a batch waits for."""
        rate = self.measuring.found["machine"].get("multiply_rate")
        plans: list[Any] = []

        def time_it(into: dict[str, Any], share: bool) -> None:
            self._scored(self.items[:2], share)
            run = self._scored(self.items, share)
            plans.append(run.scored.plan)
            into.update(told(run, self.model, rate), items=len(self.items))

        self._take("this project", partial(time_it, share=True))
        self._take("this project, nothing shared", partial(time_it, share=False))
        if self.device != "cpu" and self.model._supports_flex_attn:
            self._take("this project, FlexAttention", partial(self._in_flex, time_it))
        self._take("waits", lambda into: into.update(waits(self.model, plans[0], self.device)))

    def _in_flex(self, time_it: Callable[..., None], into: dict[str, Any]) -> None:
        """Time the same with FlexAttention in every layer, once it is compiled for any rows."""
        usual = self.model.config._attn_implementation
        self.model.set_attn_implementation("flex_attention")
        try:
            self._scored(self.items[:8])
            time_it(into, share=True)
        finally:
            self.model.set_attn_implementation(usual)

    def beside(self) -> None:
        """Time the other tools on the same items, those that can be imported."""
        from benchmarks.tools import GPU_TITLES, TOOLS

        def time_it(into: dict[str, Any], tool: str, batch: Any) -> None:
            if not all(text.read.strip() for item in self.items for text in texts(item)):
                raise ValueError("the last region of an item is empty; other tools read that")
            run = TOOLS[tool](self.model, self.tokenizer, batch)
            run(self.items[:2])
            base = base_memory(self.device)
            with timed(self.device) as cost:
                answer = run(self.items)
            peak = peak_memory(self.device)
            into["seconds"] = cost.seconds
            into["peak_bytes"] = None if base is None or peak is None else max(0, peak - base)
            into["conditions"] = len(answer.sums)

        for tool, batch in _OTHERS:
            self._take(GPU_TITLES[tool], partial(time_it, tool=tool, batch=batch))

    def in_half(self) -> None:
        """Keep what half precision says of a few items."""
        few = self.items[:_EXACT_ITEMS]
        self._take("exactness", lambda into: self.halves.extend(self._scored(few).tokens))

    def in_float32(self) -> None:
        """Hold both formats to transformers' plain forward in float32."""
        from benchmarks.tools import TOOLS

        few = self.items[:_EXACT_ITEMS]

        def hold(into: dict[str, Any]) -> None:
            expected = TOOLS["reference"](self.model, self.tokenizer, 1)(few).tokens
            assert expected is not None
            into["float32"] = differences(self._scored(few).tokens, expected, few)
            if self.halves:
                into[self.measuring.found["dtype"]] = differences(self.halves, expected, few)

        self._take("exactness", hold)


if __name__ == "__main__":
    work(json.loads(sys.argv[1]))

"""One tool, one data set, in a process of its own: ``python -m benchmarks.worker JOB.json``."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Job:
    """What a worker does.

    Attributes:
        tool: one of :data:`benchmarks.tools.TOOLS`.
        data: items, JSON lines.
        tokenizer: a folder or a Hub id.
        shape, device, dtype: of the model.
        batch: texts at a time, for tools that are told.
        warm_up: how many items are scored before the clock starts.
    """

    tool: str
    data: str
    tokenizer: str
    shape: str = "gpt2"
    device: str = "cpu"
    dtype: str = "float32"
    batch: int = 8
    warm_up: int = 1


def work(job: Job) -> dict[str, Any]:
    """Do a job and say what came of it: plain values, for JSON."""
    import torch
    from transformers import AutoTokenizer
    from transformers.utils import logging

    from benchmarks.data import read_items
    from benchmarks.measure import base_memory, copy_rate, multiply_rate, peak_memory, timed
    from benchmarks.models import fingerprint, floating_point_work, make_model
    from benchmarks.tools import TOOLS

    logging.set_verbosity_error()
    torch.set_num_threads(1)
    items = read_items(Path(job.data))
    tokenizer = AutoTokenizer.from_pretrained(job.tokenizer)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    reference = job.tool == "reference"
    model = make_model(job.shape, job.device, job.dtype)
    print_of_weights = fingerprint(model)
    if reference:
        # The weights themselves are those of the tools; only what is computed is more exact.
        model = model.double() if job.device == "cpu" else model.float()
    tool = TOOLS[job.tool](model, tokenizer, job.batch)
    # Where both processors are busy, the machine's own rate belongs to the moment.
    rate = multiply_rate(job.device, job.dtype)
    base = base_memory(job.device)
    if job.warm_up:
        tool(items[: job.warm_up])
    with timed(job.device) as cost:
        answer = tool(items)
    peak = peak_memory(job.device)
    result: dict[str, Any] = {
        "seconds": cost.seconds,
        "peak_bytes": None if base is None or peak is None else max(0, peak - base),
        "sums": answer.sums,
        "tokens": answer.tokens,
        "weights": print_of_weights,
        "multiply_rate": max(rate, multiply_rate(job.device, job.dtype)),
    }
    if answer.plan is not None:
        plan = answer.plan
        result["plan"] = {
            "tokens": plan.tokens,
            "tokens_once": plan.tokens_once,
            "padded_tokens": plan.padded_tokens,
            "head_rows": plan.head_rows,
            "passes": sum(batch.passes for batch in plan.batches),
            "floating_point_work": floating_point_work(model.config, plan),
            "weight_bytes": sum(p.numel() * p.element_size() for p in model.parameters()),
        }
        if job.device != "cpu":
            result["copy_rate"] = copy_rate(job.device)
    return result


def one_thread() -> dict[str, str]:
    """The environment of a worker: one thread, nothing fetched."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
    return {
        **os.environ,
        **dict.fromkeys(names, "1"),
        "TOKENIZERS_PARALLELISM": "false",
        "TRANSFORMERS_VERBOSITY": "error",
    }


def main() -> int:
    """Read a job, write its result beside it."""
    path = Path(sys.argv[1])
    result = work(Job(**json.loads(path.read_text())))
    path.with_suffix(".result.json").write_text(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())

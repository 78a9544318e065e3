"""What vectors by layer cost: time beside the bare forward passes, memory, disk.

    python -m benchmarks.states --texts FILE ... [--tokenizer FOLDER] [--segments 40000]

A model of GPT-2 small's shape with random weights. Time: ``eval.states`` on some segments, and the
model without its head on the same batches, in turn; one thread, processor time. Memory: as many
segments as a probe has, with all states of all layers, but the blocks of the model hand on what
they are given, as forward passes of all would take an hour; the peak of whole forward passes is
that of the first part. A line of FILE is one segment, or several with tabs between them.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.data import sample_sentences, train_tokenizer
from benchmarks.measure import base_memory, peak_memory, timed
from benchmarks.models import SHAPES, make_model
from benchmarks.worker import one_thread

#: What is to be reached: share of the bare model's tokens a second, and bytes of memory.
GOALS = {"speed": 0.9, "memory": 2e9}


def segments_of(paths: list[Path]) -> Iterator[str]:
    """Distinct segments of files, or of the sample stories where there is no file."""
    lines = (line for path in paths for line in path.read_text(encoding="utf-8").splitlines())
    fields = (field for line in lines for field in line.split("\t"))
    found = dict.fromkeys(fields if paths else sample_sentences())
    return (text for text in found if text.strip() and not text.isdecimal())


def bare(body: Any, sequences: list[Any], batches: list[Any]) -> None:
    """Forward passes of the model without a head on batches, and nothing else."""
    import torch

    with torch.inference_mode():
        for batch in batches:
            ids = torch.zeros(len(batch.indices), batch.length, dtype=torch.long)
            for row, index in enumerate(batch.indices):
                own = sequences[index].ids
                ids[row, : len(own)] = torch.tensor(own)
            body.module(input_ids=ids, use_cache=False)


def measure_speed(model: Any, tokenizer: Any, texts: list[str], rounds: int) -> dict[str, Any]:
    """Tokens a processor second of both, round by round."""
    from coherencegym.eval import Passage, states
    from coherencegym.eval.models.in_memory import body_of
    from coherencegym.eval.plan.passages import prepare_passages
    from coherencegym.eval.plan.plan import default_budget, make_batches

    passages = [Passage.whole(text) for text in texts]
    body = body_of(model)
    prepared = prepare_passages(tokenizer, body.config, passages, causal=body.causal)
    sequences = list(prepared.sequences)
    plain = [each.sequence for each in sequences]
    families = [[number] for number in range(len(plain))]
    batches = list(make_batches(plain, families, default_budget("cpu"), sharing="none"))
    bare(body, sequences, batches[-3:])
    states(model, tokenizer, passages[:20])
    base, found = base_memory("cpu"), []
    for _ in range(rounds):
        with timed("cpu") as ours:
            states(model, tokenizer, passages)
        with timed("cpu") as other:
            bare(body, sequences, batches)
        found.append([prepared.tokens / ours.seconds, prepared.tokens / other.seconds])
    return {
        "segments": len(passages),
        "tokens": prepared.tokens,
        "tokens_a_second": found,
        "share": [ours / other for ours, other in found],
        "peak_bytes": peak_memory("cpu"),
        "model_bytes": base,
    }


def measure_memory(model: Any, tokenizer: Any, texts: list[str]) -> dict[str, Any]:
    """The peak of a run whose blocks hand on what they are given, and of reading every layer."""
    from coherencegym.eval import Passage, states
    from coherencegym.eval.models.in_memory import body_of

    with ExitStack() as stack:
        for block in body_of(model).module.h:
            stack.enter_context(mock.patch.object(block.attn, "forward", _no_attention))
            stack.enter_context(mock.patch.object(block.mlp, "forward", lambda states: states))
        base = base_memory("cpu")
        start = time.process_time()
        found = states(model, tokenizer, [Passage.whole(text) for text in texts])
        encoding = peak_memory("cpu")
        for number in found.layers:
            found.layer(number)
            gc.collect()
    return {
        "segments": len(texts),
        "tokens": found.tokens,
        "layers": len(found.layers),
        "width": found.width,
        "seconds": time.process_time() - start,
        "model_bytes": base,
        "peak_bytes": encoding,
        "peak_bytes_reading": peak_memory("cpu"),
        "disk_bytes": sum(path.stat().st_size for path in found.folder.iterdir()),
    }


def _no_attention(states: Any, *_: Any, **__: Any) -> tuple[Any, None]:
    return states, None


def main(arguments: list[str] | None = None) -> int:
    """Estimate in a process with one thread, and print what came of it."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.states", description=__doc__)
    add = made.add_argument
    add("--texts", type=Path, nargs="*", default=[], metavar="FILE")
    add("--tokenizer", help="a folder; default: one trained on the sample stories")
    add("--shape", choices=SHAPES, default="gpt2", help="default gpt2")
    add("--segments", type=int, default=40_000, metavar="N", help="for memory; default 40000")
    add("--timed", type=int, default=300, metavar="N", help="segments for time; default 300")
    add("--rounds", type=int, default=3, metavar="N", help="default 3")
    add("--output", type=Path, default=Path("benchmarks/out"), metavar="DIR")
    add("--worker", action="store_true", help=argparse.SUPPRESS)
    options = made.parse_args(arguments)
    if not options.worker:
        given = sys.argv[1:] if arguments is None else arguments
        command = [sys.executable, "-m", "benchmarks.states", *given, "--worker"]
        return subprocess.run(command, env=one_thread(), check=False).returncode
    import torch
    from transformers import AutoTokenizer

    torch.set_num_threads(1)
    options.output.mkdir(parents=True, exist_ok=True)
    folder = options.tokenizer or str(options.output / "tokenizer")
    if options.tokenizer is None:
        train_tokenizer(Path(folder))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = make_model(options.shape)
    texts = list(islice(segments_of(options.texts), options.segments))
    step = max(1, len(texts) // max(1, options.timed))
    report = {
        "speed": measure_speed(model, tokenizer, texts[::step][: options.timed], options.rounds),
        "memory": measure_memory(model, tokenizer, texts),
        "goals": GOALS,
    }
    path = options.output / f"states-{options.shape}.json"
    path.write_text(json.dumps(report, indent=1), encoding="utf-8")
    print(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

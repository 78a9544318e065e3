"""What an item costs: the memory of ``coherencegym score`` on tables of more and more items.

    python -m benchmarks.items [--items 100000 1000000] [--compare]

Each table is made (pairs of sentences, a group of eight and a genre of four for each, every item of
a discourse of its own), and scored in a process of its own by a model of one layer of 16
dimensions, without the cache. What is said is the peak of its resident set, and how much it grew
for each item more than in the run before. ``--compare`` scores a second model and compares them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.data import sample_sentences, train_tokenizer
from benchmarks.worker import one_thread
from coherencegym.eval.kinds.items import ITEMS, Condition, Item, Prediction, Region
from coherencegym.eval.kinds.table_kind import row_hash, to_row

#: Items that are made, and put into a row group, at a time.
_MADE = 10_000
_VOCABULARY = 1000


def made_items(number: int) -> Iterator[Item]:
    """Pairs of two sentences, of which the second is another sentence's in the second condition."""
    drawn = random.Random("scale")
    sentences = sample_sentences()
    for place in range(number):
        first, second, other = drawn.sample(sentences, 3)
        conditions = tuple(
            Condition(name, f"{first} {last}", (Region(1, first), Region(2, last)))
            for name, last in (("original", second), ("changed", other))
        )
        prediction = Prediction("(2;%changed%) > (2;%original%)", "mean", (f"group {place % 8}",))
        extra = {"genre": f"genre {place % 4}"}
        name = f"made-{place:07}"
        yield Item(f"{name}/pair", place + 1, conditions, (prediction,), name, "made", (), extra)


def make_table(folder: Path, number: int) -> Path:
    """A dataset as the builders write it, without holding it in memory."""
    import pyarrow as pa
    from pyarrow import parquet

    data = folder / "data" / "pairs" / "test-00000-of-00001.parquet"
    hashes = folder / "hashes" / "pairs-test.parquet"
    for path in (data, hashes):
        path.parent.mkdir(parents=True)
    schema = ITEMS.features({"genre": "string"}).arrow_schema
    published = pa.schema([("item_id", pa.string()), ("sha256", pa.string())])
    items = made_items(number)
    with (
        parquet.ParquetWriter(data, schema) as to_data,
        parquet.ParquetWriter(hashes, published) as to_hashes,
    ):
        while rows := [to_row(item) for item in islice(items, _MADE)]:
            to_data.write_table(pa.Table.from_pylist(rows, schema=schema))
            known = [{"item_id": row["item_id"], "sha256": row_hash(row)} for row in rows]
            to_hashes.write_table(pa.Table.from_pylist(known, schema=published))
    about = {"kind": "items", "separator": False, "breakdowns": ["genre"]}
    config = {**about, "default": True, "splits": {"test": {"rows": number}}, "quality": {}}
    manifest = {"format": 1, "suite": "made", "version": "1.0.0", "configs": {"pairs": config}}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def make_models(folder: Path) -> list[Path]:
    """Two models of one layer of 16 dimensions, with other weights."""
    import torch
    from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel

    train_tokenizer(folder / "tokenizer", _VOCABULARY)
    tokenizer = AutoTokenizer.from_pretrained(folder / "tokenizer")
    shape = {"n_embd": 16, "n_layer": 1, "n_head": 1, "n_positions": 256}
    made = []
    for seed in range(2):
        torch.manual_seed(seed)
        config = GPT2Config(vocab_size=len(tokenizer), bos_token_id=tokenizer.bos_token_id, **shape)
        made.append(folder / f"model-{seed}")
        GPT2LMHeadModel(config).save_pretrained(made[-1])
        tokenizer.save_pretrained(made[-1])
    return made


def measured(command: Sequence[str], log: Path) -> dict[str, float]:
    """Run a command: its peak (bytes), processor time and wall time (seconds)."""
    start = time.perf_counter()
    with log.open("w") as out:
        child = subprocess.Popen(
            [sys.executable, "-m", "coherencegym", *command],
            env={**one_thread(), "HF_HUB_OFFLINE": "1"},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} stopped:\n{log.read_text()[-2000:]}")
    return {
        "peak_bytes": used.ru_maxrss * 1024,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "seconds": time.perf_counter() - start,
    }


def scored(data: Path, model: Path, output: Path) -> dict[str, float]:
    """What scoring a table costs."""
    words = ["--model", str(model), "--dataset", str(data), "--device", "cpu", "--no-cache"]
    log = output.with_suffix(".log")
    return measured(["score", *words, "--output", str(output), "--overwrite"], log)


def main(arguments: list[str] | None = None) -> int:
    """Make, score, print; what was measured is written beside."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.items", description=__doc__)
    add = parser.add_argument
    add("--items", type=int, nargs="+", default=[100_000, 1_000_000], metavar="N")
    add("--compare", action="store_true", help="also score a second model, and compare the two")
    add("--output", type=Path, default=Path("benchmarks/out/scale"), metavar="DIR")
    chosen = parser.parse_args(arguments)
    out: Path = chosen.output
    out.mkdir(parents=True, exist_ok=True)
    models = make_models(out)
    found: list[dict[str, Any]] = []
    for number in sorted(chosen.items):
        shutil.rmtree(out / "data", ignore_errors=True)
        data = make_table(out / "data", number)
        runs = [out / f"run-{place}" for place in range(1 + chosen.compare)]
        costs = {"score": scored(data, models[0], runs[0])}
        if chosen.compare:
            scored(data, models[1], runs[1])
            words = [*map(str, runs), "--output", str(out / "compared"), "--overwrite"]
            costs["compare"] = measured(["compare", *words], out / "compare.log")
        found.append({"items": number, **costs})
        _say(found)
    (out / "results.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
    return 0


def _say(found: Sequence[dict[str, Any]]) -> None:
    now, before = found[-1], found[-2] if len(found) > 1 else None
    for what, cost in now.items():
        if what == "items":
            continue
        said = f"{now['items']:>9,} items, {what}: peak {cost['peak_bytes'] / 1e6:,.0f} MB"
        if before is not None:
            more = (cost["peak_bytes"] - before[what]["peak_bytes"]) / (
                now["items"] - before["items"]
            )
            said += f", {more:,.0f} bytes an item more than before"
        print(f"{said}; {cost['cpu_seconds']:,.0f} s of processor time", flush=True)


if __name__ == "__main__":
    sys.exit(main())

"""The evaluator on a GPU: how exact, how fast, and how near to what the device can do.

python -m benchmarks.gpu                                  # on a GPU, models of 124M, 1.5B and 7B
python -m benchmarks.gpu --device cpu --shapes tiny       # the same program, anywhere

Models are random and made on the device; texts and token counts are real. Each shape runs in a
process of its own, and each measurement by itself: what fails is in the table, and the others go
on. Everything that was measured is written after each step.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.data import GENERATED, make_dataset, train_tokenizer, write_items
from benchmarks.gpu_table import print_table
from benchmarks.models import SHAPES
from benchmarks.worker import one_thread

#: Items of a data set, by shape: enough for what is done once a run to weigh little.
ITEMS = {"tiny": 3, "gpt2": 2000, "1.5b": 1000, "7b": 500}
_TOKENIZER = Path("../shared/models/gpt2-tokenizer")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    add = made.add_argument
    add("--device", default="cuda", help="default cuda")
    add("--dtype", default="bfloat16", help="default bfloat16")
    add("--shapes", nargs="+", choices=SHAPES, default=["gpt2", "1.5b", "7b"])
    add("--items", type=int, metavar="N", help="of each data set; default: by shape")
    add("--datasets", nargs="+", choices=GENERATED, default=["connective_long", "shuffle"])
    add(
        "--build",
        nargs="*",
        default=[],
        metavar="FOLDER:CONFIG",
        help="tables of built suites to score as well, such as those of corpora at hand",
    )
    add(
        "--tokenizer", help=f"a folder; default {_TOKENIZER} if it is there, or one that is trained"
    )
    add("--data", type=Path, help="what an earlier --prepare has written there")
    add("--prepare", type=Path, metavar="DIR", help="only write the texts and the tokenizer there")
    add("--minutes", type=float, default=10.0, help="end after; default 10")
    add("--output", type=Path, default=Path("benchmarks/out"), metavar="DIR")
    return made


def main(arguments: list[str] | None = None) -> int:
    """Prepare what is scored, measure each shape, print the table, write what was measured."""
    options = parser().parse_args(arguments)
    out: Path = options.output
    out.mkdir(parents=True, exist_ok=True)
    folder = options.data or options.prepare or out / "texts"
    if options.data is None:
        prepare(options, folder)
    if options.prepare is not None:
        print(f"written to {folder}")
        return 0
    began = time.monotonic()
    path = out / f"gpu-{options.device}.json"
    report: dict[str, Any] = {"shapes": {}}
    for place, shape in enumerate(options.shapes):
        left = 60 * options.minutes - (time.monotonic() - began)
        # An equal share for each shape that is left, so that a slow one leaves time for the next.
        share = left / (len(options.shapes) - place)
        report["shapes"][shape] = measured(shape, options, folder, share)
        path.write_text(json.dumps(report, indent=1))
    print_table(report)
    print(f"written to {path}")
    return 0


def prepare(options: argparse.Namespace, folder: Path) -> None:
    """Write the tokenizer and the items of every data set to a folder."""
    import shutil

    from coherencegym.eval.data.dataset import tables
    from coherencegym.eval.data.source import find_dataset

    folder.mkdir(parents=True, exist_ok=True)
    given = options.tokenizer or (str(_TOKENIZER) if _TOKENIZER.is_dir() else None)
    if given is None:
        train_tokenizer(folder / "tokenizer")
    else:
        shutil.copytree(given, folder / "tokenizer", dirs_exist_ok=True)
    count = options.items or max(ITEMS[shape] for shape in options.shapes)
    for name in options.datasets:
        items = make_dataset(name, count, folder.parent / "suites", Path())
        write_items(items, folder / f"{name}.jsonl")
    for named in options.build:
        where, _, config = named.rpartition(":")
        (table,) = tables(find_dataset(where), [config])
        write_items(list(table.items), folder / f"{Path(where).name}-{config}.jsonl")


def measured(
    shape: str, options: argparse.Namespace, folder: Path, seconds: float
) -> dict[str, Any]:
    """All that a shape's process measured before it ended, or was ended."""
    path: Path = options.output / f"gpu-{options.device}-{shape}.json"
    path.unlink(missing_ok=True)
    job = {
        "shape": shape,
        "device": options.device,
        "dtype": options.dtype,
        "data": str(folder),
        "items": options.items or ITEMS[shape],
        "seconds": seconds,
        "path": str(path),
    }
    environment = one_thread() if options.device == "cpu" else None
    why = run(
        [sys.executable, "-m", "benchmarks.gpu_worker", json.dumps(job)], environment, seconds
    )
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    if why:
        found["failed"] = why
    return found


def run(command: Sequence[str], environment: dict[str, str] | None, seconds: float) -> str:
    """Run a process for so many seconds at most; the reason why it did not end well, or nothing."""
    if seconds <= 0:
        return "no time was left"
    try:
        done = subprocess.run(
            command,
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it was ended after {seconds:.0f} seconds"
    if done.returncode == 0:
        return ""
    last = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
    return f"it ended with code {done.returncode}: {last[0]}"


if __name__ == "__main__":
    sys.exit(main())

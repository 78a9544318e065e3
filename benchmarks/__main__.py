"""Score the same items with this project and with other tools, in turn, and compare what it costs.

python -m benchmarks --rounds 2
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from benchmarks.data import (
    DATASETS,
    make_dataset,
    read_items,
    train_tokenizer,
    train_word_pieces,
    write_items,
)
from benchmarks.measure import machine
from benchmarks.models import MASKED_SHAPES, SHAPES
from benchmarks.table import print_results, shared_share, summarise
from benchmarks.tools import MASKED_TOOLS, NEEDS_CONTEXT, TITLES
from benchmarks.worker import Job, one_thread

#: The package that a tool comes from.
_PACKAGES = {
    "token_score": "minicons",
    "loglikelihood": "lm_eval",
    **dict.fromkeys(MASKED_TOOLS, "minicons"),
}
#: This project among the tools.
OURS = "coherencegym"
_TOKENIZER = Path("../shared/models/gpt2-tokenizer")
#: Of how many items the reference is computed.
_REFERENCE_ITEMS = 4


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    add = made.add_argument
    add("--items", type=int, metavar="N", help="at most so many of each data set")
    add("--rounds", type=int, default=2, metavar="N", help="default 2")
    add(
        "--only",
        action="append",
        choices=[*DATASETS, *TITLES],
        metavar="NAME",
        help=f"these data sets or tools: {', '.join([*DATASETS, *TITLES])}",
    )
    add("--shape", choices=SHAPES, default="16m", help="of the model; default 16m")
    add("--device", default="cpu", help="cpu or cuda; default cpu")
    add("--dtype", help="default float32, on a GPU bfloat16")
    add("--data-dir", type=Path, default=Path("../shared/corpora"), metavar="DIR")
    add("--tokenizer", help=f"a folder; default {_TOKENIZER} if it is there")
    add("--batch", type=int, default=8, help="texts at a time, for the other tools; default 8")
    add("--output", type=Path, default=Path("benchmarks/out"), metavar="DIR")
    return made


def main(arguments: list[str] | None = None) -> int:
    """Run everything, print the table, write what was measured."""
    options = parser().parse_args(arguments)
    only = set(options.only or ())
    datasets = [name for name in DATASETS if name in only] or list(DATASETS)
    masked = options.shape in MASKED_SHAPES
    fitting = [name for name in TITLES if (name in MASKED_TOOLS) == masked or name == OURS]
    tools = [name for name in fitting if name in only] or fitting
    missing = {_PACKAGES[t] for t in tools if t in _PACKAGES} - _installed()
    if missing:
        print(f"not installed: {', '.join(sorted(missing))}; pip install '.[bench]'")
        tools = [t for t in tools if _PACKAGES.get(t) not in missing]
    out: Path = options.output
    out.mkdir(parents=True, exist_ok=True)
    known = str(_TOKENIZER) if _TOKENIZER.is_dir() and not masked else None
    options.tokenizer = options.tokenizer or known
    tokenizer = options.tokenizer or str(out / ("word-pieces" if masked else "tokenizer"))
    if options.tokenizer is None:
        (train_word_pieces if masked else train_tokenizer)(Path(tokenizer))
    dtype = options.dtype or ("float32" if options.device == "cpu" else "bfloat16")
    report: dict[str, Any] = {
        "machine": machine(options.device),
        "model": {"shape": options.shape, "device": options.device, "dtype": dtype},
        "settings": {
            "items": options.items,
            "rounds": options.rounds,
            "batch": options.batch,
            "tokenizer": options.tokenizer or "trained on the sample stories",
        },
        "datasets": {},
    }
    for name in datasets:
        items = make_dataset(name, options.items, out / "suites", options.data_dir)
        path = out / f"{name}.jsonl"
        write_items(items, path)
        job = Job(
            tool="",
            data=str(path),
            tokenizer=tokenizer,
            shape=options.shape,
            device=options.device,
            dtype=dtype,
            batch=options.batch,
        )
        report["datasets"][name] = measure(name, job, tools, options, out)
        report["datasets"][name]["items"] = len(items)
        report["datasets"][name].update(shared_share(items, tokenizer))
        _write(report, out)
    summarise(report)
    path = _write(report, out)
    print_results(report)
    print(f"written to {path}")
    return 0


def measure(
    name: str, job: Job, tools: list[str], options: argparse.Namespace, out: Path
) -> dict[str, Any]:
    """All rounds of a data set, the tools in turn.

    Returns:
        ``rounds``: lists of results by tool; ``reference``: that of the first items.
    """
    whole = name in ("pairs", "dialogues", "documents")
    tools = [t for t in tools if not (whole and t in NEEDS_CONTEXT)]
    items = read_items(Path(job.data))
    rounds: list[dict[str, Any]] = []
    for number in range(options.rounds):
        results = {}
        for tool in tools:
            results[tool] = run(replace(job, tool=tool), out)
            _say(f"{name}: round {number + 1}, {TITLES[tool]}: {_costs(results[tool])}")
        rounds.append(results)
    few = out / f"{name}-few.jsonl"
    write_items(items[:_REFERENCE_ITEMS], few)
    _say(f"{name}: reference")
    reference = run(replace(job, tool="reference", data=str(few), warm_up=0), out)
    return {"rounds": rounds, "reference": reference}


def run(job: Job, out: Path) -> dict[str, Any]:
    """A job in a process of its own."""
    path = out / "job.json"
    path.write_text(json.dumps(asdict(job)))
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.worker", str(path)],
        env=one_thread(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-8:]
        raise SystemExit(f"{job.tool} on {job.data} stopped:\n" + "\n".join(last))
    result: dict[str, Any] = json.loads(path.with_suffix(".result.json").read_text())
    return result


def _write(report: dict[str, Any], out: Path) -> Path:
    path = out / f"results-{report['model']['shape']}-{report['model']['device']}.json"
    path.write_text(json.dumps(report, indent=1))
    return path


def _installed() -> set[str]:
    return {name for name in set(_PACKAGES.values()) if importlib.util.find_spec(name)}


def _costs(result: dict[str, Any]) -> str:
    peak = result["peak_bytes"]
    return f"{result['seconds']:.1f} s" + ("" if peak is None else f", {peak / 1e6:,.0f} MB")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

"""What an evaluation takes beside its model: reading, verifying, encoding, planning, reporting.

    python -m benchmarks.pipeline [--items 10000] [--profile]

Runs ``coherencegym score`` on a built suite with a tiny model whose forward passes are left out:
every surprisal comes from a table of random numbers. Its tokenizer is that of
``python -m benchmarks``. Everything is imported before the clock starts (a run on two items comes
first); time is processor time of all threads.
"""

from __future__ import annotations

import argparse
import contextlib
import cProfile
import csv
import io
import json
import os
import pkgutil
import pstats
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.data import sample_sentences, train_tokenizer
from benchmarks.models import make_model
from benchmarks.worker import one_thread

#: What is to be reached, in seconds for 10,000 items.
GOALS = {"shuffle": 6.0, "connective": 25.0}
#: Functions whose time is shown, where they are called from.
_STAGES = {
    "read and verify the data": "coherencegym.eval.run.runs.read_dataset",
    "load the model": "coherencegym.eval.run.options.ModelOptions.load",
    "encode": "coherencegym.eval.surprisal.prepare",
    "plan": "coherencegym.eval.plan.requests.make_plan",
    "make batches": "coherencegym.eval.plan.plan.make_batches",
    "evaluate": "coherencegym.eval.tasks.score.scored_table.ScoredItemTable.add",
    "write rows": "coherencegym.eval.tasks.score.scored_table.RowWriter.add",
    "summarise": "coherencegym.eval.run.runs.collect_results",
    "write scores and the page": "coherencegym.eval.views.page.write_pages",
}


def build_shuffles(folder: Path, items: int) -> Path:
    """A built suite of one shuffle each of stories made of sample sentences."""
    drawn = random.Random("pipeline shuffle")
    sentences = sample_sentences()
    corpus = folder / "storycloze"
    corpus.mkdir(parents=True, exist_ok=True)
    path = corpus / "cloze_test_test__spring2016 - cloze_test_ALL_test.csv"
    header = ["InputStoryid", *(f"InputSentence{n}" for n in range(1, 5))]
    header += ["RandomFifthSentenceQuiz1", "RandomFifthSentenceQuiz2", "AnswerRightEnding"]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for number in range(items):
            writer.writerow([f"made-{number:06}", *drawn.sample(sentences, 6), "1"])
    return _build("sentence_order", "storycloze", corpus, folder / "suites" / "sentence_order")


def build_connectives(folder: Path, items: int) -> Path:
    """A built suite of sample segments, each behind a sentence of a sample story."""
    drawn = random.Random("pipeline connective")
    sentences = sample_sentences()
    corpus = folder / "disco"
    corpus.mkdir(parents=True, exist_ok=True)
    from coherencegym.loaders.registry import SAMPLES

    with (SAMPLES / "disco" / "disco.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    # Segments of `meanwhile` and some senses make no item.
    used = [row for row in rows if row["connective"] != "meanwhile" and row["sense"] != "prep"]
    with (corpus / "disco.tsv").open("w", encoding="utf-8") as out:
        out.write("connective\tsense\toffset\tsegment\n")
        for number in range(items):
            row = used[number % len(used)]
            context = drawn.choice(sentences) + " "
            offset = int(row["offset"]) + len(context)
            out.write(f"{row['connective']}\t{row['sense']}\t{offset}\t{context}{row['segment']}\n")
    return _build("connectives", "disco", corpus, folder / "suites" / "connectives")


def _build(suite: str, corpus: str, data: Path, output: Path) -> Path:
    command = [
        sys.executable,
        "-m",
        f"coherencegym.builders.{suite}",
        "--corpus",
        corpus,
        "--overwrite",
    ]
    command += ["--data-dir", str(data), "--output", str(output), "--num-proc", "2"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return output


def without_model(model: Any, plan: Any, budget: Any, **_: Any) -> Any:
    """In place of :func:`eval.forward.execute.execute`: random surprisals, no forward pass."""
    import numpy as np

    from coherencegym.eval.forward.execute import Execution

    table = np.random.default_rng(0).exponential(4.0, size=1 << 16)
    bits, start = [], 0
    for sequence in plan.sequences:
        count = sequence.count
        if start + count > len(table):
            start = 0
        bits.append(table[start : start + count])
        start += count
    return Execution(bits, plan.batched(budget, sharing="packed"))


@contextlib.contextmanager
def _staged(times: dict[str, float]) -> Iterator[None]:
    """Count the processor time of the stages."""

    def wrap(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **options: Any) -> Any:
            start = time.process_time()
            try:
                return function(*arguments, **options)
            finally:
                times[stage] += time.process_time() - start

        return timed

    with contextlib.ExitStack() as patches:
        patches.enter_context(
            mock.patch("coherencegym.eval.backends.backend.execute", without_model)
        )
        for stage, place in _STAGES.items():
            patches.enter_context(mock.patch(place, wrap(stage, pkgutil.resolve_name(place))))
        yield


def make_tiny(folder: Path) -> Path:
    """A folder with a tiny model and a tokenizer of about as many tokens a word as GPT-2's."""
    if not (folder / "config.json").exists():
        make_model("tiny").save_pretrained(folder)
        train_tokenizer(folder)
    return folder


def evaluate(
    model: Path | str,
    suite: Path,
    config: str,
    output: Path,
    max_items: int,
    profile: cProfile.Profile | None = None,
) -> tuple[float, dict[str, float]]:
    """Evaluate a suite without its model's work.

    Returns:
        Seconds of processor time in all, and by stage.
    """
    from coherencegym.eval.commands.cli import main

    times = dict.fromkeys(_STAGES, 0.0)
    words = ["--model", str(model), "--dataset", str(suite), "--config", config, "--device", "cpu"]
    words += ["--output", str(output), "--overwrite", "--limit", str(max_items)]
    with _staged(times), contextlib.redirect_stdout(io.StringIO()):
        start = time.process_time()
        if profile is not None:
            profile.enable()
        code = main(words)
        if profile is not None:
            profile.disable()
        seconds = time.process_time() - start
    if code:
        raise SystemExit(f"the evaluation of {suite} stopped with exit code {code}")
    return seconds, times


def main(arguments: Sequence[str] | None = None) -> int:
    """Build what is missing, evaluate, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pipeline", description=__doc__)
    parser.add_argument("--items", type=int, default=10000, metavar="N", help="default 10,000")
    parser.add_argument("--rounds", type=int, default=2, metavar="N", help="default 2")
    parser.add_argument("--only", choices=GOALS, action="append", metavar="NAME")
    parser.add_argument("--profile", action="store_true", help="list the functions by own time")
    parser.add_argument("--output", type=Path, default=Path("benchmarks/out"), metavar="DIR")
    options = parser.parse_args(arguments)
    # Threads that wait for each other count as processor time.
    for name, value in one_thread().items():
        os.environ.setdefault(name, value)
    report: dict[str, Any] = {}
    options.output.mkdir(parents=True, exist_ok=True)
    model = make_tiny(options.output / "pipeline-model")
    for name in options.only or GOALS:
        folder = options.output / f"pipeline-{options.items}"
        suite, config = _suite(name, folder, options.items)
        output = folder / f"results-{name}"
        evaluate(model, suite, config, output, 2)
        runs = [
            evaluate(model, suite, config, output, options.items) for _ in range(options.rounds)
        ]
        seconds, stages = min(runs, key=lambda run: run[0])
        goal = GOALS[name] * options.items / 10000
        print(f"{name}: {options.items:,} items, {seconds:.1f} s of processor time (goal {goal:g})")
        for stage, taken in stages.items():
            print(f"  {taken:6.2f} s  {stage}")
        print(f"  {seconds - sum(stages.values()):6.2f} s  the rest")
        report[name] = {"seconds": [run[0] for run in runs], "stages": dict(stages), "goal": goal}
        if options.profile:
            profile = cProfile.Profile(time.process_time)
            evaluate(model, suite, config, output, options.items, profile)
            pstats.Stats(profile).sort_stats("tottime").print_stats(30)
            pstats.Stats(profile).sort_stats("cumtime").print_stats(60)
    path = options.output / f"pipeline-{options.items}.json"
    path.write_text(json.dumps(report, indent=1))
    print(f"written to {path}")
    return 0


def _suite(name: str, folder: Path, items: int) -> tuple[Path, str]:
    build = build_shuffles if name == "shuffle" else build_connectives
    known = {"shuffle": "sentence_order", "connective": "connectives"}
    suite = folder / "suites" / known[name]
    if not (suite / "manifest.json").exists():
        print(f"building {items:,} items ({name})", file=sys.stderr, flush=True)
        build(folder, items)
    configs = json.loads((suite / "manifest.json").read_text())["configs"]
    return suite, next(c for c in configs if name == "connective" or c.endswith("narration_all"))


if __name__ == "__main__":
    sys.exit(main())

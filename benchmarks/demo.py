"""The demonstration of ``make demo``: suites from the sample texts, scores on them, and a check.

Everything runs in one process, so that libraries are imported once. What the commands print is
kept in files beside what they write; the screen has a line for each, and what ``check`` shows.

    python -m benchmarks.demo demo_out
"""

from __future__ import annotations

import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from coherencegym.__main__ import main

MODEL = "demo"


def run(log: Path, *words: str) -> float:
    """Run a command, keep what it prints, and give the seconds that it took."""
    began = time.monotonic()
    with log.open("w", encoding="utf-8") as file, redirect_stdout(file), redirect_stderr(file):
        code = main(words)
    if code:
        sys.exit(f"coherencegym {words[0]} ended with {code}; {log} says why")
    return time.monotonic() - began


def demonstrate(folder: Path) -> None:
    """Build, score and check, and say where to look."""
    folder.mkdir(parents=True, exist_ok=True)
    suites, results = folder / "suites", folder / "results"
    words = ["--all", "--corpus", "sample", "--output", str(suites), "--overwrite"]
    seconds = run(folder / "build.txt", "build", *words)
    number = len(list(suites.glob("*/manifest.json")))
    print(f"{number} suites from the sample texts in {seconds:.0f} s: {suites}", flush=True)
    words = ["--model", MODEL, "--dataset", str(suites), "--output", str(results), "--overwrite"]
    seconds = run(folder / "score.txt", "score", *words)
    page = results / "overview" / "index.html"
    print(f"the model {MODEL} scored on them in {seconds:.0f} s: open {page}\n", flush=True)
    main(["check", MODEL])
    print(
        f"\na model of your own: coherencegym check gpt2, or score --model gpt2 --dataset {suites}"
    )


if __name__ == "__main__":
    demonstrate(Path(sys.argv[1]))

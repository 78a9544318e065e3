"""What it costs to find intruders in a large collection: time and memory, against the bare product.

    python -m benchmarks.retrieval --documents 5000 10000 20000 40000
    python -m benchmarks.retrieval --documents 106352 --no-bare --num-proc 2

Documents are generated (seeded): five sentences of 10 to 29 words each, drawn from a Zipf
distribution over 200,000 words. Each size runs in a process of its own. ``bare`` is vectorising
with scikit-learn and one call of ``sparse_dot_topn``, of every document with every other; ``fit``
is ``IntruderSentence().fit``: vectors, groups, neighbours of the half of the documents that is
drawn, candidates and their comparison.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import machine

VOCABULARY = 200_000


def synthetic(number: int, seed: int = 0) -> list[tuple[str, ...]]:
    """Documents as tuples of five sentences."""
    import numpy as np

    generator = np.random.default_rng(seed)
    weights = 1 / np.arange(1, VOCABULARY + 1)
    cumulative = np.cumsum(weights / weights.sum())
    words = np.array([f"w{i}" for i in range(VOCABULARY)], dtype=object)
    documents = []
    for _ in range(number):
        lengths = generator.integers(10, 30, 5)
        drawn = np.searchsorted(cumulative, generator.random(lengths.sum()))
        chosen = words[np.minimum(drawn, VOCABULARY - 1)]
        ends = np.cumsum(lengths)
        documents.append(
            tuple(
                " ".join(chosen[end - length : end])
                for end, length in zip(ends, lengths, strict=True)
            )
        )
    return documents


def measure(number: int, bare: bool, threads: int) -> Any:
    """Seconds (of all threads, and on the clock) and megabytes above what the texts take."""
    import numpy as np
    import sklearn.preprocessing  # noqa: F401  (imports are not what is measured)
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
    from sparse_dot_topn import sp_matmul_topn

    from coherencegym.engines import Engine
    from coherencegym.loaders.discourse import Discourse, Unit
    from coherencegym.manipulations.intruders.intruder_sentence import IntruderSentence
    from coherencegym.manipulations.operator import Context

    documents = synthetic(number)
    discourses = [
        Discourse(f"d{i:06}", "synthetic", tuple(map(Unit, texts)))
        for i, texts in enumerate(documents)
    ]
    result: dict[str, Any] = {"documents": number}
    if bare:
        start = time.process_time()
        hasher = HashingVectorizer(
            n_features=2**20, ngram_range=(1, 2), alternate_sign=False, norm=None, dtype=np.float32
        )
        counts = hasher.transform([" ".join(texts) for texts in documents])
        vectors = TfidfTransformer().fit_transform(counts).astype(np.float32)
        sp_matmul_topn(vectors, vectors.T, top_n=11, sort=True, threshold=0.0)
        result["bare_cpu"] = time.process_time() - start
        del counts, vectors
    del documents
    Path("/proc/self/clear_refs").write_text("5")
    before = memory_field("VmRSS")
    start, clock = time.process_time(), time.perf_counter()
    context = Context(0, "benchmark")
    fitted = IntruderSentence().fit(discourses, context, engine=Engine(threads))
    result["fit_cpu"] = time.process_time() - start
    result["fit_clock"] = time.perf_counter() - clock
    result["peak_mb"] = memory_field("VmHWM") - before
    result["intruded"] = len(fitted.choices) / number
    return result


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Processor time by number of documents, both on logarithmic scales."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot, ticker

    from coherencegym.eval.report.figures import write_svg

    matplotlib.rcParams["svg.hashsalt"] = "coherencegym"
    figure, axes = pyplot.subplots(figsize=(5, 3.4), layout="constrained")
    numbers = [row["documents"] for row in rows]
    compared = [row for row in rows if "bare_cpu" in row]
    axes.loglog(numbers, [row["fit_cpu"] for row in rows], "o-", label="IntruderSentence.fit")
    axes.loglog(
        [row["documents"] for row in compared],
        [row["bare_cpu"] for row in compared],
        "s--",
        label="vectorising and one sparse_dot_topn",
    )
    axes.set_xticks(numbers, [f"{number:,}" for number in numbers])
    axes.set_xticks([], minor=True)
    axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(ticker.StrMethodFormatter("{x:g}"))
    axes.yaxis.set_minor_formatter(ticker.NullFormatter())
    axes.set_xlabel("documents of five sentences")
    axes.set_ylabel("processor time, seconds")
    axes.legend(frameon=False)
    if path.suffix == ".svg":
        write_svg(figure, path)
    else:
        figure.savefig(path)


def memory_field(name: str) -> float:
    """A field of the process's status, in megabytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith(name))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.retrieval", description=__doc__)
    add = made.add_argument
    add("--documents", type=int, nargs="+", default=[5_000, 10_000, 20_000, 40_000])
    add("--no-bare", dest="bare", action="store_false", help="without the bare product")
    add("--num-proc", type=int, default=1, help="threads of the product; default 1")
    add("--plot", type=Path, metavar="FILE", help="draw the table (SVG or PNG)")
    add("--output", type=Path, default=Path("benchmarks/out/retrieval.json"))
    add("--in-process", action="store_true", help=argparse.SUPPRESS)
    return made


def main(arguments: list[str] | None = None) -> int:
    """Estimate each size and print the table."""
    options = parser().parse_args(arguments)
    if options.in_process:
        (number,) = options.documents
        made = measure(number, options.bare, options.num_proc)
        print(json.dumps(made))
        return 0
    given = list(sys.argv[1:] if arguments is None else arguments)
    rows = []
    print(f"{'documents':>9}  {'bare, CPU s':>11}  {'fit, CPU s':>10}  {'ratio':>5}", end="  ")
    print(f"{'clock s':>8}  {'peak MB':>8}  {'intruded':>8}")
    for number in options.documents:
        command = [sys.executable, "-m", "benchmarks.retrieval", *given]
        command += ["--documents", str(number), "--in-process"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        row = json.loads(done.stdout)
        rows.append(row)
        bare = row.get("bare_cpu")
        ratio = f"{row['fit_cpu'] / bare:.2f}" if bare else "-"
        print(
            f"{number:>9,}  {f'{bare:.1f}' if bare else '-':>11}  {row['fit_cpu']:>10.1f}  "
            f"{ratio:>5}  {row['fit_clock']:>8.1f}  {row['peak_mb']:>8.0f}  "
            f"{100 * row['intruded']:>6.1f} %",
            flush=True,
        )
    if options.plot is not None:
        draw(rows, options.plot)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps({"machine": machine("cpu"), "rows": rows}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())

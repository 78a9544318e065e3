"""What a Ray cluster costs beside one process, on this machine.

    python -m benchmarks.cluster
    python -m benchmarks.cluster --documents 20000 --workers 1 2 4

The documents are generated as in ``benchmarks.retrieval``. ``items`` generates those of a config of
``sentence_order`` from all of them, ``search`` reads them and looks for the neighbours of half, as
``intruder_sentences`` does; both check that every engine finds the same. Each engine runs in a
process of its own, in turn, in every round anew. Clock times are without the start of the cluster,
and with a first block that lets the workers import what they need, whose time is ``start``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.measure import machine
from benchmarks.retrieval import memory_field, synthetic

#: Of ``--workers``: this process, without a cluster.
_ALONE = 0


def _imported() -> float:
    """Import what blocks need, on a worker."""
    import sklearn.feature_extraction.text
    import sparse_dot_topn

    import coherencegym.builders.sentence_order

    del sklearn, sparse_dot_topn, coherencegym
    time.sleep(0.2)  # so that no worker takes two
    return 0.0


def _peak() -> tuple[int, float, float]:
    """The number of this process, and its memory in megabytes: at most, and that of its own."""
    time.sleep(0.2)
    return os.getpid(), memory_field("VmHWM"), memory_field("RssAnon")


def measure(number: int, workers: int) -> Any:
    """Seconds on the clock and of the cores, bytes sent, memory of a worker, and what was found."""
    import numpy as np

    from coherencegym.builders.pipeline.generation import generate_items
    from coherencegym.builders.sentence_order import SUITE
    from coherencegym.engines.blocks import Cost
    from coherencegym.engines.engine import LOCAL, RAY
    from coherencegym.engines.start import started
    from coherencegym.loaders.discourse import Discourse, Unit
    from coherencegym.manipulations.intruders.neighbours import nearest, text_vectors

    documents = synthetic(number)
    discourses = [
        Discourse(f"d{i:06}", "synthetic", tuple(map(Unit, texts)))
        for i, texts in enumerate(documents)
    ]
    config = next(each for each in SUITE.configs if each.name == "narration_all")
    made: dict[str, Any] = {"workers": workers, "documents": number}
    cost = Cost(0)

    def note(done: int, so_far: Cost) -> None:
        nonlocal cost
        cost = so_far

    clock = time.perf_counter()
    with started(RAY if workers else LOCAL, workers or None, "local" if workers else "") as engine:
        list(engine.run(_imported, ((n, ()) for n in range(workers or 1))))
        made["start"] = time.perf_counter() - clock
        with _timed() as times:
            generated, _ = generate_items(
                config.generator, discourses, seed=0, suite=SUITE.name, engine=engine, progress=note
            )
        made["items"] = {**times, **_told(cost)}
        vectors, _ = text_vectors(documents, engine=engine)
        with _timed() as times:
            found = nearest(
                vectors, 10, range(number), rows=range(0, number, 2), engine=engine, progress=note
            )
        made["search"] = {**times, **_told(cost)}
        peaks = [each.result for each in engine.run(_peak, ((n, ()) for n in range(2 * workers)))]
        made["worker_mb"] = max((own for _, _, own in peaks), default=0.0)
    made["vectors_mb"] = (vectors.data.nbytes + vectors.indices.nbytes) / 1e6
    digest = hashlib.sha256(np.ascontiguousarray(found.indices).tobytes())
    digest.update(np.ascontiguousarray(found.similarities).tobytes())
    digest.update(repr([one.item for one in generated]).encode())
    made["digest"] = digest.hexdigest()
    return made


@contextmanager
def _timed() -> Iterator[dict[str, float]]:
    """Seconds on the clock, and of this process's processor time."""
    times: dict[str, float] = {}
    clock, processor = time.perf_counter(), time.process_time()
    yield times
    times["clock"] = time.perf_counter() - clock
    times["own"] = time.process_time() - processor


def _told(cost: Any) -> dict[str, float]:
    return {"blocks": cost.blocks, "cores": cost.seconds, "sent_mb": cost.sent / 1e6}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    add = made.add_argument
    add("--documents", type=int, default=20_000)
    add("--workers", type=int, nargs="+", default=[1, 2, 4])
    add("--rounds", type=int, default=2)
    add("--output", type=Path, default=Path("benchmarks/out/cluster.json"))
    add("--in-process", type=int, help=argparse.SUPPRESS)
    return made


def main(arguments: list[str] | None = None) -> int:
    """Estimate each number of workers, in turn, and print the table."""
    options = parser().parse_args(arguments)
    if options.in_process is not None:
        print(json.dumps(measure(options.documents, options.in_process)))
        return 0
    rows: list[dict[str, Any]] = []
    for number in range(options.rounds):
        for workers in (_ALONE, *options.workers):
            print(f"round {number + 1}, {workers or 'no'} workers", file=sys.stderr, flush=True)
            command = [sys.executable, "-m", "benchmarks.cluster", "--in-process", str(workers)]
            command += ["--documents", str(options.documents)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            rows.append(json.loads(done.stdout))
    if len({row["digest"] for row in rows}) > 1:
        raise SystemExit("the engines have not found the same")
    options.output.parent.mkdir(parents=True, exist_ok=True)
    about = {"machine": machine("cpu"), "cores": os.cpu_count(), "rows": rows}
    options.output.write_text(json.dumps(about, indent=1))
    show(rows, os.cpu_count() or 1)
    return 0


def show(rows: list[dict[str, Any]], cores: int) -> None:
    """Print medians: the clock beside that of one process, and processor time beside its own."""

    def median(workers: int, *names: str) -> float:
        def value(row: Any) -> float:
            for name in names:
                row = row[name]
            return float(row)

        return statistics.median(value(row) for row in rows if row["workers"] == workers)

    print(f"{'workers':>7}  {'start':>6}", end="")
    for name in ("items", "search"):
        print(
            f"  | {name:>6}, s  {'speed-up':>8}  {'CPU':>6}  {'more CPU':>8}  {'sent':>8}", end=""
        )
    print(f"  | {'a worker':>8}")
    for workers in dict.fromkeys(row["workers"] for row in rows):
        print(f"{workers or 'none':>7}  {median(workers, 'start'):>4.1f} s", end="")
        for name in ("items", "search"):
            clock, one = median(workers, name, "clock"), median(_ALONE, name, "clock")
            alone = median(_ALONE, name, "own")
            used = median(workers, name, "own")
            used += median(workers, name, "cores") if workers else 0.0
            more, sent = 100 * (used / alone - 1), median(workers, name, "sent_mb")
            print(
                f"  | {clock:>9.2f}  {one / clock:>8.2f}  {used:>4.1f} s  {more:>6.0f} %  "
                f"{sent:>5.1f} MB",
                end="",
            )
        print(f"  | {median(workers, 'worker_mb'):>5.0f} MB")
    print(f"{cores} cores; a speed-up of that many is the most that there can be")


if __name__ == "__main__":
    sys.exit(main())

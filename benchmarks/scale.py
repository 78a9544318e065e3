"""What documents of a whole Wikipedia would cost, from what the blocks of a small build take.

    python -m benchmarks.scale --data-dir CORPORA
    python -m benchmarks.scale --articles 64000000 --price 0.03

``intruder_sentences`` is built from real paragraphs (those of Wikipedia and arXiv in DiscoEval;
generated documents where there are none), as parquet shards on this machine and in one process, and
each of its phases is timed (processor time). What is linear in the documents is multiplied; the
search, which is not, is timed by a block against all documents. Memory is that of the process, at
two sizes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.measure import machine
from benchmarks.retrieval import memory_field, synthetic

#: Shares of the splits, and of the documents that are drawn.
_SPLITS, _DRAWN = (0.7, 0.1, 0.2), 0.5
#: The domains of DiscoEval that are prose as an encyclopedia's.
_PROSE = ("wikipedia", "arxiv")
#: A phase of a build by the words that its progress begins with, behind the suite's name.
_PHASES = {"reading": "vectors", "neighbours": "search", "writing": "writing"}


def documents(number: int, data_dir: Path | None) -> list[str]:
    """Articles of five or six sentences as plain text."""
    if data_dir is None:
        return [" ".join(f"{s.capitalize()}." for s in texts) for texts in synthetic(number)]
    from coherencegym.loaders.read import read
    from coherencegym.loaders.registry import corpus

    found = read(corpus("discoeval"), data_dir=data_dir)
    texts = [" ".join(each.texts) for each in found if each.meta.get("domain") in _PROSE]
    if len(texts) < number:
        raise SystemExit(f"{len(texts)} documents in {data_dir}; expected {number}")
    return texts[:number]


def measure(number: int, data_dir: Path | None) -> dict[str, Any]:
    """Seconds by phase, bytes of a document on its ways, memory, and features, of so many."""
    import pickle

    import pyarrow as pa
    import pyarrow.parquet as pq

    from coherencegym.builders.intruder_sentences import SUITE
    from coherencegym.builders.pipeline.build import BuildOptions, build
    from coherencegym.builders.pipeline.sources import find_sources
    from coherencegym.eval.forward.memory import give_back_memory
    from coherencegym.loaders.corpora.hub.texts import hub_corpus
    from coherencegym.loaders.read import read_shard
    from coherencegym.loaders.text.articles import Shape
    from coherencegym.manipulations.intruders.neighbours import product_cost, text_vectors

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "wiki"
        folder.mkdir()
        rows = [{"text": text} for text in documents(number, data_dir)]
        pq.write_table(pa.Table.from_pylist(rows), folder / "train.parquet", row_group_size=1000)
        del rows
        corpus = hub_corpus(str(folder), articles=Shape("first"))
        sources = find_sources(SUITE, (), None, {"documents": corpus})
        assert corpus.shards is not None
        start = time.process_time()
        parts = [read_shard(corpus, part, False) for part in corpus.shards(corpus.files[0])]
        # A shard is read by its own reader; the corpus's reads the split.
        phases = {"shards": time.process_time() - start, "vectors": 0.0}
        sent = len(pickle.dumps(parts))
        texts = [discourse.texts for found, _, _ in parts for discourse in found]
        text_vectors(texts[:100])
        cost = product_cost(texts, 1.0, 10)
        vectors, sentences = text_vectors(texts)
        features = vectors.nnz / len(texts), sentences.counts.nnz / len(texts)
        characters = sum(len(t) for own in texts for t in own) / len(texts)
        made = len(texts)
        del parts, texts, vectors, sentences
        give_back_memory()
        Path("/proc/self/clear_refs").write_text("5")
        before = memory_field("VmRSS")
        marks: list[tuple[str, float]] = [("reading", time.process_time())]

        def progress(message: str) -> None:
            words = message.partition(": ")[2]
            name = next((p for word, p in _PHASES.items() if words.startswith(word)), "generation")
            name = "writing" if words.endswith("writing and measuring") else name
            marks.append((name, time.process_time()))

        build(SUITE, sources, BuildOptions(), Path(place) / "out", progress=progress)
        marks.append(("", time.process_time()))
        for (name, begun), (_, ended) in pairwise(marks):
            phases[name] = phases.get(name, 0.0) + ended - begun
        peak = memory_field("VmHWM") - before
    return {
        "asked": number,
        "documents": made,
        "phases": phases,
        "product": cost.product,
        "read_bytes": sent / made,
        "features": features,
        "characters": characters,
        "peak_mb": peak,
    }


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    add = made.add_argument
    add("--data-dir", type=Path, metavar="DIR", help="DiscoEval's folder; none: generated texts")
    add("--documents", type=int, nargs=2, default=[2_500, 5_000], metavar="N")
    add("--articles", type=float, default=6.4e6, metavar="N", help="default: 6.4 million")
    add("--price", type=float, default=0.05, metavar="P", help="of a core hour; default 0.05")
    add("--output", type=Path, default=Path("benchmarks/out/scale.json"))
    add("--in-process", type=int, help=argparse.SUPPRESS)
    return made


def main(arguments: list[str] | None = None) -> int:
    """Estimate two sizes, and print what the articles would cost."""
    options = parser().parse_args(arguments)
    if options.in_process is not None:
        print(json.dumps(measure(options.in_process, options.data_dir)))
        return 0
    rows = []
    for number in options.documents:
        command = [sys.executable, "-m", "benchmarks.scale", "--in-process", str(number)]
        command += ["--data-dir", str(options.data_dir)] if options.data_dir else []
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        rows.append(json.loads(done.stdout))
    options.output.parent.mkdir(parents=True, exist_ok=True)
    about = {"machine": machine("cpu"), "rows": rows}
    options.output.write_text(json.dumps(about, indent=1))
    small, large = rows
    show(small, large, options.articles, options.price)
    return 0


def show(small: dict[str, Any], large: dict[str, Any], articles: float, price: float) -> None:
    """Print core hours, bytes and memory for so many articles, each of which makes a document."""
    number = large["documents"]
    print(f"{number:,} documents of {large['characters']:,.0f} characters; a document takes")
    linear = {
        "reading in shards, near-duplicates' keys": large["phases"]["shards"],
        "vectors": large["phases"]["vectors"],
        "generation": large["phases"]["generation"],
        "writing and measuring": large["phases"]["writing"],
    }
    pairs = _DRAWN * sum(share**2 for share in _SPLITS)
    each_pair = large["product"] / number**2
    hours = {name: seconds / number * articles / 3600 for name, seconds in linear.items()}
    hours["search"] = each_pair * pairs * articles**2 / 3600
    for name, value in hours.items():
        per = f"{linear[name] / number * 1e3:8.2f} ms" if name in linear else " " * 11
        print(f"  {name:<42} {per}  {value:>9,.1f} core hours")
    total = sum(hours.values())
    print(f"  {'all':<42} {'':11}  {total:>9,.1f} core hours, {total * price:,.2f} at {price}")
    memory = (large["peak_mb"] - small["peak_mb"]) / (number - small["documents"])
    print(f"memory of the process that begins it: {memory * articles / 1e3:,.0f} GB")
    features, of_sentences = large["features"]
    split = articles * _SPLITS[0]
    print(f"the object store, at once: {features * 8 * split / 1e9 * (1 + _DRAWN):,.0f} GB")
    sent = {
        "documents that were read": large["read_bytes"] * articles,
        "texts and their counts": (large["characters"] + of_sentences * 8) * articles,
        "columns and rows, to each machine": features * 8 * split * (1 + _DRAWN),
    }
    for name, value in sent.items():
        print(f"  {name:<42} {value / 1e9:>9,.0f} GB")


if __name__ == "__main__":
    sys.exit(main())

"""Two checkouts on the same inputs: every printed figure, outcome and row is compared.

``python benchmarks/judge.py record CHECKOUT OUT`` runs all commands with the code of a checkout,
``compare OLD NEW`` shows what differs. Both are recorded on one machine, because the last digits of
a model's values depend on it. Real corpora are read from ``COHERENCEGYM_SHARED``.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

SHARED = Path(os.environ.get("COHERENCEGYM_SHARED", "../shared")).resolve()
REAL = {
    "winograd": ("winograd",),
    "sentence_order": ("personachat", "gum", "irc"),
    "coreference": ("gum",),
    "connectives": ("gum", "tedmdb"),
    "discourse_tasks": ("gum", "discoeval"),
    "span_coherence": ("verifiable",),
    "intruder_sentences": ("gum",),
    "replies": ("irc",),
}
#: Other tasks than ``score``: the run, its command and its dataset.
TASKS = {
    "detect": ("detect --dataset suites/intruder_sentences", "demo"),
    "detect-real": ("detect --dataset real/intruder_sentences-gum --limit 40", "demo"),
    "probe": ("probe --dataset suites/discourse_tasks --random-init 1", "demo"),
    "spans": ("spans --dataset suites/span_coherence", "demo"),
    "spans-real": ("spans --dataset real/span_coherence-verifiable --limit 40", "demo"),
    "correlate": ("correlate --dataset suites/coherence_ratings", "demo"),
}
TRAIN = {
    "train-encoder": "train encoder --model gru --dataset suites/document_structure "
    "--criteria nsp spp --epochs 2 --dimensions 16",
    "train-documents": "train documents --model encoder --dataset suites/intruder_sentences "
    "--seeds 0 1 --epochs 1",
    "train-spans": "train spans --model encoder --dataset suites/span_coherence --seeds 0 1 "
    "--epochs 1 --config intruder_sample",
}


def commands() -> Iterator[list[tuple[str, str]]]:
    """Stages of (run, command); those of one stage need nothing of each other."""
    yield [("build", "build --all --corpus sample --output suites")]
    yield [
        (
            f"build-{suite}-{corpus}",
            f"build {suite} --corpus {corpus} --output "
            f"real/{suite}-{corpus} --data-dir {SHARED}/corpora",
        )
        for suite, corpora in REAL.items()
        for corpus in corpora
    ]
    without = (
        "coherence_ratings",
        "discourse_tasks",
        "document_structure",
        "intruder_sentences",
        "span_coherence",
    )
    names = [p.name for p in sorted(Path("suites").iterdir()) if p.name not in without]
    models = {"demo": "demo", "stories": str(SHARED / "models/stories260K")}
    yield [
        *(
            (
                f"score-{m}-{n}",
                f"score --model {path} --dataset suites/{n} --verbose "
                f"--output results/score-{m}-{n}",
            )
            for m, path in models.items()
            for n in names
        ),
        *(
            (
                f"score-real-{n}",
                f"score --model {models['stories']} --dataset real/{n} --limit 60 "
                f"--verbose --output results/score-real-{n}",
            )
            for n in (
                "connectives-gum",
                "coreference-gum",
                "sentence_order-personachat",
                "winograd-winograd",
                "replies-irc",
            )
        ),
        *((n, f"{c} --model {m} --verbose --output results/{n}") for n, (c, m) in TASKS.items()),
        *((n, f"{c} --output results/{n}") for n, c in TRAIN.items()),
        (
            "score-words",
            "score --model demo --dataset suites/replies --word-correction --verbose "
            "--output results/score-words",
        ),
        ("surprisal", "surprisal texts.txt --model demo"),
    ]
    yield [
        *(
            (
                f"compare-{n}",
                f"compare results/score-demo-{n} results/score-stories-{n} --details",
            )
            for n in names
        ),
        ("overview", "overview results --format csv"),
    ]


def make_encoder(folder: Path) -> None:
    """A tiny random encoder, the same each time, for the trainings."""
    from transformers import AutoTokenizer, BertConfig, BertModel, set_seed

    set_seed(0)
    tokenizer: Any = AutoTokenizer.from_pretrained(SHARED / "models/stories260K")
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
    )
    BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def record(checkout: Path, out: Path) -> None:
    """Run everything with the code of a checkout; what is there already is kept."""
    out.mkdir(parents=True, exist_ok=True)
    os.chdir(out)
    environment = {
        **os.environ,
        "PYTHONPATH": str(checkout / "src"),
        "OMP_NUM_THREADS": "1",
        "XDG_CACHE_HOME": str(out / "cache"),
        "COLUMNS": "200",
    }
    Path("texts.txt").write_text("Tom lost his ball. He looked for it in the garden.\n")
    if not Path("encoder").exists():
        make_encoder(Path("encoder"))
    Path("printed").mkdir(exist_ok=True)

    def run(named: tuple[str, str]) -> None:
        name, command = named
        target = Path("printed") / f"{name}.txt"
        if target.exists():
            return
        done = subprocess.run(
            [sys.executable, "-m", "coherencegym", *command.split()],
            capture_output=True,
            text=True,
            env=environment,
        )
        text = f"$ {command}\nexit {done.returncode}\n{done.stdout}"
        target.write_text(text + (done.stderr if done.returncode else ""))
        if done.returncode:
            print(name, "exit", done.returncode, done.stderr.strip()[-300:], flush=True)

    with ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for stage in commands():
            list(pool.map(run, stage))


#: What a run prints of its time, its size and its place.
_VARYING = re.compile(
    r"coherencegym:\S+|\S*/cache/\S+|\d[\d,.]* s\b|in \d+:\d+|sha256:\w+|\d[\d.]* [kM]B"
)


def lines(path: Path) -> list[str]:
    """What a run printed, without widths of columns, times and sizes."""
    found = (re.sub(r"[ ─]+", " ", line).strip() for line in path.read_text().splitlines())
    return [_VARYING.sub("*", line) for line in found if line]


def values(folder: Path) -> dict[str, list[str]]:
    """The parquet tables of a folder as sorted rows."""
    import pyarrow.parquet as pq

    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*.parquet")):
        rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        found[str(path.relative_to(folder))] = [json.dumps(r, default=str) for r in rows]
    return found


def compare(old: Path, new: Path) -> int:
    """Print what differs; 1 if anything does."""
    bad = 0
    for path in sorted((old / "printed").iterdir()):
        other = new / "printed" / path.name
        if not other.exists():
            print(f"== {path.name}: not run")
            bad = 1
            continue
        shown = list(difflib.unified_diff(lines(path), lines(other), lineterm="", n=0))[2:]
        if shown:
            bad = 1
            print(f"== {path.name}")
            print("\n".join(line[:300] for line in shown if not line.startswith("@@")))
    for kind in ("suites", "real", "results"):
        mine, theirs = values(old / kind), values(new / kind)
        for name in sorted({*mine, *theirs}):
            a, b = mine.get(name), theirs.get(name)
            if a == b:
                continue
            bad = 1
            if a is None or b is None:
                print(f"== {kind}/{name}: only in {'new' if a is None else 'old'}")
                continue
            same = sorted(a) == sorted(b)
            print(f"== {kind}/{name}: {len(a)} -> {len(b)} rows" + (", order" if same else ""))
            if not same:
                changed = list(difflib.unified_diff(a, b, lineterm="", n=0))[2:8]
                print("\n".join("   " + line[:400] for line in changed))
    return bad


if __name__ == "__main__":
    action, first, second = sys.argv[1:]
    if action == "record":
        record(Path(first).resolve(), Path(second).resolve())
    else:
        sys.exit(compare(Path(first), Path(second)))

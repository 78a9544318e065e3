"""The real lm-evaluation-harness finds the exported tasks valid, and scores what we score.

From a Hub as from local files. Where it is not installed, the shape alone is tested, in
``test_export_harness.py``.
"""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from support.commands import build_command
from support.hub.server import HubServer
from support.task_files import read_task
from support.toy_shapes import SHAPES, shapes_corpus

from coherencegym.builders.export.pairs import pair_table
from coherencegym.builders.export.write import Exports, export_build
from coherencegym.builders.pipeline.build import BuildOptions, build
from coherencegym.builders.pipeline.sources import PlannedCorpus, Sources, find_sources
from coherencegym.builders.registry import load_suite
from coherencegym.builders.release.publish import PublishOptions, publish
from coherencegym.builders.suite import Suite
from coherencegym.eval.commands.cli import main as evaluate
from coherencegym.eval.data.dataset import tables
from coherencegym.eval.data.source import find_dataset

MISSING = "lm-evaluation-harness is not installed (pip install lm-eval[hf])"
lm_eval = pytest.importorskip("lm_eval", reason=MISSING)
harness_tasks = pytest.importorskip("lm_eval.tasks", reason=MISSING)

DEMO_MODEL = str(files("coherencegym.eval.models") / "demo_model")


@pytest.fixture(scope="module")
def model() -> Any:
    """The demo model as the harness loads it."""
    harness_models = pytest.importorskip("lm_eval.models.huggingface")
    return harness_models.HFLM(pretrained=DEMO_MODEL, device="cpu", batch_size=16)


def released(suite: Suite, sources: Sources, api: Any, folder: Path) -> dict[str, Any]:
    """Build a suite, publish it, export its pairs, and throw the build away."""
    (folder / "build").mkdir()
    manifest = build(suite, sources, BuildOptions(), folder / "build")
    outcome = publish(api, folder / "build", manifest, PublishOptions(manifest["repo_id"]))
    assert outcome.tag == f"v{manifest['version']}"
    export_build(folder / "build", Exports(pairs=folder / "pairs"))
    (folder / "build").rename(folder / "gone")
    return manifest


def scored(folder: Path, model: Any, group: str) -> dict[str, Any]:
    """What the harness says of the exported tasks, which its own command finds valid."""
    suite = group.removesuffix("_local")
    names = {path.stem for path in (folder / "pairs" / "tasks" / suite).glob(f"{suite}_*.yaml")}
    validate = [sys.executable, "-m", "lm_eval", "validate", "--include_path", "pairs"]
    command = [*validate, "--tasks", ",".join((group, "coherencegym", *names))]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert "All tasks found and valid" in done.stdout, done.stderr
    # The command looked among the thousands of the harness's own tasks, which takes it seconds.
    # With the arguments of the model, as its command has them.
    about = {"include_defaults": False, "metadata": {"pretrained": DEMO_MODEL}}
    manager = harness_tasks.TaskManager(include_path=str(folder / "pairs"), **about)
    assert {group, suite} <= set(manager.all_groups)
    assert "coherencegym" in manager.all_tags
    results: dict[str, Any] = lm_eval.simple_evaluate(
        model=model, tasks=[group], task_manager=manager, bootstrap_iters=0, log_samples=True
    )
    assert set(results["samples"]) == names
    assert results["group_subtasks"][group] == listed(folder, suite)["task"]
    return results


def listed(folder: Path, group: str) -> Any:
    """The file of a group."""
    return read_task(folder / "pairs" / "tasks" / group / f"_{group}.yaml")


def test_the_tasks_read_local_files_where_there_is_no_hub(
    tmp_path: Path, model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ("--corpus", "sample", "--output", "build", "--export-pairs", "pairs")
    assert build_command("winograd", *arguments) == 0
    results = scored(tmp_path, model, "coherencegym_winograd_local")
    sums = our_sums(tmp_path, ("--dataset", "build"))
    name = "coherencegym_winograd_sample_full"
    assert_same(results["samples"][name], sums)
    right = (bad > good for bad, good in map(bits, results["samples"][name]))
    assert results["results"][name]["acc,none"] == pytest.approx(sum(right) / 74)
    samples = results["samples"][name]
    by_length = {"norm": len, "bytes": lambda text: len(text.encode()), "tokens": tokens}
    for metric, length in by_length.items():
        found = [sample[f"acc_{metric}"] for sample in samples]
        assert found == [float(bad > good) for bad, good in per(length, samples)]


def tokens(text: str) -> int:
    """The number of tokens of a text in the demo model."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(DEMO_MODEL)
    return len(tokenizer(text, add_special_tokens=False)["input_ids"])


def per(length: Callable[[str], int], samples: Any) -> Iterator[list[float]]:
    """What the harness gives the two choices, in bits by a measure of their length."""
    for sample in samples:
        texts = [sample["doc"][f"sentence_{side}"] for side in ("bad", "good")]
        yield [of / length(text) for of, text in zip(bits(sample), texts, strict=True)]


def our_sums(folder: Path, dataset: tuple[str, ...]) -> dict[tuple[str, str, str], float]:
    """Config, item, condition -> bits of the whole text, by our own evaluator."""
    arguments = ["--model", "demo", *dataset]
    assert evaluate([*arguments, "--output", str(folder / "scores")]) == 0
    sums: dict[tuple[str, str, str], float] = {}
    for row in pq.read_table(folder / "scores" / "regions.parquet").to_pylist():
        key = row["config"], row["item_id"], row["condition_name"]
        sums[key] = sums.get(key, 0.0) + (row["sum_bits"] or 0.0)
    return sums


def bits(sample: Any) -> list[float]:
    """What the harness gives the two choices, in bits."""
    return [-float(answer[0][0]) / math.log(2) for answer in sample["resps"]]


def assert_same(samples: Any, sums: dict[tuple[str, str, str], float]) -> None:
    """The harness gives both texts of every sample what we give them."""
    assert len(samples) == 74
    for sample in samples:
        item = sample["doc"]["item_id"]
        wanted = [sums["sample_full", item, name] for name in ("distractor", "target")]
        assert bits(sample) == pytest.approx(wanted, abs=1e-3)


def test_a_published_suite_scores_what_we_score(
    hub_clients: HubServer, hub_api: Any, tmp_path: Path, model: Any
) -> None:
    suite = load_suite("winograd")
    manifest = released(suite, find_sources(suite, ["sample"]), hub_api, tmp_path)
    results = scored(tmp_path, model, "coherencegym_winograd")
    revision = ("--revision", f"v{manifest['version']}")
    sums = our_sums(tmp_path, ("--dataset", "coherencegym/winograd", *revision))
    name = "coherencegym_winograd_sample_full"
    assert_same(results["samples"][name], sums)
    items = {item for config, item, _ in sums if config == "sample_full"}
    right = sum(
        sums["sample_full", item, "distractor"] > sums["sample_full", item, "target"]
        for item in items
    )
    assert results["results"][name]["acc,none"] == pytest.approx(right / 74)
    assert results["versions"][name] == manifest["version"]
    assert results["versions"]["coherencegym_winograd"] == manifest["version"]


def text_bits(text: str) -> float:
    """The bits of a text after the start token, straight from the model, in float64."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(DEMO_MODEL)
    demo = AutoModelForCausalLM.from_pretrained(DEMO_MODEL, dtype=torch.float64)
    tokens = tokenizer(text, add_special_tokens=False)["input_ids"]
    row = torch.tensor([[tokenizer.bos_token_id, *tokens]])
    with torch.inference_mode():
        logs = torch.log_softmax(demo(row).logits[0, :-1], dim=-1)
    return -float(logs.gather(1, row[0, 1:, None]).sum()) / math.log(2)


def test_a_task_for_each_group_scores_every_pair(
    hub_clients: HubServer, hub_api: Any, tmp_path: Path, model: Any
) -> None:
    sources = Sources([PlannedCorpus(shapes_corpus(), SHAPES.configs)])
    manifest = released(SHAPES, sources, hub_api, tmp_path)
    results = scored(tmp_path, model, "coherencegym_shapes")
    written = {
        (table.config, record["sentence_bad"], record["sentence_good"])
        for table in tables(find_dataset(str(tmp_path / "gone")))
        for record in pair_table(table, manifest["suite"]).records
        # Pairs without an aggregate are in no task.
        if not any("as_prep" in group for group in record["groups"])
    }
    seen = set()
    for name, samples in results["samples"].items():
        config = "_".join(name.split("_")[2:4])
        for sample in samples:
            bad, good = (request[1] for request in sample["arguments"])
            seen.add((config, bad, good))
            assert bits(sample) == pytest.approx([text_bits(bad), text_bits(good)], abs=1e-3)
    assert seen == written
    assert len(seen) == 16

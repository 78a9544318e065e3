"""The real lm-evaluation-harness finds the exported tasks valid, and scores what we score.

From a Hub as from local files. Where it is not installed, the shape alone is tested, in
``test_export_harness.py``.
"""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow.parquet as pq
import pytest
from support.hub.server import HubServer
from support.suites import build_from
from support.task_files import read_task
from support.toy_shapes import SHAPES, shapes_corpus

from coherencegym.builders.export.pairs import pair_table, tasks
from coherencegym.builders.export.write import export, release_of
from coherencegym.builders.pipeline.build import BuildOptions, build
from coherencegym.builders.pipeline.sources import PlannedCorpus, find_sources
from coherencegym.builders.registry import load_suite
from coherencegym.builders.release.publish import publish
from coherencegym.builders.suite import Suite
from coherencegym.eval.commands.cli import main as evaluate
from coherencegym.eval.data.dataset import tables
from coherencegym.eval.data.source import find_dataset

MISSING = "lm-evaluation-harness is not installed (pip install lm-eval[hf])"
lm_eval = pytest.importorskip("lm_eval", reason=MISSING)
harness_tasks = pytest.importorskip("lm_eval.tasks", reason=MISSING)

DEMO_MODEL = str(files("coherencegym.eval.models") / "demo_model")


@pytest.fixture(scope="module")
def model() -> Callable[[str], Any]:
    """``model(folder)``: a model as the harness loads it."""
    harness_models = pytest.importorskip("lm_eval.models.huggingface")
    return cache(lambda name: harness_models.HFLM(pretrained=name, device="cpu", batch_size=16))


def released(suite: Suite, sources: list[PlannedCorpus], api: Any, folder: Path) -> dict[str, Any]:
    """Build a suite, publish it, export its pairs, and throw the build away."""
    (folder / "build").mkdir()
    options = BuildOptions(repo_id=f"coherencegym/{suite.name}")
    manifest = build(suite, sources, options, folder / "build")
    said = publish(api, folder / "build", manifest, BuildOptions(repo_id=manifest["repo_id"]))
    assert f" v{manifest['version']} (" in said[-1]
    export(find_dataset(str(folder / "build")), "pairs", folder / "pairs")
    (folder / "build").rename(folder / "gone")
    return manifest


def scored(folder: Path, model: Any, group: str, name: str = DEMO_MODEL) -> dict[str, Any]:
    """What the harness says of the exported tasks, which its own command finds valid."""
    suite = group.removesuffix("_local")
    names = {path.stem for path in (folder / "pairs" / "tasks" / suite).glob(f"{suite}_*.yaml")}
    validate = [sys.executable, "-m", "lm_eval", "validate", "--include_path", "pairs"]
    command = [*validate, "--tasks", ",".join((group, "coherencegym", *names))]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert "All tasks found and valid" in done.stdout, done.stderr
    # The command looked among the thousands of the harness's own tasks, which takes it seconds.
    # With the arguments of the model, as its command has them.
    about = {"include_defaults": False, "metadata": {"pretrained": name}}
    manager = harness_tasks.TaskManager(include_path=str(folder / "pairs"), **about)
    assert {group, suite} <= set(manager.all_groups)
    assert "coherencegym" in manager.all_tags
    results: dict[str, Any] = lm_eval.simple_evaluate(
        model=model(name), tasks=[group], task_manager=manager, bootstrap_iters=0, log_samples=True
    )
    assert set(results["samples"]) == names
    assert results["group_subtasks"][group] == listed(folder, suite)["task"]
    return results


def listed(folder: Path, group: str) -> Any:
    """The file of a group."""
    return read_task(folder / "pairs" / "tasks" / group / f"_{group}.yaml")


@pytest.mark.parametrize("name", ["demo", "stories260K"])
@pytest.mark.parametrize("suite", ["connectives", "coreference", "winograd"])
def test_the_tasks_read_local_files_where_there_is_no_hub(
    suite: str, name: str, tmp_path: Path, model: Any, request: pytest.FixtureRequest
) -> None:
    path = (
        DEMO_MODEL if name == "demo" else str(request.getfixturevalue("shared") / "models" / name)
    )
    build_from(load_suite(suite), "sample", tmp_path / "build", limit=40)
    export(find_dataset(str(tmp_path / "build")), "pairs", tmp_path / "pairs")
    results = scored(tmp_path, model, f"coherencegym_{suite}_local", path)
    assert_same(results, path, str(tmp_path / "build"), tmp_path)


def assert_same(results: dict[str, Any], model: str, dataset: str, folder: Path) -> None:
    """The harness finds right what our own evaluator does, item by item."""
    argv = ["--model", model, "--dataset", dataset, "--output", str(folder / "scores")]
    assert evaluate(argv) == 0
    units, outcomes = (
        pq.read_table(folder / "scores" / f"{name}.parquet").to_pylist()
        for name in ("units", "outcomes")
    )
    met = {
        row["unit_id"]: row["value"]
        for row in outcomes
        if row["metric"] == "accuracy" and row["system_id"] == 0
    }
    source = find_dataset(dataset)
    release = release_of(source)
    made = [
        task
        for table in tables(source)
        if table.config not in release.diagnostics
        for task in tasks(pair_table(table, release.suite), release)
    ]
    assert {task.name for task in made} == set(results["samples"])
    for task in made:
        ours: dict[str, list[float]] = {}
        for unit in units:
            groups = ["", *(group["value"] for group in unit["groups"] if not group["column"])]
            is_of = unit["config"] == task.table.config and task.group in groups
            if is_of and (task.row != "sum" or unit["aggregation"] == "sum"):
                ours.setdefault(unit["item"], []).append(met[unit["id"]])
        samples = results["samples"][task.name]
        found = {sample["doc"]["item_id"]: sample["acc"] for sample in samples}
        assert found == pytest.approx({item: fmean(own) for item, own in ours.items()})
        assert results["results"][task.name]["acc,none"] == pytest.approx(fmean(found.values()))
        assert results["versions"][task.name] == release.version


def test_a_published_suite_scores_what_we_score(
    hub_clients: HubServer, hub_api: Any, tmp_path: Path, model: Any
) -> None:
    suite = load_suite("winograd")
    manifest = released(
        suite, find_sources(suite, BuildOptions(corpora=["sample"]))[0], hub_api, tmp_path
    )
    results = scored(tmp_path, model, "coherencegym_winograd")
    assert_same(results, DEMO_MODEL, str(tmp_path / "gone"), tmp_path)
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
    sources = [PlannedCorpus(shapes_corpus(), SHAPES.configs)]
    manifest = released(SHAPES, sources, hub_api, tmp_path)
    results = scored(tmp_path, model, "coherencegym_shapes")
    written = {
        (table.config, record["sentence_bad"], record["sentence_good"])
        for table in tables(find_dataset(str(tmp_path / "gone")))
        for record in pair_table(table, manifest["suite"]).made
        # Pairs without an aggregate are in no task.
        if not any("as_prep" in group or group == "sum" for group in record["groups"])
    }
    seen = set()
    for name, samples in results["samples"].items():
        config = "_".join(name.split("_")[2:4])
        for sample in samples:
            pairs = sample["doc"]["pairs"]
            seen |= {(config, pair["sentence_bad"], pair["sentence_good"]) for pair in pairs}
            texts = [request[1] for request in sample["arguments"]]
            found = [-float(answer[0][0]) / math.log(2) for answer in sample["resps"]]
            assert found == pytest.approx(list(map(text_bits, texts)), abs=1e-3)
    assert seen == written
    assert len(seen) == 14

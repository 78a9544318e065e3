"""The real inspect reads a published suite: its ``eval.yaml``, and every row of a prompted choice.

inspect runs in an interpreter of its own: this one where inspect-ai is installed, or the one that
``COHERENCEGYM_INSPECT`` names.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from huggingface_hub import HfApi
from support.hub.client import environment
from support.hub.server import HubServer
from support.suites import Sample

from coherencegym.builders.release.publish import PublishOptions, publish
from coherencegym.builders.release.rows import data_path

INSPECT = os.environ.get("COHERENCEGYM_INSPECT") or (
    sys.executable if importlib.util.find_spec("inspect_ai") else ""
)
pytestmark = pytest.mark.skipif(
    not INSPECT,
    reason="inspect-ai is not installed (pip install coherencegym[inspect], or name an "
    "interpreter that has it in COHERENCEGYM_INSPECT)",
)

REPO, TAG = "coherencegym/winograd", "v9.0.0"
#: Its mock model counts tokens with a table that it would download.
OFFLINE = """
import tiktoken
class Bytes:
    def encode(self, text, **_):
        return list(text.encode())
tiktoken.get_encoding = lambda name: Bytes()
"""
RUN = (
    OFFLINE
    + """
import json, sys
import inspect_ai
from inspect_ai.model import ModelOutput, get_model

def first():
    while True:
        yield ModelOutput.from_content("mockllm/model", "ANSWER: A")

task, folder, name, arguments = sys.argv[1:]
own = {"custom_outputs": first()} if name.startswith("mockllm") else json.loads(arguments)
how = {"log_dir": folder, "display": "none", "max_tokens": 4, "limit": own.pop("limit", None)}
logs = inspect_ai.eval(task, model=get_model(name, **own), **how)
print(json.dumps([{
    "task": log.eval.task, "status": log.status,
    "scored": [score.scored_samples for score in log.results.scores],
    "accuracy": [score.metrics["accuracy"].value for score in log.results.scores],
    "samples": [
        {"item_id": (one.metadata or {}).get("item_id"), "input": one.input, "choices": one.choices,
         "target": one.target, "asked": [message.text for message in one.messages],
         "output": one.output.completion, "scores": {k: v.value for k, v in one.scores.items()}}
        for one in log.samples
    ],
} for log in logs]))
"""
)


@pytest.fixture
def published(hub_api: HfApi, built_sample: Sample) -> tuple[Path, dict[str, Any]]:
    """The sample of Winograd, on the Hub."""
    folder, manifest = built_sample("winograd")
    publish(hub_api, folder, manifest, PublishOptions(REPO, version=TAG.removeprefix("v")))
    return folder, manifest


def inspected(
    hub: HubServer, folder: Path, task: str, model: str = "mockllm/model", **arguments: Any
) -> list[dict[str, Any]]:
    """The logs of ``inspect eval hf/TASK``, with their samples."""
    done = subprocess.run(
        [INSPECT, "-c", RUN, f"hf/{task}", str(folder / "logs"), model, json.dumps(arguments)],
        env={**os.environ, **environment(hub, folder / "home"), "PYTHONPATH": ""},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def check_items(
    samples: list[dict[str, Any]], folder: Path, config: str, limit: int | None = None
) -> None:
    """Hold what a log says was asked to the rows, one by one."""
    rows = pq.read_table(folder / data_path(config, "test")).to_pylist()[:limit]
    assert len(samples) == len(rows) == (limit or 74)
    for sample, row in zip(samples, rows, strict=True):
        assert sample["item_id"] == row["item_id"]
        assert sample["input"] == row["question"]
        assert sample["choices"] == row["choices"]
        assert sample["target"] == "AB"[row["target"]]
        assert sample["asked"][0].endswith(
            f"{row['question']}\n\nA) {row['choices'][0]}\nB) {row['choices'][1]}"
        )


def test_inspect_runs_every_task_and_scores_the_prompted_ones_alone(
    hub_clients: HubServer, published: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    logs = inspected(hub_clients, tmp_path, REPO)
    listed = yaml.safe_load(hub_clients.files(REPO)["eval.yaml"])["tasks"]
    assert [log["task"] for log in logs] == [f"hf/{REPO}/{task['id']}" for task in listed]
    assert {log["status"] for log in logs} == {"success"}
    surprisal, choice = logs
    assert surprisal["scored"] == [0]  # nothing was asked, and no number came out
    assert all(not sample["output"] for sample in surprisal["samples"])
    check_items(choice["samples"], published[0], "sample_partial_choice")
    assert choice["scored"] == [len(choice["samples"])]
    for sample in choice["samples"]:
        assert sample["scores"] == {"choice": "C" if sample["target"] == "A" else "I"}
    # Whoever always says A is at chance.
    assert choice["accuracy"] == [0.5]


def test_a_model_is_asked_through_inspects_own_provider(
    hub_clients: HubServer, published: tuple[Path, dict[str, Any]], tmp_path: Path, shared: Path
) -> None:
    model = str(shared / "models" / "stories260K")
    arguments = {"model_path": model, "tokenizer_path": model, "device": "cpu", "limit": 12}
    task = f"{REPO}/sample_partial_choice@{TAG}"
    (log,) = inspected(hub_clients, tmp_path, task, "hf/tiny", **arguments)
    assert log["status"] == "success"
    check_items(log["samples"], published[0], "sample_partial_choice", 12)
    right = [sample["scores"]["choice"] == "C" for sample in log["samples"]]
    assert log["accuracy"] == [sum(right) / len(right)]
    assert all(sample["output"] for sample in log["samples"])

"""The real Inspect runs an export: every question is asked, and none is fetched.

inspect runs in an interpreter of its own: this one where inspect-ai is installed, or the one that
``COHERENCEGYM_INSPECT`` names.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.suites import Sample

from coherencegym.builders.export.write import export
from coherencegym.eval.data.source import find_dataset

INSPECT = os.environ.get("COHERENCEGYM_INSPECT") or (
    sys.executable if importlib.util.find_spec("inspect_ai") else ""
)
pytestmark = pytest.mark.skipif(
    not INSPECT,
    reason="inspect-ai is not installed (pip install coherencegym[inspect], or name an "
    "interpreter that has it in COHERENCEGYM_INSPECT)",
)
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
    "stderr": [score.metrics["stderr"].value for score in log.results.scores],
    "clusters": [one.metadata["cluster"] for one in log.samples],
    "samples": [
        {"item_id": one.id, "input": one.input, "choices": one.choices,
         "target": one.target, "asked": [message.text for message in one.messages],
         "output": one.output.completion, "scores": {k: v.value for k, v in one.scores.items()}}
        for one in log.samples
    ],
} for log in logs]))
"""
)


@pytest.fixture
def asked(built_sample: Sample, tmp_path: Path) -> list[dict[str, Any]]:
    """The sample of Winograd as questions, in the folder ``asked``."""
    export(find_dataset(str(built_sample("winograd")[0])), "inspect", tmp_path / "asked")
    text = (tmp_path / "asked" / "sample_partial-test.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def inspected(folder: Path, model: str = "mockllm/model", **arguments: Any) -> dict[str, Any]:
    """The log of ``inspect eval questions.py``, with its samples."""
    done = subprocess.run(
        [INSPECT, "-c", RUN, "questions.py", str(folder / "logs"), model, json.dumps(arguments)],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": ""},
        cwd=folder / "asked",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (log,) = json.loads(done.stdout.strip().splitlines()[-1])
    assert log["status"] == "success"
    found: dict[str, Any] = log
    return found


def check_items(samples: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    """Hold what a log says was asked to the questions, one by one."""
    assert len(samples) == len(rows)
    for sample, row in zip(samples, rows, strict=True):
        names = {"item_id": "id", "input": "input", "choices": "choices", "target": "target"}
        assert {key: sample[key] for key in names} == {key: row[n] for key, n in names.items()}
        answers = f"A) {row['choices'][0]}\nB) {row['choices'][1]}"
        assert sample["asked"][0].endswith(f"{row['input']}\n\n{answers}")


def test_every_question_is_asked_and_scored(asked: list[dict[str, Any]], tmp_path: Path) -> None:
    log = inspected(tmp_path)
    check_items(log["samples"], asked)
    assert log["scored"] == [len(asked)] == [74]
    for sample in log["samples"]:
        assert sample["scores"] == {"choice": "C" if sample["target"] == "A" else "I"}
    # Whoever always says A is at chance.
    assert log["accuracy"] == [0.5]
    assert log["clusters"] == [row["metadata"]["cluster"] for row in asked]
    sums: Counter[str] = Counter()
    for cluster, sample in zip(log["clusters"], log["samples"], strict=True):
        sums[cluster] += 1 if sample["target"] == "A" else -1
    assert len(sums) < len(asked), "pairs of one schema are one cluster"
    expected = sum(value**2 for value in sums.values()) ** 0.5 / (2 * len(asked))
    assert log["stderr"] == pytest.approx([expected], rel=0.03)


def test_a_model_is_asked_through_inspects_own_provider(
    asked: list[dict[str, Any]], tmp_path: Path, shared: Path
) -> None:
    model = str(shared / "models" / "stories260K")
    arguments = {"model_path": model, "tokenizer_path": model, "device": "cpu", "limit": 12}
    log = inspected(tmp_path, "hf/tiny", **arguments)
    check_items(log["samples"], asked[:12])
    right = [sample["scores"]["choice"] == "C" for sample in log["samples"]]
    assert log["accuracy"] == [sum(right) / len(right)]
    assert all(sample["output"] for sample in log["samples"])

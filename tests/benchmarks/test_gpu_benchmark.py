"""The benchmark for a GPU runs whole on a CPU, and what fails in it is said beside the rest."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from support import stand_in_vllm
from support.commands import build_command
from support.suites import no_classifiers

from benchmarks import data, gpu, gpu_table, gpu_worker
from benchmarks.models import make_model
from benchmarks.tools import TOOLS
from coherencegym.eval.kinds.items import Condition, Item, Prediction, Region

WORDS = ("because", "although", "while", "since")


def item(number: int) -> Item:
    before = f"It was late, and the {number} dogs of Lily had run all the way home,"
    after = "it was raining all day."
    conditions = tuple(
        Condition(
            word,
            f"{before} {word} {after}",
            (Region(1, before), Region(2, word), Region(3, after)),
        )
        for word in WORDS
    )
    predictions = tuple(Prediction(f"(3;%{word}%) > (3;%because%)", "mean") for word in WORDS[1:])
    return Item(f"d{number}/x", number, conditions, predictions, f"d{number}", "toy")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    data.train_tokenizer(folder / "tokenizer", vocabulary=300)
    data.write_items([item(number) for number in range(4)], folder / "dogs.jsonl")
    return folder


def printed(report: dict[str, Any]) -> str:
    file = io.StringIO()
    gpu_table.print_table(report, Console(file=file, width=200))
    return file.getvalue()


def test_it_runs_whole_on_a_cpu(
    texts: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def work_here(command: list[str], environment: dict[str, str], seconds: float) -> str:
        # Imports take a process longer than all that is measured.
        assert command[:3] == [sys.executable, "-m", "benchmarks.gpu_worker"]
        assert environment["OMP_NUM_THREADS"] == "1"
        gpu_worker.work(json.loads(command[3]))
        return ""

    monkeypatch.setattr(gpu, "run", work_here)
    options = ["--device", "cpu", "--shapes", "tiny", "--data", str(texts)]
    assert gpu.main([*options, "--output", str(tmp_path)]) == 0
    found = json.loads((tmp_path / "gpu-cpu.json").read_text())["shapes"]["tiny"]
    assert "failed" not in found
    assert found["model"]["bytes"] == 2 * found["model"]["parameters"]
    assert set(found["attention"]["kernels"]) == {"causal, without a mask", "packed rows' mask"}
    dogs = found["datasets"]["dogs"]
    shared, apart = dogs["this project"], dogs["this project, nothing shared"]
    assert shared["items"] == 3
    assert (shared["sharing"], apart["sharing"]) == ("packed", "none")
    assert shared["tokens"] == apart["tokens_once"] > shared["tokens_once"]
    assert shared["trial"]["reason"] == ""
    assert shared["share_of_multiply_rate"] > 0
    assert dogs["waits"] == {"a_batch": 1.0, "causes": {"cpu": dogs["waits"]["causes"]["cpu"]}}
    exactness = dogs["exactness"]
    assert exactness["float32"]["token"] < 1e-4 < exactness["bfloat16"]["token"]
    assert exactness["bfloat16"]["pairs"] == 9
    said = capsys.readouterr().out
    assert "dogs: the trial of sharing passed" in said
    assert "the host waits 1 times a batch" in said


def test_what_fails_is_said_and_the_rest_goes_on(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    def full(*arguments: Any, **more: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.\nmore")

    monkeypatch.setattr(gpu_worker, "waits", full)
    monkeypatch.setattr(gpu_worker, "attention", full)
    job = {"shape": "tiny", "device": "cpu", "dtype": "bfloat16", "data": str(texts), "items": 1}
    path = tmp_path / "found.json"
    found = gpu_worker.work({**job, "seconds": 600, "path": str(path)})
    why = "OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB."
    assert found["attention"] == {"failed": why}
    assert found["datasets"]["dogs"]["waits"] == {"failed": why}
    assert found["datasets"]["dogs"]["exactness"]["float32"]["token"] < 1e-4
    assert json.loads(path.read_text()) == found
    said = printed({"shapes": {"tiny": found}})
    assert f"attention failed: {why}" in said
    assert f"dogs, waits failed: {why}" in said
    late = gpu_worker.work({**job, "seconds": -1, "path": str(path)})
    assert late["model"]["failed"] == "TimeoutError: no time was left"
    assert "datasets" not in late
    assert "model failed: TimeoutError" in printed({"shapes": {"tiny": late}})


def test_vllm_says_the_same_of_the_same_weights(
    texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import AutoTokenizer

    stand_in_vllm.install(monkeypatch)
    tokenizer = AutoTokenizer.from_pretrained(texts / "tokenizer")
    model = make_model("tiny", "cpu", "float32", vocabulary=len(tokenizer))
    items = data.read_items(texts / "dogs.jsonl")
    found, expected = (
        TOOLS[tool](model, tokenizer, 8)(items) for tool in ("prompt_logprobs", "reference")
    )
    assert found.sums == pytest.approx(expected.sums, abs=1e-3)


def test_a_process_that_ends_badly_leaves_a_reason() -> None:
    command = [sys.executable, "-c"]
    assert gpu.run([*command, "pass"], None, 60) == ""
    gone = gpu.run([*command, "import sys; sys.exit('the device is gone')"], None, 60)
    assert gone == "it ended with code 1: the device is gone"
    assert gpu.run([*command, "pass"], None, 0) == "no time was left"


def test_texts_are_prepared_where_there_is_no_gpu(
    tmp_path: Path, texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_here(command: list[str], **_: object) -> None:
        assert command[:3] == [sys.executable, "-m", "coherencegym.builders.connectives"]
        assert build_command("connectives", *command[3:]) == 0

    no_classifiers(monkeypatch)
    monkeypatch.setattr("benchmarks.data.subprocess.run", run_here)
    where = tmp_path / "texts"
    tokenizer = ["--tokenizer", str(texts / "tokenizer")]
    options = ["--items", "2", "--datasets", "connective_long", *tokenizer]
    assert gpu.main(["--prepare", str(where), "--output", str(tmp_path), *options]) == 0
    assert {path.name for path in where.iterdir()} == {"tokenizer", "connective_long.jsonl"}
    assert len(data.read_items(where / "connective_long.jsonl")) == 2

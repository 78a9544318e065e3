"""Models in vLLM: what it is asked for, what is refused, and scores from the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import torch
from support.commands import one_line
from support.stand_in_vllm import ENGINE_ARGUMENTS, LLM, SamplingParams, arguments_of, install
from support.suites import Sample
from support.tiny_models import tiny

from coherencegym.errors import EvaluationError
from coherencegym.eval.backends.vllm import BACKEND, SETTINGS, Engine
from coherencegym.eval.commands.cli import main as evaluate
from coherencegym.eval.data.signature import versions
from coherencegym.eval.models.arguments import parse_model_arguments
from coherencegym.eval.models.config import context_length
from coherencegym.eval.models.load import LoadedModel, load
from coherencegym.eval.run.options import ModelOptions
from coherencegym.eval.text.sequence import TokenSequence


def loaded(
    *pairs: str, name: str = "demo", device: str = "auto", dtype: str = "auto", **more: Any
) -> LoadedModel:
    return BACKEND.load_scorer(name, device, dtype, arguments=parse_model_arguments(pairs), **more)


def test_what_vllm_is_asked_for_and_what_results_say(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
    found = loaded("max_model_len=128", "gpu_memory_utilization=0.5", dtype="float32")
    plain = load("demo", "cpu", "float32")
    assert LLM.made.asked == {
        "dtype": "float32",
        "hf_overrides": {"head_dtype": "float32"},
        "load_format": "safetensors",
        "generation_config": "vllm",
        "enable_prefix_caching": False,
        "enable_chunked_prefill": False,
        "logprobs_mode": "raw_logprobs",
        "max_model_len": 128,
    }
    assert isinstance(found.model, Engine)
    assert found.model.vocabulary == plain.model.config.vocab_size
    # One place is left for the token that it generates.
    assert context_length(found.model.config) == 127
    assert context_length(plain.model.config) != 127
    same = ("name", "commit", "device", "dtype", "parameters", "quantization", "remote_code")
    assert {k: found.about()[k] for k in same} == {k: plain.about()[k] for k in same}
    # How much memory it takes changes no number; the rest may.
    assert found.arguments == {"backend": "vllm", "max_model_len": 128}
    assert found.identity() != plain.identity()
    assert found.cautions[0].startswith("unproven: the numbers are those of vLLM 0.30.0")
    assert loaded().dtype == "bfloat16"


def test_log_probabilities_have_room_beside_what_vllm_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = load("demo", "cpu").model.config
    needed = 512 * config.vocab_size * 9
    for memory, pairs, share in (
        (100 * needed, (), 0.9),
        (4 * needed, (), 0.75),
        (4 * needed, ("max_model_len=256",), 0.87),
        (needed, ("gpu_memory_utilization=0.8",), 0.8),
    ):
        install(monkeypatch, device="cuda", memory=memory)
        loaded(*pairs)
        assert LLM.made.utilization == share
    install(monkeypatch, device="cuda", memory=needed)
    with pytest.raises(EvaluationError, match=r"a text of 512 tokens take .* max_model_len=256 or"):
        loaded()
    assert loaded("max_model_len=256").device == "cuda"


def test_batch_invariance_is_in_the_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
    for value, said in (("1", {"batch_invariant": True}), ("0", {}), ("", {})):
        monkeypatch.setenv("VLLM_BATCH_INVARIANT", value)
        assert loaded().arguments == {"backend": "vllm", **said}


def test_its_version_is_in_the_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coherencegym.eval.data.signature.version", lambda package: "1.0")
    assert versions({"arguments": {"backend": "vllm"}})["vllm"] == "1.0"
    assert "vllm" not in versions({"arguments": {"seed": 1}}) | versions({})


def test_it_tells_nobody_that_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_NO_USAGE_STATS", raising=False)
    monkeypatch.setenv("VLLM_LOGGING_LEVEL", "DEBUG")
    install(monkeypatch)
    loaded()
    import os

    assert os.environ["VLLM_NO_USAGE_STATS"] == "1"
    assert os.environ["VLLM_LOGGING_LEVEL"] == "DEBUG"
    monkeypatch.delenv("VLLM_NO_USAGE_STATS")


@pytest.mark.parametrize(
    ("pairs", "more", "said"),
    [
        (["attn_implementation=eager"], {}, "attn_implementation: not for --backend vllm; expec"),
        (["load_in_8bit=true"], {}, "--model-arg load_in_8bit: not for --backend vllm"),
        (["subfolder=x"], {}, "--model-arg subfolder: not for --backend vllm"),
        (["peft=me/a"], {}, "--model-arg peft: --backend vllm takes no adapter; expected one"),
        ([], {"device_map": "auto"}, "--device-map: not for --backend vllm"),
        ([], {"device": "cuda"}, "--device cuda: this vLLM is for cpu; expected auto"),
        (["max_model_len=4096"], {}, "model 'demo' cannot be loaded: User-specified max_model"),
        ([], {"name": "no/such/folder"}, "no such folder"),
    ],
)
def test_what_is_not_for_vllm_is_refused(
    monkeypatch: pytest.MonkeyPatch, pairs: list[str], more: dict[str, Any], said: str
) -> None:
    install(monkeypatch)
    with pytest.raises(EvaluationError) as caught:
        loaded(*pairs, **more)
    assert said in one_line(f"{caught.value}\n")


def test_several_processes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(EvaluationError, match="--model-arg tensor_parallel_size=N"):
        loaded()


@pytest.mark.parametrize("version", ["0.24.0", "0.9.2", "dev"])
def test_a_version_that_is_too_old_is_refused(
    monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    install(monkeypatch, version)
    with pytest.raises(EvaluationError, match=rf"vLLM {version} sums .* expected 0\.28 or newer"):
        loaded()


def test_vllm_that_is_not_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(EvaluationError, match=r"pip install 'coherencegym\[vllm\]'"):
        loaded()


@pytest.mark.parametrize(
    ("rope", "said"),
    [
        (
            {
                "rope_type": "longrope",
                "short_factor": [1.0] * 4,
                "long_factor": [2.0] * 4,
                "original_max_position_embeddings": 64,
                "rope_theta": 1e4,
            },
            "expected --model-arg max_model_len=64",
        ),
        ({"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4}, "by the rope type dynamic"),
    ],
)
def test_positions_that_vllm_reads_otherwise_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, rope: dict[str, Any], said: str
) -> None:
    install(monkeypatch)
    model = tiny("llama")
    model.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config |= {"rope_parameters": rope, "max_position_embeddings": 256}
    (tmp_path / "config.json").write_text(json.dumps(config))
    plain = load("demo", "cpu")
    plain.tokenizer.save_pretrained(tmp_path)
    with pytest.raises(EvaluationError, match=said):
        loaded(name=str(tmp_path))
    if rope["rope_type"] == "longrope":
        assert loaded("max_model_len=64", name=str(tmp_path)).parameters > 0


def scores(folder: Path) -> dict[tuple[str, str], float]:
    rows = pq.read_table(folder / "regions.parquet").to_pylist()
    return {
        (f"{row['config']} {row['item_id']}", f"{row['condition_name']} {row['region_number']}"): (
            row["sum_bits"] or 0.0
        )
        for row in rows
    }


@pytest.fixture
def build(built_sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return str(built_sample("sentence_order")[0])


def test_scores_from_the_command_line_are_those_of_transformers(
    build: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["score", "--model", "demo", "--dataset", build, "--dtype", "float32"]
    common += ["--device", "cpu", "--limit", "3"]
    common += ["--config", "sample_narration_all", "sample_dialogue_context_sep"]
    assert evaluate([*common, "--cache", "cache", "--output", "plain"]) == 0
    expected = scores(Path("plain"))
    install(monkeypatch)
    where = ["--cache", "cache", "--output", "engine"]
    assert evaluate([*common, "--backend", "vllm", *where]) == 0
    found = scores(Path("engine"))
    assert found.keys() == expected.keys()
    assert max(abs(found[key] - expected[key]) for key in found) < 1e-3
    said = capsys.readouterr().out
    assert "unproven" in said
    results = json.loads(Path("engine/results.json").read_text())
    assert "args:backend=vllm" in results["signature"]
    assert "unproven" in Path("engine/report.html").read_text()
    # What transformers has left is not taken for it, but what it has left itself.
    assert evaluate([*common, "--backend", "vllm", *where, "--overwrite", "--verbose"]) == 0
    assert LLM.made.calls == []
    assert "texts were cached (" in capsys.readouterr().out


def test_a_head_is_refused() -> None:
    with pytest.raises(EvaluationError, match="vllm takes no model with a head of its own"):
        ModelOptions("m", backend="vllm").load_head(None)


@pytest.fixture
def real() -> Any:
    return pytest.importorskip("vllm", reason="vLLM is not installed (pip install vllm)")


def test_the_stand_in_has_the_real_names(real: Any) -> None:
    from vllm.engine.arg_utils import EngineArgs

    names = set(EngineArgs.__dataclass_fields__)
    assert arguments_of(LLM.__init__) <= arguments_of(real.LLM.__init__) | names
    assert {*ENGINE_ARGUMENTS, *SETTINGS} <= names
    assert arguments_of(LLM.generate) <= arguments_of(real.LLM.generate)
    assert set(SamplingParams.__dataclass_fields__) <= set(real.SamplingParams.__struct_fields__)


def test_the_real_one_gives_what_transformers_gives(
    real: Any, make_texts: Callable[[int], list[str]]
) -> None:
    if not torch.cuda.is_available():
        pytest.skip("vLLM needs a GPU here")
    found, plain = loaded(dtype="float32"), load("demo", "cuda", "float32")
    for text in make_texts(8):
        ids = tuple(plain.tokenizer(text)["input_ids"])
        positions = tuple(range(1, len(ids)))
        (bits,) = found.model.ask([TokenSequence(ids, positions)])
        with torch.inference_mode():
            logits = plain.model(input_ids=torch.tensor([ids], device="cuda")).logits[0]
        logs = torch.log_softmax(logits.double(), dim=-1).cpu() / -torch.log(torch.tensor(2.0))
        wanted = [float(logs[position - 1, ids[position]]) for position in positions]
        assert bits == pytest.approx(wanted, abs=1e-2)


@pytest.fixture
def make_texts() -> Callable[[int], list[str]]:
    sentences = ["Ann went home.", "She was tired.", "It rained all day.", "The dog slept."]
    return lambda number: [" ".join(sentences[: 1 + n % 4]) for n in range(number)]

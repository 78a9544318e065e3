"""Models that are not one plain folder: through the command line, on tiny models."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support.commands import without_progress
from support.hub.server import HubServer

import coherencegym.eval.models.machine
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.models.arguments import parse_model_arguments
from coherencegym.eval.models.load import load
from coherencegym.eval.models.machine import input_device
from coherencegym.eval.models.source import find_model
from coherencegym.files.parquet import parquet_rows

MODULE = """
from transformers import LlamaConfig, LlamaForCausalLM


class MineConfig(LlamaConfig):
    model_type = "mine"


class MineForCausalLM(LlamaForCausalLM):
    config_class = MineConfig
"""


@pytest.fixture(scope="module")
def saved(
    tmp_path_factory: pytest.TempPathFactory,
    save_model: Callable[..., Path],
    pair_items: list[Item],
    write_dataset: Callable[..., Path],
) -> Path:
    """A model and a dataset."""
    folder = tmp_path_factory.mktemp("saved")
    save_model(folder / "model", "llama")
    write_dataset(folder / "data", pair_items, extra={"moved": "bool"})
    return folder


def test_a_checkpoint_in_shards_is_loaded_and_scores_as_in_one_file(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from transformers import AutoModelForCausalLM

    shutil.copytree(saved / "model", tmp_path / "sharded")
    (tmp_path / "sharded" / "model.safetensors").unlink()
    model = AutoModelForCausalLM.from_pretrained(saved / "model")
    model.save_pretrained(tmp_path / "sharded", max_shard_size="20KB")
    assert len(list((tmp_path / "sharded").glob("model-*.safetensors"))) > 2
    shutil.copytree(tmp_path / "sharded", tmp_path / "bare")
    index = tmp_path / "bare" / "model.safetensors.index.json"
    weight_map = json.loads(index.read_text())["weight_map"]
    index.write_text(json.dumps({"weight_map": weight_map}))
    found = []
    for folder in (saved / "model", tmp_path / "sharded", tmp_path / "bare"):
        run = tmp_path / f"run {folder.name}"
        data = ("--dataset", str(saved / "data"), "--device", "cpu", "--output", str(run))
        assert main(["score", "--model", str(folder), *data]) == 0
        scored = json.loads((run / "results.json").read_text())
        rows = [parquet_rows(run / f"{name}.parquet") for name in ("units", "outcomes")]
        found.append((scored["scores"], rows, load(folder).identity()))
    (whole, bits, one), *others = found
    for sharded, of_shards, other in others:
        assert sharded == whole
        assert of_shards == bits
        assert one != other  # other files, though the same weights
    capsys.readouterr()


@pytest.fixture(scope="module")
def adapter(saved: Path) -> Path:
    """A LoRA adapter for the model, and the model that it makes, merged."""
    peft = pytest.importorskip("peft", reason="peft is not installed")
    import torch
    from transformers import AutoModelForCausalLM

    torch.manual_seed(2)
    config = peft.LoraConfig(
        target_modules=["q_proj", "down_proj"], init_lora_weights=False, task_type="CAUSAL_LM"
    )
    model = AutoModelForCausalLM.from_pretrained(saved / "model")
    adapted = peft.get_peft_model(model, config)
    adapted.save_pretrained(saved / "adapter")
    adapted.merge_and_unload().save_pretrained(saved / "merged")
    for path in (saved / "model").glob("tokenizer*"):
        shutil.copy(path, saved / "merged")
    return saved / "adapter"


class Run:
    """The command on the dataset: its results, or its one line of error."""

    def __init__(self, saved: Path, output: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.saved, self.output, self.capsys, self.count = saved, output, capsys, 0

    def __call__(self, model: object, *more: object) -> dict[str, Any]:
        self.count += 1
        output = self.output / str(self.count)
        command = ["--model", model, "--dataset", self.saved / "data", "--output", output, *more]
        self.capsys.readouterr()
        assert main([str(word) for word in command]) == 0, self.capsys.readouterr().err
        assert without_progress(self.capsys.readouterr().err) == ""
        results: dict[str, Any] = json.loads((output / "results.json").read_text())
        return results

    def error(self, model: object, *more: object) -> str:
        output = self.output / "none"
        command = ["--model", model, "--dataset", self.saved / "data", "--output", output, *more]
        assert main([str(word) for word in command]) == 2
        said = self.capsys.readouterr().err
        assert said.count("\n") == 1, said
        assert not output.exists()
        return said


@pytest.fixture
def run(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(saved, tmp_path, capsys)


def margins(results: dict[str, Any]) -> list[float]:
    return [score["margin_mean"] for score in results["scores"]]


def note_texts(results: dict[str, Any]) -> list[str]:
    return [note["text"] for note in results["notes"]]


def without(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a package were not installed."""
    monkeypatch.setattr(
        coherencegym.eval.models.machine,
        "find_spec",
        lambda name: None if name == package else find_spec(name),
    )


def test_an_entry_of_the_config_changes_numbers_and_is_in_the_signature(
    run: Run, saved: Path
) -> None:
    plain = run(saved / "model")
    assert plain["model"]["arguments"] == plain["settings"]["model_args"] == {}
    assert "|args:" not in plain["signature"]
    changed = run(
        saved / "model",
        *("--model-arg", "num_hidden_layers=1"),
        *("--model-arg", "attn_implementation=eager"),
    )
    assert changed["settings"]["model_args"] == {
        "attn_implementation": "eager",
        "num_hidden_layers": 1,
    }
    assert "|args:attn_implementation=eager,num_hidden_layers=1|" in changed["signature"]
    assert margins(changed) != pytest.approx(margins(plain), rel=1e-3)
    assert changed["model"]["parameters"] < plain["model"]["parameters"]


@pytest.mark.parametrize(
    ("pair", "what"),
    [
        ("num_hiden_layers=1", "num_hiden_layers is neither an argument of from_pretrained"),
        ("hidden_size=64", "its weights have other shapes than its config says"),
        ("hidden_size=abc", "expected int, got str"),
        ("subfolder=nothing", "has no folder 'nothing'"),
        ("subfolder=../model", "expected a folder inside it"),
        ("tokenizer=/nonexistent", "tokenizer '/nonexistent': no such folder"),
        ("max_cpu_memory=1GiB", "expected --device-map with it"),
        ("revision=v1", "is a folder, which has none"),
        ("peft=/nonexistent", "adapter '/nonexistent': no such folder"),
    ],
)
def test_what_an_argument_gets_wrong_is_one_line(
    pair: str, what: str, run: Run, saved: Path
) -> None:
    assert what in run.error(saved / "model", "--model-arg", pair)


def test_a_subfolder_and_another_tokenizer(run: Run, saved: Path, tmp_path: Path) -> None:
    shutil.copytree(saved / "model", tmp_path / "repo" / "step-5")
    found = run(tmp_path / "repo", "--model-arg", "subfolder=step-5")
    plain = run(saved / "model")
    assert margins(found) == margins(plain)
    assert found["model"]["commit"] == plain["model"]["commit"]
    for path in (tmp_path / "repo" / "step-5").glob("tokenizer*"):
        path.unlink()
    other = run(
        tmp_path / "repo",
        *("--model-arg", "subfolder=step-5", f"tokenizer={saved / 'model'}"),
    )
    assert margins(other) == margins(plain)
    assert other["model"]["tokenizer"]["commit"] == plain["model"]["commit"]
    assert f"|tokenizer:{saved / 'model'}@sha256:" in other["signature"]


def test_an_adapter_is_the_model_that_it_makes(
    run: Run, saved: Path, adapter: Path, tmp_path: Path
) -> None:
    merged, plain = run(saved / "merged"), run(saved / "model")
    on_top = run(saved / "model", "--model-arg", f"peft={adapter}")
    assert margins(on_top) == pytest.approx(margins(merged), abs=1e-5)
    assert margins(on_top) != pytest.approx(margins(plain), rel=1e-3)
    assert on_top["model"]["commit"] == plain["model"]["commit"]
    assert f"|adapter:{adapter}@sha256:" in on_top["signature"]
    assert "|peft:0" in on_top["signature"]
    assert f"adapter {adapter} on {saved / 'model'}" in note_texts(on_top)
    # Its own folder, which names the model.
    alone = run(adapter)
    assert margins(alone) == margins(on_top)
    assert alone["model"]["base"] == str(saved / "model")
    assert f"model:{saved / 'model'}@{plain['model']['commit'][:19]}|adapter:" in alone["signature"]
    # Beside the model's weights, where transformers would find it by itself.
    shutil.copytree(saved / "model", tmp_path / "both")
    for path in adapter.glob("adapter*"):
        shutil.copy(path, tmp_path / "both")
    both = run(tmp_path / "both")
    assert margins(both) == margins(on_top)
    assert both["model"]["adapter"]["commit"] == both["model"]["commit"]
    assert "expected one adapter" in run.error(tmp_path / "both", "--model-arg", f"peft={adapter}")


def test_an_adapter_that_nobody_asked_for_is_not_put_on(
    run: Run, saved: Path, adapter: Path, tmp_path: Path
) -> None:
    shutil.copytree(adapter, tmp_path / "top")
    shutil.copytree(saved / "model", tmp_path / "top" / "inside")
    inside = run(tmp_path / "top", "--model-arg", "subfolder=inside")
    assert inside["model"]["adapter"] is None
    assert margins(inside) == margins(run(saved / "model"))


def test_adapters_that_cannot_be_put_on(
    run: Run,
    saved: Path,
    adapter: Path,
    tmp_path: Path,
    make_model: Callable[..., Any],
    make_tokenizer: Callable[..., Any],
) -> None:
    import peft
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import AutoModelForCausalLM

    def said(folder: Path) -> str:
        return run.error(saved / "model", "--model-arg", f"peft={folder}")

    assert "has no adapter_config.json" in said(saved / "model")
    pickled = tmp_path / "pickled"
    shutil.copytree(adapter, pickled)
    weights = load_file(pickled / "adapter_model.safetensors")
    (pickled / "adapter_model.safetensors").unlink()
    torch.save(weights, pickled / "adapter_model.bin")
    assert "pickled weights are never read" in said(pickled)
    weights.pop(next(iter(weights)))
    save_file(weights, pickled / "adapter_model.safetensors")
    assert "lacks weights" in said(pickled)
    model = AutoModelForCausalLM.from_pretrained(saved / "model")
    prompts = peft.PromptTuningConfig(num_virtual_tokens=2, task_type="CAUSAL_LM")
    peft.get_peft_model(model, prompts).save_pretrained(tmp_path / "prompts")
    assert "does something else than change" in said(tmp_path / "prompts")
    config = json.loads((adapter / "adapter_config.json").read_text())
    for change in ({"megatron_config": {}, "peft_type": "LORA"}, {"peft_type": ["LORA"]}):
        foreign = tmp_path / "foreign"
        shutil.copytree(adapter, foreign, dirs_exist_ok=True)
        changed = config | change | ({"megatron_config": {"a": 1}} if len(change) > 1 else {})
        (foreign / "adapter_config.json").write_text(json.dumps(changed))
        assert "does something else than change" in said(foreign)
    (foreign / "adapter_config.json").write_text(json.dumps(config | {"task_type": "SEQ_CLS"}))
    assert "has a head for another task (SEQ_CLS)" in said(foreign)
    wide = make_model("llama", make_tokenizer(), hidden_size=64)
    wide.save_pretrained(tmp_path / "wide")
    for path in (saved / "model").glob("tokenizer*"):
        shutil.copy(path, tmp_path / "wide")
    error = run.error(tmp_path / "wide", "--model-arg", f"peft={adapter}")
    assert "does not fit the model" in error
    assert re.search(r"shape torch.Size\(\[8, 32\]\) .* torch.Size\(\[8, 64\]\)", error)


@pytest.mark.parametrize(
    "more", [{}, {"modules_to_save": ["embed_tokens", "lm_head"]}, {"trainable_token_indices": [9]}]
)
def test_an_adapter_has_tokens_of_its_own(
    run: Run, saved: Path, tmp_path: Path, more: dict[str, Any]
) -> None:
    peft = pytest.importorskip("peft", reason="peft is not installed")
    from safetensors.torch import load_file, save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(saved / "model")
    tokenizer.add_tokens(["home"])
    model = AutoModelForCausalLM.from_pretrained(saved / "model")
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    how = {"target_modules": ["q_proj"], "init_lora_weights": False, "task_type": "CAUSAL_LM"}
    adapted = peft.get_peft_model(model, peft.LoraConfig(**how, **more))
    adapted.save_pretrained(tmp_path / "own")
    adapted.merge_and_unload().save_pretrained(tmp_path / "merged")
    for name in ("own", "merged"):
        tokenizer.save_pretrained(tmp_path / name)
    found = run(tmp_path / "own")
    assert margins(found) == pytest.approx(margins(run(tmp_path / "merged")), abs=1e-5)
    assert found["model"]["tokenizer"] == found["model"]["adapter"]
    weights = load_file(tmp_path / "own" / "adapter_model.safetensors")
    kept = {name: value for name, value in weights.items() if "embed_tokens" not in name}
    save_file(kept, tmp_path / "own" / "adapter_model.safetensors")
    (now, before) = len(tokenizer), len(tokenizer) - 1
    said = f"has {now} embeddings for the input or the output alone, and the model has {before}"
    assert said in run.error(tmp_path / "own")


def test_an_adapter_without_peft_is_no_model_without_its_adapter(
    run: Run, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(saved / "model", tmp_path / "both")
    (tmp_path / "both" / "adapter_config.json").write_text("{}")
    without("peft", monkeypatch)
    assert "needs peft; expected pip install peft" in run.error(tmp_path / "both")


@pytest.mark.parametrize(
    ("package", "more"),
    [
        ("accelerate", ["--device-map", "auto"]),
        ("bitsandbytes", ["--model-arg", "load_in_8bit=true"]),
        ("bitsandbytes", ["--model-arg", "load_in_4bit=true", "bnb_4bit_quant_type=nf4"]),
    ],
)
def test_a_package_that_is_missing_is_named(
    package: str, more: list[str], run: Run, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(package, monkeypatch)
    assert f"needs {package}; expected pip install {package}" in run.error(saved / "model", *more)


def test_a_device_map_changes_no_number(
    run: Run, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    plain = run(saved / "model", "--device", "cpu")
    assert "expected one of them" in run.error(
        saved / "model", "--device", "cpu", "--device-map", "auto"
    )
    with monkeypatch.context() as launched:
        launched.setenv("WORLD_SIZE", "2")
        with pytest.raises(EvaluationError, match="without accelerate launch"):
            load(str(saved / "model"), device_map="auto")
    mapped = run(saved / "model", "--device-map", "auto")
    assert mapped["settings"]["device_map"] == "auto"
    assert margins(mapped) == margins(plain)
    limits = ["max_cpu_memory=20KB", f"offload_folder={tmp_path / 'offload'}"]
    from_disk = run(saved / "model", "--device-map", "auto", "--model-arg", *limits)
    assert "disk" in from_disk["model"]["device"]
    assert margins(from_disk) == margins(plain)
    assert "|args:" not in from_disk["signature"]


def test_a_model_on_several_devices_gives_what_it_gives_on_one(
    run: Run, saved: Path, tmp_path: Path
) -> None:
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    limits = ["max_cpu_memory=120KB", f"offload_folder={tmp_path / 'offload'}"]
    spread = load(str(saved / "model"), device_map="auto", arguments=parse_model_arguments(limits))
    assert spread.device == "cpu+disk"
    assert str(input_device(spread.model)) == "cpu"
    results = run(saved / "model", "--device-map", "auto", "--model-arg", *limits)
    assert results["model"]["device"] == "cpu+disk"
    assert margins(results) == margins(run(saved / "model", "--device", "cpu"))


def test_an_adapter_with_a_device_map(run: Run, saved: Path, adapter: Path, tmp_path: Path) -> None:
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    options = ["--device-map", "auto", "--model-arg", f"peft={adapter}"]
    whole = run(saved / "model", "--device", "cpu", "--model-arg", f"peft={adapter}")
    assert margins(run(saved / "model", *options)) == margins(whole)
    limits = ["max_cpu_memory=120KB", f"offload_folder={tmp_path / 'offload'}"]
    error = run.error(saved / "model", *options, *limits)
    assert "is kept elsewhere for want of memory" in error


@pytest.mark.parametrize("width", [4, 8])
def test_quantized_weights(
    width: int,
    run: Run,
    tmp_path: Path,
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
) -> None:
    pytest.importorskip("bitsandbytes", reason="bitsandbytes is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    tokenizer = make_tokenizer()
    # Rows of fewer than 64 weights, a block, are more than its CPU code can do.
    model = make_model("llama", tokenizer, hidden_size=64, intermediate_size=128)
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    plain = run(tmp_path / "model", "--device", "cpu")
    pair = f"load_in_{width}bit=true"
    quantized = run(tmp_path / "model", "--device", "cpu", "--model-arg", pair)
    assert quantized["model"]["quantization"] == f"bitsandbytes-{width}bit"
    assert quantized["model"]["parameters"] == plain["model"]["parameters"]
    assert f"|args:load_in_{width}bit=True|quant:bitsandbytes-{width}bit|" in quantized["signature"]
    assert "|bitsandbytes:" in quantized["signature"]
    assert margins(quantized) != margins(plain)


def test_code_from_a_repository_runs_only_when_asked(
    run: Run, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import dynamic_module_utils

    monkeypatch.setattr(dynamic_module_utils, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    folder = tmp_path / "mine"
    shutil.copytree(saved / "model", folder)
    config = json.loads((folder / "config.json").read_text())
    module = MODULE
    (folder / "mine.py").write_text(module)
    names = {"AutoConfig": "mine.MineConfig", "AutoModelForCausalLM": "mine.MineForCausalLM"}
    (folder / "config.json").write_text(
        json.dumps(config | {"model_type": "mine", "auto_map": names, "architectures": ["Mine"]})
    )
    error = run.error(folder)
    assert "needs code from its repository; read it, and if you trust it" in error
    assert not (tmp_path / "modules").exists()
    results = run(folder, "--trust-remote-code")
    assert margins(results) == margins(run(saved / "model"))
    assert "--trust-remote-code: code from the model's repository was run" in note_texts(results)
    assert "|code:repository|" in results["signature"]
    (folder / "mine.py").write_text(module + "\n# another\n")
    assert run(folder, "--trust-remote-code")["model"]["commit"] != results["model"]["commit"]
    (folder / "mine.py").write_text("raise LookupError('no luck')\n")
    assert "cannot be loaded: no luck" in run.error(folder, "--trust-remote-code")
    plain = run(saved / "model", "--trust-remote-code")
    assert any("needed no code" in note for note in note_texts(plain))
    assert "|code:" not in plain["signature"]


def test_attention_that_a_config_wants_from_the_hub(run: Run, saved: Path, tmp_path: Path) -> None:
    shutil.copytree(saved / "model", tmp_path / "m")
    config = json.loads((tmp_path / "m" / "config.json").read_text())
    (tmp_path / "m" / "config.json").write_text(
        json.dumps(config | {"attn_implementation": "someone/attention"})
    )
    assert "may be code from the Hub" in run.error(tmp_path / "m")
    run(tmp_path / "m", "--model-arg", "attn_implementation=sdpa")


def push(hub: HubServer, folder: Path, repo: str, tag: str) -> str:
    """A repository with a folder's files; its commit."""
    return hub.seed(repo, {path.name: path.read_bytes() for path in folder.iterdir()}, tag)


def test_a_revision_on_the_hub(
    run: Run,
    saved: Path,
    tmp_path: Path,
    hub_clients: HubServer,
    monkeypatch: pytest.MonkeyPatch,
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
) -> None:
    first = push(hub_clients, saved / "model", "me/model", "v1")
    make_model("llama", make_tokenizer(), num_hidden_layers=1).save_pretrained(tmp_path / "new")
    second = push(hub_clients, tmp_path / "new", "me/model", "v2")
    old = run("me/model", "--model-revision", "v1")
    assert old["model"]["commit"] == first
    assert old["settings"]["model_revision"] == "v1"
    assert f"model:me/model@{first[:12]}|" in old["signature"]
    assert margins(old) == margins(run(saved / "model"))
    newest = run("me/model")
    assert newest["model"]["commit"] == second
    assert newest["settings"]["model_revision"] is None
    assert margins(newest) != margins(old)
    again = run("me/model", "--model-arg", f"revision={first}")
    assert margins(again) == margins(old)
    said = "model 'me/model' at 'v9': no such folder, and the repository has no such revision; "
    assert f"{said}there are v1, v2, main (3)\n" in run.error("me/model", "--model-revision", "v9")
    assert "and not on the Hub, or private (then log in with" in run.error("me/nothing")
    from huggingface_hub import constants

    push(hub_clients, tmp_path / "new", "me/part", "v1")
    find_model("me/part")
    with monkeypatch.context() as here:
        here.setattr(constants, "HF_HUB_OFFLINE", True)
        assert margins(run("me/model", "--model-revision", "v1")) == margins(old)
        error = run.error("gpt2")
        assert "HF_HUB_OFFLINE is set, and it was not fetched before; expected no HF_HUB_" in error
        assert "`hf download gpt2 --local-dir FOLDER` writes them\n" in error
        assert "HF_HUB_OFFLINE is set: only what was fetched before is read" in run.error("me/part")
    hub_clients.faults.add(path_contains="/me/other", cut=True, times=99)
    error = run.error("me/other")
    assert "the Hub cannot be reached, and it was not fetched before; expected a network" in error


def test_an_adapter_on_the_hub_and_pickled_weights(
    run: Run, saved: Path, adapter: Path, tmp_path: Path, hub_clients: HubServer
) -> None:
    commit = push(hub_clients, adapter, "me/lora", "v1")
    found = run(saved / "model", "--model-arg", "peft=me/lora", "peft_revision=v1")
    assert margins(found) == margins(run(saved / "model", "--model-arg", f"peft={adapter}"))
    assert f"|adapter:me/lora@{commit[:12]}|" in found["signature"]
    alone = run("me/lora", "--model-revision", "v1")
    assert margins(alone) == margins(found)
    shutil.copytree(saved / "model", tmp_path / "pickled")
    (tmp_path / "pickled" / "model.safetensors").rename(tmp_path / "pickled" / "pytorch_model.bin")
    push(hub_clients, tmp_path / "pickled", "me/pickled", "v1")
    assert "pickled weights only" in run.error("me/pickled")

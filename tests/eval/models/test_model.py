"""Loading a model, and refusing what is no causal language model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from coherencegym.errors import EvaluationError
from coherencegym.eval.models.config import context_length, refuse_unless_it_sees
from coherencegym.eval.models.load import load


@pytest.fixture
def folder(
    tmp_path: Path, make_tokenizer: Callable[..., Any], make_model: Callable[..., Any]
) -> Path:
    tokenizer = make_tokenizer()
    make_model("gpt2", tokenizer).save_pretrained(tmp_path / "m")
    tokenizer.save_pretrained(tmp_path / "m")
    return tmp_path / "m"


def test_loads_a_folder(folder: Path) -> None:
    loaded = load(str(folder), device="cpu")
    assert (loaded.device, loaded.dtype) == ("cpu", "float32")
    assert not loaded.model.training
    assert loaded.parameters == sum(p.numel() for p in loaded.model.parameters())
    assert loaded.commit == load(str(folder), device="cpu").commit


def test_the_commit_of_a_folder_changes_with_its_weights(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    before = load(str(folder), device="cpu").commit
    weights = load_file(folder / "model.safetensors")
    weights["transformer.ln_f.bias"] = weights["transformer.ln_f.bias"] + 1
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    assert load(str(folder), device="cpu").commit != before


def test_dtype_may_be_named(folder: Path) -> None:
    loaded = load(str(folder), device="cpu", dtype="bfloat16")
    assert loaded.dtype == "bfloat16"
    assert loaded.model.dtype == torch.bfloat16


def test_no_tokenizer(folder: Path) -> None:
    for path in folder.glob("tokenizer*"):
        path.unlink()
    with pytest.raises(EvaluationError, match="tokenizer"):
        load(str(folder), device="cpu")


def test_weights_only_as_safetensors(folder: Path) -> None:
    from safetensors.torch import load_file

    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(EvaluationError, match=r"pickled weights only.*save_pretrained"):
        load(str(folder), device="cpu")


def test_weights_that_are_not_there_are_no_random_numbers(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    del weights["transformer.h.1.mlp.c_fc.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(EvaluationError, match=r"lacks 1 of its weights .*mlp.c_fc.weight"):
        load(str(folder), device="cpu")


@pytest.mark.parametrize(
    ("kind", "settings", "what"),
    [
        ("bert", {"architectures": ["BertForMaskedLM"]}, "masked language model"),
        ("bert", {}, "masked language model"),
        ("modernbert", {"architectures": ["ModernBertForMaskedLM"]}, "masked language model"),
        ("bart", {"architectures": ["BartForConditionalGeneration"]}, "an encoder with a decoder"),
        ("t5", {"architectures": ["T5ForConditionalGeneration"]}, "an encoder with a decoder"),
        ("bert", {"architectures": ["BertForMaskedLM"], "is_decoder": True}, "masked language"),
        ("vit", {"architectures": ["ViTModel"]}, "no causal language model"),
        ("qwen2_vl", {}, "reads images and text"),
        ("llava", {"architectures": ["LlavaForConditionalGeneration"]}, "reads images and text"),
        ("paligemma", {}, "reads images and text"),
        ("xlnet", {"architectures": ["XLMForQuestionAnswering"]}, "has a head for another task"),
        ("llama", {"architectures": ["OurRewardModel"]}, "has a head for another task"),
    ],
)
def test_what_is_no_causal_language_model_is_refused(
    kind: str, settings: dict[str, Any], what: str, tmp_path: Path
) -> None:
    from transformers import AutoConfig

    AutoConfig.for_model(kind, **settings).save_pretrained(tmp_path)
    with pytest.raises(EvaluationError, match=what):
        load(str(tmp_path), device="cpu", scorer="causal")


@pytest.mark.parametrize(
    ("declared", "head", "what"),
    [
        ("GPT2ForTokenClassification", "classifier", "another task (GPT2ForTokenClassification)"),
        ("GPT2Model", "score", "weights of another head (score.weight)"),
        (None, "v_head.summary", "weights of another head (v_head.summary.weight)"),
        ("GPT2Model", "", "a class without a head (GPT2Model)"),
        (None, "", ""),
        ("MyGPTForCausalLM", "v_head", ""),
        ("OurLMHeadModel", "", ""),
        ("GPT2DoubleHeadsModel", "multiple_choice_head.summary", ""),
        ("LlavaForConditionalGeneration", "", ""),
    ],
)
def test_tied_embeddings_stand_in_for_no_other_head(
    folder: Path, declared: str | None, head: str, what: str
) -> None:
    from safetensors.torch import load_file, save_file

    config = json.loads((folder / "config.json").read_text())
    config["architectures"] = [declared] if declared else None
    (folder / "config.json").write_text(json.dumps(config))
    weights = load_file(folder / "model.safetensors")
    more = {f"{head}.weight": torch.zeros(2, 2)} if head else {}
    save_file({**weights, **more}, folder / "model.safetensors", metadata={"format": "pt"})
    try:
        said = "".join(load(str(folder), device="cpu").cautions)
    except EvaluationError as error:
        said = str(error)
    assert what in said
    assert bool(what) == bool(said)


def test_a_model_that_sees_ahead_is_refused(
    make_tokenizer: Callable[..., Any], make_model: Callable[..., Any]
) -> None:
    from transformers import BertConfig, BertLMHeadModel

    refuse_unless_it_sees("x", make_model("gpt2", make_tokenizer()), "causal")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=50,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        initializer_range=0.3,
    )
    with pytest.raises(EvaluationError, match="from what follows it"):
        refuse_unless_it_sees("x", BertLMHeadModel(config).eval(), "causal")


def test_rows_of_a_causal_model_that_differ_by_rounding_are_not_taken_for_a_masked_one(
    make_tokenizer: Callable[..., Any], make_model: Callable[..., Any]
) -> None:
    model = make_model("gpt2", make_tokenizer())
    last_digits = torch.tensor([1.0, 1 + 2**-22])[:, None, None]
    model.lm_head.register_forward_hook(lambda module, given, logits: logits * last_digits)
    with pytest.raises(EvaluationError, match="from what precedes it alone"):
        refuse_unless_it_sees("x", model, "pll")


TINY = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "initializer_range": 0.3,
}


@pytest.mark.parametrize(
    ("kind", "settings", "causal"),
    [
        ("bert", {**TINY, "is_decoder": True}, True),
        ("bert", {**TINY, "is_decoder": False, "architectures": ["BertLMHeadModel"]}, False),
        ("roberta", {**TINY, "is_decoder": False}, False),
        (
            "xlnet",
            {
                **{"d_model": 16, "n_layer": 1, "n_head": 2, "d_head": 8, "d_inner": 16},
                "initializer_range": 0.3,
            },
            False,
        ),
    ],
)
def test_what_a_config_does_not_show_the_first_pass_does(
    kind: str,
    settings: dict[str, Any],
    causal: bool,
    tmp_path: Path,
    make_tokenizer: Callable[..., Any],
) -> None:
    from transformers import AutoConfig, AutoModelForCausalLM

    tokenizer = make_tokenizer()
    torch.manual_seed(0)
    config = AutoConfig.for_model(kind, vocab_size=len(tokenizer), **settings)
    AutoModelForCausalLM.from_config(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    if causal:
        assert load(str(tmp_path), device="cpu").device == "cpu"
        return
    with pytest.raises(EvaluationError, match="from what follows it"):
        load(str(tmp_path), device="cpu")


def test_a_model_of_images_and_text_that_is_causal_in_text_is_loaded(
    tmp_path: Path, make_tokenizer: Callable[..., Any]
) -> None:
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration

    tokenizer = make_tokenizer()
    torch.manual_seed(0)
    text = {"vocab_size": len(tokenizer), "num_key_value_heads": 2, "head_dim": 8}
    text |= {"max_position_embeddings": 77}
    vision = {key: TINY[key] for key in list(TINY)[:4]} | {"image_size": 28, "patch_size": 14}
    config = Gemma3Config(text_config=TINY | text, vision_config=vision, mm_tokens_per_image=4)
    Gemma3ForConditionalGeneration(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    loaded = load(str(tmp_path), device="cpu")
    assert type(loaded.model).__name__ == "Gemma3ForConditionalGeneration"
    assert context_length(loaded.model.config) == 77


def test_the_dtype_of_a_model_that_is_stored_quantized_is_its_own() -> None:
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    from coherencegym.eval.models.arguments import parse_model_arguments
    from coherencegym.eval.models.machine import place_model

    plain, stored = SimpleNamespace(), SimpleNamespace(quantization_config={"bits": 4})
    arguments = parse_model_arguments([])
    assert place_model(plain, arguments, "cpu", "auto", None).dtype == torch.float32
    placed = place_model(stored, arguments, "cpu", "auto", None)
    # It is made where it stays.
    assert (placed.dtype, placed.device) == ("auto", None)
    assert placed.settings["device_map"] == {"": "cpu"}
    assert place_model(stored, arguments, "cpu", "float16", None).dtype == torch.float16
    with pytest.raises(EvaluationError, match="quantized already"):
        place_model(stored, parse_model_arguments(["load_in_4bit=true"]), "cpu", "auto", None)


def test_code_from_a_repository_is_never_run(folder: Path) -> None:
    import json

    config = json.loads((folder / "config.json").read_text())
    config |= {
        "model_type": "mine",
        "auto_map": {
            "AutoConfig": "mine.MineConfig",
            "AutoModelForCausalLM": "mine.MineForCausalLM",
        },
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "mine.py").write_text("raise SystemExit('code was run')")
    with pytest.raises(EvaluationError, match=r"needs code from its repository.*--trust-remote"):
        load(str(folder), device="cpu")


@pytest.mark.parametrize(
    ("config", "length"),
    [
        ({"max_position_embeddings": 512}, 512),
        ({"n_positions": 1024}, 1024),
        ({"max_seq_len": 2048}, 2048),
        ({}, None),
    ],
)
def test_context_length(config: dict[str, int], length: int | None) -> None:
    assert context_length(SimpleNamespace(**config)) == length


def test_context_length_of_real_configs() -> None:
    from transformers import GPT2Config, MambaConfig, MptConfig

    assert context_length(GPT2Config()) == 1024
    assert context_length(MptConfig()) == 2048
    assert context_length(MambaConfig()) is None

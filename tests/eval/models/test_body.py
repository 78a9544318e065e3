"""Models without their heads, from folders of every kind, and random initialisation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from support.tiny_encoders import ENCODERS, encoder_tokenizer

from coherencegym.errors import EvaluationError
from coherencegym.eval import initialise_randomly, load_encoder
from coherencegym.eval.models.arguments import parse_model_arguments
from coherencegym.eval.models.in_memory import body_of, in_memory
from coherencegym.eval.models.load import load_config

IDS = torch.tensor([[1, 5, 6, 7, 2]])


def saved(folder: Path, auto: str, kind: str, drop: str | None = None, **more: Any) -> Any:
    """A new model of a kind with a head, in a folder with its tokenizer."""
    import transformers

    tokenizer = encoder_tokenizer(kind)
    torch.manual_seed(3)
    config = transformers.AutoConfig.for_model(
        kind, vocab_size=len(tokenizer), pad_token_id=0, **{**ENCODERS[kind], **more}
    )
    model = getattr(transformers, auto).from_config(config).eval()
    state = {k: v for k, v in model.state_dict().items() if drop is None or drop not in k}
    model.save_pretrained(folder, state_dict=state)
    tokenizer.save_pretrained(folder)
    return model


def last_layer(model: Any) -> torch.Tensor:
    with torch.inference_mode():
        return body_of(model).hidden_states(IDS)[-1]


@pytest.mark.parametrize(
    ("kind", "auto"),
    [
        ("bert", "AutoModelForMaskedLM"),
        ("roberta", "AutoModelForMaskedLM"),
        ("electra", "AutoModelForPreTraining"),
        ("distilbert", "AutoModelForSequenceClassification"),
        ("modernbert", "AutoModelForMaskedLM"),
        ("t5", "AutoModelForSeq2SeqLM"),
        ("t5", "AutoModelForTextEncoding"),
        ("bart", "AutoModelForSeq2SeqLM"),
    ],
)
def test_an_encoder_is_loaded_without_its_head(tmp_path: Path, kind: str, auto: str) -> None:
    whole = saved(tmp_path, auto, kind)
    loaded = load_encoder(str(tmp_path), device="cpu")
    assert not hasattr(loaded.model, "lm_head")
    assert not hasattr(loaded.model, "classifier")
    assert loaded.parameters <= whole.num_parameters()
    assert (loaded.device, loaded.dtype) == ("cpu", "float32")
    assert loaded.commit.startswith("sha256:")
    assert torch.equal(last_layer(loaded.model), last_layer(whole))
    if kind == "t5":
        assert not [name for name, _ in loaded.model.named_parameters() if "decoder" in name]


def test_a_causal_model_is_loaded_without_its_head() -> None:
    loaded = load_encoder("demo", device="cpu")
    assert not hasattr(loaded.model, "lm_head")
    assert body_of(loaded.model).causal


def test_weights_that_are_missing_are_refused_but_for_a_pooler(tmp_path: Path) -> None:
    saved(tmp_path / "pooler", "AutoModelForMaskedLM", "bert")
    assert load_encoder(str(tmp_path / "pooler"), device="cpu").model.pooler is not None
    saved(tmp_path / "layer", "AutoModelForMaskedLM", "bert", drop="layer.1.output.dense")
    said = r"lacks 2 of its weights \(encoder.layer.1.output.dense.bias, ...\); expected those of "
    with pytest.raises(EvaluationError, match=said + "its type"):
        load_encoder(str(tmp_path / "layer"), device="cpu")


def test_weights_that_are_pickled_are_refused(tmp_path: Path) -> None:
    model = saved(tmp_path, "AutoModel", "bert")
    (tmp_path / "model.safetensors").unlink()
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    with pytest.raises(
        EvaluationError, match=r"pickled weights only.* AutoModel\w+.from_pretrained"
    ):
        load_encoder(str(tmp_path), device="cpu")


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ('{"model_type": "new"}', "cannot be loaded|needs code"),
        (
            '{"model_type": "new", "auto_map": {"AutoConfig": "c.C", "AutoModel": "m.M"}}',
            "needs code from its repository",
        ),
        ('{"model_type": "encodec"}', "no tokenizer|cannot be|tokenizer of"),
        (
            '{"model_type": "bert", "attn_implementation": "somebody/kernel"}',
            "asks for attention 'somebody/kernel', which may be code from the Hub",
        ),
    ],
)
def test_what_is_no_model_of_text_is_refused(tmp_path: Path, config: str, said: str) -> None:
    (tmp_path / "config.json").write_text(config)
    with pytest.raises(EvaluationError, match=said) as raised:
        load_encoder(str(tmp_path), device="cpu")
    assert "\n" not in str(raised.value)


def test_an_adapter_is_put_on_the_whole_model(
    tmp_path: Path, make_tokenizer: Callable[..., Any], make_model: Callable[..., Any]
) -> None:
    peft = pytest.importorskip("peft", reason="peft is not installed")
    tokenizer = make_tokenizer()
    model = make_model("llama", tokenizer)
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    settings = peft.LoraConfig(
        target_modules=["q_proj"], init_lora_weights=False, task_type="CAUSAL_LM"
    )
    adapted = peft.get_peft_model(model, settings).eval()
    adapted.save_pretrained(tmp_path / "adapter")
    arguments = parse_model_arguments([f"peft={tmp_path / 'adapter'}"])
    loaded = load_encoder(str(tmp_path / "model"), device="cpu", arguments=arguments)
    assert torch.allclose(last_layer(loaded.model), last_layer(adapted), atol=1e-5)
    plain = load_encoder(str(tmp_path / "model"), device="cpu")
    assert not torch.allclose(last_layer(loaded.model), last_layer(plain.model), atol=1e-2)
    untrained = initialise_randomly(loaded, 1)
    assert untrained.adapter is None
    assert torch.equal(last_layer(untrained.model), last_layer(initialise_randomly(plain, 1).model))


def test_a_config_can_be_read_alone(tmp_path: Path) -> None:
    saved(tmp_path, "AutoModelForMaskedLM", "bert")
    config, tokenizer = load_config(str(tmp_path), scorer=None)
    assert (config.model_type, tokenizer.cls_token_id) == ("bert", 1)
    with pytest.raises(EvaluationError, match="masked language model"):
        load_config(str(tmp_path))


def test_an_encoder_in_memory_is_described(tmp_path: Path) -> None:
    model = saved(tmp_path, "AutoModel", "bert")
    loaded = in_memory(model, encoder_tokenizer("bert"), "mine", scores=False)
    assert (loaded.name, loaded.dtype) == ("mine", "float32")
    assert loaded.commit.startswith("memory:")


@pytest.mark.parametrize("kind", ["bert", "t5"])
def test_a_random_twin_has_the_shape_and_none_of_the_weights(tmp_path: Path, kind: str) -> None:
    saved(tmp_path, "AutoModel", kind)
    loaded = load_encoder(str(tmp_path), device="cpu")
    before = torch.random.get_rng_state()
    one, same, other = (initialise_randomly(loaded, seed) for seed in (1, 1, 2))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert type(one.model) is type(loaded.model)
    assert one.parameters == one.model.num_parameters() == loaded.parameters
    assert one.tokenizer is loaded.tokenizer
    assert not one.model.training
    assert torch.equal(last_layer(one.model), last_layer(same.model))
    assert not torch.allclose(last_layer(one.model), last_layer(other.model), atol=1e-2)
    assert not torch.allclose(last_layer(one.model), last_layer(loaded.model), atol=1e-2)
    assert one.identity() == same.identity()
    assert len({each.identity() for each in (one, other, loaded)}) == 3
    assert one.name == f"{tmp_path} with random weights 1"
    assert one.about()["commit"].startswith("memory:")

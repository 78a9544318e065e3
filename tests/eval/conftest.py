"""Tiny tokenizers, models, items and dataset folders, made on the spot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.datasets import write_table
from support.hub.fixtures import hub, hub_api, hub_clients, hub_env, hub_sleeps, portal

from coherencegym.eval.kinds.items import ITEMS, Condition, Item, Prediction, Region

__all__ = ["hub", "hub_api", "hub_clients", "hub_env", "hub_sleeps", "portal"]

TEXT = [
    "Lily had a red ball. She threw the ball to Tim. Tim ran to the park with the ball.",
    "The dog was sad. It was raining all day, and the dog could not go out to play.",
    "Hello, how are you? I am fine, thank you! What did you do at the weekend?",
]


@pytest.fixture(scope="module", autouse=True)
def one_demo_model(demo_once: None) -> None:
    """The demo model is read once."""


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """One torch thread, where torch is loaded at all."""
    import sys

    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


@pytest.fixture(scope="session")
def make_tokenizer() -> Callable[..., Any]:
    """A byte-level BPE tokenizer with a few merges; special tokens as asked for."""

    def make(bos: str | None = "<s>", eos: str | None = "</s>", sep: str | None = None) -> Any:
        from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
        from transformers import PreTrainedTokenizerFast

        names = [name for name in (bos, eos, sep) if name is not None]
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=256 + 3 + 60,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            special_tokens=list(dict.fromkeys(names)),
            show_progress=False,
        )
        tokenizer.train_from_iterator(TEXT, trainer)
        return PreTrainedTokenizerFast(
            tokenizer_object=tokenizer, bos_token=bos, eos_token=eos, sep_token=sep
        )

    return make


#: Overrides that make a tiny model of each architecture. Weights are large, so that predictions
#: differ from uniform and a mistake shows; contexts are long, windows shorter than the texts.
SHAPES: dict[str, dict[str, Any]] = {
    "gpt2": {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 256},
    "llama": {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 256,
    },
    "gpt_neox": {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 256,
    },
    "opt": {
        "hidden_size": 32,
        "ffn_dim": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 256,
        "word_embed_proj_dim": 32,
        "init_std": 0.3,
    },
    "mamba": {"hidden_size": 32, "state_size": 4, "num_hidden_layers": 2},
    "gemma2": {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "query_pre_attn_scalar": 8,
        "sliding_window": 8,
        "max_position_embeddings": 256,
    },
}


@pytest.fixture(scope="session")
def make_model() -> Callable[..., Any]:
    """A randomly initialised tiny model of an architecture, for a tokenizer."""

    def make(kind: str, tokenizer: Any, **overrides: Any) -> Any:
        import torch
        from transformers import AutoConfig, AutoModelForCausalLM

        torch.set_num_threads(1)
        torch.manual_seed(0)
        settings = {
            "vocab_size": len(tokenizer),
            "initializer_range": 0.3,
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
            "pad_token_id": None,
            **SHAPES[kind],
            **overrides,
        }
        config = AutoConfig.for_model(kind, **settings)
        return AutoModelForCausalLM.from_config(config).eval()

    return make


@pytest.fixture(scope="session")
def save_model(
    make_tokenizer: Callable[..., Any], make_model: Callable[..., Any]
) -> Callable[..., Path]:
    """``save_model(folder, kind)``: the folder, with a tiny model and its tokenizer."""

    def save(folder: Path, kind: str = "gpt2", tokenizer: Any = None, **overrides: Any) -> Path:
        tokenizer = tokenizer or make_tokenizer()
        make_model(kind, tokenizer, **overrides).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return folder

    return save


@pytest.fixture(scope="session")
def make_item() -> Callable[..., Item]:
    """An item from a mapping of condition names to region texts, joined by one space."""

    def make(
        conditions: dict[str, Sequence[str]],
        *formulas: str,
        item_id: str = "d1/x",
        discourse_id: str | None = None,
        metric: str = "mean",
        groups: Sequence[str] = (),
        joint: str = " ",
        **extra: Any,
    ) -> Item:
        return Item(
            item_id,
            1,
            tuple(
                Condition(
                    name,
                    joint.join(filter(None, regions)),
                    tuple(Region(i, text) for i, text in enumerate(regions, 1)),
                )
                for name, regions in conditions.items()
            ),
            tuple(Prediction(formula, metric, tuple(groups)) for formula in formulas),
            discourse_id or item_id.split("/")[0],
            "toy",
            extra=extra,
        )

    return make


@pytest.fixture(scope="session")
def pair_items(make_item: Callable[..., Item]) -> list[Item]:
    """Pairs of mixed lengths: a context and a last sentence, in the true and in another order."""
    sentences = [f"{part.strip()}." for text in TEXT for part in text.split(".") if part.strip()]
    items = []
    for number in range(8):
        chosen = [sentences[(number + k) % len(sentences)] for k in range(2 + number % 4)]
        items.append(
            make_item(
                {
                    "original": [" ".join(chosen), "So they went home."],
                    "shuffled": [" ".join(chosen[::-1]), "So they went home."],
                },
                "(2;%shuffled%) > (2;%original%)",
                item_id=f"d{number}/shuffled",
                moved=number % 2 == 0,
            )
        )
    return items


@pytest.fixture(scope="session")
def write_dataset() -> Callable[..., Path]:
    """A dataset folder as the builders write it."""

    def write(
        folder: Path,
        items: Sequence[Item],
        config: str = "toy_context",
        split: str = "test",
        *,
        extra: dict[str, Any] | None = None,
        **about: Any,
    ) -> Path:
        about = {"default": True, "separator": False, **about}
        return write_table(folder, ITEMS, "toy", {split: items}, config, extra=extra, **about)

    return write


@pytest.fixture(scope="session")
def stories260k(repository: Path) -> Path:
    """A real model with a SentencePiece-like tokenizer, where the checkout has one beside it."""
    import os

    shared = Path(os.environ.get("COHERENCEGYM_SHARED", repository.parent / "shared"))
    folder = shared / "models" / "stories260K"
    if not folder.is_dir():
        pytest.skip("the real model (../shared/models/stories260K) is not there")
    return folder

"""The paper's encoder as a model that is loaded like any other: from safetensors, without code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from coherencegym.errors import EvaluationError
from coherencegym.eval.hidden_states import states
from coherencegym.eval.models.in_memory import body_of, initialise_randomly
from coherencegym.eval.models.load import load, load_encoder
from coherencegym.eval.plan.passages import Passage
from coherencegym.eval.tasks.training.criteria import word_tokenizer

WORDS = [f"w{number}" for number in range(30)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved encoder."""
    import torch

    from coherencegym.eval.models.word_gru import WordGRU, WordGRUConfig

    torch.manual_seed(0)
    place = tmp_path_factory.mktemp("gru")
    WordGRU(WordGRUConfig(vocab_size=32, embedding_size=7, direction_size=5)).save_pretrained(place)
    word_tokenizer(WORDS, 50).save_pretrained(place)
    assert {path.suffix for path in place.iterdir()} == {".json", ".safetensors"}
    return place


def test_it_is_loaded_as_any_other(folder: Path) -> None:
    loaded = load_encoder(str(folder), "cpu")
    body = body_of(loaded.model)
    assert (body.layers, body.width, body.causal) == (1, 10, False)
    assert not loaded.remote_code
    other = initialise_randomly(loaded, 1)
    assert body_of(other.model).width == 10
    assert not (other.model.words.weight == loaded.model.words.weight)[2:].any()


def test_vectors_do_not_depend_on_the_batch(folder: Path) -> None:
    import numpy as np

    loaded = load_encoder(str(folder), "cpu")
    texts = ["w1 W2 unheard", "w3", "w4 w5 w6 w7 w8 w9 w1 w2 w3", ""]
    passages = [Passage.whole(text) for text in texts[:3]]
    many = states(loaded.model, loaded.tokenizer, passages, dtype="float32")
    for number, passage in enumerate(passages):
        alone = states(loaded.model, loaded.tokenizer, [passage], dtype="float32")
        for layer in (0, 1):
            assert np.allclose(many.layer(layer)[number], alone.layer(layer)[0], atol=1e-6)
    words = loaded.model.words.weight.detach().numpy()
    expected = np.pad(words[[3, 4, 1]].mean(0), (0, 3))  # two more ids: padding and unknown
    assert np.allclose(many.layer(0)[0], expected, atol=1e-6)


def test_the_state_of_padding_is_read_by_nothing(folder: Path) -> None:
    import torch

    model: Any = load_encoder(str(folder), "cpu").model
    ids = torch.tensor([[2, 3, 4, 5], [6, 7, 0, 0], [0, 0, 0, 0]])
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]])
    found = model(ids, mask).last_hidden_state
    alone = model(ids[1:2, :2]).last_hidden_state
    assert torch.allclose(found[1, :2], alone[0], atol=1e-6)
    assert found.shape == (3, 4, 10)


def test_it_has_no_surprisals(folder: Path) -> None:
    with pytest.raises(EvaluationError, match="'coherencegym_word_gru', which transformers has no"):
        load(str(folder), "cpu")

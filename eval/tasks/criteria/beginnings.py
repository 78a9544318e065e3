"""Encoders to begin with: the paper's own, made from nothing, or one of transformers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherencegym.eval.tasks.criteria.options import GRU
from coherencegym.eval.tasks.criteria.sentences import PlacedSentence
from coherencegym.eval.tasks.criteria.words import (
    count_word_forms,
    frequent_words,
    read_vectors,
    word_tokenizer,
)
from coherencegym.eval.tasks.training.encoder import find_encoder
from coherencegym.eval.tasks.training.options import Settings
from coherencegym.eval.tasks.training.training import TrainingData
from coherencegym.files.checksums import sha256_of

#: The paper's code: Adam, 20 sentences a step, once through, sentences cut to 200 words.
GRU_SETTINGS: dict[str, Any] = {"learning_rate": 1e-3, "epochs": 1, "batch_size": 20}
GRU_LENGTH = 200


@dataclass(frozen=True)
class Beginning:
    """An encoder before it is trained.

    Attributes:
        about: its name, commit, and whether it is on the Hub.
        tokenizer: its tokenizer.
        max_length: most tokens of a sentence.
        make: gives it anew; what is random in it comes of torch's generator.
        hidden: the width of the decoders' hidden layers.
        is_new: it has learned nothing yet, and is trained as the paper's is: Adam, a constant rate.
    """

    about: dict[str, Any]
    tokenizer: Any
    max_length: int
    make: Callable[[], Any]
    hidden: int
    is_new: bool


def beginning(
    name: str,
    data: TrainingData,
    *,
    revision: str | None = None,
    max_length: int | None = None,
    dimensions: int = 300,
    vectors: Path | None = None,
) -> Beginning:
    """The encoder of a name.

    Args:
        name, revision: ``gru``, or a Hub id or folder.
        data: what is learned from has the words of ``gru``.
        max_length: most tokens of a sentence; None: 200 words, or 512 tokens or what it reads.
        dimensions: those of word vectors, states of a direction, and decoders; in the paper's
            code 300.
        vectors: file of word vectors to begin with; the vocabulary is then the words that it has.
    """
    if name == GRU:
        return _gru(data.training, max_length or GRU_LENGTH, dimensions, vectors)
    encoder = find_encoder(name, revision, max_length)
    read = encoder.tokenizer, encoder.max_length, encoder.without_head
    return Beginning(encoder.about, *read, dimensions, is_new=False)


def _gru(
    sentences: Sequence[PlacedSentence], max_length: int, dimensions: int, vectors: Path | None
) -> Beginning:
    counts = count_word_forms(sentence.text for sentence in sentences)
    words, size, known, commit = frequent_words(counts), dimensions, {}, "new"
    if vectors is not None:
        known = read_vectors(vectors, counts)
        words = frequent_words({word: counts[word] for word in known}, fewest=1)
        size = len(known[words[0]])
        commit = f"vectors:{sha256_of(vectors)}"

    def make() -> Any:
        import torch

        from coherencegym.eval.models.word_gru import WordGRU, WordGRUConfig

        model = WordGRU(
            WordGRUConfig(vocab_size=len(words) + 2, embedding_size=size, direction_size=dimensions)
        )
        if known:
            with torch.no_grad():
                model.words.weight[2:] = torch.tensor([known[word] for word in words])
        return model

    about = {"name": GRU, "commit": commit, "hub": False}
    tokenizer = word_tokenizer(words, max_length)
    return Beginning(about, tokenizer, max_length, make, dimensions, is_new=True)


def encoder_settings(start: Beginning, **given: Any) -> Settings:
    """The settings of a training: those given, and else the paper's, or those of fine-tuning."""
    fixed = {"max_length": start.max_length, "class_weights": "none"}
    return Settings(**{**(GRU_SETTINGS if start.is_new else {}), **given, **fixed})

"""The paper's own encoder, made from nothing: a bidirectional GRU over word vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from coherencegym.eval.tasks.criteria.options import GRU
from coherencegym.eval.tasks.criteria.sentences import (
    PlacedSentence,
    count_word_forms,
    frequent_words,
    read_vectors,
    word_tokenizer,
)
from coherencegym.files.checksums import sha256_of

#: The paper's code: Adam, 20 sentences a step, once through, sentences cut to 200 words.
GRU_SETTINGS: dict[str, Any] = {"learning_rate": 1e-3, "epochs": 1, "batch_size": 20}
GRU_LENGTH = 200


@dataclass(frozen=True)
class NewGRU:
    """A GRU before it is trained.

    Attributes:
        words: those that it reads.
        dimensions: those of a direction's states, and of its word vectors where they are new.
        max_length: most words of a sentence.
        known: word vectors to begin with; empty: they are new.
        commit: a digest of these.
    """

    words: Sequence[str]
    dimensions: int
    max_length: int
    known: Mapping[str, Sequence[float]] = field(default_factory=dict)
    commit: str = "new"

    @classmethod
    def of(
        cls,
        sentences: Sequence[PlacedSentence],
        dimensions: int,
        max_length: int | None = None,
        vectors: Path | None = None,
    ) -> NewGRU:
        """One that reads the words of sentences, or those that a file of vectors has of them."""
        counts, most = count_word_forms(one.text for one in sentences), max_length or GRU_LENGTH
        if vectors is None:
            return cls(frequent_words(counts), dimensions, most)
        known = read_vectors(vectors, counts)
        words = frequent_words({word: counts[word] for word in known}, fewest=1)
        return cls(words, dimensions, most, known, f"vectors:{sha256_of(vectors)}")

    @property
    def about(self) -> dict[str, Any]:
        """The facts that results record."""
        return {"name": GRU, "commit": self.commit, "hub": False}

    @cached_property
    def tokenizer(self) -> Any:
        """Its tokenizer."""
        return word_tokenizer(self.words, self.max_length)

    def without_head(self) -> Any:
        """The encoder; what is random in it comes of torch's generator."""
        import torch

        from coherencegym.eval.models.word_gru import WordGRU, WordGRUConfig

        size = len(self.known[self.words[0]]) if self.known else self.dimensions
        sizes = {"embedding_size": size, "direction_size": self.dimensions}
        model = WordGRU(WordGRUConfig(vocab_size=len(self.words) + 2, **sizes))
        if self.known:
            with torch.no_grad():
                model.words.weight[2:] = torch.tensor([self.known[word] for word in self.words])
        return model

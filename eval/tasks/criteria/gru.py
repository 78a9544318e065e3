"""The paper's own encoder, made from nothing: a bidirectional GRU over word vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from coherencegym.eval.tasks.criteria.options import GRU
from coherencegym.eval.tasks.criteria.sentences import (
    PlacedSentence,
    frequent_words,
    word_tokenizer,
)

#: The paper's code: Adam, 20 sentences a step, once through, sentences cut to 200 words.
GRU_SETTINGS: dict[str, Any] = {"learning_rate": 1e-3, "epochs": 1, "batch_size": 20}
GRU_LENGTH = 200


@dataclass(frozen=True)
class NewGRU:
    """A GRU before it is trained.

    Attributes:
        words: those that it reads.
        dimensions: those of a direction's states, and of its word vectors.
        max_length: most words of a sentence.
    """

    words: Sequence[str]
    dimensions: int
    max_length: int
    about: ClassVar[dict[str, Any]] = {"name": GRU, "commit": "new", "hub": False}

    @classmethod
    def of(
        cls, sentences: Sequence[PlacedSentence], dimensions: int, max_length: int | None = None
    ) -> NewGRU:
        """One that reads the words of sentences."""
        words = frequent_words(one.text for one in sentences)
        return cls(words, dimensions, max_length or GRU_LENGTH)

    @cached_property
    def tokenizer(self) -> Any:
        """Its tokenizer."""
        return word_tokenizer(self.words, self.max_length)

    def without_head(self) -> Any:
        """The encoder; what is random in it comes of torch's generator."""
        from coherencegym.eval.models.word_gru import WordGRU, WordGRUConfig

        sizes = {"embedding_size": self.dimensions, "direction_size": self.dimensions}
        return WordGRU(WordGRUConfig(vocab_size=len(self.words) + 2, **sizes))

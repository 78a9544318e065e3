"""A sentence and its document as a pair of texts, which a classifier is asked about.

As in Shen et al. 2021, section 5: the input is the sentence and the whole document, the question is
whether the sentence is an intruder in it. Opening sentences are never asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.eval.kinds.documents import Document


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence, the document that it stands in, and 1 if it is an intruder there, else 0."""

    sentence: str
    document: str
    label: int


def pairs_of(documents: Iterable[Document]) -> list[Pair]:
    """The pairs of documents, in order: of each every sentence but the opening one."""
    pairs = []
    for document in documents:
        text = " ".join(sentence.strip() for sentence in document.sentences)
        for place, sentence in enumerate(document.sentences[1:], start=1):
            pairs.append(Pair(sentence.strip(), text, int(place == document.intruder_position)))
    return pairs


def by_document(documents: Sequence[Document], values: Sequence[float]) -> list[list[float]]:
    """Values of pairs as scores of sentences: minus infinity for each opening sentence.

    Args:
        documents: those that the pairs were made of.
        values: of each pair, in order.
    """
    scores, start = [], 0
    for document in documents:
        end = start + len(document.sentences) - 1
        scores.append([float("-inf"), *map(float, values[start:end])])
        start = end
    return scores


def collator(tokenizer: Any, max_length: int) -> Callable[[Sequence[Pair]], dict[str, Any]]:
    """Pairs to a batch of tensors: token ids cut to ``max_length``, padded, and labels.

    Pairs are encoded when they are needed, so that a large collection stays text in memory.
    """

    def collate(pairs: Sequence[Pair]) -> dict[str, Any]:
        import torch

        batch = tokenizer(
            [pair.sentence for pair in pairs],
            [pair.document for pair in pairs],
            truncation="longest_first",
            max_length=max_length,
            padding=True,
            return_tensors="pt",
        )
        return {**batch, "labels": torch.tensor([pair.label for pair in pairs])}

    return collate


def count_truncated(tokenizer: Any, pairs: Sequence[Pair], max_length: int) -> int:
    """How many pairs have more tokens than the classifier reads, its special tokens included."""
    special = tokenizer.num_special_tokens_to_add(pair=True)
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.sentence, pair.document)))
    sizes: dict[str, int] = {}
    for start in range(0, len(texts), 1000):
        part = texts[start : start + 1000]
        encoded = tokenizer(part, add_special_tokens=False, verbose=False)["input_ids"]
        sizes.update(zip(part, map(len, encoded), strict=True))
    return sum(sizes[p.sentence] + sizes[p.document] + special > max_length for p in pairs)

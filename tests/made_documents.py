"""Datasets of documents, written as the builders write them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from made_tables import write_table

from coherencegym.eval.kinds.documents import DOCUMENTS, Document


def write_documents(
    folder: Path,
    splits: Mapping[str, Sequence[Document]],
    config: str = "detect_toy",
    *,
    extra: Mapping[str, Any] | None = None,
    **about: Any,
) -> Path:
    """A config of documents in a dataset folder, beside those that are there."""
    suite = "intruder_sentences"
    return write_table(folder, DOCUMENTS, suite, splits, config, extra=extra, **about)


def with_intruders(
    stories: Sequence[tuple[str, Sequence[str]]], seed: int = 0, **extra: Any
) -> list[Document]:
    """Documents of which every second has a sentence of another story, at the same place or before.

    Args:
        stories: names and sentences, at least two of each.
        seed: of the draws.
        extra: columns, the same in every row.
    """
    draw = random.Random(seed)
    documents = []
    for number, (name, sentences) in enumerate(stories):
        position = -1
        own = list(sentences)
        if number % 2:
            _, other = stories[draw.choice([n for n in range(len(stories)) if n != number])]
            position = draw.randrange(1, min(len(own), len(other)))
            own[position] = other[position]
        documents.append(Document(f"{name}/x", tuple(own), position, name, "toy", dict(extra)))
    return documents


#: Families of words: a document is about one of them, an intruder about another.
FAMILIES = (
    ("ship", "sailor", "harbour", "sea", "anchor", "island"),
    ("oven", "baker", "bread", "flour", "cake", "kitchen"),
    ("court", "judge", "lawyer", "trial", "jury", "witness"),
    ("garden", "rose", "gardener", "spade", "seed", "hedge"),
)


def about_families(
    number: int, seed: int = 0, sentences: int = 4
) -> list[tuple[str, tuple[str, ...]]]:
    """Stories each about one family of words, for models that can be trained in seconds."""
    draw = random.Random(seed)
    made = []
    for index in range(number):
        family = FAMILIES[index // 2 % len(FAMILIES)]
        lines = []
        for _ in range(sentences):
            one, two = draw.sample(family, 2)
            lines.append(f"The {one} was near the {two}.")
        made.append((f"s{seed}-{index}", tuple(lines)))
    return made

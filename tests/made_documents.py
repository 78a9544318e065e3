"""Datasets of documents, written as the builders write them."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coherencegym.builders.release.rows import to_table, write_split
from coherencegym.eval.kinds.documents import DOCUMENTS, Document
from coherencegym.eval.kinds.table_kind import to_row


def write_documents(
    folder: Path,
    splits: Mapping[str, Sequence[Document]],
    config: str = "detect_toy",
    *,
    extra: Mapping[str, Any] | None = None,
    **about: Any,
) -> Path:
    """A config of documents in a dataset folder, beside those that are there."""
    sizes = {}
    for split, documents in splits.items():
        table = to_table([to_row(d) for d in documents], DOCUMENTS.features(extra))
        sizes[split] = {"rows": write_split(folder, config, split, table).rows}
    path = folder / "manifest.json"
    known = json.loads(path.read_text())["configs"] if path.exists() else {}
    described = {"kind": "documents", "splits": sizes, "quality": {}, **about}
    manifest = {
        "format": 1,
        "suite": "intruder_sentences",
        "version": "1.0.0",
        "toolkit_version": "0.1.0",
        "configs": {**known, config: described},
    }
    path.write_text(json.dumps(manifest))
    return folder


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

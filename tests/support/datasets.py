"""Datasets of a few rows of any kind, written as the builders write them."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coherencegym.builders.release.manifest import to_table, write_split
from coherencegym.builders.release.quality import write_baselines
from coherencegym.eval.kinds.documents import (
    DOCUMENTS,
    EXAMPLES,
    SPANS,
    Document,
    LabelledExample,
    Slot,
    SpanText,
)
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.kinds.table_kind import TableKind, to_row
from coherencegym.eval.statistics.balance import Balance
from coherencegym.eval.statistics.control import TOO_SMALL, Control
from coherencegym.eval.statistics.pair_baselines import BaselineDecision


def write_table(
    folder: Path,
    kind: TableKind[Any],
    suite: str,
    splits: Mapping[str, Sequence[Any]],
    config: str,
    /,
    *,
    extra: Mapping[str, Any] | None = None,
    **about: Any,
) -> Path:
    """A config in a dataset folder, beside those that are there; ``about`` is its entry."""
    rows = {split: [to_row(one) for one in own] for split, own in splits.items()}
    features = kind.features(extra, [row for own in rows.values() for row in own])
    sizes = {
        split: {"rows": write_split(folder, config, split, to_table(own, features))["rows"]}
        for split, own in rows.items()
    }
    path = folder / "manifest.json"
    known = json.loads(path.read_text())["configs"] if path.exists() else {}
    described = {
        "kind": kind.name,
        "splits": sizes,
        "features": features.to_dict(),
        "quality": {},
        "breakdowns": [],
        **about,
    }
    manifest = {
        "format": 1,
        "suite": suite,
        "version": "1.0.0",
        "toolkit_version": "0.1.0",
        "configs": {**known, config: described},
    }
    path.write_text(json.dumps(manifest))
    return folder


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


def write_examples(
    folder: Path,
    splits: Mapping[str, Sequence[LabelledExample]],
    config: str = "order_toy",
    **about: Any,
) -> Path:
    """A config of examples in a dataset folder, beside those that are there."""
    extra = {
        name: "bool" if isinstance(value, bool) else "string"
        for own in splits.values()
        for name, value in own[0].extra.items()
    }
    return write_table(folder, EXAMPLES, "discourse_tasks", splits, config, extra=extra, **about)


NOUNS = ("dog", "cat", "ship", "oven", "rose", "judge", "baker", "sailor")


def orders(number: int, seed: int) -> list[LabelledExample]:
    """Pairs of sentences in two orders, each a family: the first one says `once`, mostly."""
    draw = random.Random(seed)
    made = []
    for index in range(number):
        one, two = draw.sample(NOUNS, 2)
        begins = "Once" if draw.random() < 0.9 else "Then"
        pair = (f"{begins} there was a {one}.", f"The {one} saw the {two}.")
        for label, texts in (("as it was", pair), ("exchanged", pair[::-1])):
            made.append(
                LabelledExample(
                    item_id=f"{seed}-{index}/{label}",
                    slots=tuple(Slot((text,)) for text in texts),
                    text=texts,
                    places=(0, 1),
                    label=label,
                    discourse_id=f"{seed}-{index}",
                    corpus="toy",
                    extra={"genre": "news" if index % 2 else "bio"},
                )
            )
    return made


def write_spans_dataset(
    folder: Path, splits: Mapping[str, Sequence[SpanText]], config: str, **about: Any
) -> Path:
    """A config of texts with spans in a dataset folder, beside those that are there."""
    return write_table(folder, SPANS, "span_coherence", splits, config, **about)


def write_decisions(
    folder: Path, items: Sequence[Item], decided: Mapping[str, Sequence[float]]
) -> Path:
    """Write what baselines decided on the items of the config ``pairs``, without weights."""
    decisions = {
        name: [
            BaselineDecision(one.discourse_id, one.cluster, one.item_id, prediction, value)
            for one, value in zip(items, values, strict=False)
            for prediction in one.predictions
        ]
        for name, values in decided.items()
    }
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    none = Control(TOO_SMALL, (), Balance(np.zeros(0), 0.0, ""), (), ())
    listed = write_baselines(folder, "pairs", "test", decisions, none)
    manifest["configs"]["pairs"]["splits"]["test"] |= listed
    path.write_text(json.dumps(manifest))
    return folder

"""Datasets of labelled examples, written as the builders write them."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coherencegym.builders.release.rows import to_table, write_split
from coherencegym.eval.kinds.examples import EXAMPLES, LabelledExample, Slot


def write_examples(
    folder: Path,
    splits: Mapping[str, Sequence[LabelledExample]],
    config: str = "order_toy",
    **about: Any,
) -> Path:
    """A config of examples in a dataset folder, beside those that are there."""
    rows = {split: [EXAMPLES.to_row(one) for one in own] for split, own in splits.items()}
    extra = {name: "string" for own in splits.values() for name in own[0].extra}
    features = EXAMPLES.features(extra, [row for own in rows.values() for row in own])
    sizes = {
        split: {"rows": write_split(folder, config, split, to_table(own, features)).rows}
        for split, own in rows.items()
    }
    path = folder / "manifest.json"
    known = json.loads(path.read_text())["configs"] if path.exists() else {}
    described = {
        "kind": "examples",
        "splits": sizes,
        "features": features.to_dict(),
        "quality": {},
        "breakdowns": [],
        **about,
    }
    manifest = {
        "format": 1,
        "suite": "discourse_tasks",
        "version": "1.0.0",
        "toolkit_version": "0.1.0",
        "configs": {**known, config: described},
    }
    path.write_text(json.dumps(manifest))
    return folder


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

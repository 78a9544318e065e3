"""Datasets of labelled examples, written as the builders write them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from made_tables import write_table

from coherencegym.eval.kinds.examples import EXAMPLES, LabelledExample, Slot


def write_examples(
    folder: Path,
    splits: Mapping[str, Sequence[LabelledExample]],
    config: str = "order_toy",
    **about: Any,
) -> Path:
    """A config of examples in a dataset folder, beside those that are there."""
    extra = {name: "string" for own in splits.values() for name in own[0].extra}
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

"""The table kind ``halves``: two texts, of which the second may be the rest of another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from coherencegym.eval.kinds.table_kind import (
    FROM_CORPUS,
    FROM_DISCOURSE,
    ROW_ID,
    TableKind,
    column,
)


@dataclass(frozen=True)
class Halves:
    """Two texts."""

    item_id: str = field(metadata=ROW_ID)
    first: str = field(metadata=column("string", "the beginning of a text"))
    second: str = field(metadata=column("string", "the end of the same text, or of another"))
    together: bool = field(metadata=column("bool", "whether both are from one text"))
    discourse_id: str = field(metadata=FROM_DISCOURSE)
    corpus: str = field(metadata=FROM_CORPUS)


def problems(halves: Halves) -> Iterator[str]:
    """What is wrong with a row whose columns are as they should be."""
    if not (halves.first.strip() and halves.second.strip()):
        yield "an empty half; expected two texts"


HALVES = TableKind(
    name="halves",
    row="two texts, and whether they belong together.",
    schema=Halves,
    mark="together",
    texts=lambda halves: (halves.first, halves.second),
    problems=problems,
    task="match",
    command="coherencegym match",
    ask="Let a model say which belong together",
)

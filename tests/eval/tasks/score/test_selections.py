"""The rows of a table's results: which there are, in which order, and what each is over."""

from __future__ import annotations

from typing import Any

from coherencegym.eval.kinds.items import Item
from coherencegym.eval.kinds.predictions import Outcome
from coherencegym.eval.tasks.score.columns import in_columns
from coherencegym.eval.tasks.score.metrics import Judgement
from coherencegym.eval.tasks.score.selections import select


def judged(number: int, **extra: Any) -> Judgement:
    item = Item(f"i{number}", 1, (), (), f"d{number}", "toy", extra=extra)
    return Judgement(item, "f", "mean", (), Outcome(True, False, 1.0), "")


def test_rows_by_column_are_in_the_order_of_their_names() -> None:
    """Whatever item comes first; a column of one value has none, as its row is that of all."""
    judgements = [
        judged(number, genre=genre, size=size, corpus_part="one")
        for number, (genre, size) in enumerate([("news", 3), ("bio", 2), ("fiction", 3)] * 2)
    ]
    columns = in_columns(judgements, ("genre", "size", "corpus_part"))
    found = [(row.level, row.name, row.places.tolist()) for row in select(columns)]
    assert found == [
        ("all", "", [0, 1, 2, 3, 4, 5]),
        ("column", "genre=bio", [1, 4]),
        ("column", "genre=fiction", [2, 5]),
        ("column", "genre=news", [0, 3]),
        ("column", "size=2", [1, 4]),
        ("column", "size=3", [0, 2, 3, 5]),
    ]

"""Rated texts: the table kind ``ratings``, which scores of texts are correlated with.

A row is a text and how coherent people found it, on any scale on which more is better. Texts that
were written to one prompt (a title, a question) are compared among themselves, too. Columns that
only one dataset has are kept in ``extra``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coherencegym.eval.kinds.table_kind import (
    FAMILY,
    MODEST,
    ORIGIN,
    Clustered,
    Column,
    Row,
    RowName,
    SuiteError,
    TableKind,
    of_modest_length,
    row_held,
    to_row,
)


@dataclass(frozen=True)
class RatedText(Clustered):
    """A text with its rating.

    Attributes:
        text: the text that was rated.
        rating: the mean of what people said, the higher the more coherent.
        ratings: the rating of each person, where that is known.
        prompt: the title or question that the text was written to; empty where none is known.
        overlap: the mean share of words that its neighbouring sentences have in common, a cosine;
            None where nobody counted.
    """

    item_id: RowName
    text: str
    rating: float
    ratings: tuple[float, ...]
    prompt: str
    discourse_id: RowName
    corpus: RowName
    overlap: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def cluster(self) -> str:
        """The family, or else the prompt, or else the discourse."""
        return str(self.extra.get(FAMILY) or self.prompt or self.discourse_id)


def rated_text_from_row(row: Row) -> RatedText:
    """A rated text from a row of a table."""
    rated = row_held(row, RATINGS.columns, RatedText)
    if not rated.text.strip():
        raise SuiteError(f"{rated.item_id}: an empty text; expected one that was rated")
    if not all(map(math.isfinite, (rated.rating, *rated.ratings))):
        raise SuiteError(f"{rated.item_id}: a rating that is no number")
    if rated.ratings:
        mean = math.fsum(rated.ratings) / len(rated.ratings)
        if not math.isclose(mean, rated.rating, abs_tol=1e-6):
            raise SuiteError(
                f"{rated.item_id}: rating {rated.rating:g}; expected {mean:g}, the mean of ratings"
            )
    return rated


def _example(rows: Sequence[Row]) -> Row:
    return of_modest_length(rows, lambda row: len(row["text"]), MODEST)


RATINGS = TableKind(
    name="ratings",
    row="a text with its coherence rating.",
    columns={
        "item_id": Column("string", "unique in its config and split"),
        "text": Column("string", "the text that was rated"),
        "rating": Column("float64", "the mean of the ratings; the higher, the more coherent"),
        "ratings": Column(
            ["float64"], "the rating of each rater; empty if the corpus has only the mean"
        ),
        "prompt": Column("string", "the prompt for which the text was written; empty if unknown"),
        **ORIGIN,
        "overlap": Column(
            "float64",
            "how much the text repeats words: the mean cosine of the content words of "
            "neighbouring sentences",
        ),
    },
    mark="rating",
    from_row=rated_text_from_row,
    to_row=to_row,
    texts=lambda rated: (rated.text,),
    example=_example,
    task="correlate",
    command="coherencegym correlate",
    ask="Correlate a model's scores with the ratings",
)

"""The answers of a scorer to the spans of rows, and the threshold that makes some of numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from coherencegym.errors import ConfigError
from coherencegym.eval.kinds.spans import SpanText
from coherencegym.eval.tasks.spans.coherence import SpanPlace, SpanPrediction, TextPrediction

#: The answers to one row; None where it is left out.
RowAnswers = Mapping[SpanPlace, SpanPrediction] | None


@dataclass(frozen=True)
class SpanAnswers:
    """The answers of a scorer to a table.

    Attributes:
        rows: the answers to the spans of each row that is answered.
        ends: the answers to the task itself, where another input was read for them; else empty.
        cut: the number of rows of which some text was cut.
        crossed: the numbers of the rows that are left out, as a token crosses the edge of what is
            compared on one side only; rows without answers that are not there are too long.
        by_template: the answers by each template alone, where there are several.
        one_sided: the answers by the other side of the threshold, where the one that was fitted has
            a positive answer where less speaks for it; else empty.
        about: facts on how answers were found, as JSON holds them.
    """

    rows: Sequence[RowAnswers]
    ends: Sequence[int | None] = ()
    cut: int = 0
    crossed: Set[int] = frozenset()
    by_template: Mapping[str, Sequence[RowAnswers]] = field(default_factory=dict)
    one_sided: Sequence[RowAnswers] = ()
    about: Mapping[str, Any] = field(default_factory=dict)


def text_predictions(
    rows: Sequence[SpanText], answers: Sequence[RowAnswers], ends: Sequence[int | None] = ()
) -> list[TextPrediction]:
    """The rows that were answered, with their answers."""
    known = ends or [None] * len(rows)
    return [
        TextPrediction(row, own, end)
        for row, own, end in zip(rows, answers, known, strict=True)
        if own is not None
    ]


@dataclass(frozen=True)
class Slope:
    """The probability of a positive answer by a number: ``sigmoid(weight * (x - threshold))``."""

    weight: float
    threshold: float

    def probability(self, value: float) -> float:
        """That of one number; of minus infinity and infinity the limits."""
        odds = self.weight * (value - self.threshold)
        return 1 / (1 + math.exp(-odds)) if odds > -700 else 0.0


def fitted_slope(values: Sequence[float], labels: Sequence[int], where: str) -> Slope:
    """The slope of a logistic regression on rows that are not answered."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    from coherencegym.eval.statistics.estimators import one_thread

    if len({*labels}) < 2:
        raise ConfigError(
            f"{where}: the rows that the threshold is set on have but one label; expected rows of "
            "both in validation or train, or in --calibrate-on SPLIT, or with --calibrate-folds N "
            "enough tested rows"
        )
    x = np.asarray(values, dtype=np.float64)
    centre, spread = float(x.mean()), float(x.std())
    with one_thread():
        model = LogisticRegression(C=100.0, tol=1e-5, max_iter=1000)
        model.fit(((x - centre) / (spread or 1.0))[:, None], np.asarray(labels))
    weight = float(model.coef_[0, 0]) / spread if spread else 0.0
    if not weight:
        raise ConfigError(
            f"{where}: all rows have the same measured value, so the threshold cannot be set; "
            "expected rows that differ"
        )
    return Slope(weight, centre - float(model.intercept_[0]) / weight)

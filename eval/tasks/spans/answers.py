"""The answers to the spans of a table: those of a scorer, and of what stands beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from coherencegym.eval.kinds.spans import SpanText
from coherencegym.eval.tasks.spans.baselines import baselines_of
from coherencegym.eval.tasks.spans.coherence import (
    COHERENCE_METRICS,
    THRESHOLDS,
    SpanPlace,
    SpanPrediction,
    TextPrediction,
    best_thresholds,
    thresholds_by_folds,
)
from coherencegym.eval.tasks.spans.data import CHOICE, SpanTable
from coherencegym.eval.tasks.spans.released import ReleasedSpans, released_coherence

#: The answers to one row; None where it is left out.
RowAnswers = Mapping[SpanPlace, SpanPrediction] | None


@dataclass(frozen=True)
class Answered:
    """One config with the answers of a scorer.

    Attributes:
        table: its rows.
        rows: the answers to the spans of each row that is answered.
        cut: the number of rows of which some text was cut.
        crossed: the numbers of the rows that are left out, as a token crosses the edge of what is
            compared on one side only; rows without answers that are not there are too long.
        by_template: the answers by each template alone, where there are several.
        one_sided: the answers by the other side of the threshold, where the one that was fitted has
            a positive answer where less speaks for it; else empty.
        about: facts on how answers were found, as JSON holds them.
        rho: ``folds``: the confidence of choices is chosen on other rows; ``best``: on these; or a
            number.
        compat: the name of the mode, or empty.
    """

    table: SpanTable
    rows: Sequence[RowAnswers]
    cut: int = 0
    crossed: Set[int] = frozenset()
    by_template: Mapping[str, Sequence[RowAnswers]] = field(default_factory=dict)
    one_sided: Sequence[RowAnswers] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    rho: str = "folds"
    compat: str = ""

    @cached_property
    def judged(self) -> list[TextPrediction]:
        """The rows that were answered."""
        return text_predictions(self.table.rows, self.rows)

    @cached_property
    def baselines(self) -> dict[str, list[TextPrediction]]:
        """The answers of baselines to the same rows."""
        return baselines_of(self.table, [one.text for one in self.judged])

    @cached_property
    def released(self) -> dict[str, ReleasedSpans]:
        """The figures of the released program by system, where they are asked for."""
        systems = {"": self.judged, **self.baselines} if self.compat else {}
        return {name: released_coherence(judged) for name, judged in systems.items()}

    @cached_property
    def at(self) -> dict[str, list[float]]:
        """The confidence that a choice needs, for each metric and row."""
        return self.thresholds(self.judged)

    def thresholds(self, judged: Sequence[TextPrediction]) -> dict[str, list[float]]:
        """The confidence that a choice needs, for each metric and each of these rows."""
        if self.table.question == CHOICE and self.rho == "folds":
            return thresholds_by_folds(judged)
        chosen = dict.fromkeys(COHERENCE_METRICS, THRESHOLDS[0])
        if self.table.question == CHOICE:
            is_best = self.rho == "best"
            chosen = best_thresholds(judged) if is_best else dict.fromkeys(chosen, float(self.rho))
        return {name: [value] * len(judged) for name, value in chosen.items()}

    @property
    def too_long(self) -> int:
        """The number of rows that were left out, as they are too long."""
        return len(self.table.rows) - len(self.judged) - len(self.crossed)

    def left_out(self, number: int) -> str:
        """The reason why a row, by its number, was left out."""
        return "crossing" if number in self.crossed else "too_long"


def text_predictions(
    rows: Sequence[SpanText], answers: Sequence[RowAnswers]
) -> list[TextPrediction]:
    """The rows that were answered, with their answers."""
    both = zip(rows, answers, strict=True)
    return [TextPrediction(row, own) for row, own in both if own is not None]

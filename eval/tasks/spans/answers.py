"""The answers to the spans of a table: those of a scorer, and of what stands beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from coherencegym.eval.kinds.documents import NEGATIVE, POSITIVE, UNDECIDED, SpanText
from coherencegym.eval.tasks.spans.coherence import (
    COHERENCE_METRICS,
    THRESHOLDS,
    SpanPlace,
    SpanPrediction,
    TextPrediction,
    best_thresholds,
    constant_answers,
    most_frequent_answer,
    places_of,
    thresholds_by_folds,
)
from coherencegym.eval.tasks.spans.data import CHOICE, ENTAILMENT, SpanTable
from coherencegym.eval.tasks.spans.released import ReleasedSpans, released_coherence

NEVER, ALWAYS, MOST_FREQUENT, BAG = "never", "always", "most frequent", "bag of words"
#: Those that read nothing.
CONSTANTS = (NEVER, ALWAYS, MOST_FREQUENT)
#: The best of them on a metric, which stands where other tasks have chance.
BEST_CONSTANT = "best constant answer"
#: The words of hypotheses that say who speaks, and not what.
_NAMES = frozenset({"speakera", "speakerb"})


def baselines_of(table: SpanTable, rows: Sequence[SpanText]) -> dict[str, list[TextPrediction]]:
    """The answers of each baseline to the rows that the model answered.

    Of a choice ``never`` is never confident, and one that is always confident takes the most
    frequent alternative. A bag of words needs rows of both labels to set its threshold on, and
    there is none of a choice: alternatives share most of their words.
    """
    if table.question == CHOICE:
        best = most_frequent_answer(rows)
        return {
            NEVER: [constant_answers(row, UNDECIDED) for row in rows],
            MOST_FREQUENT: [constant_answers(row, best) for row in rows],
        }
    learned = table.calibration
    constants = {
        NEVER: NEGATIVE,
        ALWAYS: POSITIVE,
        MOST_FREQUENT: most_frequent_answer(learned or rows),
    }
    found = {
        name: [constant_answers(row, answer) for row in rows] for name, answer in constants.items()
    }
    if len({row.label for row in learned}) > 1:
        share = _overlap if table.question == ENTAILMENT else _least_shared
        least = _best_threshold(learned, share)
        found[BAG] = [_by_words(row, share, least) for row in rows]
    return found


#: A number of a span that grows with how likely a positive answer is.
_Share = Callable[[SpanText, SpanPlace], float]


def _words(text: str) -> set[str]:
    return {*re.findall("[a-z']+", text.lower())}


def _overlap(row: SpanText, place: SpanPlace) -> float:
    wanted = _words(row.hypothesis) - _NAMES
    units = row.units[place[0] : place[1] + 1]
    return len(wanted & _words(" ".join(units))) / len(wanted) if wanted else 0.0


def _least_shared(row: SpanText, place: SpanPlace) -> float:
    # The share of the words of a unit that no other unit of the span has, of the oddest unit.
    units = [_words(unit) for unit in row.units[place[0] : place[1] + 1]]
    if len(units) < 2:
        return -1.0
    shares = []
    for number, own in enumerate(units):
        others = set().union(*(one for other, one in enumerate(units) if other != number))
        shares.append(len(own - others) / len(own) if own else 0.0)
    return max(shares)


def _best_threshold(rows: Sequence[SpanText], share: _Share) -> float:
    # From it on whole texts are predicted positive, to be right most often; the lowest.
    known = [(share(row, (0, row.size - 1)), row.label) for row in rows]
    tried = sorted({value for value, _ in known})
    return max(tried, key=lambda least: sum((value >= least) == label for value, label in known))


def _by_words(row: SpanText, share: _Share, least: float) -> TextPrediction:
    predicted: Mapping[SpanPlace, SpanPrediction] = {
        place: SpanPrediction.of_one_text(float(share(row, place) >= least))
        for place in places_of(row)
    }
    return TextPrediction(row, predicted)


#: The answers to one row, or the reason why it is left out: it is too long, or a token crosses the
#: edge of what is compared on one side only.
RowAnswers = Mapping[SpanPlace, SpanPrediction] | str
TOO_LONG, CROSSING = "too_long", "crossing"


@dataclass(frozen=True)
class Answered:
    """One config with the answers of a scorer.

    Attributes:
        table: its rows.
        rows: the answers to the spans of each row.
        cut: the number of rows of which some text was cut.
        about: facts on how answers were found, as JSON holds them.
        rho: ``folds``: the confidence of choices is chosen on other rows; ``best``: on these.
        compat: the name of the mode, or empty.
    """

    table: SpanTable
    rows: Sequence[RowAnswers]
    cut: int = 0
    about: Mapping[str, Any] = field(default_factory=dict)
    rho: str = "folds"
    compat: str = ""

    @cached_property
    def judged(self) -> list[TextPrediction]:
        """The rows that were answered."""
        both = zip(self.table.rows, self.rows, strict=True)
        return [TextPrediction(row, own) for row, own in both if not isinstance(own, str)]

    @property
    def left_out(self) -> dict[str, int]:
        """The number of rows that were left out, by reason."""
        return {why: list(self.rows).count(why) for why in (TOO_LONG, CROSSING)}

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
            chosen = best_thresholds(judged)
        return {name: [value] * len(judged) for name, value in chosen.items()}

"""Baselines beside the figures of a model: systems that read nothing, or words in no order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from coherencegym.eval.kinds.spans import NEGATIVE, POSITIVE, UNDECIDED, SpanText
from coherencegym.eval.tasks.spans.coherence import (
    SpanPlace,
    SpanPrediction,
    TextPrediction,
    constant_answers,
    most_frequent_answer,
    places_of,
)
from coherencegym.eval.tasks.spans.data import CHOICE, ENTAILMENT, SpanTable

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

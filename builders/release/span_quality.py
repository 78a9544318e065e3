"""Quality of texts with spans: their sizes, what spans answer, and what constants score.

A model that always says the same thing is right about many spans: strict coherence counts it as
right about a text if all its spans are negative. What constants reach stands beside every score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import mean
from typing import Any

from coherencegym.builders.spans.gold import WHOLE_ONLY
from coherencegym.eval.kinds.spans import NEGATIVE, POSITIVE, UNDECIDED, GoldSpan, SpanText

#: Texts of more units than this are counted together.
_LARGEST = 8

#: (row, one of its spans) -> what a constant says of it.
_Constant = Callable[[SpanText, GoldSpan], int]


def span_quality(rows: Sequence[SpanText]) -> dict[str, Any]:
    """The quality section of one split, as the manifest records it.

    ``constants`` has accuracy and, where the answers of all spans are known, strict and lenient
    coherence of saying always the same: ``never`` (no span is positive; of a choice: all are as
    good in any alternative, and the whole is the most frequent one) and ``always`` (all are; the
    most frequent alternative wherever texts differ). ``coin`` is the strict coherence to expect of
    whoever is right about each span half of the time.
    """
    known = all(row.extra.get("rule") != WHOLE_ONLY or row.size == 1 for row in rows)
    answers = [span.answer for row in rows for span in row.gold]
    negative = UNDECIDED if rows[0].is_choice else NEGATIVE
    frequent = _most_frequent(rows)
    sizes = Counter(min(row.size, _LARGEST + 1) for row in rows)
    return {
        "items": len(rows),
        "sources": len({row.cluster for row in rows}),
        "choice": rows[0].is_choice,
        "labels": dict(sorted(Counter(str(row.label) for row in rows).items())),
        "most_frequent": frequent,
        "sizes": {
            f"more than {_LARGEST}" if size > _LARGEST else str(size): sizes[size]
            for size in sorted(sizes)
        },
        "spans": len(answers) if known else None,
        "positive_spans": sum(answer != negative for answer in answers) if known else None,
        "rules": dict(sorted(Counter(str(row.extra.get("rule", "")) for row in rows).items())),
        "constants": {
            name: _scores(rows, constant, frequent, known)
            for name, constant in _constants(frequent, rows[0].is_choice).items()
        },
        "coin": round(mean(2.0 ** -len(row.gold) for row in rows), 6) if known else None,
    }


def _most_frequent(rows: Sequence[SpanText]) -> int:
    labels = Counter(row.label for row in rows)
    return min(labels, key=lambda label: (-labels[label], label))


def _constants(frequent: int, choice: bool) -> dict[str, _Constant]:
    if not choice:
        return {"never": lambda row, span: NEGATIVE, "always": lambda row, span: POSITIVE}

    def where_they_differ(row: SpanText, span: GoldSpan) -> int:
        texts = {alternative[span.start : span.end + 1] for alternative in row.alternatives}
        return frequent if len(texts) > 1 else UNDECIDED

    return {"never": lambda row, span: UNDECIDED, "always": where_they_differ}


def _scores(
    rows: Sequence[SpanText], constant: _Constant, frequent: int, known: bool
) -> dict[str, float]:
    right, strict, lenient = [], [], []
    for row in rows:
        whole = constant(row, GoldSpan(0, row.size - 1, row.label))
        right.append((frequent if whole == UNDECIDED else whole) == row.label)
        shares = [constant(row, span) == span.answer for span in row.gold]
        strict.append(all(shares))  # the whole among them
        lenient.append(mean(shares))
    scores: dict[str, float] = {"accuracy": mean(right)}
    if known:
        scores |= {"strict": mean(strict), "lenient": mean(lenient)}
    return {name: round(value, 6) for name, value in scores.items()}

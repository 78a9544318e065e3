"""Quality of labelled examples: which classes are there, and how far one gets without a vector.

Classes too rare to be learned are left out first. Then the figures that any accuracy is to be read
beside: the most frequent class, a bag of words of all slots and of each alone, the ceiling that
rows of the same text and different labels set, and how many rows share text with those that a
classifier learns from.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from coherencegym.eval.kinds.examples import LabelledExample
from coherencegym.eval.statistics.bag_of_words import LEARNING, FitError, bag_of_words
from coherencegym.eval.statistics.intervals import share_interval
from coherencegym.eval.statistics.pair_baselines import whole_clusters

#: Splits in which a class has to occur, where they have rows.
_OCCURRING = ("validation", "test")
#: Fewer rows in ``train`` than this give no bag of words.
FEWEST_ROWS = 50
#: More rows than this give a bag of words that learned from a sample of them.
_MOST_ROWS = 20_000
#: Words that a segment has at least where it counts as one that recurs: shorter ones are phrases.
_LONG = 5

_Splits = Mapping[str, Sequence[LabelledExample]]


def without_rare_classes(
    splits: _Splits, fewest: int
) -> tuple[dict[str, list[LabelledExample]], dict[str, Counter[str]]]:
    """The rows whose class can be learned and tested, and those left out by reason, by split.

    A class has ``fewest`` rows or more in ``train``; where that split has none, or ``fewest`` is 0,
    all rows are kept. A row of two senses, of which one is too rare, has the other.
    """
    kept: dict[str, list[LabelledExample]] = {split: list(rows) for split, rows in splits.items()}
    skipped: dict[str, Counter[str]] = {split: Counter() for split in splits}
    if not (splits.get(LEARNING) and fewest):
        return kept, skipped
    counts = {split: Counter(row.label for row in rows) for split, rows in splits.items()}
    reasons: dict[str, str] = {}
    for label in {label for own in counts.values() for label in own}:
        absent = [split for split in _OCCURRING if counts.get(split) and not counts[split][label]]
        if counts[LEARNING][label] < fewest:
            reasons[label] = f"of a class with fewer than {fewest} rows in train"
        elif absent:
            reasons[label] = f"of a class without a row in {' and '.join(absent)}"
    known = {label for label in counts[LEARNING] if label not in reasons}
    if len(known) < 2:  # nothing to tell it from
        reasons |= dict.fromkeys(known, "of the only class that is frequent enough")
        known = set()
    for split, rows in splits.items():
        kept[split] = []
        for row in rows:
            labels = [label for label in (row.label, *row.also) if label in known]
            if labels:
                kept[split].append(replace(row, label=labels[0], also=tuple(labels[1:])))
            else:
                skipped[split][f"{reasons[row.label]}: {row.label}"] += 1
    return kept, skipped


def example_quality(
    splits: _Splits, slots: Sequence[str], words: frozenset[str] = frozenset()
) -> dict[str, dict[str, Any]]:
    """The quality section of each split, as the manifest records it; ``slots`` names them.

    ``words`` are those of a corpus whose script has no spaces.
    """
    splits = {split: rows for split, rows in splits.items() if rows}
    learned = splits.get(LEARNING, ())
    majority = Counter(row.label for row in learned)
    # Of equally frequent ones the first in the alphabet.
    frequent = min(majority, key=lambda label: (-majority[label], label), default="")
    known = {segment for row in learned for segment in _long_segments(row)}
    sample = whole_clusters(learned, lambda row: row.cluster, _MOST_ROWS)
    bags, why_not = _bags({**splits, LEARNING: sample} if learned else splits, slots, words)
    return {
        split: {
            "items": len(rows),
            "labels": dict(sorted(Counter(row.label for row in rows).items())),
            "two_labels": sum(bool(row.also) for row in rows),
            "ceiling": round(_ceiling(rows), 4),
            "most_frequent": _measured(rows, [frequent] * len(rows)) | {"label": frequent}
            if frequent
            else {},
            "recurring": _share(any(s in known for s in _long_segments(row)) for row in rows)
            if learned and split != LEARNING
            else None,
            "bag_of_words": bags.get(split, {}),
            "bag_learned_from": len(sample) if bags else None,
            "no_bag_of_words": why_not,
        }
        for split, rows in splits.items()
    }


def _bags(
    splits: _Splits, slots: Sequence[str], words: frozenset[str]
) -> tuple[dict[str, dict[str, dict[str, float]]], str]:
    found: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    learned = splits.get(LEARNING, ())
    if LEARNING not in splits:
        return {}, f"no {LEARNING} split"
    if len(learned) < FEWEST_ROWS:
        return {}, f"fewer than {FEWEST_ROWS} rows to learn from"
    labels = {split: [row.label for row in rows] for split, rows in splits.items()}
    number = len(learned[0].slots)
    if any(len(row.slots) != number for rows in splits.values() for row in rows):
        return {}, "rows differ in their number of slots"
    views = {"all": range(number)}
    if number > 1:
        names = [*slots, *(f"slot {i + 1}" for i in range(len(slots), number))]
        views |= {name: range(i, i + 1) for i, name in enumerate(names[:number])}
    for name, seen in views.items():
        texts = {
            split: [[" ".join(row.slots[slot].segments) for slot in seen] for row in rows]
            for split, rows in splits.items()
        }
        try:
            bag = bag_of_words(texts, labels, words)
        except FitError as error:
            if name == "all":
                return {}, str(error)
            continue
        for split, predictions in bag.predictions.items():
            rows = splits[split]
            found[split][name] = _measured(rows, predictions) | _interval(rows, predictions)
    return dict(found), ""


def _interval(rows: Sequence[LabelledExample], predictions: Sequence[str]) -> dict[str, float]:
    right = [float(said == row.label) for row, said in zip(rows, predictions, strict=True)]
    found = share_interval(right, [row.cluster for row in rows])
    return {"ci_low": round(found.low, 4), "ci_high": round(found.high, 4)}


def _measured(rows: Sequence[LabelledExample], predictions: Sequence[str]) -> dict[str, Any]:
    pairs = list(zip(rows, predictions, strict=True))
    return {
        "accuracy": _share(said == row.label for row, said in pairs),
        "any_label": _share(said in (row.label, *row.also) for row, said in pairs),
    }


def _share(values: Iterator[bool]) -> float:
    counted = list(values)
    return round(sum(counted) / len(counted), 4)


def _ceiling(rows: Sequence[LabelledExample]) -> float:
    # A classifier says the same of the same slots.
    labels: dict[Any, Counter[str]] = defaultdict(Counter)
    for row in rows:
        labels[row.slots][row.label] += 1
    return sum(max(own.values()) for own in labels.values()) / len(rows)


def _long_segments(row: LabelledExample) -> Iterator[str]:
    return (segment for segment in row.segments if len(segment.split()) >= _LONG)

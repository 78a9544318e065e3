"""Quality of a build's own rows: what gives items and intruders away without being read.

Items have their baselines (:mod:`eval.statistics.bag_of_words`), which a language model has to
beat to show more than habits of wording or position (compare Sharma et al. 2018 on Story Cloze
endings). Their decisions on every prediction of every item go beside the rows; the manifest has
what they come to, the statistic of the CD score, for the card.

Documents with intruders have the checks of Shen et al. 2021, section 4.4: a classifier that sees
each sentence alone should do no better than calling all of them a document's own, and intruders
should be neither longer nor shorter than the sentences that they replace.

Classes too rare to be learned are left out first. Then the figures that any accuracy is to be read
beside: the most frequent class, a bag of words of all slots and of each alone, the ceiling that
rows of the same text and different labels set, and how many rows share text with those that a
classifier learns from.

A model that always says the same thing is right about many spans: strict coherence counts it as
right about a text if all its spans are negative. What constants reach stands beside every score.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import mean, quantiles
from typing import Any

from coherencegym.builders.suite import Config, GeneratedDocument, GeneratedItem
from coherencegym.cards.render import said_of_control
from coherencegym.eval.data.dataset import (
    BALANCE_WEIGHT,
    LEXICAL_OVERLAP,
    MEASURED_BASELINES,
    PARTIAL_INPUT,
    SURFACE,
    baseline_schema,
    baselines_path,
)
from coherencegym.eval.kinds.documents import (
    NEGATIVE,
    POSITIVE,
    UNDECIDED,
    LabelledExample,
    SpanText,
)
from coherencegym.eval.kinds.items import SEPARATOR
from coherencegym.eval.kinds.table_kind import IDENTITY, SAMPLE, row_hash, rows_digest
from coherencegym.eval.statistics.bag_of_words import (
    FOLDS,
    LEARNING,
    FitError,
    learned_from,
    out_of_fold_scores,
    slot_bags,
)
from coherencegym.eval.statistics.balance import BALANCE_VERSION
from coherencegym.eval.statistics.control import CONTROLLED, UNCONTROLLED, Control
from coherencegym.eval.statistics.effective_size import cluster_pairs
from coherencegym.eval.statistics.estimators import effective_items, smallest_difference
from coherencegym.eval.statistics.intervals import share_interval
from coherencegym.eval.statistics.overlap import whole_clusters
from coherencegym.eval.statistics.pair_baselines import BaselineDecision, overlap_decisions
from coherencegym.eval.statistics.scores import FEW_ITEMS
from coherencegym.files.parquet import write_parquet
from coherencegym.words import count_words, with_spaces

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
    texts = {
        split: [[" ".join(slot.segments) for slot in row.slots] for row in rows]
        for split, rows in splits.items()
    }
    bags = slot_bags(texts, words)
    for name, seen in views.items():
        try:
            bag = learned_from([bags[slot] for slot in seen], labels)
        except FitError as error:
            if name == "all":
                return {}, str(error)
            continue
        for split, predictions in bag.predictions.items():
            rows = splits[split]
            right = [float(said == row.label) for row, said in zip(rows, predictions, strict=True)]
            limits = _limits(share_interval(right, [row.cluster for row in rows]))
            found[split][name] = _measured(rows, predictions) | limits
    return dict(found), ""


def _limits(interval: Any) -> dict[str, float]:
    return {"ci_low": round(interval.low, 4), "ci_high": round(interval.high, 4)}


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


#: The rule of a row of spans of which nobody said which units carry the answer.
WHOLE_ONLY = "whole"


def span_quality(rows: Sequence[SpanText]) -> dict[str, Any]:
    """The quality section of one split, as the manifest records it.

    ``constants`` has accuracy and, where the answers of all spans are known, strict and lenient
    coherence of saying always the same: ``never`` (no span is positive; of a choice: all are as
    good in any alternative, and the whole is the most frequent one) and ``always`` (all are; the
    most frequent alternative wherever texts differ).
    """
    from coherencegym.eval.tasks.spans.coherence import constant_answers, most_frequent_answer

    known = all(row.extra.get("rule") != WHOLE_ONLY or row.size == 1 for row in rows)
    frequent = most_frequent_answer(rows)
    constants = {"never": NEGATIVE, "always": POSITIVE}
    if rows[0].is_choice:
        constants = {"never": UNDECIDED, "always": frequent}
    return {
        "items": len(rows),
        "sources": len({row.cluster for row in rows}),
        "choice": rows[0].is_choice,
        "labels": dict(sorted(Counter(str(row.label) for row in rows).items())),
        "most_frequent": frequent,
        "spans": sum(len(row.gold) for row in rows) if known else None,
        "rules": dict(sorted(Counter(str(row.extra.get("rule", "")) for row in rows).items())),
        "constants": {
            name: _scores([constant_answers(row, answer) for row in rows], known)
            for name, answer in constants.items()
        },
    }


def _scores(predicted: Sequence[Any], known: bool) -> dict[str, float]:
    scores = {"accuracy": mean(float(one.right) for one in predicted)}
    for name in ("strict", "lenient") if known else ():
        scores[name] = mean(one.metric(name, 1.0) for one in predicted)
    return {name: round(value, 6) for name, value in scores.items()}


#: Sentences of documents that a classifier sees at most.
_MOST_SENTENCES = 10_000
#: Fewer documents with an intruder than this give no classifier.
FEWEST_INTRUDED = 20


def baseline_decisions(
    generated: Sequence[GeneratedItem], decided: Sequence[BaselineDecision]
) -> dict[str, list[BaselineDecision]]:
    """The decisions of each baseline on the items of one config and split.

    The partial-input classifier may have ``decided`` on more items than these: what it said of
    other discourses is left aside.
    """
    own = {one.item.discourse_id for one in generated}
    return {
        PARTIAL_INPUT: [decision for decision in decided if decision.discourse in own],
        LEXICAL_OVERLAP: overlap_decisions(generated),
    }


def quality(
    config: Config,
    generated: Sequence[GeneratedItem],
    decisions: Mapping[str, Sequence[BaselineDecision]],
    control: Control,
) -> dict[str, Any]:
    """The quality section of one config and split of items, as the manifest records it.

    There is at least one item; ``decisions`` are those of each baseline on them, and ``control`` is
    what is said of their surface.
    """
    own = {one.item.discourse_id for one in generated}
    compared = [
        tuple([one.item.condition(name).content for name in names] for names in (c.worse, c.better))
        for one in generated
        for c in one.contrasts
    ]
    differences = [_words(incoherent) - _words(coherent) for incoherent, coherent in compared]
    # The scores that a card shows, and those by which a headline is chosen.
    declared = (contrast.prediction.groups[:1] for contrast in config.generator.contrasts)
    shown = {"", *chain.from_iterable(declared)}
    cluster_of = {one.item.item_id: one.item.cluster for one in generated}
    counted = [cluster_of[item] for item in control.item_ids]
    return {
        "items": len(generated),
        "discourses": len(own),
        "control": control_figures(control, counted) if counted else None,
        "length_difference": {
            "mean": round(mean(differences), 3),
            "mean_absolute": round(mean(map(abs, differences)), 3),
        },
        "partial_input_classifier": config.partial_input,
        **{
            name: baseline_scores(
                decisions.get(name, ()),
                shown,
                config.headline,
                FOLDS if name == PARTIAL_INPUT else 0,
            )
            for name in MEASURED_BASELINES
        },
    }


def _words(texts: Iterable[str]) -> int:
    return sum(count_words(text.replace(SEPARATOR, " ")) for text in texts)


def document_quality(generated: Sequence[GeneratedDocument]) -> dict[str, Any]:
    """The quality section of one split of documents, as the manifest records it.

    Lengths are in words; similarities are TF-IDF cosines of intruders and the sentences that they
    replace. ``sentence_alone`` is none where there is too little to learn from.
    """
    located = [one for one in generated if one.document.located]
    intruded = [one for one in located if one.document.intruded]
    similarities = [one.document.extra.get("similarity") for one in intruded]
    new = [d.document.sentences[d.document.intruder_position] for d in intruded]
    old = [d.original[d.document.intruder_position] for d in intruded]
    lengths = {
        name: _spread([count_words(sentence) for sentence in sentences])
        for name, sentences in (("intruders", new), ("replaced", old))
    }
    return {
        "items": len(generated),
        "intruded": sum(one.document.intruded for one in generated),
        "words": lengths if intruded else {},
        "similarity": _spread([float(value) for value in similarities if value is not None]),
        "sentence_alone": _sentence_alone(located),
    }


def _spread(values: Sequence[float]) -> dict[str, float]:
    if not values:
        return {}
    cuts = quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    found = {"mean": mean(values), **dict(zip(("q1", "median", "q3"), cuts, strict=True))}
    return {name: round(value, 3) for name, value in found.items()}


def _sentence_alone(generated: Sequence[GeneratedDocument]) -> dict[str, Any] | None:
    # A classifier that sees sentences without their document, out of fold by document; the first
    # sentence of a document is none of them.
    sentences = [
        (
            with_spaces(sentence, one.words),
            place == one.document.intruder_position,
            one.document.cluster,
        )
        for one in generated
        for place, sentence in enumerate(one.document.sentences[1:], start=1)
    ]
    sentences = whole_clusters(sentences, lambda sentence: sentence[2], _MOST_SENTENCES)
    if len({cluster for _, is_intruder, cluster in sentences if is_intruder}) < FEWEST_INTRUDED:
        return None
    labels = [label for _, label, _ in sentences]
    cluster_ids = [cluster for _, _, cluster in sentences]
    scores = out_of_fold_scores([(text,) for text, _, _ in sentences], labels, cluster_ids)
    called = [score > 0 for score in scores]
    right = [float(c == label) for c, label in zip(called, labels, strict=True)]
    hits = sum(c and label for c, label in zip(called, labels, strict=True))
    found = sum(called) + sum(labels)
    return {
        "sentences": len(labels),
        "accuracy": round(mean(right), 4),
        **_limits(share_interval(right, cluster_ids, folds=FOLDS)),
        "majority": round(1 - mean(labels), 4),
        "f1": round(2 * hits / found, 4) if found else 0.0,
    }


def baseline_scores(
    decisions: Sequence[BaselineDecision],
    shown: Collection[str] = ("",),
    headline: str = "",
    folds: int = 0,
) -> list[dict[str, Any]]:
    """The scores of a baseline over some groups of items, by group.

    An item's value is the mean over its predictions in the group.

    Args:
        decisions: those of the baseline.
        shown: the groups: ``""`` is all items, others are of predictions.
        headline: the group of predictions that the score of all items is over; empty: over all.
        folds: those of the cross-validation by which a classifier decided, 0 where nothing was
            trained.
    """
    members: dict[str, list[BaselineDecision]] = defaultdict(list)
    for decision in decisions:
        groups = {*decision.prediction.groups}
        if not headline or headline in groups:
            groups.add("")
        for group in groups.intersection(shown):
            members[group].append(decision)
    return [{"group": group, **_score(own, folds)} for group, own in sorted(members.items())]


def _score(decisions: Sequence[BaselineDecision], folds: int) -> dict[str, Any]:
    by_item: dict[str, list[float]] = defaultdict(list)
    cluster_of = {decision.item: decision.cluster for decision in decisions}
    for decision in decisions:
        by_item[decision.item].append(decision.value)
    values = [mean(own) for own in by_item.values()]
    cluster_ids = [cluster_of[item] for item in by_item]
    return score_figures(values, cluster_ids, [len(own) for own in by_item.values()], folds)


def score_figures(
    values: Sequence[float], cluster_ids: Sequence[str], sizes: Sequence[int] = (), folds: int = 0
) -> dict[str, Any]:
    """A score and its interval as a manifest has them; arguments are those of the interval."""
    return {
        "n": len(values),
        "n_discourses": cluster_pairs(cluster_ids)[0],
        "score": round(mean(values), 4),
        **_limits(share_interval(values, cluster_ids, sizes, folds=folds)),
    }


def control_figures(control: Control, clusters: Sequence[str]) -> dict[str, Any]:
    """What is said of the surface of a split, as the manifest records it.

    ``clusters`` are those of the items that count, of which there is one.
    """
    # Independent items, of which each cluster has fewer, and weights make fewer still.
    effective = control.balance.effective
    independent = effective * effective_items(clusters) / len(clusters)
    difference = smallest_difference(independent)
    return {
        "version": BALANCE_VERSION,
        "word": control.word,
        "items": len(clusters),
        "weighed": control.balance.feasible,
        "effective_items": round(effective, 3),
        "needed": control.needed,
        "cue": "" if control.balance.solved else control.balance.worst,
        "by": control.by.by,
        "score": round(control.by.score, 4),
        **_limits(control.by),
        "upper": round(control.checked[0].high, 4),
        "smallest_difference": None if difference is None else round(difference, 4),
    }


def control_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """The control of the split with the most effective items; empty where none was checked."""
    found = [own["control"] for own in config["quality"].values() if own.get("control")]
    return max(found, key=lambda own: float(own["effective_items"]), default={})


def hold_headline(configs: Mapping[str, dict[str, Any]]) -> None:
    """Take the configs that are not controlled out of a suite's headline.

    If none is controlled, those stay that can be; if none can be, all stay; but none of fewer than
    30 items beside larger ones. ``not_headline`` says why a config is not controlled. Configs of
    the project's sample are looked at where there are no others, which alone would count.
    """
    named = [name for name, config in configs.items() if config["in_headline"]]
    chosen = [name for name in named if configs[name]["corpus"]["name"] != SAMPLE] or named
    words = {name: control_of(configs[name]).get("word", "") for name in chosen}
    controlled = [name for name in chosen if words[name] in ("", CONTROLLED)]
    # One of a few items would weigh as much as each of the others.
    enough = [name for name in chosen if _most_items(configs[name]) >= FEW_ITEMS] or chosen
    kept = controlled or [name for name in enough if words[name] != UNCONTROLLED] or enough
    for name in chosen:
        configs[name]["in_headline"] = name in kept
        if name not in controlled:
            configs[name]["not_headline"] = said_of_control(control_of(configs[name]))


def _most_items(config: Mapping[str, Any]) -> int:
    return max((int(own.get("items", 0)) for own in config["quality"].values()), default=0)


def write_baselines(
    folder: Path,
    config: str,
    split: str,
    decisions: Mapping[str, Sequence[BaselineDecision]],
    control: Control,
) -> dict[str, Any]:
    """Write the decisions of baselines, by their names, as a file of a split below ``folder``.

    A row for each baseline and item, in the order of the decisions; where the items are balanced,
    also one for each item's weight, and for what comes furthest under the weights.

    Returns:
        The entry of the manifest; empty, and no file, where there is no row.
    """
    import pyarrow as pa

    rows = []
    for name, own in decisions.items():
        values: dict[str, list[float]] = defaultdict(list)
        for decision in own:
            values[decision.item].append(decision.value)
        rows += [{IDENTITY: item, "baseline": name, "values": by} for item, by in values.items()]
    for name, of_items in ((BALANCE_WEIGHT, control.weights), (SURFACE, control.surface)):
        rows += [{IDENTITY: i, "baseline": name, "values": [v]} for i, v in of_items.items()]
    if not rows:
        return {}
    path = folder / baselines_path(config, split)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_parquet(pa.Table.from_pylist(rows, schema=baseline_schema()), path)
    return {"baselines": {"content_hash": rows_digest(map(row_hash, rows))}}

"""Span coherence: is a classifier that is right about a text right about its parts, too?

The definitions of Storks and Chai 2021 as the paper gives them, for one text (is it positive?) and
for a choice between texts; the tables of texts; and the answers of what stands beside a model.

Their program (``sled-group/Verifiable-Coherent-NLU`` at ``67ac402``, cells 83 and 106 of its
notebook) differs from the paper in seven ways: on choices the last visited span alone decides about
strict coherence, whatever the answer to the task (1, 6); single sentences are not visited (2); the
sums behind lenient coherence are never reset (3); the threshold of either metric is chosen by
comparing lenient coherence with that metric (4); what follows a span whose answer a longer one
takes back is not visited (5); and a span counts for lenient coherence only where the task is
answered rightly (7). The outputs stored in the notebook are reproduced to the last digit.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from coherencegym.errors import ConfigError
from coherencegym.eval.data.notes import Note, of_each
from coherencegym.eval.data.source import Source
from coherencegym.eval.data.table_rows import TableRows, table_rows
from coherencegym.eval.kinds.documents import NEGATIVE, POSITIVE, SPANS, UNDECIDED, SpanText
from coherencegym.eval.tasks.spans.options import MODE
from coherencegym.eval.tasks.table import Table
from coherencegym.papers import PublishedTable, read_papers

#: Start and end of a span in units, from 0, both included.
SpanPlace = tuple[int, int]
#: The confidence thresholds of choices that the paper tries.
THRESHOLDS = tuple(step / 20 for step in range(1, 21))
#: Metrics that a threshold is chosen for: each has its own, as in the paper.
COHERENCE_METRICS = ("strict", "lenient", "lenient if right")
#: The other metrics, which take the threshold of strict coherence.
ACCURACY, SPAN_ACCURACY, MONOTONE = "accuracy", "span accuracy", "monotone"
STRICT_IF_RIGHT = "strict if right"
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class SpanPrediction:
    """The answer to one span.

    Attributes:
        answer: the most probable one; never :data:`UNDECIDED`.
        probability: that of a positive answer, or of the chosen alternative.
        margin: the probability of the answer to a choice minus that of the runner-up.
    """

    answer: int
    probability: float
    margin: float = 1.0

    @classmethod
    def of_one_text(cls, probability: float, answer: int | None = None) -> SpanPrediction:
        """A positive answer from a half on, unless the ``answer`` is known otherwise."""
        found = (POSITIVE if probability >= 0.5 else NEGATIVE) if answer is None else answer
        return cls(found, probability)

    @classmethod
    def of_choice(cls, probabilities: Sequence[float]) -> SpanPrediction:
        """The first of the most probable alternatives."""
        best = max(range(len(probabilities)), key=lambda number: probabilities[number])
        others = (p for number, p in enumerate(probabilities) if number != best)
        return cls(best, probabilities[best], probabilities[best] - max(others))


@dataclass(frozen=True)
class TextPrediction:
    """A text, and the answers to each of the spans that have a right one.

    Attributes:
        text: the row.
        predicted: the answer to each span; the order is nobody's business.
    """

    text: SpanText
    predicted: Mapping[SpanPlace, SpanPrediction]

    @cached_property
    def gold(self) -> dict[SpanPlace, int]:
        """The right answers, by span."""
        return {(one.start, one.end): one.answer for one in self.text.gold}

    @cached_property
    def right(self) -> bool:
        """The task itself is answered rightly."""
        return self.predicted[0, self.text.size - 1].answer == self.text.label

    def answer(self, place: SpanPlace, threshold: float) -> int:
        """The answer to a span; undecided where a choice is not confident."""
        own = self.predicted[place]
        if self.text.is_choice and own.margin < threshold:
            return UNDECIDED
        return own.answer

    def span_rights(self, threshold: float) -> list[bool]:
        """Say of each span whether it is answered rightly."""
        return [self.answer(place, threshold) == gold for place, gold in self.gold.items()]

    def metric(self, name: str, threshold: float) -> float:
        """A metric of :data:`COHERENCE_METRICS` on this text alone, from 0 to 1."""
        rights = self.span_rights(threshold)
        if name == "strict":
            return float(all(rights))
        if name == "lenient if right" and not self.right:
            return 0.0
        return sum(rights) / len(rights)

    def part(self, name: str, threshold: float) -> tuple[float, float]:
        """The value of any metric on this text, and what it is a part of."""
        rights = self.span_rights(threshold)
        if name == SPAN_ACCURACY:
            return float(sum(rights)), float(len(rights))
        if name == STRICT_IF_RIGHT:
            return float(all(rights)), float(self.right)
        if name == ACCURACY:
            return float(self.right), 1.0
        if name == MONOTONE:
            return float(self.monotone(threshold)), 1.0
        return self.metric(name, threshold), 1.0

    def monotone(self, threshold: float) -> bool:
        """No decided span stands in a longer one with another answer.

        Of one text only a positive answer is to be kept, as more text takes no support away.
        """
        answers = {place: self.answer(place, threshold) for place in self.gold}
        none = UNDECIDED if self.text.is_choice else NEGATIVE
        return all(
            answers[other] == answer
            for (start, end), answer in answers.items()
            if answer != none
            for other in answers
            if other[0] <= start and end <= other[1]
        )


def places_of(text: SpanText) -> list[SpanPlace]:
    """The spans that have a right answer, the whole among them."""
    return [(one.start, one.end) for one in text.gold]


def identical_spans(text: SpanText) -> frozenset[SpanPlace]:
    """The spans of a choice at which all alternatives have the same text."""
    return frozenset(
        (one.start, one.end)
        for one in text.gold
        if len({alternative[one.start : one.end + 1] for alternative in text.alternatives}) == 1
    )


def mean_of(values: Iterable[float]) -> float:
    """The mean of numbers, at least one, added in their order."""
    found = list(values)
    return sum(found) / len(found)


def best_thresholds(judged: Sequence[TextPrediction]) -> dict[str, float]:
    """The threshold at which each metric is best on these very choices, as the paper reports it.

    Of equals the lowest.
    """
    found = {}
    for name in COHERENCE_METRICS:
        means = [mean_of(one.metric(name, at) for one in judged) for at in THRESHOLDS]
        found[name] = THRESHOLDS[means.index(max(means))]
    return found


def thresholds_by_folds(judged: Sequence[TextPrediction]) -> dict[str, list[float]]:
    """A threshold of each metric for each text, the best one on the texts of other folds.

    Clusters are dealt to five folds, or as many as there are clusters. Of one cluster there are no
    others: its threshold is the lowest.
    """
    clusters = {one.text.cluster for one in judged}
    fold_of = dealt_folds(clusters, min(_FOLDS, len(clusters)))
    own_folds = [fold_of[one.text.cluster] for one in judged]
    chosen: dict[int, dict[str, float]] = {}
    for fold in {*own_folds}:
        others = [one for one, own in zip(judged, own_folds, strict=True) if own != fold]
        lowest = dict.fromkeys(COHERENCE_METRICS, THRESHOLDS[0])
        chosen[fold] = best_thresholds(others) if others else lowest
    return {name: [chosen[fold][name] for fold in own_folds] for name in COHERENCE_METRICS}


def dealt_folds(clusters: Iterable[str], number: int) -> dict[str, int]:
    """The fold (from 0) of each cluster: dealt to so many in the order of their hashes."""
    order = sorted(set(clusters), key=lambda one: hashlib.sha256(f"fold\0{one}".encode()).digest())
    return {cluster: place % number for place, cluster in enumerate(order)}


def constant_answers(text: SpanText, answer: int) -> TextPrediction:
    """A system that reads nothing: always this answer, certain wherever it makes a difference.

    Of a choice :data:`UNDECIDED` is a system that is never confident, and takes the first one.
    """
    if not text.is_choice:
        predicted = dict.fromkeys(places_of(text), SpanPrediction.of_one_text(float(answer)))
        return TextPrediction(text, predicted)
    same = identical_spans(text)
    unsure = SpanPrediction(max(answer, 0), 1 / len(text.alternatives), 0.0)
    return TextPrediction(
        text,
        {
            place: unsure if answer == UNDECIDED or place in same else SpanPrediction(answer, 1.0)
            for place in places_of(text)
        },
    )


def most_frequent_answer(texts: Sequence[SpanText]) -> int:
    """The label that most texts have, the lowest of equals."""
    labels = [text.label for text in texts]
    return max(sorted({*labels}), key=labels.count)


#: The splits that thresholds are set on, the first one that is there.
_CALIBRATION = ("validation", "train")
#: The questions of tables, by what rows have: whether a hypothesis follows from a text; whether a
#: text holds what does not fit; which alternative is better.
ENTAILMENT, COHERENCE, CHOICE = "entailment", "coherence", "choice"
_POSITIVE = {ENTAILMENT: "entailed", COHERENCE: "incoherent", CHOICE: "better"}


@dataclass(frozen=True)
class SpanTable(Table[SpanText]):
    """The rows of one config to answer.

    Attributes:
        calibration: rows to set thresholds on; may be none.
        calibrated_on: their split.
        question: :data:`ENTAILMENT`, :data:`COHERENCE` or :data:`CHOICE`.
        positive: the name of a positive answer.
    """

    calibration: tuple[SpanText, ...] = ()
    calibrated_on: str = ""
    question: str = CHOICE
    positive: str = ""


def read_span_tables(
    source: Source, configs: Sequence[str], split: str, max_items: int | None
) -> tuple[list[SpanTable], list[Note]]:
    """The tables of spans of a dataset, at least one, and what was left out.

    Where nobody has named configs, those are left out, and noted, of which spans cannot be asked.

    Args:
        source: the dataset.
        configs, split: the tables to answer; none: all configs that hold spans and have the split.
        max_items: no more rows than this of each table.
    """
    wanted = (split, *(name for name in _CALIBRATION if name != split))
    tables: dict[str, dict[str, TableRows[SpanText]]] = {}
    for read in table_rows(source, configs, wanted, kind=SPANS):
        tables.setdefault(read.config, {})[read.split] = read

    def table_of(config: str) -> SpanTable:
        splits, where = tables[config], f"config {config!r}"
        if split not in splits:
            raise ConfigError(f"{where}: no split {split!r}; expected one")
        tested = splits[split]
        if not (asked := tested.read(max_items)):
            raise ConfigError(f"{where}: no row in {split!r}; expected some")
        # Thresholds are set on the first split that has both answers; without one on the first.
        on, calibration = "", tuple[SpanText, ...]()
        for name in (name for name in wanted[1:] if name in splits):
            rows = splits[name].read(max_items)
            has_both = len({row.label for row in rows}) > 1
            if has_both or not on:
                on, calibration = name, rows
            if has_both:
                break
        question = _question((*asked, *calibration), where)
        about = tested.about.get("task_defaults", {})
        said = str(about.get("question", question))
        if said != question:
            raise ConfigError(
                f"{where}: the manifest asks about {said}, the rows about {question}; expected one"
            )
        return SpanTable.of(
            source,
            tested,
            asked,
            calibration=calibration,
            calibrated_on=on,
            question=question,
            positive=str(about.get("positive", _POSITIVE[question])),
            digests=tuple(
                f"{name} {splits[name].rows_sha256}" for name in dict.fromkeys((split, on)) if name
            ),
        )

    return of_each(tables, table_of, named=bool(configs))


def _question(rows: Iterable[SpanText], where: str) -> str:
    shapes = {
        (CHOICE if row.is_choice else ENTAILMENT if row.hypothesis else COHERENCE): row
        for row in rows
    }
    if len(shapes) > 1:
        raise ConfigError(
            f"{where}: rows about {' and about '.join(sorted(shapes))}; expected one question"
        )
    numbers = sorted({len(row.alternatives) for row in rows})
    if len(numbers) > 1:
        raise ConfigError(
            f"{where}: choices of {numbers[0]} and of {numbers[-1]} alternatives; expected one "
            "number"
        )
    return next(iter(shapes))


def unit_texts(row: SpanText, alternative: int = 0) -> list[str]:
    """The units as a reader gets them: with their speakers, where there are any.

    A speaker of one letter is written as hypotheses about dialogues call him or her: ``SpeakerA``.
    """
    units = row.alternatives[alternative] if row.is_choice else row.units
    found = [unit.strip() for unit in units]
    if not row.speakers:
        return found
    names = [f"Speaker{name}" if len(name) == 1 else name for name in row.speakers]
    return [f"{name}: {unit}" for name, unit in zip(names, found, strict=True)]


def span_content(row: SpanText, place: SpanPlace, alternative: int = 0) -> str:
    """The text of a span, one space between its units."""
    return " ".join(unit_texts(row, alternative)[place[0] : place[1] + 1])


#: Spans of a choice in the order in which the program visits them.
_VISITED_OF_CHOICE: tuple[SpanPlace, ...] = ((0, 1), (0, 2), (1, 2))


def paper_tables() -> dict[str, PublishedTable]:
    """The paper's tables by the config of each."""
    return {
        config: table
        for table in read_papers()[MODE].tables.values()
        for row in table.rows.values()
        for config in row.configs
    }


def paper_table(config: str) -> PublishedTable | None:
    """The paper's table of the data that a config holds; None if it holds none of them."""
    return next((table for name, table in paper_tables().items() if name in config), None)


#: The values of texts whose mean is a metric of the program, from 0 to 1, and the threshold that it
#: chooses for it; None of one text.
ReleasedMetric = tuple[Sequence[float], float | None]


def released_coherence(
    judged: Sequence[TextPrediction], thresholds: Sequence[float] = THRESHOLDS
) -> tuple[ReleasedMetric, ReleasedMetric]:
    """Strict and lenient coherence as the program has them.

    Args:
        judged: texts of one question, at least one, in their order.
        thresholds: those that are tried.
    """
    if judged[0].text.is_choice:
        strict, _ = _best_of_choices(judged, thresholds, "strict")
        _, lenient = _best_of_choices(judged, thresholds, "lenient")
        return strict, lenient
    visited = [(one, _visited(one)) for one in judged]
    return (
        ([float(all(rights)) for _, rights in visited], None),
        ([sum(rights) * one.right / len(rights) for one, rights in visited], None),
    )


def _visited(one: TextPrediction, threshold: float = 0.0) -> list[bool]:
    """Say of each span that the program looks at whether it is answered rightly."""
    none = UNDECIDED if one.text.is_choice else NEGATIVE
    answers = {place: one.answer(place, threshold) for place in one.gold}
    rights = []
    for start, end in _VISITED_OF_CHOICE if one.text.is_choice else sorted(one.gold):
        answer = answers[start, end]
        rights.append(answer == one.gold[start, end])
        if answer != none and any(
            other != answer
            for (first, last), other in answers.items()
            if first <= start and end <= last
        ):
            break
    return rights


def _best_of_choices(
    judged: Sequence[TextPrediction], thresholds: Sequence[float], metric: str
) -> tuple[ReleasedMetric, ReleasedMetric]:
    # The sums of right and of visited spans are never set back.
    right = visited = 0
    none: ReleasedMetric = [0.0] * len(judged), None
    best, highest = (none, none), 0.0
    for threshold in thresholds:
        strict, lenient = [], []
        for one in judged:
            rights = _visited(one, threshold)
            visited += len(rights)
            right += sum(rights) * one.right
            strict.append(float(rights[-1]))
            lenient.append(right / visited)
        # Whichever metric is looked for, it is lenient coherence that has to be above it.
        if mean_of(lenient) > highest:
            best = (strict, threshold), (lenient, threshold)
            highest = mean_of(strict if metric == "strict" else lenient)
    return best


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
    is_choice, learned = table.question == CHOICE, table.calibration
    best = most_frequent_answer(rows if is_choice else learned or rows)
    constants = {NEVER: NEGATIVE, ALWAYS: POSITIVE, MOST_FREQUENT: best}
    if is_choice:
        constants = {NEVER: UNDECIDED, MOST_FREQUENT: best}
    found = {
        name: [constant_answers(row, answer) for row in rows] for name, answer in constants.items()
    }
    if not is_choice and len({row.label for row in learned}) > 1:
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
    shares = {place: share(row, place) for place in places_of(row)}
    predicted = {p: SpanPrediction.of_one_text(float(own >= least)) for p, own in shares.items()}
    return TextPrediction(row, predicted)


#: Reasons why a row is left out: it is too long, or a token crosses the edge of what is compared on
#: one side only.
TOO_LONG, CROSSING = "too_long", "crossing"


@dataclass(frozen=True)
class Answered:
    """One config with the answers of a scorer.

    Attributes:
        table: its rows.
        rows: the answers to each row, or the reason why it is left out.
        cut: the number of rows of which some text was cut.
        about: facts on how answers were found, as JSON holds them.
        rho: ``folds``: the confidence of choices is chosen on other rows; ``best``: on these.
    """

    table: SpanTable
    rows: Sequence[TextPrediction | str]
    cut: int = 0
    about: Mapping[str, Any] = field(default_factory=dict)
    rho: str = "folds"

    @cached_property
    def judged(self) -> list[TextPrediction]:
        """The rows that were answered."""
        return [own for own in self.rows if not isinstance(own, str)]

    @property
    def left_out(self) -> dict[str, int]:
        """The number of rows that were left out, by reason."""
        return {why: list(self.rows).count(why) for why in (TOO_LONG, CROSSING)}

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

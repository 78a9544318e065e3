"""The tables of texts with spans: rows to answer, rows to set a threshold on, and the question.

``sled-group/Verifiable-Coherent-NLU`` at ``67ac402``, cells 83 and 106 of its notebook. It differs
from the paper (:mod:`eval.tasks.spans.coherence`) in seven ways: on choices the last visited span
alone decides about strict coherence, whatever the answer to the task (1, 6); single sentences are
not visited (2); the sums behind lenient coherence are never reset (3); the threshold of either
metric is chosen by comparing lenient coherence with that metric (4); what follows a span whose
answer a longer one takes back is not visited (5); and a span counts for lenient coherence only
where the task is answered rightly (7). The outputs stored in the notebook are reproduced to the
last digit.

The intervals are those that Storks and Chai's metrics are asked with: a bootstrap over sources
(dialogues of one recording, say), the confidence of choices held as it was chosen. Those of few
sources are too narrow (docs/intervals.md); the scores themselves have intervals that are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coherencegym.errors import ConfigError, EvaluationError
from coherencegym.eval.data.notes import Note, detail, of_each
from coherencegym.eval.data.source import Source
from coherencegym.eval.data.table_rows import TableRows, table_rows
from coherencegym.eval.kinds.spans import NEGATIVE, SPANS, UNDECIDED, SpanText
from coherencegym.eval.kinds.table_kind import Row, row_hash, rows_digest, to_row
from coherencegym.eval.outcomes.tables import Cells, count_distinct
from coherencegym.eval.statistics.estimators import RESAMPLES, bootstrap_intervals
from coherencegym.eval.statistics.paired import mcnemar
from coherencegym.eval.tasks.spans.coherence import (
    THRESHOLDS,
    SpanPlace,
    TextPrediction,
    dealt_folds,
    mean_of,
)
from coherencegym.eval.tasks.table import Table

#: Spans of a choice in the order in which the program visits them.
VISITED_OF_CHOICE: tuple[SpanPlace, ...] = ((0, 1), (0, 2), (1, 2))


@dataclass(frozen=True)
class ReleasedSpans:
    """The figures of the program.

    Attributes:
        stricts, lenients: the values of texts whose means are its two metrics, from 0 to 1.
        strict_at, lenient_at: the thresholds that it chooses for them; None of one text.
        visited: the spans of each text that were looked at, for choices at the threshold of
            ``strict``.
    """

    stricts: tuple[float, ...]
    lenients: tuple[float, ...]
    strict_at: float | None
    lenient_at: float | None
    visited: tuple[frozenset[SpanPlace], ...]


@dataclass
class _Sums:
    # Right spans and visited spans; of choices they are never set back.
    right: int = 0
    visited: int = 0

    @property
    def share(self) -> float:
        return self.right / self.visited


def released_coherence(
    judged: Sequence[TextPrediction], thresholds: Sequence[float] = THRESHOLDS
) -> ReleasedSpans:
    """The figures of the program for texts of one question, at least one, in their order."""
    if judged[0].text.is_choice:
        return _choices(judged, thresholds)
    found = [_one_text(one) for one in judged]
    return ReleasedSpans(
        stricts=tuple(float(strict) for strict, _, _ in found),
        lenients=tuple(lenient for _, lenient, _ in found),
        strict_at=None,
        lenient_at=None,
        visited=tuple(visited for _, _, visited in found),
    )


def _one_text(one: TextPrediction) -> tuple[bool, float, frozenset[SpanPlace]]:
    coherent, sums, visited = True, _Sums(), set()
    end = one.predicted[one.whole].answer if one.end is None else one.end
    for place in sorted(one.gold):
        answer = one.predicted[place].answer
        visited.add(place)
        right = answer == one.gold[place]
        sums.visited += 1
        sums.right += right and one.right
        coherent = coherent and right
        if answer == NEGATIVE:
            continue
        if end == NEGATIVE or any(
            one.predicted[other].answer == NEGATIVE for other in _spans_around(one, place)
        ):
            break
    return coherent, sums.share, frozenset(visited)


def _spans_around(one: TextPrediction, place: SpanPlace) -> Iterator[SpanPlace]:
    return (other for other in one.gold if other[0] <= place[0] and place[1] <= other[1])


def _choices(judged: Sequence[TextPrediction], thresholds: Sequence[float]) -> ReleasedSpans:
    strict, lenient = (_best_of_choices(judged, thresholds, name) for name in ("strict", "lenient"))
    return replace(strict, lenients=lenient.lenients, lenient_at=lenient.lenient_at)


def _best_of_choices(
    judged: Sequence[TextPrediction], thresholds: Sequence[float], metric: str
) -> ReleasedSpans:
    none = (0.0,) * len(judged)
    sums, best, highest = _Sums(), ReleasedSpans(none, none, None, None, ()), 0.0
    for threshold in thresholds:
        strict, lenient, visited = [], [], []
        for one in judged:
            coherent, seen = _one_choice(one, threshold, sums)
            strict.append(float(coherent))
            lenient.append(sums.share)
            visited.append(seen)
        # Whichever metric is looked for, it is lenient coherence that has to be above it.
        if mean_of(lenient) > highest:
            found = tuple(strict), tuple(lenient)
            best = ReleasedSpans(*found, threshold, threshold, tuple(visited))
            highest = mean_of(strict if metric == "strict" else lenient)
    return best


def _one_choice(
    one: TextPrediction, threshold: float, sums: _Sums
) -> tuple[bool, frozenset[SpanPlace]]:
    coherent, visited = True, set()
    for place in VISITED_OF_CHOICE:
        answer = one.answer(place, threshold)
        visited.add(place)
        coherent = answer == one.gold[place]
        sums.visited += 1
        sums.right += coherent and one.right
        if answer != UNDECIDED and any(
            one.answer(other, threshold) != answer for other in _spans_around(one, place)
        ):
            break
    return coherent, frozenset(visited)


@dataclass(frozen=True)
class Drop:
    """The loss from accuracy to strict coherence.

    Attributes:
        sources: the number of clusters that are drawn; resamples: how often they are.
        intervals: the 95 % intervals of the metrics, of ``strict if right``, and of ``drop``, the
            accuracy less strict coherence; None of one source.
        incoherent: the number of texts that are answered rightly and are not strictly coherent.
        p: McNemar's exact one (two-sided) of accuracy and strict coherence. As whatever is strictly
            coherent is answered rightly it can come out one way only, 2 / 2^incoherent; the
            interval of ``strict if right`` says more.
    """

    sources: int
    resamples: int
    intervals: Mapping[str, tuple[float, float] | None]
    incoherent: int
    p: float


def drop_of(cells: Mapping[str, Cells]) -> Drop:
    """The drop of texts, at least one, from the outcomes of the model by metric."""
    names = ("accuracy", "strict", "lenient", "lenient if right")
    values = {name: cells[name].value for name in names}
    right, strict = values["accuracy"], values["strict"]
    values["drop"] = right - strict
    each = [1.0] * len(right)
    ratios = {name: (own, each) for name, own in values.items()}
    ratios["strict if right"] = strict, right
    clusters = cells["strict"].cluster
    found = bootstrap_intervals(ratios, clusters)
    incoherent = int(values["drop"].sum())
    return Drop(
        sources=count_distinct(clusters),
        resamples=RESAMPLES,
        intervals={name: (own.low, own.high) if own else None for name, own in found.items()},
        incoherent=incoherent,
        p=mcnemar(incoherent, 0),
    )


#: The splits that thresholds are set on, the first one that is there.
_CALIBRATION = ("validation", "train")
#: The questions of tables, by what rows have: whether a hypothesis follows from a text; whether a
#: text holds what does not fit; which alternative is better.
ENTAILMENT, COHERENCE, CHOICE = "entailment", "coherence", "choice"
_POSITIVE = {ENTAILMENT: "entailed", COHERENCE: "incoherent", CHOICE: "better"}


@dataclass(frozen=True)
class SpanTable:
    """One config: its rows by what they are for.

    Attributes:
        table: the rows to answer, with the facts of the dataset.
        calibration: rows to set thresholds on; may be none.
        calibrated_on: their split.
        question: :data:`ENTAILMENT`, :data:`COHERENCE` or :data:`CHOICE`.
        positive: the name of a positive answer.
        digests: those of the rows of every split that was read.
        folds: the fold (from 0) of each row, where thresholds are set on the rows of other folds
            and not on ``calibration``; else none.
    """

    table: Table[SpanText]
    calibration: tuple[SpanText, ...]
    calibrated_on: str
    question: str
    positive: str
    digests: tuple[str, ...] = ()
    folds: tuple[int, ...] = ()

    @property
    def rows(self) -> tuple[SpanText, ...]:
        """The rows to answer."""
        return self.table.rows

    def calibrations(self) -> Iterator[tuple[str, tuple[SpanText, ...], tuple[SpanText, ...]]]:
        """Names of what thresholds are set on, its rows, and the rows that are answered by each."""
        if not self.folds:
            yield self.calibrated_on, self.calibration, self.rows
            return
        both = list(zip(self.rows, self.folds, strict=True))
        for fold in sorted({*self.folds}):
            others = tuple(row for row, own in both if own != fold)
            yield f"all but fold {fold}", others, tuple(row for row, own in both if own == fold)


def read_span_tables(
    source: Source,
    configs: Sequence[str],
    split: str,
    max_items: int | None,
    calibrate_on: str | None = None,
    folds: int | None = None,
) -> tuple[list[SpanTable], list[Note]]:
    """The tables of spans of a dataset, at least one, and what was left out.

    Where nobody has named configs, those are left out, and noted, of which spans cannot be asked.

    Args:
        source: the dataset.
        configs, split: the tables to answer; none: all configs that hold spans and have the split.
        max_items: no more rows than this of each table.
        calibrate_on: the split that thresholds are set on; None: the first of validation and train
            that has both answers.
        folds: the number of folds of the rows to answer that thresholds are set on instead.
    """
    others = () if folds else (calibrate_on,) if calibrate_on else _CALIBRATION
    if calibrate_on == split:
        raise EvaluationError(f"--calibrate-on {split}: the tested rows; expected another split")
    wanted = (split, *(name for name in others if name != split))
    found: dict[str, dict[str, TableRows[SpanText]]] = {}
    for read in table_rows(source, configs, wanted, kind=SPANS):
        found.setdefault(read.config, {})[read.split] = read

    def table_of(config: str) -> SpanTable:
        splits, where = found[config], f"config {config!r}"
        for name in (split, *([calibrate_on] if calibrate_on else [])):
            if name not in splits:
                raise ConfigError(f"{where}: no split {name!r}; expected one")
        there = [name for name in wanted[1:] if name in splits]
        on, calibration = _calibration(there, lambda name: splits[name].read(max_items))
        table = _span_table(source, splits, split, on, calibration, max_items, where)
        if not folds:
            return table
        return replace(table, folds=folds_of(table.rows, folds, where, "--calibrate-folds"))

    return of_each(found, table_of, named=bool(configs))


def _calibration(
    names: Iterable[str], rows_of: Callable[[str], tuple[SpanText, ...]]
) -> tuple[str, tuple[SpanText, ...]]:
    # The first split that has both answers, as a threshold needs both; without one the first.
    first: tuple[str, tuple[SpanText, ...]] = ("", ())
    for name in names:
        rows = rows_of(name)
        if len({row.label for row in rows}) > 1:
            return name, rows
        first = first if first[0] else (name, rows)
    return first


def _span_table(
    source: Source,
    splits: dict[str, TableRows[SpanText]],
    split: str,
    on: str,
    calibration: tuple[SpanText, ...],
    max_items: int | None,
    where: str,
) -> SpanTable:
    tested = splits[split]
    rows = tested.read(max_items)
    question = _asked_in(rows, calibration, split, where)
    about = tested.about.get("task_defaults", {})
    said = str(about.get("question", question))
    if said != question:
        raise ConfigError(
            f"{where}: the manifest asks about {said}, the rows about {question}; expected one"
        )
    return SpanTable(
        table=Table(
            *(source, tested.config, split, rows, tested.rows_sha256, tested.verified),
            *(tested.separated(rows), tested.breakdowns),
        ),
        calibration=calibration,
        calibrated_on=on,
        question=question,
        positive=str(about.get("positive", _POSITIVE[question])),
        digests=tuple(f"{name} {splits[name].rows_sha256}" for name in (split, on) if name),
    )


def span_table_of(
    given: Mapping[str, Iterable[SpanText | Row]],
    split: str = "test",
    calibrate_on: str | None = None,
    folds: int | None = None,
) -> SpanTable:
    """A table of texts with spans, or rows of a dataset, that come from no file, by their split."""
    where = "texts"
    others = () if folds else (calibrate_on,) if calibrate_on else _CALIBRATION
    for name in (split, *([calibrate_on] if calibrate_on else [])):
        if name not in given:
            raise EvaluationError(f"{where}: no split {name!r}; expected one")

    def rows_of(name: str) -> tuple[SpanText, ...]:
        return tuple(map(SPANS.from_row, given[name]))

    rows = rows_of(split)
    on, calibration = _calibration((n for n in others if n in given and n != split), rows_of)
    question = _asked_in(rows, calibration, split, where)
    digests = {
        name: rows_digest(row_hash(to_row(row)) for row in own)
        for name, own in ((split, rows), (on, calibration))
        if name
    }
    note = detail("texts from memory: rows are not verified")
    source = Source(where, Path(), notes=(note,))
    return SpanTable(
        table=Table(source, where, split, rows, digests[split], False, False),
        calibration=calibration,
        calibrated_on=on,
        question=question,
        positive=_POSITIVE[question],
        digests=tuple(f"{name} {digest}" for name, digest in digests.items()),
        folds=folds_of(rows, folds, where, "calibrate_folds") if folds else (),
    )


def folds_of(rows: Sequence[SpanText], number: int, where: str, option: str) -> tuple[int, ...]:
    """The fold (from 0) of each row: so many, and no source in two (Storks and Chai 2021)."""
    sources = {row.cluster for row in rows}
    if not 2 <= number <= len(sources):
        raise ConfigError(
            f"{where}: {option} {number} of {len(sources):,} sources; expected 2 to "
            f"{len(sources):,}"
        )
    dealt = dealt_folds(sources, number)
    return tuple(dealt[row.cluster] for row in rows)


def _asked_in(
    rows: Sequence[SpanText], calibration: Sequence[SpanText], split: str, where: str
) -> str:
    if not rows:
        raise ConfigError(f"{where}: no row in {split!r}; expected some")
    return _question((*rows, *calibration), where)


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


def places_of(row: SpanText) -> list[SpanPlace]:
    """The spans that have a right answer, the whole among them."""
    return [(one.start, one.end) for one in row.gold]


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

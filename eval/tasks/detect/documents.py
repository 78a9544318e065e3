"""Documents: read from a dataset to learn from and to test on, and the outcomes of their scores.

A linguistic probe (Shen et al. 2021, section 7.1) is an intruder, or a document's own sentence,
edited in one respect. A table of probes is one of minimal pairs that also has the sentences around
the slot: conditions ``original`` and ``intruder``, where they apply also ``intruder_probe`` and
``original_probe``, and columns ``before`` and ``after``, lists of sentences. Region 2 of a
condition is what it has in the slot, so that its document is ``before``, region 2, ``after``.

Outcomes are those of a model, of two baselines, and of people. Two decisions need a threshold, the
one with the best F1 over sentences on other documents, such as those of the validation split.
``argmax``: a document has at most one intruder, the sentence with the highest score, if that is
above the threshold. ``independent``: every sentence above the threshold is one, as in Shen et al.
2021, section 5, who classify each sentence by itself.

They are measured as there (section 4.3): **document accuracy** is whether a document has an
intruder at all, and a document is taken to have one if at least one of its sentences is; **F1** is
over its non-opening sentences, the intruders being the positive class. Beside them the **exact
accuracy** asks for every sentence of the document to be right, and the **accuracy of the place**,
for the highest score to be that of the intruder, where there is one, whatever the threshold.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Literal, get_args

from coherencegym.errors import ConfigError, EvaluationError
from coherencegym.eval.data.notes import Note, of_each
from coherencegym.eval.data.source import Source, find_dataset
from coherencegym.eval.data.table_rows import table_rows
from coherencegym.eval.kinds.documents import DOCUMENTS, HUMAN, NO_INTRUDER, Document
from coherencegym.eval.kinds.items import FAMILY, ITEMS, SuiteError
from coherencegym.eval.outcomes.label_metrics import F1, AreaUnderCurve, Ratio
from coherencegym.eval.outcomes.metric import Metric
from coherencegym.eval.outcomes.metrics import Accuracy
from coherencegym.eval.outcomes.schema import MODEL, Group, System, baseline
from coherencegym.eval.outcomes.tables import OutcomeTables, OutcomeWriter
from coherencegym.eval.statistics.correlation import agreement_groups
from coherencegym.eval.statistics.estimators import ratio_difference, share_difference
from coherencegym.eval.tasks.detect.options import DetectOptions
from coherencegym.eval.tasks.table import Table, add_parts

#: The split that thresholds are chosen on.
_VALIDATION = "validation"
#: Conditions in which a document's own sentence is in the slot, without and with the probe.
ORIGINAL, ORIGINAL_PROBE = "original", "original_probe"
#: Conditions in which an intruder is there.
INTRUDER, INTRUDER_PROBE = "intruder", "intruder_probe"
CONDITIONS = (ORIGINAL, INTRUDER, INTRUDER_PROBE, ORIGINAL_PROBE)
#: The conditions that a threshold is chosen on: documents as they are without probes.
WITHOUT_PROBE = (ORIGINAL, INTRUDER)
#: Columns with the sentences around the slot.
AROUND = ("before", "after")
#: Columns in ``extra`` of a document made from an item.
ITEM, CONDITION = "item_id", "condition"


@dataclass(frozen=True)
class DocumentTable(Table[Document]):
    """The documents of one config and split.

    Attributes:
        calibration: those that the thresholds are chosen on; None where the user chose one.
    """

    calibration: DocumentTable | None = None

    def calibrated_on(self, other: DocumentTable | None) -> DocumentTable:
        """The same documents, with the thresholds chosen on others."""
        tables = replace(self, calibration=other).tables
        digests = tuple(f"{one.split} {one.rows_sha256}" for one in tables)
        return replace(self, calibration=other, digests=digests)

    @property
    def tables(self) -> list[DocumentTable]:
        """All tables to read, each once: that which the thresholds are chosen on first."""
        both = (self.calibration, self)
        return list({one.key: one for one in both if one is not None}.values())

    @property
    def key(self) -> tuple[str, str, str]:
        """The folder, config and split, which no other table has."""
        return str(self.source.folder), self.config, self.split

    @property
    def located(self) -> bool:
        """The place of every intruder is known; else only whole documents can be judged."""
        return all(document.located for document in self.rows)

    @property
    def intruded(self) -> int:
        """The number of documents with an intruder."""
        return sum(document.intruded for document in self.rows)

    @property
    def probes(self) -> bool:
        """The documents are versions of others, without and with a probe."""
        return any(ITEM in document.extra for document in self.rows[:1])


def was_read(scores: Sequence[float]) -> bool:
    """Tell a document that was read from one that is left out, whose scores are NaN."""
    return scores[-1] == scores[-1]


def why_left_out(scores: Sequence[float]) -> str:
    """The reason why a document that was not read is left out.

    ``too_long``, or ``crossing``, where a token has characters of two sentences: then the score of
    the opening sentence is NaN, too.
    """
    return "too_long" if scores[0] == scores[0] else "crossing"


def split_tables(
    source: Source, configs: Sequence[str], split: str, max_items: int | None
) -> Iterator[DocumentTable]:
    """The tables of a split that are documents, or else those of probes; no more than so many rows
    each.
    """
    if not _holds_probes(source, configs):
        yield from document_tables(source, configs, split, max_items)
        return
    for read in table_rows(source, configs, (split,), kind=ITEMS):
        try:
            rows = islice(read.rows, max_items)
            documents = tuple(document for row in rows for document in documents_of(row))
        except SuiteError as error:
            raise EvaluationError(f"{read.where}: {error}") from None
        says = read.about.get("separator")
        separator = DOCUMENTS.separated(documents) if says is None else bool(says)
        yield DocumentTable.of(source, read, documents, separator=separator, breakdowns=())


def document_tables(
    source: Source, configs: Sequence[str], split: str, max_items: int | None
) -> Iterator[DocumentTable]:
    """The tables of documents; see :func:`split_tables`."""
    for read in table_rows(source, configs, (split,), kind=DOCUMENTS):
        yield DocumentTable.of(source, read, read.read(max_items))


def _holds_probes(source: Source, configs: Sequence[str]) -> bool:
    # Without configs of documents all items are probes. What the manifest does not know is none.
    known = source.manifest.get("configs", {})
    chosen = configs or DOCUMENTS.configs(known) or known
    asked = {name: known[name] for name in chosen if name in known}
    return bool(asked) and len(ITEMS.configs(asked)) == len(asked)


def documents_of(row: Mapping[str, Any]) -> Iterator[Document]:
    """The documents of a row, one for each condition that a probe has."""
    item = ITEMS.from_row(row)
    for column in AROUND:
        if not isinstance(item.extra.get(column), list):
            raise SuiteError(
                f"{item.item_id}: no list {column!r}; expected documents, or the probes of "
                "linguistic_probes (coherencegym score scores other items)"
            )
    before, after = (tuple(item.extra[column]) for column in AROUND)
    names = [condition.condition_name for condition in item.conditions]
    for name in WITHOUT_PROBE:
        if name not in names:
            raise SuiteError(f"{item.item_id}: no condition {name!r}; expected {CONDITIONS}")
    family = {FAMILY: item.extra[FAMILY]} if item.extra.get(FAMILY) else {}
    for condition in item.conditions:
        name = condition.condition_name
        if name not in CONDITIONS:
            continue
        if len(condition.regions) < 2:
            raise SuiteError(f"{item.item_id}: no region 2 in {name!r}; expected the slot's")
        document = Document(
            f"{item.item_id}/{name}",
            (*before, condition.regions[1].content, *after),
            len(before) if name in (INTRUDER, INTRUDER_PROBE) else NO_INTRUDER,
            item.discourse_id,
            item.corpus,
            {ITEM: item.item_id, CONDITION: name, **family},
        )
        DOCUMENTS.check(document)
        yield document


def is_plain(document: Document) -> bool:
    """Tell a document as it is without a probe, on which a threshold may be chosen."""
    return document.extra.get(CONDITION, ORIGINAL) in WITHOUT_PROBE


def detection_names(configs: Sequence[str], options: DetectOptions) -> list[str]:
    """The names of configs that are tested and chosen on."""
    elsewhere, _, other = (options.calibrate_on or "").rpartition(":")
    return [*configs, *([other] if other and configs and not elsewhere else [])]


def read_inputs(
    source: Source,
    configs: Sequence[str],
    split: str,
    max_items: int | None,
    options: DetectOptions,
) -> tuple[list[DocumentTable], list[Note]]:
    """The documents of a run, and what was left out.

    Args:
        source: the dataset.
        configs, split: tested; none: all configs that hold documents and have the split.
        max_items: no more documents than this of each table.
        options: ``calibrate_on`` is a config of the dataset, or ``DATASET:CONFIG``, on whose
            validation split the thresholds are chosen; None: that of each config that is tested
            on. ``threshold`` replaces one that is chosen.
    """
    elsewhere, _, other = (options.calibrate_on or "").rpartition(":")
    tested = list(split_tables(source, configs, split, max_items))
    require_configs(source, configs, tested, f"no split {split!r}; expected another with --split")
    chosen_on = None
    if options.calibrate_on:
        there = find_dataset(elsewhere, None, [other]) if elsewhere else source
        chosen_on = _validation(there, other, max_items)

    def with_threshold(table: DocumentTable) -> DocumentTable:
        if not table.rows:
            where = f"config {table.config!r}"
            raise ConfigError(f"{where}: no document; expected at least one")
        if chosen_on is not None or options.threshold is not None:
            return table.calibrated_on(chosen_on)
        return table.calibrated_on(_validation(source, table.config, max_items))

    return of_each(tested, with_threshold, named=bool(configs))


def require_configs(
    source: Source, configs: Iterable[str], found: Sequence[DocumentTable], missing: str
) -> None:
    """Refuse configs of which no table was found."""
    for name in configs:
        if name not in {table.config for table in found}:
            raise EvaluationError(f"dataset {source.name!r}, config {name!r}: {missing}")


def _validation(source: Source, config: str, max_items: int | None) -> DocumentTable:
    where = f"config {config!r}"
    instead = "expected --threshold X, or --calibrate-on CONFIG or DATASET:CONFIG"
    try:
        (table,) = split_tables(source, [config], _VALIDATION, max_items)
    except EvaluationError as error:
        if "no split" not in str(error):
            raise
        raise ConfigError(
            f"{where}: no split {_VALIDATION!r} to choose the threshold on; {instead}"
        ) from None
    if not table.intruded:
        raise ConfigError(
            f"{where}, split {_VALIDATION!r}: no document with an intruder to choose the threshold "
            f"on; {instead}"
        )
    require_places(table, "choose the threshold on")
    return table


def require_places(table: DocumentTable, what: str) -> None:
    """Refuse documents with an intruder somewhere."""
    if not table.located:
        raise ConfigError(
            f"{table.name}: intruders in unknown places; expected another config to {what}"
        )


Decision = Literal["argmax", "independent"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)


def highest(scores: Sequence[float]) -> int:
    """The place of the sentence with the highest score; never that of the opening sentence."""
    return max(range(1, len(scores)), key=lambda place: scores[place])


def _candidates(scores: Sequence[float], decision: Decision) -> Sequence[int]:
    return [highest(scores)] if decision == "argmax" else range(1, len(scores))


def intruders(scores: Sequence[float], threshold: float, decision: Decision) -> tuple[int, ...]:
    """The places (from 0) of the sentences of a document that are taken for intruders.

    Their scores are greater than the threshold; that of the opening sentence is not looked at.
    """
    return tuple(place for place in _candidates(scores, decision) if scores[place] > threshold)


def best_threshold(
    scores: Sequence[Sequence[float]], positions: Sequence[int], decision: Decision
) -> tuple[float, float]:
    """The threshold with the highest F1 over sentences, and that F1.

    Between two scores it is halfway; of several that are as good, the highest, so that nothing is
    called an intruder for nothing. ``positions`` are the places of intruders, -1 for none.
    """
    wanted = sum(position > 0 for position in positions)
    if not wanted:
        raise ConfigError(
            "no document with an intruder to choose the threshold on; expected some, or --threshold"
        )
    compared = (
        (own[place], place == position)
        for own, position in zip(scores, positions, strict=True)
        for place in _candidates(own, decision)
    )
    found = sorted(compared, key=lambda pair: -pair[0])
    # Above all scores nothing is an intruder, and F1 is 0.
    best, threshold = 0.0, found[0][0]
    right = 0
    for number, (score, is_intruder) in enumerate(found, start=1):
        right += is_intruder
        after = found[number][0] if number < len(found) else score - 1.0
        f1 = 2 * right / (number + wanted)
        if after < score and f1 > best:
            halfway = (score + after) / 2
            # Of neighbouring floats there is nothing between.
            best, threshold = f1, halfway if after <= halfway < score else after
    return threshold, best


#: What a decision adds to each metric: a part, and its whole.
Parts = Mapping[str, tuple[float, float]]


def decision_parts(predicted: Sequence[int], position: int) -> Parts:
    """The parts of calling the sentences of a document at these places intruders.

    The position may be -1, or -2 of an unknown one: then ``document_accuracy`` alone says
    something.
    """
    hit, calls = position in predicted, len(predicted)
    intruded = position != NO_INTRUDER
    exact = calls == intruded and (hit or not intruded)
    return {
        "document_accuracy": (float(bool(predicted) == intruded), 1.0),
        "exact_accuracy": (float(exact), 1.0),
        "f1": (2.0 * hit, float(calls + intruded)),
        "precision": (float(hit), float(calls)),
        "recall": (float(hit), float(intruded)),
        # Who names one sentence has the place right where it is a hit.
        "place": (float(hit), 1.0),
    }


def mean_parts(parts: Sequence[Parts]) -> Parts:
    """The mean of several decisions on one document."""
    return {
        name: (
            math.fsum(one[name][0] for one in parts) / len(parts),
            math.fsum(one[name][1] for one in parts) / len(parts),
        )
        for name in parts[0]
    }


#: The conditions of a probe's two sides, without and with it, and what a side is measured by:
#: incoherent documents by F1 over their sentences, coherent ones by the share that is taken for
#: coherent.
_SIDES: tuple[tuple[str, str, str, Metric, Metric], ...] = (
    (
        *(INTRUDER, INTRUDER_PROBE, "f1"),
        F1("f1_without_probe", "F1 without probe"),
        F1("f1_with_probe", "F1 with probe"),
    ),
    (
        *(ORIGINAL, ORIGINAL_PROBE, "document_accuracy"),
        Accuracy("coherent_without_probe", "coherent without probe"),
        Accuracy("coherent_with_probe", "coherent with probe"),
    ),
)
PROBE_METRICS = tuple(metric for *_, before, after in _SIDES for metric in (before, after))


def add_probe_outcomes(
    writer: OutcomeWriter,
    table: DocumentTable,
    scores: Sequence[Sequence[float]],
    thresholds: Mapping[Decision, float],
) -> None:
    """Add the outcomes of documents that were read without and with the probe.

    The unit of both is the document without it.
    """
    read = {
        (document.extra[CONDITION], document.extra[ITEM]): (document, own)
        for document, own in zip(table.rows, scores, strict=True)
        if was_read(own)
    }
    for plain, probe, part, *metrics in _SIDES:
        items = [item for condition, item in read if condition == plain and (probe, item) in read]
        units = writer.units(table.unit(read[plain, item][0], "", ()) for item in items)
        for decision, threshold in thresholds.items():
            for condition, metric in zip((plain, probe), metrics, strict=True):
                pairs = (read[condition, item] for item in items)
                parts = [_decided(threshold, decision, *pair)[part] for pair in pairs]
                add_parts(writer, units, metric, System(label=decision), parts)


def _decided(
    threshold: float, decision: Decision, document: Document, scores: Sequence[float]
) -> Parts:
    return decision_parts(intruders(scores, threshold, decision), document.intruder_position)


def probe_differences(outcomes: OutcomeTables) -> Iterator[dict[str, Any]]:
    """What a probe changes, paired by document, for each config, split, decision and metric.

    The metric is that with the probe; its difference is from the one without.
    """
    sides = [(first, second) for *_, first, second in _SIDES]
    names = [first.name for first, _ in sides]
    known = [(*key[:2], key[3]) for key in outcomes.series if key[2] in names]
    for config, split, system in dict.fromkeys(known):
        for first, second in sides:
            without, probed = (
                outcomes.places_of(config, split, one.name, system) for one in (first, second)
            )
            if not len(without):
                continue
            before, after = outcomes.cells(without), outcomes.cells(probed)
            difference = (
                ratio_difference(
                    (before.value, before.weight), (after.value, after.weight), before.cluster
                )
                if isinstance(first, Ratio)
                else share_difference(before.value, after.value, before.cluster)
            )
            about = {"config": config, "split": split, "decision": system.label}
            figures = {name: getattr(difference, name) for name in _FIGURES}
            yield {**about, "metric": second.said, **figures}


#: What results have of an estimate of what a probe changes.
_FIGURES = ("value", "low", "high", "method", "n", "clusters")


#: A group of documents, beside those by column and by agreement.
JUDGED = "judged by people"
#: Systems beside the model's scores and decisions.
MAJORITY, RANDOM = "majority: all coherent", "random place"
ANNOTATOR, VOTE = "people: mean annotator", "people: majority vote"
#: The reason why people have no outcome on a document.
NOT_JUDGED = "not judged"

#: The metrics of scores, and those of decisions.
AUC, PLACE = AreaUnderCurve("auc", "AUC"), Accuracy("place")
DOCUMENT_ACCURACY = Accuracy("document_accuracy", "document accuracy")
_DECIDED: tuple[Metric, ...] = (
    DOCUMENT_ACCURACY,
    Accuracy("exact_accuracy", "exact accuracy"),
    F1("f1", "F1"),
    Ratio("precision"),
    Ratio("recall"),
)
DETECTION_METRICS: tuple[Metric, ...] = (AUC, PLACE, *_DECIDED)


def add_outcomes(
    writer: OutcomeWriter,
    table: DocumentTable,
    scores: Sequence[Sequence[float]],
    thresholds: Mapping[Decision, float],
) -> None:
    """Add the outcomes of a table that was tested on: of documents and, for the AUC, sentences.

    Of documents that the model did not read nobody has any. Where intruders are in unknown places,
    only whole documents are judged.
    """
    documents = table.rows
    groups = [groups_of(table, document) for document in documents]
    reasons = ["" if was_read(own) else why_left_out(own) for own in scores]
    if table.located:
        sentences = [
            (number, place)
            for number, document in enumerate(documents)
            for place in range(1, len(document.sentences))
        ]
        writer.add(
            writer.units(table.unit(documents[n], f"#{p + 1}", groups[n]) for n, p in sentences),
            AUC.name,
            MODEL,
            [None if reasons[n] else scores[n][p] for n, p in sentences],
            reason=[reasons[n] for n, _ in sentences],
            target=[float(p == documents[n].intruder_position) for n, p in sentences],
        )
    units = writer.units(
        table.unit(document, "", own) for document, own in zip(documents, groups, strict=True)
    )
    for system, metrics, decide in _systems(thresholds):
        decided = [decide(*pair) for pair in zip(documents, scores, strict=True)]
        if not any(decided):
            continue
        for metric in metrics:
            if metric != DOCUMENT_ACCURACY and not table.located:
                continue
            asked = [n for n, one in enumerate(documents) if one.intruded or metric != PLACE]
            parts: list[tuple[float | None, float]] = [
                (None, 1.0) if reasons[n] or (own := decided[n]) is None else own[metric.name]
                for n in asked
            ]
            why = [reasons[n] or NOT_JUDGED for n in asked]
            add_parts(writer, [units[n] for n in asked], metric, system, parts, why)


#: The parts of what a system decides on a document with such scores; None of one that it never saw.
_Decide = Callable[[Document, Sequence[float]], Parts | None]


def _systems(
    thresholds: Mapping[Decision, float],
) -> Iterator[tuple[System, tuple[Metric, ...], _Decide]]:
    yield MODEL, (PLACE,), lambda one, own: decision_parts((highest(own),), one.intruder_position)
    for decision, threshold in thresholds.items():
        yield System(label=decision), _DECIDED, partial(_decided, threshold, decision)
    yield baseline(MAJORITY), _DECIDED, lambda one, _: decision_parts((), one.intruder_position)
    yield baseline(RANDOM), (*_DECIDED, PLACE), _random
    yield System(role="people", label=ANNOTATOR), (*_DECIDED, PLACE), _annotators
    yield System(role="people", label=VOTE), (*_DECIDED, PLACE), _vote


def groups_of(table: DocumentTable, document: Document) -> tuple[Group, ...]:
    """The groups of a document: by columns, and by how many of those who judged it agree.

    The latter are of Shen et al. 2021 (Tables 5 and 6, Figure 3).
    """
    answers = _answers(document)
    names = [JUDGED, *agreement_groups(answers)] if answers else []
    parts = [name.partition("=") for name in names]
    judged = [(column, value) if equals else ("", column) for column, equals, value in parts]
    return (*table.unit(document).groups, *judged)


def _answers(document: Document) -> list[int]:
    answers = list(document.extra.get(HUMAN) or ())
    number = len(document.sentences)
    for answer in answers:
        if type(answer) is not int or not -1 <= answer < number:
            raise EvaluationError(
                f"{document.item_id}: {HUMAN} has {answer!r}; expected -1, or 0 to {number - 1}"
            )
    return answers


def _random(document: Document, _: Sequence[float]) -> Parts:
    # Any sentence but the opening one: what is to be expected of it.
    places = range(1, len(document.sentences))
    return mean_parts([decision_parts((place,), document.intruder_position) for place in places])


def _annotators(document: Document, _: Sequence[float]) -> Parts | None:
    answers = _answers(document)
    return mean_parts([_said(answer, document) for answer in answers]) if answers else None


def _vote(document: Document, _: Sequence[float]) -> Parts | None:
    # Several that are as frequent count in equal parts.
    counts = Counter(_answers(document))
    most = max(counts.values(), default=0)
    voted = [_said(answer, document) for answer, n in counts.items() if n == most]
    return mean_parts(voted) if voted else None


def _said(answer: int, document: Document) -> Parts:
    return decision_parts(() if answer == -1 else (answer,), document.intruder_position)

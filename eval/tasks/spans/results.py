"""What a run of ``coherencegym spans`` has beside its outcomes, and its file of answers.

``results.json`` has ``spans``: of each config the drop to strict coherence, the confidence of
choices, and facts on how answers were found. ``spans.parquet`` has each span with its probability
and answer, and no text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from coherencegym.eval.data.notes import Note, caution, detail
from coherencegym.eval.metrics.estimates import Accuracy, Ratio
from coherencegym.eval.metrics.metric import Metric
from coherencegym.eval.outcomes.schema import MODEL, System
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.report import grid
from coherencegym.eval.statistics.scores import FEW_ITEMS, Score, by_line
from coherencegym.eval.tasks.headline import (
    Headline,
    cells_by_table,
    mean_headline,
    mean_if_known,
)
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.spans.answers import SpanAnswers, text_predictions
from coherencegym.eval.tasks.spans.baselines import (
    BEST_CONSTANT,
    COIN,
    CONSTANTS,
    RELEASED_PROGRAM,
    baselines_of,
)
from coherencegym.eval.tasks.spans.coherence import (
    COHERENCE_METRICS,
    THRESHOLDS,
    SpanSelection,
    TextPrediction,
    area_under,
    best_thresholds,
    coherence_curve,
    fair_coin,
    mean_of,
    span_position,
    thresholds_by_folds,
)
from coherencegym.eval.tasks.spans.data import (
    CHOICE,
    Drop,
    ReleasedSpans,
    SpanTable,
    drop_of,
    released_coherence,
)
from coherencegym.eval.tasks.spans.published_scores import (
    published_config,
    published_for,
    published_tables,
)
from coherencegym.eval.tasks.table import add_people
from coherencegym.files.parquet_writing import row_schema, write_rows

#: Metrics of outcomes, beside those of :data:`COHERENCE_METRICS`.
ACCURACY, SPAN_ACCURACY, MONOTONE, STRICT_IF_RIGHT = (
    *("accuracy", "span accuracy", "monotone"),
    "strict if right",
)
#: The names of metrics for people.
METRIC_NAMES = {"strict": "strict", "lenient": "lenient", "lenient_if_right": "lenient if right"}
#: Groups of rows: those of one unit, for which strict coherence is accuracy, and the others.
ONE_UNIT, SEVERAL_UNITS = "units: 1", "units: several"
#: The beginnings of the names of other groups, and of systems: texts of a fold, answers by one
#: template alone.
FOLD, TEMPLATE = "fold ", "template "
#: The system of the answers by the other side of a threshold that came out inverted.
ONE_SIDED = "not inverted"
_SELECTIONS: tuple[SpanSelection, ...] = ("all", "different", "longer")


@dataclass(frozen=True)
class Answered:
    """One config with the answers of a model.

    Attributes:
        table: its rows.
        answers: those of the scorer.
        rho: ``folds``: the confidence of choices is chosen on other rows; ``best``: on these; or a
            number.
        compat: the name of the mode, or empty.
    """

    table: SpanTable
    answers: SpanAnswers
    rho: str = "folds"
    compat: str = ""

    @cached_property
    def judged(self) -> list[TextPrediction]:
        """The rows that were answered."""
        return text_predictions(self.table.rows, self.answers.rows, self.answers.ends)

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

    def thresholds(
        self, judged: Sequence[TextPrediction], selection: SpanSelection = "all"
    ) -> dict[str, list[float]]:
        """The confidence that a choice needs, for each metric and each of these rows."""
        if self.table.question != CHOICE:
            return {name: [THRESHOLDS[0]] * len(judged) for name in COHERENCE_METRICS}
        if self.rho == "folds":
            both = zip(self.table.rows, self.table.folds, strict=False)
            return thresholds_by_folds(
                judged, selection, {row.cluster: n for row, n in both} or None
            )
        if self.rho == "best":
            best = best_thresholds(judged, selection)
            return {name: [value] * len(judged) for name, value in best.items()}
        return {name: [float(self.rho)] * len(judged) for name in COHERENCE_METRICS}

    @property
    def too_long(self) -> int:
        """The number of rows that were left out, as they are too long."""
        return len(self.table.rows) - len(self.judged) - len(self.answers.crossed)

    def left_out(self, number: int) -> str:
        """The reason why a row, by its number, was left out."""
        return "crossing" if number in self.answers.crossed else "too_long"


@dataclass(frozen=True)
class SpanFacts:
    """What one config has beside its scores.

    Attributes:
        config, split, question, positive: the table's.
        cut: rows that were cut.
        drop: that from accuracy to strict coherence; intervals by a bootstrap over sources.
        selections: the three metrics of a choice by which spans count.
        thresholds: the lowest and the highest confidence that was chosen for a choice, by metric.
        curves, areas: the metrics by confidence, at each of the thresholds, and the areas below.
        released_at: the confidence that the released program chooses, by system and metric.
        published: the published figures beside them.
        about: facts on how the scorer found answers.
    """

    config: str
    split: str
    question: str
    positive: str
    cut: int
    drop: Drop
    selections: Mapping[str, Mapping[str, float]]
    thresholds: Mapping[str, tuple[float, float]]
    curves: Mapping[str, Sequence[float]]
    areas: Mapping[str, float]
    released_at: Mapping[str, Mapping[str, float | None]]
    published: Sequence[Mapping[str, Any]]
    about: Mapping[str, Any]


def span_facts(found: Results) -> list[SpanFacts]:
    """What each config has beside its scores."""
    cells = found.outcomes.cells_by_key()
    facts = []
    for one in found.details:
        about, is_choice = one.table.table, one.table.question == CHOICE
        place = about.config, about.split, MODEL.label
        curves = {n: coherence_curve(one.judged, n) for n in COHERENCE_METRICS if is_choice}
        facts.append(
            SpanFacts(
                config=about.config,
                split=about.split,
                question=one.table.question,
                positive=one.table.positive,
                cut=one.answers.cut,
                drop=drop_of({key[-1]: own for key, own in cells.items() if key[:-1] == place}),
                selections={s: _measured(one, s) for s in _SELECTIONS if is_choice},
                thresholds={n: (min(own), max(own)) for n, own in one.at.items() if is_choice},
                curves=curves,
                areas={n: area_under(own) for n, own in curves.items()},
                released_at={
                    name: {"strict": own.strict_at, "lenient": own.lenient_at}
                    for name, own in one.released.items()
                },
                published=list(published_for(about.config)) if one.compat else [],
                about=one.answers.about,
            )
        )
    return facts


def _measured(one: Answered, selection: SpanSelection) -> dict[str, float]:
    return {
        name: mean_of(
            own.metric(name, least, selection) for own, least in zip(one.judged, at, strict=True)
        )
        for name, at in one.thresholds(one.judged, selection).items()
    }


def add_span_outcomes(writer: OutcomeWriter, one: Answered) -> None:
    """Add the outcomes of the answers of a model, of baselines, and of people."""
    table, is_choice = one.table.table, one.table.question == CHOICE
    folds = one.table.folds or [None] * len(table.rows)
    units = writer.units(
        table.unit(
            row,
            "",
            (
                *table.unit(row).groups,
                *([] if is_choice else [("", ONE_UNIT if row.size == 1 else SEVERAL_UNITS)]),
                *([] if fold is None else [("", f"{FOLD}{fold}")]),
            ),
        )
        for row, fold in zip(table.rows, folds, strict=True)
    )
    for system, known in _values_by_system(one):
        for name in dict.fromkeys(name for own in known.values() for name in own):
            metric = metric_named(name)
            # Only some texts have a span at a position.
            unknown = {} if name.startswith(ACCURACY + ",") else {name: (None, 1.0)}
            found: list[Mapping[str, tuple[float | None, float]]] = [
                known.get(row.item_id, unknown) for row in table.rows
            ]
            asked = [(n, own[name]) for n, own in enumerate(found) if name in own]
            writer.add(
                [units[n] for n, _ in asked],
                metric.name,
                system,
                [value for _, (value, _) in asked],
                reason=[one.left_out(n) for n, _ in asked],
                weight=[whole for _, (_, whole) in asked] if isinstance(metric, Ratio) else None,
            )
    # People were asked about some spans of a text, and mostly about one.
    add_people(writer, units, table.rows, metric_named(SPAN_ACCURACY))


def _values_by_system(
    one: Answered,
) -> Iterator[tuple[System, dict[str, dict[str, tuple[float, float]]]]]:
    """The values of the rows that were answered, by their ids."""

    def values(judged: Sequence[TextPrediction], at: Mapping[str, Sequence[float]]) -> Any:
        return {
            own.text.item_id: text_values(own, {name: each[n] for name, each in at.items()})
            for n, own in enumerate(judged)
        }

    def baseline(label: str) -> System:
        return System(role="baseline", label=label, primary=False)

    yield MODEL, values(one.judged, one.at)
    others = {f"{TEMPLATE}{name}": own for name, own in one.answers.by_template.items()}
    if one.answers.one_sided:
        others[ONE_SIDED] = one.answers.one_sided
    predicted = {name: text_predictions(one.table.rows, own) for name, own in others.items()}
    for name, judged in {**one.baselines, **predicted}.items():
        yield baseline(name), values(judged, one.thresholds(judged))
    ids = [own.text.item_id for own in one.judged]
    coins = [fair_coin(own.text) for own in one.judged]
    names = {ACCURACY: ACCURACY, **METRIC_NAMES}
    expected = [{names[key]: (value, 1.0) for key, value in coin.items()} for coin in coins]
    yield baseline(COIN), dict(zip(ids, expected, strict=True))
    for name, released in one.released.items():
        both = zip(released.stricts, released.lenients, strict=True)
        own = [{"strict": (strict, 1.0), "lenient": (lenient, 1.0)} for strict, lenient in both]
        yield baseline(released_system(name)), dict(zip(ids, own, strict=True))


def released_system(name: str) -> str:
    """The system of what the released program computes of the answers of another."""
    return f"{RELEASED_PROGRAM}, {name}" if name else RELEASED_PROGRAM


def metric_named(name: str) -> Metric:
    """The metric of a name: of parts of rows a ratio, of rows an accuracy."""
    is_ratio = name in _RATIOS or name.startswith(ACCURACY + ",")
    return (Ratio if is_ratio else Accuracy)(name)


_RATIOS = (SPAN_ACCURACY, STRICT_IF_RIGHT)


def text_values(one: TextPrediction, at: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """The values of a text by metric, where a choice needs this confidence for each.

    Each has what it is a part of.
    """
    strict = one.metric("strict", at["strict"])
    rights = one.span_rights(at["strict"])
    found = {
        ACCURACY: (float(one.right), 1.0),
        **{name: (one.metric(key, at[key]), 1.0) for key, name in METRIC_NAMES.items()},
        SPAN_ACCURACY: (float(sum(rights)), float(len(rights))),
        MONOTONE: (float(one.monotone(at["strict"])), 1.0),
        STRICT_IF_RIGHT: (strict, float(one.right)),
    }
    by_position: dict[str, list[bool]] = {}
    for place, right in zip(one.counted(), rights, strict=True):
        by_position.setdefault(span_position(one.text, place), []).append(right)
    for position, own in by_position.items():
        found[f"{ACCURACY}, span {position}"] = float(sum(own)), float(len(own))
    return found


def span_headline(found: Results) -> Headline | None:
    """The mean over configs of strict coherence, each with the same weight."""
    strict = Accuracy("strict")
    tables = [(table.config, table.split) for table in found.tables]
    rows = by_line(found.rows)
    scores = [rows[(*table, "", "")][strict.said] for table in tables]
    return mean_headline(
        cells_by_table(found.outcomes, strict, MODEL, tables),
        strict,
        partial_input_score=mean_if_known([own.partial_input_score for own in scores]),
        chance=mean_if_known([own.chance for own in scores]),
        chance_name=BEST_CONSTANT,
    )


def span_rows(details: Sequence[Answered]) -> Iterator[dict[str, Any]]:
    """Rows of ``spans.parquet``: each span of each text that was answered.

    ``p`` is the probability of a positive answer, or of the chosen alternative; ``visited`` is null
    but under ``--compat``.
    """
    for one in details:
        visited = one.released[""].visited if one.released else ()
        for number, own in enumerate(one.judged):
            at = one.at["strict"][number]
            for place, gold in own.gold.items():
                answer = own.answer(place, at)
                yield {
                    "config": one.table.table.config,
                    "split": one.table.table.split,
                    "item_id": own.text.item_id,
                    "start": place[0],
                    "end": place[1],
                    "gold": gold,
                    "p": own.predicted[place].probability,
                    "answer": answer,
                    "right": answer == gold,
                    "visited": place in visited[number] if visited else None,
                }


def span_schema() -> Any:
    """The Arrow schema of ``spans.parquet``."""
    return row_schema(
        *("config string", "split string", "item_id string", "start int32", "end int32"),
        *("gold int32", "p double", "answer int32", "right bool", "visited bool"),
    )


def write_span_files(details: Sequence[Answered], folder: Path) -> None:
    """Write the answers to spans into a folder that is there."""
    write_rows(span_rows(details), span_schema(), folder / "spans.parquet")


def span_notes(found: Results) -> Iterator[Note]:
    """Lines that a reader of the table must know."""
    yield detail(
        "strict: share of texts with a right answer for the whole and for every span; lenient: "
        "mean share of spans with a right answer; lenient if right: lenient, with 0 for texts "
        "with a wrong answer for the whole"
    )
    lines = by_line(found.rows)
    for one in found.details:
        yield from _notes_on(one, lines)


def _notes_on(
    one: Answered, lines: Mapping[tuple[str, str, str, str], Mapping[str, Score]]
) -> Iterator[Note]:
    table, answers, items = one.table.table, one.answers, len(one.judged)
    name, total = table.name, len(table.rows)
    if one.too_long:
        yield caution(
            f"{name}: {one.too_long:,} of {total:,} texts exceed the model's context and are "
            "left out"
        )
    if crossing := len(answers.crossed):
        yield caution(
            f"{name}: {crossing:,} of {total:,} texts are left out: a token crosses the "
            "edge of what is compared on one side only"
        )
    if answers.cut:
        yield caution(
            f"{name}: {answers.cut:,} of {total:,} texts exceed the model's context and are cut at "
            "the end"
        )
    error = 100 * (0.25 / items) ** 0.5
    if 2.8 * error > 3:
        yield caution(
            f"{name}: {items:,} texts, a standard error of up to {error:.1f} points: "
            f"differences under {2.8 * error:.0f} points are not detected"
        )
    clusters = {one.text.cluster for one in one.judged}
    if len(clusters) < FEW_ITEMS and len(clusters) < items:
        yield caution(
            f"{name}: the texts come from only {len(clusters)} sources, so intervals are wide, "
            "and bootstrap intervals are too narrow"
        )
    if one.table.question == CHOICE and one.rho == "best":
        yield caution(
            f"{name}: --rho best: the confidence threshold of each metric was chosen on these "
            "same texts, as in the paper"
        )
    strict = lines[table.config, table.split, "", ""]["strict"]
    if strict.score is not None and strict.chance is not None and strict.score <= strict.chance:
        best = next(
            label
            for label in CONSTANTS
            if (own := lines.get((table.config, table.split, "", label)))
            and own["strict"].score == strict.chance
        )
        yield caution(
            f"{name}: strict coherence is no better than that of the best constant answer "
            f"({best}: {100 * strict.chance:.1f} %)"
        )
    if one_sided := lines.get((table.config, table.split, "", ONE_SIDED)):
        fits = answers.about.get("folds", [answers.about])
        weights = [fit["weight"] for fit in fits if fit["weight"] < 0]
        said = f"{weights[0]:.3f}, set on {fits[0]['calibrated_on']}"
        if len(fits) > 1:
            number = f"in {len(weights)} of {len(fits)} folds"
            said = f"{min(weights):.3f} to {max(weights):.3f}, {number}"
        accuracy, strict = (one_sided[metric] for metric in (ACCURACY, "strict"))
        yield caution(
            f"{name}: the answers are inverted (weight {said}): the "
            f"model answers '{one.table.positive}' where less supports it; not inverted, accuracy "
            f"is {grid.share_cell(accuracy.score)} %, strict {grid.share_cell(strict.score)} %"
        )
    if answers.about.get("ignores_chat_template"):
        yield caution(
            f"{name}: the prompt is plain text, although the model has a chat template; "
            "--apply-chat-template uses the template"
        )
    if one.compat:
        facts = published_tables()[str(published_config(table.config))].differs
        yield caution(f"{name}: {'; '.join(facts)}")

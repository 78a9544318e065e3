"""The figures of a run of ``coherencegym spans``, and the files that it has of its own.

``results.json`` has ``spans``: of each config the metrics, those of texts of one unit and of more
apart, the thresholds, and what stands beside them. ``items.parquet`` has the answers in one line a
row, ``spans.parquet`` each span with its probability and answer. None of them has a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from coherencegym.eval.data.notes import Note, caution, detail
from coherencegym.eval.kinds.spans import SpanText
from coherencegym.eval.metrics.accuracy import Accuracy
from coherencegym.eval.metrics.estimates import EstimateRow
from coherencegym.eval.metrics.metric import Metric
from coherencegym.eval.metrics.ratio import Ratio
from coherencegym.eval.outcomes.schema import MODEL, Group, System
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.statistics.intervals import macro_interval
from coherencegym.eval.statistics.scores import FEW_ITEMS, REFERENCE, Score, text_of
from coherencegym.eval.tasks.headline import Headline, headline_over
from coherencegym.eval.tasks.spans.answers import SpanAnswers, text_predictions
from coherencegym.eval.tasks.spans.baselines import (
    BAG,
    BEST_CONSTANT,
    COIN,
    CONSTANTS,
    RELEASED_PROGRAM,
    baselines_of,
)
from coherencegym.eval.tasks.spans.coherence import (
    COHERENCE_METRICS,
    THRESHOLDS,
    Coherence,
    SpanSelection,
    TextPrediction,
    area_under,
    best_thresholds,
    coherence,
    coherence_curve,
    fair_coin,
    mean_of,
    span_position,
    thresholds_by_folds,
)
from coherencegym.eval.tasks.spans.data import CHOICE, SpanTable
from coherencegym.eval.tasks.spans.drop import Drop, drop_of
from coherencegym.eval.tasks.spans.published_scores import (
    published_config,
    published_for,
    published_tables,
)
from coherencegym.eval.tasks.spans.released import ReleasedSpans, released_coherence
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
    def released(self) -> ReleasedSpans | None:
        """The figures of the released program, where they are asked for."""
        return released_coherence(self.judged) if self.compat else None

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
class SpanScores:
    """The figures of one config.

    Attributes:
        config, split, question, positive: the table's.
        items, too_long, crossing, cut: rows that were answered, left out (too long, or a token
            crosses the edge of what is compared on one side only), and cut.
        coherence: the metrics; ``one_unit`` and ``several_units`` those of the rows of one unit
            and of more, None where there are none.
        drop: that from accuracy to strict coherence; intervals by a bootstrap over sources.
        selections: the three metrics of a choice by which spans count.
        thresholds: the lowest and the highest confidence that was chosen for a choice, by metric.
        curves, areas: the metrics by confidence, at each of the thresholds, and the areas below.
        baselines: the metrics of each; ``coin`` the expected ones of a fair coin.
        templates: the metrics by each template alone.
        folds: those of the texts of each fold alone, where thresholds were set on the others.
        one_sided: those by the other side of a threshold that came out inverted; None where it did
            not.
        released: the figures of the released program, and those of ``released_baselines``.
        published: the published figures beside them.
        about: facts on how the scorer found answers.
    """

    config: str
    split: str
    question: str
    positive: str
    items: int
    too_long: int
    crossing: int
    cut: int
    coherence: Coherence
    one_unit: Coherence | None
    several_units: Coherence | None
    drop: Drop
    selections: Mapping[str, Mapping[str, float]]
    thresholds: Mapping[str, tuple[float, float]]
    curves: Mapping[str, Sequence[float]]
    areas: Mapping[str, float]
    baselines: Mapping[str, Coherence]
    coin: Mapping[str, float]
    templates: Mapping[str, Coherence]
    folds: Mapping[str, Coherence]
    one_sided: Coherence | None
    released: Mapping[str, float | None]
    released_baselines: Mapping[str, Mapping[str, float | None]]
    published: Sequence[Mapping[str, Any]]
    about: Mapping[str, Any]


@dataclass(frozen=True)
class SpanDetail:
    """A table with the answers of a model, and its figures."""

    answered: Answered
    scores: SpanScores


def span_detail(answered: Answered, writer: OutcomeWriter) -> SpanDetail:
    """The figures of answers, whose outcomes are added."""
    _add_outcomes(writer, answered)
    return SpanDetail(answered, _scores_of(answered))


def stated_scores(details: Sequence[SpanDetail]) -> Iterator[Score]:
    """The expected scores of a fair coin, and what the released program computes."""
    for own in (one.scores for one in details):
        released = {name: own.released.get(name) for name in ("strict", "lenient")}
        for system, scores in ((COIN, own.coin), (RELEASED_PROGRAM, released)):
            for name, value in scores.items():
                if value is not None:
                    yield Score(
                        config=own.config,
                        split=own.split,
                        group="",
                        level=REFERENCE,
                        n=own.items,
                        metric=METRIC_NAMES.get(name, name),
                        system=system,
                        score=value,
                        ci_low=None,
                        ci_high=None,
                        chance=None,
                    )


def span_fields(known: Mapping[str, EstimateRow]) -> dict[str, Any]:
    """The fields of a score beside which baselines stand: a bag of words, the best constant."""
    values = [known[name].estimate.value for name in CONSTANTS if name in known]
    bag = known[BAG].estimate.value if BAG in known else None
    best = max((value for value in values if value is not None), default=None)
    return {"partial_input_score": bag, "chance": best, "chance_name": BEST_CONSTANT}


def _add_outcomes(writer: OutcomeWriter, one: Answered) -> None:
    systems = {MODEL: (one.judged, one.at)}
    for name, judged in one.baselines.items():
        systems[System(role="baseline", label=name, primary=False)] = judged, one.thresholds(judged)
    table, is_choice = one.table.table, one.table.question == CHOICE
    groups = [None if is_choice else _groups(one.table, row) for row in table.rows]
    units = writer.units(
        table.unit(row, "", own) for row, own in zip(table.rows, groups, strict=True)
    )
    reasons = dict(zip(units, map(one.left_out, range(len(table.rows))), strict=True))
    for system, (judged, at) in systems.items():
        known = {own.text.item_id: number for number, own in enumerate(judged)}
        found: dict[str, list[tuple[int, float | None, float]]] = {}
        for unit, row in zip(units, table.rows, strict=True):
            number = known.get(row.item_id)
            values = (
                dict.fromkeys(_measures(), (None, 1.0))
                if number is None
                else _values(judged[number], {name: own[number] for name, own in at.items()})
            )
            for name, (value, whole) in values.items():
                found.setdefault(name, []).append((unit, value, whole))
        for name, rows in found.items():
            metric = metric_named(name)
            writer.add(
                [unit for unit, _, _ in rows],
                metric.name,
                system,
                [value for _, value, _ in rows],
                reason=[reasons[unit] for unit, _, _ in rows],
                weight=[whole for _, _, whole in rows] if isinstance(metric, Ratio) else None,
            )
    # People were asked about some spans of a text, and mostly about one.
    add_people(writer, units, table.rows, metric_named(SPAN_ACCURACY))


def metric_named(name: str) -> Metric:
    """The metric of a name: of parts of rows a ratio, of rows an accuracy."""
    is_ratio = name in _RATIOS or name.startswith(ACCURACY + ",")
    return (Ratio if is_ratio else Accuracy)(name)


_RATIOS = (SPAN_ACCURACY, STRICT_IF_RIGHT)


def _measures() -> list[str]:
    return [ACCURACY, *METRIC_NAMES.values(), SPAN_ACCURACY, MONOTONE, STRICT_IF_RIGHT]


def _values(one: TextPrediction, at: Mapping[str, float]) -> dict[str, tuple[float | None, float]]:
    # Each with what it is a part of.
    strict = one.metric("strict", at["strict"])
    rights = one.span_rights(at["strict"])
    found: dict[str, tuple[float | None, float]] = {
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


def _groups(table: SpanTable, row: SpanText) -> list[Group]:
    columns = [
        (column, text_of(row.extra[column]))
        for column in table.table.breakdowns
        if column in row.extra
    ]
    return [*columns, ("", ONE_UNIT if row.size == 1 else SEVERAL_UNITS)]


def _scores_of(one: Answered) -> SpanScores:
    judged, is_choice = one.judged, one.table.question == CHOICE
    parts = {
        size: [(own, number) for number, own in enumerate(judged) if (own.text.size == 1) == size]
        for size in (True, False)
    }

    def part(chosen: Sequence[tuple[TextPrediction, int]]) -> Coherence | None:
        at = {name: [values[number] for _, number in chosen] for name, values in one.at.items()}
        return coherence([own for own, _ in chosen], at) if chosen else None

    by_fold: dict[int, list[tuple[TextPrediction, int]]] = {}
    fold_of = {row.item_id: n for row, n in zip(one.table.rows, one.table.folds, strict=False)}
    for number, own in enumerate(judged if fold_of else ()):
        by_fold.setdefault(fold_of[own.text.item_id], []).append((own, number))

    curves = {name: coherence_curve(judged, name) for name in COHERENCE_METRICS}
    return SpanScores(
        config=one.table.table.config,
        split=one.table.table.split,
        question=one.table.question,
        positive=one.table.positive,
        items=len(judged),
        too_long=one.too_long,
        crossing=len(one.answers.crossed),
        cut=one.answers.cut,
        coherence=coherence(judged, one.at),
        one_unit=part(parts[True]),
        several_units=part(parts[False]),
        drop=drop_of(judged, one.at),
        selections={s: _measured(one, s) for s in _SELECTIONS} if is_choice else {},
        thresholds={n: (min(own), max(own)) for n, own in one.at.items()} if is_choice else {},
        curves=curves if is_choice else {},
        areas={n: area_under(own) for n, own in curves.items()} if is_choice else {},
        baselines={
            name: coherence(own, one.thresholds(own)) for name, own in one.baselines.items()
        },
        coin=fair_coin([own.text for own in judged]),
        templates={
            name: coherence(own, one.thresholds(own))
            for name, rows in one.answers.by_template.items()
            for own in [text_predictions(one.table.rows, rows)]
        },
        folds={
            f"fold {fold}": found
            for fold, chosen in sorted(by_fold.items())
            if (found := part(chosen)) is not None
        },
        one_sided=_one_sided(one),
        released=_released(one.released),
        released_baselines={
            name: _released(released_coherence(own))
            for name, own in (one.baselines if one.compat else {}).items()
        },
        published=list(published_for(one.table.table.config)) if one.compat else [],
        about=one.answers.about,
    )


def _one_sided(one: Answered) -> Coherence | None:
    if not one.answers.one_sided:
        return None
    judged = text_predictions(one.table.rows, one.answers.one_sided)
    return coherence(judged, one.thresholds(judged))


def _measured(one: Answered, selection: SpanSelection) -> dict[str, float]:
    own = coherence(one.judged, one.thresholds(one.judged, selection), selection)
    return {name: getattr(own, name) for name in COHERENCE_METRICS}


def _released(found: ReleasedSpans | None) -> dict[str, float | None]:
    if found is None:
        return {}
    return {
        "strict": found.strict,
        "lenient": found.lenient,
        "strict_at": found.strict_at,
        "lenient_at": found.lenient_at,
    }


def span_headline(details: Sequence[SpanDetail]) -> Headline:
    """The mean over configs of strict coherence, each with the same weight."""
    answered = [one.answered for one in details]
    scores = [one.scores for one in details]
    groups = [
        (
            [own.metric("strict", at) for own, at in zip(a.judged, a.at["strict"], strict=True)],
            [own.text.cluster for own in a.judged],
        )
        for a in answered
    ]
    bags = [own.baselines[BAG].strict for own in scores if BAG in own.baselines]
    return headline_over(
        [own.config for own in scores],
        mean_of([own.coherence.strict for own in scores]),
        macro_interval(groups),
        sum(own.items for own in scores),
        partial_input_score=mean_of(bags) if len(bags) == len(scores) else None,
        chance=mean_of([best_constant(own, "strict")[1] for own in scores]),
        chance_name=BEST_CONSTANT,
        metric="strict",
    )


def best_constant(own: SpanScores, metric: str) -> tuple[str, float]:
    """The system that reads nothing and is best on a metric, and what it comes to."""
    found = {name: getattr(own.baselines[name], metric) for name in own.baselines if name != BAG}
    name = max(found, key=lambda name: found[name])
    return name, found[name]


def item_rows(details: Sequence[SpanDetail]) -> Iterator[dict[str, Any]]:
    """Rows of ``items.parquet``: what each text came to; nulls where it is left out."""
    for one in (own.answered for own in details):
        known = {own.text.item_id: number for number, own in enumerate(one.judged)}
        for place, row in enumerate(one.table.rows):
            number = known.get(row.item_id)
            values: dict[str, Any] = dict.fromkeys(("answer", "right", *METRIC_NAMES, "monotone"))
            if number is not None:
                own = one.judged[number]
                at = {name: at[number] for name, at in one.at.items()}
                end = own.predicted[own.whole].answer if own.end is None else own.end
                values = {
                    "answer": end,
                    "right": own.right,
                    **{name: own.metric(name, at[name]) for name in METRIC_NAMES},
                    "monotone": own.monotone(at["strict"]),
                }
            yield {
                "config": one.table.table.config,
                "split": one.table.table.split,
                "item_id": row.item_id,
                "units": row.size,
                "label": row.label,
                **values,
                "reason": one.left_out(place) if number is None else "",
            }


def item_schema() -> Any:
    """The Arrow schema of ``items.parquet``."""
    return row_schema(
        *("config string", "split string", "item_id string"),
        *("units int32", "label int32", "answer int32", "right bool"),
        *(f"{name} double" for name in METRIC_NAMES),
        *("monotone bool", "reason string"),
    )


def span_rows(details: Sequence[SpanDetail]) -> Iterator[dict[str, Any]]:
    """Rows of ``spans.parquet``: each span of each text that was answered.

    ``p`` is the probability of a positive answer, or of the chosen alternative; ``visited`` is null
    but under ``--compat``.
    """
    for one in (own.answered for own in details):
        visited = one.released.visited if one.released else ()
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


def write_span_files(details: Sequence[SpanDetail], folder: Path) -> None:
    """Write both files into a folder that is there."""
    write_rows(span_rows(details), span_schema(), folder / "spans.parquet")
    write_rows(item_rows(details), item_schema(), folder / "items.parquet")


def span_notes(details: Sequence[SpanDetail]) -> Iterator[Note]:
    """Lines that a reader of the table must know."""
    yield detail(
        "strict: share of texts with a right answer for the whole and for every span; lenient: "
        "mean share of spans with a right answer; lenient if right: lenient, with 0 for texts "
        "with a wrong answer for the whole"
    )
    for one, own in ((each.answered, each.scores) for each in details):
        name, total = one.table.table.name, len(one.table.rows)
        if own.too_long:
            yield caution(
                f"{name}: {own.too_long:,} of {total:,} texts exceed the model's context and are "
                "left out"
            )
        if own.crossing:
            yield caution(
                f"{name}: {own.crossing:,} of {total:,} texts are left out: a token crosses the "
                "edge of what is compared on one side only"
            )
        if own.cut:
            yield caution(
                f"{name}: {own.cut:,} of {total:,} texts exceed the model's context and are cut at "
                "the end"
            )
        error = 100 * (0.25 / own.items) ** 0.5
        if 2.8 * error > 3:
            yield caution(
                f"{name}: {own.items:,} texts, a standard error of up to {error:.1f} points: "
                f"differences under {2.8 * error:.0f} points are not detected"
            )
        clusters = {one.text.cluster for one in one.judged}
        if len(clusters) < FEW_ITEMS and len(clusters) < own.items:
            yield caution(
                f"{name}: the texts come from only {len(clusters)} sources, so intervals are wide, "
                "and bootstrap intervals are too narrow"
            )
        if own.question == CHOICE and one.rho == "best":
            yield caution(
                f"{name}: --rho best: the confidence threshold of each metric was chosen on these "
                "same texts, as in the paper"
            )
        best, value = best_constant(own, "strict")
        if own.coherence.strict <= value:
            yield caution(
                f"{name}: strict coherence is no better than that of the best constant answer "
                f"({best}: {100 * value:.1f} %)"
            )
        if own.one_sided is not None:
            fits = own.about.get("folds", [own.about])
            weights = [fit["weight"] for fit in fits if fit["weight"] < 0]
            said = f"{weights[0]:.3f}, set on {fits[0]['calibrated_on']}"
            if len(fits) > 1:
                number = f"in {len(weights)} of {len(fits)} folds"
                said = f"{min(weights):.3f} to {max(weights):.3f}, {number}"
            yield caution(
                f"{name}: the answers are inverted (weight {said}): the "
                f"model answers '{own.positive}' where less supports it; not inverted, accuracy is "
                f"{100 * own.one_sided.accuracy:.1f} %, strict {100 * own.one_sided.strict:.1f} %"
            )
        if own.about.get("ignores_chat_template"):
            yield caution(
                f"{name}: the prompt is plain text, although the model has a chat template; "
                "--apply-chat-template uses the template"
            )
        if own.published:
            facts = published_tables()[str(published_config(own.config))].differs
            yield caution(f"{name}: {'; '.join(facts)}")

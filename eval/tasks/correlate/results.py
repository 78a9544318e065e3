"""The results of ``correlate``: scores beside what is easier, and the suite's one number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from statistics import fmean
from typing import Any

from coherencegym.eval.data.notes import caution
from coherencegym.eval.data.source import Source
from coherencegym.eval.kinds.ratings import RatedText
from coherencegym.eval.kinds.table_kind import SAMPLE
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.statistics.measures import added_up, correlation_of, mean_correlation
from coherencegym.eval.statistics.scores import (
    BAG_OF_WORDS,
    ONE_RATER,
    REPEATED_WORDS,
    SPEARMAN,
    Score,
    UnitOutcome,
    level_of,
)
from coherencegym.eval.tasks.correlate.task import BY_TOKEN, CORRELATE, SCORES
from coherencegym.eval.tasks.score.headline import Headline, floor_notes
from coherencegym.eval.tasks.score.summary import FEW_ITEMS
from coherencegym.eval.tasks.task import OutcomeResults, Table, gathered

#: The fields of a score, and of a headline, that a baseline's stand in.
_BESIDE = {
    "artefact_score": BAG_OF_WORDS,
    "overlap_score": REPEATED_WORDS,
    "human_score": ONE_RATER,
}


@dataclass(frozen=True)
class CorrelationResults(OutcomeResults):
    """The results of a run.

    Attributes:
        tables: the texts that were read.
    """

    tables: Sequence[Table[RatedText]] = ()

    @property
    def rows(self) -> list[Score]:
        """The correlations of the model's scores, each beside those of baselines, and theirs."""
        found = [
            replace(one, level=level_of(one.group, one.judge)) for one in added_up(self.outcomes)
        ]
        by_key: dict[tuple[str, ...], Score] = {(*_place(one), one.judge): one for one in found}
        return [
            replace(one, **_beside(by_key, one)) if one.judge in SCORES else one for one in found
        ]


def _place(score: Score) -> tuple[str, str, str, str]:
    return score.config, score.split, score.group, score.measure


def _beside(by_key: Mapping[tuple[str, ...], Score], score: Score) -> dict[str, Any]:
    """The fields of baselines where the model has this score."""
    known: dict[str, Any] = {}
    for field, judge in _BESIDE.items():
        if (other := by_key.get((*_place(score), judge))) is not None:
            known[field] = other.score
            if judge == ONE_RATER and other.score is not None:
                known |= {
                    "human_ci_low": other.ci_low,
                    "human_ci_high": other.ci_high,
                    "human_n": other.n,
                }
    return known


def gather_correlations(
    source: Source,
    model: LoadedModel,
    tables: Sequence[Table[RatedText]],
    outcomes: Sequence[UnitOutcome],
    settings: Mapping[str, Any],
) -> CorrelationResults:
    """The results of a run on the tables of a dataset, at least one."""
    plain = gathered(CORRELATE, source, model, tables, outcomes, settings, {})
    found = CorrelationResults(
        **{field.name: getattr(plain, field.name) for field in fields(plain)}, tables=tables
    )
    headline = headline_of_ratings(tables, outcomes, found.rows)
    notes = [*found.notes, *floor_notes(headline)]
    if any(one.n < FEW_ITEMS for one in found.rows):
        notes.append(caution(f"! fewer than {FEW_ITEMS} texts: read the interval, not the score"))
    if samples := [t.name for t in tables if all(one.corpus == SAMPLE for one in t.rows)]:
        notes.append(
            caution(
                f"{', '.join(samples)}: graded by intention; nobody was asked about these texts"
            )
        )
    return replace(found, headline=headline, notes=notes)


def headline_of_ratings(
    tables: Sequence[Table[RatedText]],
    outcomes: Sequence[UnitOutcome],
    scores: Sequence[Score],
) -> Headline | None:
    """The mean over tables of Spearman's correlation of the bits a token with the ratings.

    None where no table has one. The project's sample counts only where there is nothing else.
    """
    real = [t for t in tables if any(one.corpus != SAMPLE for one in t.rows)]
    chosen = {(table.config, table.split) for table in real or tables}
    units: dict[tuple[str, str], list[UnitOutcome]] = {}
    for one in outcomes:
        key = one.config, one.split
        is_headline = (one.measure, one.judge) == (SPEARMAN, BY_TOKEN)
        if key in chosen and is_headline and one.value is not None:
            units.setdefault(key, []).append(one)
    defined = {key: own for key, own in units.items() if correlation_of(own) is not None}
    if not defined:
        return None
    found = mean_correlation(list(defined.values()))
    own = [
        one
        for one in scores
        if (one.config, one.split) in defined
        and (one.group, one.measure, one.judge) == ("", SPEARMAN, BY_TOKEN)
    ]
    return Headline(
        over=tuple(dict.fromkeys(config for config, _ in defined)),
        n_cells=len(defined),
        n=found.n,
        score=found.value,
        ci_low=found.low,
        ci_high=found.high,
        ci_method=found.method,
        **{field: _mean_of([getattr(one, field) for one in own]) for field in _BESIDE},
        chance=0.0,
        measure=SPEARMAN,
    )


def _mean_of(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None

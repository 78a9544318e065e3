"""One model against another on the same items: what ``python -m eval compare`` reports.

Judgements are paired on config, split, item, formula and metric, other outcomes on config, split,
measure, judge and unit (:mod:`eval.results.paired_units`). A prediction that is undefined for
either model, or whose item is too long for either, is left out for both and counted; so a score
here can be another than in the folder that it is from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from coherencegym.errors import EvaluationError
from coherencegym.eval.results.comparability import obstacles, remarks
from coherencegym.eval.results.paired_scores import PairedScore
from coherencegym.eval.results.paired_units import unit_pairs, unit_rows
from coherencegym.eval.results.predictions_file import SavedItem, SavedJudgement
from coherencegym.eval.results.saved import Saved, SavedTable
from coherencegym.eval.statistics.intervals import Interval
from coherencegym.eval.statistics.paired import Test, difference_interval, holm, paired_test
from coherencegym.eval.tasks.score.selections import Selection, select
from coherencegym.eval.tasks.score.summary import item_values, shown


@dataclass(frozen=True)
class Comparison:
    """A model against a baseline.

    Attributes:
        baseline, model: the results, with their judgements.
        rows: for each config and split as :func:`eval.tasks.score.summary.summarise` has them.
        details: rows of level ``detail`` are shown, and in the family.
        obstacles: why this should not have been compared, where it was nevertheless.
        remarks: what else differs.
        unpaired: predictions that only one of the two has.
    """

    baseline: Saved
    model: Saved
    rows: tuple[PairedScore, ...]
    details: bool = False
    obstacles: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    unpaired: int = 0

    @property
    def shown(self) -> list[PairedScore]:
        """The rows that are printed; their tests are the family that is corrected for."""
        return family(self.rows, self.details)


def family(rows: Sequence[PairedScore], details: bool) -> list[PairedScore]:
    """The rows that are printed: those of the tables of scores, details only where asked for."""
    return [row for row in shown(rows) if details or row.level != "detail"]


@dataclass(frozen=True, slots=True)
class _Pair:
    """A prediction of an item, as both models met it; it is called as the baseline's is."""

    baseline: SavedJudgement
    model: SavedJudgement

    @property
    def item(self) -> SavedItem:
        return self.baseline.item

    @property
    def formula(self) -> str:
        return self.baseline.formula

    @property
    def metric(self) -> str:
        return self.baseline.metric

    @property
    def groups(self) -> tuple[str, ...]:
        return self.baseline.groups

    @property
    def defined(self) -> bool:
        return self.baseline.outcome is not None and self.model.outcome is not None


def compare(
    baseline: Saved, model: Saved, *, anyway: bool = False, details: bool = False, seed: int = 0
) -> Comparison:
    """Compare a model with a baseline.

    Args:
        baseline, model: results on the same items, by the same rules.
        anyway: compare what both have where items or rules differ.
        details: correct for the rows of level ``detail`` (see
        :class:`eval.tasks.score.summary.Score`) as well.
        seed: of drawn signs.

    Raises:
        EvaluationError: items or rules differ, or nothing is in both.
    """
    found = obstacles(baseline, model)
    folders = f"{baseline.folder} and {model.folder}"
    if found and not anyway:
        raise EvaluationError(
            f"{folders}: not comparable: {_some(found)}; expected results on the same items by the "
            "same rules (--anyway compares what both have)"
        )
    rows: list[PairedScore] = []
    unpaired = sum(len(t.judgements) + len(t.outcomes) for t in (*baseline.tables, *model.tables))
    for table in baseline.tables:
        if (other := model.table(table.config, table.split)) is not None:
            pairs = list(_pairs(table, other))
            units = list(unit_pairs(table.outcomes, other.outcomes))
            unpaired -= 2 * (len(pairs) + len(units))
            rows += _rows(table, pairs, seed) if pairs else []
            rows += unit_rows(units, seed)
    if not rows:
        raise EvaluationError(f"{folders}: no item is in both; nothing can be compared")
    tested = [row for row in family(rows, details) if row.p is not None]
    adjusted = holm([row.p for row in tested if row.p is not None])
    by_id = {id(row): p for row, p in zip(tested, adjusted, strict=True)}
    return Comparison(
        baseline,
        model,
        tuple(replace(row, p_holm=by_id.get(id(row))) for row in rows),
        details,
        tuple(found),
        tuple(remarks(baseline, model)),
        unpaired,
    )


#: Obstacles that an error names.
_MOST_NAMED = 6


def _some(found: Sequence[str]) -> str:
    more = f"; and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return "; ".join(found[:_MOST_NAMED]) + more


def _pairs(table: SavedTable, other: SavedTable) -> Iterator[_Pair]:
    theirs = dict(_keyed(other.judgements))
    for key, judgement in _keyed(table.judgements):
        if key in theirs:
            yield _Pair(judgement, theirs[key])


_Key = tuple[str, str, str, int]


def _keyed(judgements: Iterable[SavedJudgement]) -> Iterator[tuple[_Key, SavedJudgement]]:
    """With item, formula and metric, and a number where an item has a prediction several times."""
    seen: dict[tuple[str, str, str], int] = {}
    for judgement in judgements:
        key = judgement.item.item_id, judgement.formula, judgement.metric
        seen[key] = seen.get(key, -1) + 1
        yield (*key, seen[key]), judgement


def _rows(table: SavedTable, pairs: Sequence[_Pair], seed: int) -> list[PairedScore]:
    rows = select(pairs, lambda pair: pair.item.columns, table.headline)
    return [_row(table, row, seed) for row in rows]


def _row(table: SavedTable, row: Selection, seed: int) -> PairedScore:
    pairs: list[_Pair] = row.judgements
    both = [pair for pair in pairs if pair.defined]
    values = item_values(pair.baseline for pair in both)
    clusters = [value.cluster for value in values]
    left = [value.share for value in values]
    right = [value.share for value in item_values(pair.model for pair in both)]
    test: Test | None = None
    interval: Interval | None = None
    if values:
        differences = [theirs - ours for ours, theirs in zip(left, right, strict=True)]
        test = paired_test(left, right, clusters, seed)
        interval = difference_interval(differences, clusters, test)
    return PairedScore(
        config=table.config,
        split=table.split,
        formula=_only(pairs, lambda pair: pair.formula),
        metric=_only(pairs, lambda pair: pair.metric),
        group="" if row.level == "formula" else row.name,
        level=row.level,
        n=len(values),
        n_discourses=len({value.discourse_id for value in values}),
        n_clusters=len(set(clusters)),
        left_out=len({pair.item.item_id for pair in pairs}) - len(values),
        undefined_baseline=sum(pair.baseline.outcome is None for pair in pairs),
        undefined=sum(pair.model.outcome is None for pair in pairs),
        too_close=sum(pair.baseline.too_close or pair.model.too_close for pair in both),
        baseline_score=fmean(left) if left else None,
        score=fmean(right) if right else None,
        baseline_higher=sum(theirs < ours for ours, theirs in zip(left, right, strict=True)),
        higher=sum(theirs > ours for ours, theirs in zip(left, right, strict=True)),
        difference=fmean(right) - fmean(left) if values else None,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        ci_method=interval.method if interval else "",
        test=test.method if test else "",
        p=test.p if test else None,
    )


def _only(pairs: Sequence[_Pair], of: Callable[[_Pair], str]) -> str:
    """What all have in common; empty where they differ."""
    found = {of(pair) for pair in pairs}
    return found.pop() if len(found) == 1 else ""

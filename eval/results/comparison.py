"""One model against another on the same items: what ``coherencegym compare`` reports.

Judgements are paired on config, split, item, formula and metric, other outcomes on config, split,
measure, judge and unit (:mod:`eval.results.paired_scores`). A prediction that is undefined for
either model, or whose item is too long for either, is left out for both and counted; so a score
here can be another than in the folder that it is from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.results.folder import SavedJudgement
from coherencegym.eval.results.labels import printable
from coherencegym.eval.results.paired_scores import (
    PairedScore,
    of_difference,
    unit_rows,
)
from coherencegym.eval.results.saved import Saved, SavedTable
from coherencegym.eval.statistics.estimate import PairedDifference
from coherencegym.eval.statistics.paired import difference_interval, holm, paired_test
from coherencegym.eval.tasks.score.columns import (
    Columns,
    ItemValues,
    count_distinct,
    item_values,
    judgement_columns,
)
from coherencegym.eval.tasks.score.selections import Selection, select
from coherencegym.eval.tasks.score.summary import kind_of, shown_rows
from coherencegym.files.strict_json import kind


@dataclass(frozen=True)
class ModelComparison:
    """A model against a baseline.

    Attributes:
        baseline, model: the results, with their judgements.
        rows: those that :func:`eval.tasks.score.summary.summarise` has for each config and split.
        details: rows of level ``detail`` are shown, and in the family.
        obstacles: reasons against comparing, where it was done nevertheless.
        remarks: other differences.
        unpaired: predictions that only one of the two has.
        together: p-values are corrected for the tests of all comparisons, not of this one alone.
    """

    baseline: Saved
    model: Saved
    rows: tuple[PairedScore, ...]
    details: bool = False
    obstacles: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    unpaired: int = 0
    together: bool = False

    @property
    def shown(self) -> list[PairedScore]:
        """The rows that are printed; their tests are the family that is corrected for."""
        return family(self.rows, self.details)


def moved(comparison: ModelComparison, folder: Path | None) -> ModelComparison:
    """A comparison whose texts are in a folder; None: where the dataset was."""
    if folder is None:
        return comparison
    dataset = replace(comparison.baseline.dataset, name=str(folder), commit=None)
    return replace(comparison, baseline=replace(comparison.baseline, dataset=dataset))


def family(rows: Sequence[PairedScore], details: bool) -> list[PairedScore]:
    """The rows that are printed: those of the tables of scores, details only where asked for."""
    return [row for row in shown_rows(rows) if details or row.level != "detail"]


#: A prediction of an item as the baseline and the model met it; it is called as the baseline's is.
PairedJudgements = tuple[SavedJudgement, SavedJudgement]


def compare(
    baseline: Saved, model: Saved, *, anyway: bool = False, details: bool = False, seed: int = 0
) -> ModelComparison:
    """Compare a model with a baseline.

    Args:
        baseline, model: results on the same items, by the same rules.
        anyway: compare what both have where items or rules differ.
        details: correct for the rows of level ``detail`` as well.
        seed: draws signs.

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
    unpaired = sum(len(table.judgements) for table in (*baseline.tables, *model.tables))
    for table in baseline.tables:
        if (other := model.table(table.config, table.split)) is not None:
            pairs = list(judged_pairs(table, other))
            unpaired -= 2 * len(pairs)
            rows += _rows(table, pairs, seed) if pairs else ()
    if baseline.outcomes is not None and model.outcomes is not None:
        both = sum(len(theirs) for _, theirs in baseline.outcomes.paired(model.outcomes))
        unpaired += len(baseline.outcomes) + len(model.outcomes) - 2 * both
        rows += unit_rows(baseline.outcomes, model.outcomes, baseline.metrics, seed)
    if not rows:
        raise EvaluationError(f"{folders}: no item is in both; nothing can be compared")
    about: Any = tuple(rows), details, tuple(found), tuple(remarks(baseline, model)), unpaired
    (done,) = _corrected([ModelComparison(baseline, model, *about)])
    return done


def corrected_together(comparisons: Sequence[ModelComparison]) -> list[ModelComparison]:
    """The comparisons, their p-values corrected (Holm) for the tests of all of them."""
    return [replace(one, together=True) for one in _corrected(comparisons)]


def _corrected(comparisons: Sequence[ModelComparison]) -> list[ModelComparison]:
    tested = [row for one in comparisons for row in one.shown if row.p is not None]
    adjusted = holm([row.p for row in tested if row.p is not None])
    by_id = {id(row): p for row, p in zip(tested, adjusted, strict=True)}
    return [
        replace(one, rows=tuple(replace(row, p_holm=by_id.get(id(row))) for row in one.rows))
        for one in comparisons
    ]


#: Obstacles that an error names.
_MOST_NAMED = 6


def _some(found: Sequence[str]) -> str:
    more = f"; and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return "; ".join(found[:_MOST_NAMED]) + more


def judged_pairs(table: SavedTable, other: SavedTable) -> Iterator[PairedJudgements]:
    """The predictions that both have, of one table, as either met them."""
    if len(table.judgements) == len(other.judgements) and all(
        map(_is_same, table.judgements, other.judgements)
    ):
        yield from zip(table.judgements, other.judgements, strict=True)
        return
    theirs = dict(_keyed(other.judgements))
    for key, judgement in _keyed(table.judgements):
        if key in theirs:
            yield judgement, theirs[key]


def _is_same(one: SavedJudgement, other: SavedJudgement) -> bool:
    names = (one.item.item_id, one.formula, one.metric)
    return names == (other.item.item_id, other.formula, other.metric)


_Key = tuple[str, str, str, int]


def _keyed(judgements: Iterable[SavedJudgement]) -> Iterator[tuple[_Key, SavedJudgement]]:
    """Judgements by item, formula and metric, and a number where an item has one several times."""
    seen: dict[tuple[str, str, str], int] = {}
    for judgement in judgements:
        key = judgement.item.item_id, judgement.formula, judgement.metric
        seen[key] = seen.get(key, -1) + 1
        yield (*key, seen[key]), judgement


def _rows(table: SavedTable, pairs: Sequence[PairedJudgements], seed: int) -> Iterator[PairedScore]:
    ours, theirs = (judgement_columns(pair[side] for pair in pairs) for side in (0, 1))
    # The predictions are paired, and so are their items.
    theirs = theirs.take(slice(None), item=ours.item)
    for row in select(ours, table.headline):
        yield _row(table, row, ours, theirs, seed)


def _row(
    table: SavedTable, row: Selection, ours: Columns, theirs: Columns, seed: int
) -> PairedScore:
    places = row.places
    known = [columns.reason[places] == 0 for columns in (ours, theirs)]
    both = places[known[0] & known[1]]
    values, others = (item_values(columns, both) for columns in (ours, theirs))
    formula, metric = kind_of(ours, places)
    return PairedScore(
        config=table.config,
        split=table.split,
        formula=formula,
        metric=metric,
        group="" if row.level == "formula" else row.name,
        level=row.level,
        left_out=count_distinct(ours.item[places]) - len(values),
        undefined_baseline=int((~known[0]).sum()),
        undefined=int((~known[1]).sum()),
        too_close=int((ours.too_close[both] | theirs.too_close[both]).sum()),
        **_compared(values, others, seed),
    )


def _compared(values: ItemValues, others: ItemValues, seed: int) -> dict[str, Any]:
    """The fields of a row that the values of its items give, for the baseline and the model."""
    clusters, left, right = values.cluster, values.share, others.share
    differences = right - left
    fields: dict[str, Any] = {"baseline_score": None, "score": None}
    if len(values):
        test = paired_test(left, right, clusters, seed)
        interval = difference_interval(differences, clusters, test)
        fields = {"baseline_score": fmean(left), "score": fmean(right)}
        found = fmean(right) - fmean(left), interval.low, interval.high, interval.method
        fields |= of_difference(PairedDifference(*found, test.method, test.p))
    return {
        **fields,
        "n": len(values),
        "n_discourses": count_distinct(values.discourse),
        "n_clusters": count_distinct(clusters),
        "baseline_higher": int((differences < 0).sum()),
        "higher": int((differences > 0).sum()),
    }


#: Settings that may differ. All others that were chosen may not, those of a later release included:
#: the tables say which items were scored, the mode its rules, and the rest is about the model and
#: the machine, or changes no item's score. What a choice came to for a model (its start token, the
#: numeric error) stands there as an object, and may differ too.
MAY_DIFFER = frozenset(
    {
        *("configs", "split", "max_items"),
        "tie_bits",
        *("batch_tokens", "share", "seed", "resamples", "intervals"),
        *("detector", "calibrate_on", "threshold"),
        *("device", "device_map", "dtype", "model_args", "model_revision", "trust_remote_code"),
    }
)


def obstacles(baseline: Saved, model: Saved) -> list[str]:
    """Reasons why the scores of two folders cannot be compared; empty: they can."""
    return [*_different_data(baseline, model), *_different_settings(baseline, model)]


#: Settings that only a trained detector has: how it was trained is of the model.
_TRAINING = frozenset(
    {
        *("learning_rate", "epochs", "batch_size", "evaluations", "patience", "max_length"),
        *("class_weights", "training", "train_on", "training_sha256", "training_documents"),
        *("training_pairs", "pairs", "truncated_pairs"),
    }
)


#: Settings that say nothing of what a score is of.
INCIDENTAL = MAY_DIFFER | _TRAINING


#: Settings that may differ too between results on spans: ways to ask a model the same things.
_ASKING = frozenset(
    {
        *("scorer", "label_map", "decision", "temperature", "conditional"),
        *("calibrated", "apply_chat_template", "bos"),
    }
)


def remarks(baseline: Saved, model: Saved) -> list[str]:
    """Other differences that may have changed a number, a few words each."""
    lines = []
    if baseline.model.dtype != model.model.dtype:
        lines.append(f"dtype: {_both(baseline.model.dtype, model.model.dtype)}")
    names = ["detector", "calibrate_on", "threshold", "scorer"]
    if baseline.settings.get("scorer") == model.settings.get("scorer"):
        # Another scorer has no use for most of these.
        names += sorted(_ASKING - {"scorer"})
    for name in names:
        values = baseline.settings.get(name), model.settings.get(name)
        if values[0] != values[1]:
            lines.append(f"{name}: {_both(*values)}")
    ours, theirs = baseline.settings["versions"], model.settings["versions"]
    for package in dict.fromkeys([*ours, *theirs]):
        if ours.get(package) != theirs.get(package):
            lines.append(f"{package}: {_both(ours.get(package), theirs.get(package))}")
    return lines


def _both(left: Any, right: Any) -> str:
    return f"{kind(left)} and {kind(right)}"


def _different_data(baseline: Saved, model: Saved) -> Iterator[str]:
    commits = baseline.dataset.commit, model.dataset.commit
    if None not in commits and commits[0] != commits[1]:
        yield f"dataset commit: {_both(*commits)}"
    for table in baseline.tables:
        other = model.table(table.config, table.split)
        if other is None:
            yield f"{_name(table)}: only in the first"
        elif table.sha256 != other.sha256:
            yield f"{_name(table)}: the rows differ"
        elif table.items != other.items:
            yield f"{_name(table)}: {table.items:,} and {other.items:,} items"
        if other is not None and table.headline != other.headline:
            yield f"{_name(table)}: score over {_both(table.headline, other.headline)}"
    for table in model.tables:
        if baseline.table(table.config, table.split) is None:
            yield f"{_name(table)}: only in the second"


def _name(table: SavedTable) -> str:
    return printable(f"{table.config} ({table.split})")


def _different_settings(baseline: Saved, model: Saved) -> Iterator[str]:
    left, right = baseline.settings, model.settings
    if (baseline.task == "score") != (model.task == "score"):
        yield f"task: {_both(baseline.task, model.task)}"
    shared = left.keys() & right.keys() if baseline.task != model.task else {*left, *right}
    # Models are asked in ways of their own; how surprisals are read, masked or not, is a rule.
    are_asked = baseline.task == model.task and "scorer" in shared and "masking" not in shared
    for name in dict.fromkeys([*left, *right]):
        # A release that does not know a setting does what a later one does without it.
        values = left.get(name) or None, right.get(name) or None
        is_object = any(isinstance(value, Mapping) for value in values)
        differs_by_model = name in MAY_DIFFER or name in _TRAINING or name not in shared
        differs_by_model |= name in _ASKING and are_asked
        if not differs_by_model and not is_object and values[0] != values[1]:
            yield f"{name}: {_both(left.get(name), right.get(name))}"
    rules = left.get("rules"), right.get("rules")
    if rules[0] != rules[1] and left.get("compat") == right.get("compat"):
        yield "rules of scoring: those of two releases"

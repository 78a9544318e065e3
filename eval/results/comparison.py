"""One model against another on the same items: what ``coherencegym compare`` reports.

Outcomes are paired on the table, the metric, the system and the unit: for a prediction its item,
formula and region aggregation; each metric of units has the paired test that suits it. A prediction
that is undefined for either model, or whose item is too long for either, is left out for both and
counted; so a score here can be another than in the folder that it is from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.notes import first_names, shown_setting, table_name
from coherencegym.eval.outcomes.estimates import rows_of
from coherencegym.eval.outcomes.metric import Metric
from coherencegym.eval.outcomes.metrics import ItemAccuracy, pooled
from coherencegym.eval.outcomes.schema import MODEL, System
from coherencegym.eval.outcomes.tables import Cells, OutcomeTables, SeriesKey, count_distinct
from coherencegym.eval.plan.options import DEFAULT_OPTIONS
from coherencegym.eval.statistics.effective_size import effective_sample_size
from coherencegym.eval.statistics.estimators import effective_items, smallest_difference
from coherencegym.eval.statistics.paired import holm
from coherencegym.eval.statistics.scores import ScoreRow, difference_fields, shown_rows
from coherencegym.eval.tasks.results import Results, TableFacts
from coherencegym.eval.tasks.score.outcomes import ACCURACY, CONTROLLED, OF_MODEL, inside, select
from coherencegym.eval.tasks.score.summary import items_by_config, kind_of
from coherencegym.files.folders import check_inputs


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedScore(ScoreRow):
    """The scores of two models over the same predictions or units, and their difference.

    Attributes:
        n: items with a prediction that is defined for both models, or documents, or sentences;
            they are of ``n_clusters``.
        left_out: items without one.
        undefined, undefined_baseline: predictions that are undefined for the model (for the
            baseline), or of an item that is too long for it.
        too_close: predictions that are too close to call for either; they are in the scores.
        baseline_score, score: scores over the n items; None without items.
        baseline_plain_score, plain_score: plain CD scores beside controlled ones.
        baseline_higher, higher: items of which more predictions hold for the baseline (for the
            model).
        difference: score minus baseline_score, with a 95 % interval and how it was computed.
        test, p: see :class:`eval.statistics.paired.Test`; empty and None without items.
        p_holm: p adjusted for all tests of its family; None where it is in none.
        visible: the smallest difference that a test of so many items shows with a power of 80 %,
            of a suite's headline scores; None where even the largest would not be shown.
    """

    n_clusters: int
    left_out: int
    undefined_baseline: int
    undefined: int
    too_close: int = 0
    baseline_score: float | None
    score: float | None
    baseline_plain_score: float | None = None
    plain_score: float | None = None
    baseline_higher: int
    higher: int
    difference: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    ci_method: str = ""
    test: str = ""
    p: float | None = None
    p_holm: float | None = None
    visible: float | None = None


def is_compared(metric: Metric, system: System) -> bool:
    """Tell whether models are compared by the outcomes of a system under a metric.

    Baselines of items decided when the dataset was built: they are the same beside any model.
    """
    return metric.is_compared and (system.role == "model" or not metric.is_of_items)


def count_compared(results: Results, outcomes: OutcomeTables) -> int:
    """The number of units in some outcomes by which models are compared."""
    import numpy as np

    units = [
        outcomes.units_of(places)
        for (_, _, name, system), places in outcomes.series.items()
        if is_compared(results.metrics[name], system)
    ]
    return count_distinct(np.concatenate(units)) if units else 0


#: What a comparison says of items that are not in its scores, or barely.
_LEFT_OUT = ("left_out", "undefined_baseline", "undefined", "too_close")
#: The outcomes of the baseline and of the model, those that both have in one order.
Sides = tuple[OutcomeTables, OutcomeTables]


def paired_rows(baseline: Results, sides: Sides, seed: int) -> Iterator[PairedScore]:
    """A row of all units that both have by table, metric and system, and one of each group.

    Of predictions the rows are those of a table of scores (:mod:`eval.tasks.score.outcomes`), and
    the row of a whole table is of controlled scores where both have them.
    """
    rows, controlled = [], {}
    for key, every in sides[0].series.items():
        config, split, name, system = key
        metric, table = baseline.metrics[name], baseline.table(config, split)
        if not is_compared(metric, system):
            continue
        assert table is not None
        for places, about in _rows_of(sides[0], key, every, metric, table):
            made = _row(metric, sides, places, seed, about)
            if metric.name == CONTROLLED.name:
                controlled[config, split] = made
                break
            rows.append(made)
    for made in rows:
        better = controlled.get((made.config, made.split)) if made.level == "all" else None
        if better is not None:
            plain: Any = {"baseline_plain_score": made.baseline_score, "plain_score": made.score}
            # Items without a value have no weight either.
            plain |= {name: getattr(made, name) for name in _LEFT_OUT}
            made = replace(better, **plain)
        yield made


def _rows_of(
    ours: OutcomeTables, key: SeriesKey, every: Any, metric: Metric, table: TableFacts
) -> Iterator[tuple[Any, dict[str, Any]]]:
    # The places of each row, and what it is about.
    config, split, _, system = key
    of_table = {"config": config, "split": split, "metric": metric.said, "system": system.label}
    if metric.is_of_items:
        rows = select(ours, every, table.headline, table.breakdowns)
    else:
        is_whole = system.role == "model" and system.layer is None
        rows = rows_of(ours, every, system, metric.by_group and is_whole)
    for level, group, places in rows:
        formula, aggregation = kind_of(ours, places)
        kinds = {"formula": formula, "aggregation": aggregation}
        yield places, {**of_table, **kinds, "level": level, "group": group}


def _row(
    metric: Metric, sides: Sides, places: Any, seed: int, about: dict[str, Any]
) -> PairedScore:
    before, after = sides
    has = before.has_value(places), after.has_value(places)
    left, right = (metric.counted(side.cells(places[has[0] & has[1]])) for side in sides)
    whole = count_distinct(before.items(places)) if metric.is_of_items else len(places)
    shares = metric.rightness(left), metric.rightness(right)
    close = before.flags(places, "too close") | after.flags(places, "too close")
    return PairedScore(
        **about,
        n=len(left),
        n_clusters=count_distinct(left.cluster),
        left_out=whole - len(left),
        undefined_baseline=int((~has[0]).sum()),
        undefined=int((~has[1]).sum()),
        too_close=int(close[has[0] & has[1]].sum()),
        baseline_score=metric.value(left),
        score=metric.value(right),
        baseline_higher=0 if shares[0] is None else int((shares[0] > shares[1]).sum()),
        higher=0 if shares[0] is None else int((shares[1] > shares[0]).sum()),
        **difference_fields(metric.compare(left, right, seed)),
    )


def headline_difference(
    baseline: Results, model: Results, sides: Sides, seed: int
) -> PairedScore | None:
    """The headline scores of two models and their difference; None where no item is in both.

    It is of controlled scores, whose weights are those of the items that both have, where both
    headlines are.

    Args:
        baseline, model: results of ``score`` on one suite, whose headlines are over the same
            configs.
        sides: their outcomes.
        seed: draws signs.
    """
    import numpy as np

    ours, theirs = sides
    tables = [one for one in baseline.tables if one.config in baseline.headline_configs]
    every = np.arange(len(ours))
    has_both = ours.has_value(every) & theirs.has_value(every)

    def items(metric: ItemAccuracy) -> list[list[Cells]]:
        both = np.flatnonzero(has_both)
        known = (items_by_config(side.select(both), tables, metric) for side in sides)
        return [[*own.values()] for own in known]

    plain, controlled = items(ACCURACY), items(CONTROLLED)
    if not plain[0]:
        return None
    heads = (baseline.headline, model.headline)
    is_controlled = bool(controlled[0]) and all(head and head.is_controlled for head in heads)
    metric, (before, after) = (CONTROLLED, controlled) if is_controlled else (ACCURACY, plain)
    beside: dict[str, Any] = {}
    if is_controlled:
        values = (ACCURACY.mean(own).value for own in plain)
        beside = dict(zip(("baseline_plain_score", "plain_score"), values, strict=True))
    whole = 0
    for one in tables:
        own = inside(ours, ours.places_of(one.config, one.split, *OF_MODEL), one.headline)
        whole += count_distinct(ours.items(own)) if has_both[own].any() else 0
    chosen = pooled(before, not is_controlled)
    effective = effective_sample_size(chosen.weight)
    independent = effective * effective_items(chosen.cluster) / len(chosen)
    return PairedScore(
        config="",
        split="",
        group="",
        level="all",
        metric=metric.label,
        n=len(chosen),
        n_clusters=count_distinct(chosen.cluster),
        left_out=whole - sum(map(len, plain[0])),
        undefined_baseline=0,
        undefined=0,
        baseline_score=metric.mean(before).value,
        score=metric.mean(after).value,
        baseline_higher=0,
        higher=0,
        visible=smallest_difference(independent),
        **beside,
        **difference_fields(metric.compare_means(before, after, seed)),
    )


def by_suite(
    results: Sequence[Results], fewest: int = 2
) -> tuple[list[list[Results]], list[Results]]:
    """Results by suite and task, in the order in which these come.

    The models of a suite are in the order in which they come in all results, so that the baseline
    is the same everywhere.

    Args:
        results: two or more, or one whose layers are compared.
        fewest: results of a suite that are enough for a comparison.

    Returns:
        Those of each suite, and those that stand alone. Two that are all stand together, whatever
        they are of: a comparison says what keeps them apart.
    """
    models = list(dict.fromkeys(map(_model, results)))
    found: dict[tuple[str, str], list[Results]] = {}
    for one in sorted(results, key=lambda one: models.index(_model(one))):
        found.setdefault(_key(one), []).append(one)
    groups = [found[key] for key in dict.fromkeys(map(_key, results))]
    together = [group for group in groups if len(group) >= fewest]
    if not together and len(results) == 2:
        return [list(results)], []
    if not together:
        raise EvaluationError(
            f"{results[0].place} and {len(results) - 1:,} more: no two are of the same suite and "
            "task; expected results of two or more models on a suite"
        )
    return together, [one for group in groups if len(group) < fewest for one in group]


def _key(one: Results) -> tuple[str, str]:
    return one.suite, one.task


def _model(one: Results) -> tuple[str, str, str]:
    return one.model_name, one.commit, one.dtype


def at_layer(results: Results, layer: int) -> Results:
    """The results in which a layer's outcomes stand for those of the layer that was chosen."""
    import numpy as np

    found = results.outcomes
    for table in results.tables:
        own = [key[3] for key in found.series if key[:2] == (table.config, table.split)]
        known = dict.fromkeys(system.label for system in own if system.layer is not None)
        if layer not in {system.layer for system in own}:
            raise EvaluationError(
                f"{results.place}: {table.config}: no layer {layer}; expected "
                + (f"one of {', '.join(known)}" if known else "results of coherencegym probe")
            )
    places = [own for (*_, system), own in found.series.items() if system.layer == layer]
    chosen = found.select(np.sort(np.concatenate(places)))
    systems = tuple(MODEL if one.layer == layer else one for one in found.systems)
    return replace(results, outcomes=replace(chosen, systems=systems))


def model_labels(results: Sequence[Results]) -> list[str]:
    """The names of the models of several results: no two alike.

    The model's name where that tells them apart, or else with how it was loaded, its commit, or the
    folder.
    """
    shorts = [(Path(one.model_name).name or one.model_name) + one.variant for one in results]
    wholes = [one.model_name + one.variant for one in results]
    ways: tuple[Callable[[Results], str], ...] = (
        lambda one: one.loaded_as,
        lambda one: f"{one.commit.rpartition(':')[2][:12]}, {one.loaded_as}",
        lambda one: one.place.resolve().name,
        lambda one: str(one.place),
    )
    labels = [
        [f"{name} ({way(one)})" for name, one in zip(names, results, strict=True)]
        for way in ways
        for names in (shorts, wholes)
    ]
    for found in (shorts, wholes, *labels):
        if len(set(found)) == len(found):
            return found
    return [f"{number}: {path}" for number, path in enumerate(labels[-2], 1)]


@dataclass(frozen=True)
class ModelComparison:
    """A model against a baseline.

    Attributes:
        baseline, model: the results, with their outcomes.
        names: those of the model and of the baseline.
        rows: those that :func:`eval.tasks.score.summary.summarise` has for each config and split.
        details: rows of groups of items are shown, and in the family.
        obstacles: reasons against comparing, where it was done nevertheless.
        remarks: other differences.
        unpaired: units (predictions, rows, texts) that only one of the two has.
        headline: the headline scores of the suite; None where the two have none over the same
            configs.
    """

    baseline: Results
    model: Results
    names: tuple[str, str]
    rows: tuple[PairedScore, ...]
    details: bool = False
    obstacles: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    unpaired: int = 0
    headline: PairedScore | None = None

    @property
    def shown(self) -> list[PairedScore]:
        """The rows that are printed, which are the family of tests that is corrected for.

        They are those of the tables of scores, groups only where asked for.
        """
        shown = shown_rows(self.rows, with_small=self.details)
        return [row for row in shown if self.details or row.level in ("all", "formula")]


def compare(
    baseline: Results,
    model: Results,
    *,
    names: tuple[str, str] | None = None,
    anyway: bool = False,
    details: bool = False,
    seed: int = 0,
) -> ModelComparison:
    """Compare a model with a baseline.

    Args:
        baseline, model: results on the same items, by the same rules.
        names: those of the model and of the baseline; None: as they are told apart.
        anyway: compare what both have where items or rules differ.
        details: show the rows of groups of items, and correct for them as well.
        seed: draws signs.
    """
    reference, own = model_labels([baseline, model])
    found = obstacles(baseline, model)
    folders = f"{baseline.place} and {model.place}"
    if baseline.suite != model.suite and not anyway:
        suites = " and ".join(one.named_suite for one in (baseline, model))
        raise EvaluationError(f"results of different suites, {suites}; expected one suite")
    if found and not anyway:
        raise EvaluationError(
            f"{folders}: not comparable: {_some(found)}; expected results on the same items by the "
            "same rules (--anyway, anyway=True in Python, compares the configs and items that both "
            "have)"
        )
    sides = baseline.outcomes.paired(model.outcomes)
    every = (count_compared(each, each.outcomes) for each in (baseline, model))
    unpaired = sum(every) - 2 * count_compared(baseline, sides[0])
    rows = list(paired_rows(baseline, sides, seed))
    headline = None
    if baseline.headline_configs == model.headline_configs and baseline.task == model.task:
        headline = headline_difference(baseline, model, sides, seed)
    if not rows:
        raise EvaluationError(f"{folders}: no item is in both; nothing can be compared")
    comparison = ModelComparison(
        baseline,
        model,
        names or (own, reference),
        tuple(rows),
        details,
        tuple(found),
        tuple(one for one in remarks(baseline, model) if one not in found),
        unpaired,
        headline=headline,
    )
    (done,) = holm_corrected([comparison])
    return done


def holm_corrected(comparisons: Sequence[ModelComparison]) -> list[ModelComparison]:
    """The comparisons, their p-values corrected (Holm) for the tests of all of them."""
    # The headline scores answer one question each, and are a family of their own.
    by_id = {
        **_adjusted([row for one in comparisons for row in one.shown]),
        **_adjusted([one.headline for one in comparisons if one.headline]),
    }

    def adjusted(row: PairedScore) -> PairedScore:
        return replace(row, p_holm=by_id.get(id(row)))

    return [
        replace(
            one,
            rows=tuple(map(adjusted, one.rows)),
            headline=one.headline and adjusted(one.headline),
        )
        for one in comparisons
    ]


def _adjusted(rows: Sequence[PairedScore]) -> dict[int, float]:
    known = [(id(row), row.p) for row in rows if row.p is not None]
    return dict(zip([row for row, _ in known], holm([p for _, p in known]), strict=True))


#: Obstacles that an error names.
_MOST_NAMED = 6


def _some(found: Sequence[str]) -> str:
    more = f"; and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return "; ".join(found[:_MOST_NAMED]) + more


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


def obstacles(baseline: Results, model: Results) -> list[str]:
    """Reasons why the scores of two folders cannot be compared; empty: they can."""
    return [*_different_data(baseline, model), *_different_settings(baseline, model)]


#: Settings that only a trained detector has: how it was trained is of the model.
_TRAINING = frozenset(
    {
        *("learning_rate", "epochs", "batch_size", "patience", "max_length", "fold"),
        *("training", "train", "train_on", "training_sha256"),
        *("training_texts", "training_rows", "validation_rows", "truncated_rows"),
    }
)


#: Settings that say nothing of what a score is of.
INCIDENTAL = MAY_DIFFER | _TRAINING


#: Settings that may differ too between results on spans: ways to ask a model the same things.
_ASKING = frozenset(
    {
        *("scorer", "label_map", "temperature", "bos"),
    }
)


def remarks(baseline: Results, model: Results) -> list[str]:
    """Other differences that may have changed a number, a few words each."""
    lines = []
    sides = [set(results.headline_configs) for results in (baseline, model)]
    if all(sides) and (others := sides[0] ^ sides[1]):
        lines.append(
            "no difference of the headline scores, as only one of them counts "
            f"{first_names(sorted(others))}"
        )
    if baseline.dtype != model.dtype:
        lines.append(f"dtype: {_both(baseline.dtype, model.dtype)}")
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
    return f"{shown_setting(left)} and {shown_setting(right)}"


#: The reasons why two runs do not have the same rows.
_OTHER_ROWS = "another build, --cluster-by or people's answers"


def _different_data(baseline: Results, model: Results) -> Iterator[str]:
    commits = baseline.data_commit, model.data_commit
    if all(commits) and commits[0] != commits[1]:
        yield f"dataset commit: {_both(*commits)}"
    for table in baseline.tables:
        name = table_name(table.config, table.split)
        other = model.table(table.config, table.split)
        if other is None:
            yield f"{name}: only in the first"
        elif table.breakdowns != other.breakdowns:
            by = _both(table.breakdowns, other.breakdowns)
            yield f"{name}: scores by column (--group-by): {by}"
        elif table.sha256 != other.sha256:
            yield f"{name}: the rows differ ({_OTHER_ROWS})"
        elif table.items != other.items:
            yield f"{name}: {table.items:,} and {other.items:,} items"
        if other is not None and table.headline != other.headline:
            yield f"{name}: score over {_both(table.headline, other.headline)}"
    for table in model.tables:
        if baseline.table(table.config, table.split) is None:
            yield f"{table_name(table.config, table.split)}: only in the second"


def _different_settings(baseline: Results, model: Results) -> Iterator[str]:
    if (baseline.task == "score") != (model.task == "score"):
        yield f"task: {_both(baseline.task, model.task)}"
    ours, theirs = scoring_rules(baseline), scoring_rules(model)
    names = dict.fromkeys([*ours, *theirs])
    asked = baseline.settings.keys() | model.settings.keys()
    if baseline.task != model.task:
        shared = baseline.settings.keys() & model.settings.keys()
        names = dict.fromkeys(name for name in names if name in shared)
    elif "scorer" in asked and "masking" not in asked:
        # Models are asked in ways of their own; how surprisals are read, masked or not, is a rule.
        names = dict.fromkeys(name for name in names if name not in _ASKING)
    elif ("bos" in baseline.settings) != ("bos" in model.settings):
        # A classifier reads no surprisals, and has no options of reading them.
        names = dict.fromkeys(name for name in names if name not in DEFAULT_OPTIONS.record())
    for name in names:
        # A release that does not know a setting does what a later one does without it.
        if ours.get(name) != theirs.get(name):
            left, right = {**baseline.settings, **ours}, {**model.settings, **theirs}
            yield f"{name}: {_both(left.get(name), right.get(name))}"


def scoring_rules(results: Results) -> dict[str, Any]:
    """The settings that change what a score is of, and the rules of scoring; none that is not set.

    What a choice came to for a model (its start token, the numeric error) is an object.
    """
    settings = {
        name: value
        for name, value in results.settings.items()
        if value and name not in INCIDENTAL and not isinstance(value, Mapping)
    }
    rules = results.settings.get("rules")
    named = rules.items() if isinstance(rules, Mapping) else ()
    return settings | {f"rule {name}": value for name, value in named if value}


def option_of(rule: str) -> str:
    """A rule as the command line has it."""
    return rule if rule.startswith("rule ") else f"--{rule.replace('_', '-')}"


#: The endings of files of items.
_WRITTEN = (".csv", ".parquet")


def check_items_file(path: Path, inputs: Sequence[Path] = ()) -> None:
    """Refuse a file of items that is there, cannot be written, or lies in what is compared."""
    if path.exists():
        raise EvaluationError(f"--items {path}: is there already; expected a new file")
    if path.suffix not in _WRITTEN or not path.parent.is_dir():
        raise EvaluationError(
            f"--items {path}: expected a file that ends in .csv or .parquet, in a folder that is "
            "there"
        )
    check_inputs([path], "--items", inputs=inputs)


def write_items(comparisons: Sequence[ModelComparison], path: Path) -> None:
    """Write both models' values of every unit, metric and system: parquet, or CSV."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    write = csv.write_csv if path.suffix == ".csv" else parquet.write_table
    rows = [row for comparison in comparisons for row in _item_rows(comparison)]
    beside = path.with_name(f"{path.name}.part")
    try:
        write(pa.Table.from_pylist(rows), beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _item_rows(comparison: ModelComparison) -> Iterator[dict[str, Any]]:
    (model, reference), baseline = comparison.names, comparison.baseline
    about = {"suite": baseline.suite, "reference": reference, "model": model}
    paired = baseline.outcomes.paired(comparison.model.outcomes)
    for ours, theirs in zip(*(side.rows() for side in paired), strict=True):
        unit = {name: value for name, value in asdict(ours.unit).items() if name != "groups"}
        yield {
            **about,
            **unit,
            "metric": ours.metric,
            "system": ours.system.label,
            "value_reference": ours.value,
            "value_model": theirs.value,
            "reason_reference": ours.reason,
            "reason_model": theirs.reason,
        }

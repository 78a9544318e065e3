"""Predictions as outcomes: of each whether it holds, and by how many bits.

A mean falls with every cheap token that a condition has more, a sum rises with every token. Where
the incoherent region is also the longer or the shorter one, a margin may come from that alone: then
it correlates with the difference in length over the items of a prediction.

Where a manipulation changes surprisals by itself (a separator before the utterance that is scored),
a score of its own says little. A control has the same manipulation without the incoherence; what is
left of the margin when the control's is taken from it can come from the incoherence. Which config
is the control of which is declared by the suite and stands in the dataset's manifest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from coherencegym.eval.data.dataset import MEASURED_BASELINES, SURFACE, ItemTable
from coherencegym.eval.kinds.formula import Comparison, Value, parse_formula
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.metrics.estimates import ItemAccuracy, Margin, WeightedAccuracy
from coherencegym.eval.outcomes.schema import FLAGS, MODEL, Group, System, UnitRow, name_of_group
from coherencegym.eval.outcomes.tables import Cells, OutcomeTables, OutcomeWriter
from coherencegym.eval.statistics.effective_size import ranks_of
from coherencegym.eval.statistics.intervals import difference_of_means
from coherencegym.eval.statistics.scores import CD, CONTROLLED_CD, FEW_ITEMS, text_of
from coherencegym.eval.tasks.score.metrics import EvaluatedPrediction
from coherencegym.eval.tasks.score.scoring import ScoredItem
from coherencegym.eval.tasks.score.selections import by_kind

#: The metrics of predictions; the target of a margin is the difference in length.
ACCURACY, MARGIN = ItemAccuracy("accuracy", CD), Margin("margin")
#: The accuracy of a table's own score, where its items can be balanced.
CONTROLLED = WeightedAccuracy("controlled", CONTROLLED_CD, by_group=False)


def add_predictions(
    writer: OutcomeWriter,
    table: ItemTable,
    evaluated: Sequence[EvaluatedPrediction],
    items: Sequence[ScoredItem] = (),
) -> range:
    """Add the outcomes of the predictions of a table, all those of an item at once; their units.

    Args:
        items: gives the tokens by which one region is longer than the other; none: not known.
    """
    units = writer.units(_units(table, evaluated))
    lengths = length_differences(items, evaluated) if items else [None] * len(evaluated)
    rows: list[tuple[Any, ...]] = []
    for unit, one, longer in zip(units, evaluated, lengths, strict=True):
        outcome = one.outcome
        met = None if outcome is None else float(outcome.met)
        rows.append((unit, ACCURACY.name, met, one.reason, None, _flags(one)))
        if outcome is not None and outcome.margin is not None:
            rows.append((unit, MARGIN.name, outcome.margin, "", longer, 0))
    if rows:
        of, metric, values, reasons, targets, flags = zip(*rows, strict=True)
        writer.add(of, metric, MODEL, values, reason=reasons, target=targets, flags=flags)
    return units


def baseline_system(name: str, folds: Mapping[str, int]) -> System:
    """The system of a baseline of :data:`eval.data.dataset.BASELINES`, by what it was trained."""
    label = name.replace("_", " ")
    return System(role="baseline", label=label, folds=folds.get(name), primary=False)


def add_item_baselines(
    writer: OutcomeWriter, table: ItemTable, units: range, evaluated: Sequence[EvaluatedPrediction]
) -> None:
    """Add what the baselines of a table decided on the predictions of which the model has a value.

    Where the items are balanced, the predictions that count are there once more, with the weights
    of their items, of the model and of what comes furthest without reading.

    Args:
        units, evaluated: those of whole items, as :func:`add_predictions` had and gave them.
    """
    if table.baselines is None:
        return
    items = list({one.item.item_id: one.item for one in evaluated}.values())
    decided = table.baselines.decisions(items)
    for name in MEASURED_BASELINES:
        seen, found = Counter[str](), []
        for unit, one in zip(units, evaluated, strict=True):
            item = one.item.item_id
            own, place = decided[name].get(item, ()), seen[item]
            seen[item] += 1
            if one.outcome is not None and place < len(own):
                found.append((unit, own[place]))
        if found:
            system = baseline_system(name, table.baselines.folds)
            of, values = zip(*found, strict=True)
            writer.add(of, ACCURACY.name, system, values)
    weights, surface = table.baselines.weights(items), decided[SURFACE]
    known = weights.keys() & surface.keys()
    rows = [
        (unit, float(one.outcome.met), surface[one.item.item_id][0], weights[one.item.item_id])
        for unit, one in zip(units, evaluated, strict=True)
        if one.outcome is not None and one.item.item_id in known
        if not table.headline or table.headline in one.groups
    ]
    if rows:
        of, met, by_surface, weight = zip(*rows, strict=True)
        writer.add(of, CONTROLLED.name, MODEL, met, weight=weight)
        writer.add(of, CONTROLLED.name, SURFACE_SYSTEM, by_surface, weight=weight)


def item_baselines(outcomes: OutcomeTables) -> list[tuple[str, System]]:
    """The baselines of plain scores among the systems of outcomes, each with its name.

    A baseline that was trained in other folds for another table is another system.
    """
    labels = {name.replace("_", " "): name for name in MEASURED_BASELINES}
    return [(labels[one.label], one) for one in outcomes.systems if one.label in labels]


#: The system that comes furthest under balance weights without reading.
SURFACE_SYSTEM = baseline_system(SURFACE, {})


def _units(table: ItemTable, evaluated: Sequence[EvaluatedPrediction]) -> Iterator[UnitRow]:
    seen: dict[tuple[str, str, str], int] = {}
    for one in evaluated:
        item, kind = one.item, (one.item.item_id, one.formula, one.aggregation)
        seen[kind] = seen.get(kind, 0) + 1
        yield UnitRow(
            config=table.config,
            split=table.split,
            item=item.item_id,
            unit=f"#{seen[kind]}" if seen[kind] > 1 else "",
            discourse=item.discourse_id,
            cluster=item.cluster,
            formula=one.formula,
            aggregation=one.aggregation,
            groups=(*(("", group) for group in one.groups), *item_groups(item, table.breakdowns)),
        )


def _flags(one: EvaluatedPrediction) -> int:
    facts = {
        "tie": one.outcome is not None and one.outcome.tie,
        "too close": one.too_close,
        "first token left out": one.first_left_out,
    }
    return sum(FLAGS[name] for name, holds in facts.items() if holds)


def length_difference(scored: ScoredItem, formula: str) -> int | None:
    """Tokens of the region that a formula predicts to be more surprising, minus the other's.

    None where the formula is not one value ``>`` or ``<`` another, or a condition was not scored.
    """
    tree = parse_formula(formula)
    if not isinstance(tree, Comparison) or tree.operator == "=":
        return None
    sides = (tree.left, tree.right) if tree.operator == ">" else (tree.right, tree.left)
    lengths = []
    for side in sides:
        if not isinstance(side, Value) or side.condition not in scored.conditions:
            return None
        lengths.append(len(scored.conditions[side.condition].region_bits(side.region)))
    return lengths[0] - lengths[1]


def length_differences(
    items: Sequence[ScoredItem], evaluated: Sequence[EvaluatedPrediction]
) -> Iterator[int | None]:
    """The difference in length of each prediction of some items; None where it has no margin."""
    by_id = {scored.item.item_id: scored for scored in items}
    for prediction in evaluated:
        if prediction.outcome is None or prediction.outcome.margin is None:
            yield None
        else:
            yield length_difference(by_id[prediction.item.item_id], prediction.formula)


def item_groups(item: Item, columns: Sequence[str]) -> list[Group]:
    """The groups that an item is in by its columns."""
    return [(column, text_of(item.extra[column])) for column in columns]


def group_names(prediction: EvaluatedPrediction, columns: Sequence[str]) -> list[str]:
    """The names of all groups that a prediction is in."""
    own = map(name_of_group, item_groups(prediction.item, columns))
    return [*prediction.groups, *own]


def predictions_of(
    outcomes: OutcomeTables,
    config: str,
    split: str,
    metric: ItemAccuracy = ACCURACY,
    system: System = MODEL,
) -> Any:
    """The places of the outcomes of a table's predictions: whether they hold, in their order."""
    import numpy as np

    for one in outcomes.series():
        found = one.config, one.split, one.metric, one.system
        if found == (config, split, metric.name, system):
            return one.places
    return np.zeros(0, np.int32)


def prediction_rows(outcomes: OutcomeTables) -> Iterator[dict[str, Any]]:
    """One row for each prediction of each item: what became of it.

    ``met``, ``tie`` and ``margin`` (bits) are null where there is a ``reason`` against them, the
    last also where a formula has none.
    """
    margins = outcomes.by_unit(MARGIN.name, MODEL)
    for one in outcomes.series():
        if (one.metric, one.system) != (ACCURACY.name, MODEL):
            continue
        for row, unit in zip(
            outcomes.rows(one.places), outcomes.units_of(one.places).tolist(), strict=True
        ):
            margin = float(margins[unit])
            met = None if row.value is None else row.value == 1
            yield {
                "config": row.unit.config,
                "split": row.unit.split,
                "item_id": row.unit.item,
                "discourse_id": row.unit.discourse,
                "cluster": row.unit.cluster,
                "columns": [name_of_group(group) for group in row.unit.groups if group[0]],
                "formula": row.unit.formula,
                "aggregation": row.unit.aggregation,
                "groups": [name for column, name in row.unit.groups if not column],
                "met": met,
                "tie": None if met is None else bool(row.flags & FLAGS["tie"]),
                "margin": None if margin != margin else margin,
                "too_close": bool(row.flags & FLAGS["too close"]),
                "reason": row.reason,
            }


#: Correlations of this size or more are shown unasked, with enough items to mean something: Cohen
#: (1988, section 3.2) calls .30 medium.
NOTEWORTHY = 0.3
#: Fewest items of unequal length for that: a few others decide no score.
FEWEST_UNEQUAL = 10
#: The share of items in which one side is the longer one from which on length alone may decide.
NEARLY_ALL = 0.9
#: Fewest points of a correlation: that of two is 1 or -1.
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class LengthCorrelation:
    """The correlation of the margin of one prediction with the difference in length, over the
    items.

    Attributes:
        config, split, formula, aggregation: the prediction.
        n: items with a margin.
        n_differ: those in which the two regions have different numbers of tokens.
        n_longer: those in which the region that is predicted to be the more surprising has more.
        tokens_mean: the mean difference in length: tokens of the region that is predicted to be the
            more surprising minus tokens of the other one, for this model's tokenizer; tokens that
            have no surprisal not counted. None without items.
        pearson, spearman: correlations of margin (bits) and difference in length (tokens), and of
            their ranks. None where the difference, or the margin, is the same in every item, and
            with fewer than three items.
        asked: the suite wants it shown, whatever it is.
    """

    config: str
    split: str
    formula: str
    aggregation: str
    n: int
    n_differ: int
    n_longer: int
    tokens_mean: float | None
    pearson: float | None
    spearman: float | None
    asked: bool = False

    @property
    def noteworthy(self) -> bool:
        """Say that it is large, on enough items, so that a reader of the score should see it."""
        largest = max(abs(self.pearson or 0.0), abs(self.spearman or 0.0))
        enough = self.n >= FEW_ITEMS and self.n_differ >= FEWEST_UNEQUAL
        return enough and largest >= NOTEWORTHY

    @property
    def one_sided(self) -> bool:
        """Say that nearly always the same side is the longer one: no correlation would show it."""
        n_shorter = self.n_differ - self.n_longer
        return self.n >= FEW_ITEMS and max(self.n_longer, n_shorter) >= NEARLY_ALL * self.n


def correlations(xs: Sequence[float], ys: Sequence[float]) -> tuple[float | None, float | None]:
    """Pearson's and Spearman's correlation; None where undefined (a side without variation)."""
    if len(xs) != len(ys):
        raise ValueError(f"{len(xs)} and {len(ys)} values; expected as many on both sides")
    if len(xs) < _FEWEST:
        return None, None
    import warnings

    import numpy as np

    with warnings.catch_warnings():
        # A side without variation gives no number, which is left out below.
        warnings.simplefilter("ignore")
        sides = (xs, ys), (ranks_of(xs), ranks_of(ys))
        found = [float(np.corrcoef(*own)[0, 1]) for own in sides]
    pearson, spearman = (value if math.isfinite(value) else None for value in found)
    return pearson, spearman


def length_correlations(outcomes: OutcomeTables, table: ItemTable) -> list[LengthCorrelation]:
    """One for each formula of a table that compares one region with another."""
    import numpy as np

    bits, tokens = (outcomes.by_unit(MARGIN.name, MODEL, name) for name in ("value", "target"))
    places = predictions_of(outcomes, table.config, table.split)
    places = places[~np.isnan(tokens[outcomes.units_of(places)])]
    rows = []
    for (formula, aggregation), own in by_kind(outcomes, places).items():
        units = outcomes.units_of(own)
        tokens_more = tokens[units]
        pearson, spearman = correlations(bits[units], tokens_more)
        rows.append(
            LengthCorrelation(
                config=table.config,
                split=table.split,
                formula=formula,
                aggregation=aggregation,
                n=len(own),
                n_differ=int((tokens_more != 0).sum()),
                n_longer=int((tokens_more > 0).sum()),
                tokens_mean=fmean(tokens_more),
                pearson=pearson,
                spearman=spearman,
                asked=table.length_confound,
            )
        )
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The mean margin of one prediction in a config, minus that in a control.

    What has a default an older release may not have written.

    Attributes:
        config, split, control: the tables; ``control`` is a config of the same split.
        formula, aggregation: the prediction, the same in both.
        n, n_control: items with a margin.
        n_clusters, n_clusters_control: discourses, or families of discourses, that they come from.
        margin_mean, control_margin_mean: bits; None without items.
        difference: the first minus the second, with a 95 % interval; None where either is, the
            interval also where either side has fewer than two clusters.
        ci_method: ``t``, or empty where there is no interval.
    """

    config: str
    split: str
    control: str
    formula: str
    aggregation: str
    n: int = 0
    n_control: int = 0
    n_clusters: int = 0
    n_clusters_control: int = 0
    margin_mean: float | None = None
    control_margin_mean: float | None = None
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    ci_method: str = ""


def differences(
    outcomes: OutcomeTables, config: str, split: str, controls: Sequence[str]
) -> list[Difference]:
    """The differences of one table from its controls, one for each formula that both have.

    A formula without a margin (an equality takes part in it) has no difference. ``controls`` are
    other configs of the same split that were scored.
    """
    own = _margins(outcomes, config, split) if controls else {}
    rows = []
    for control in controls:
        other = _margins(outcomes, control, split)
        for kind in own:
            sides = own[kind], other.get(kind)
            if sides[0] is not None and sides[1] is not None:
                fields = {
                    "formula": kind[0],
                    "aggregation": kind[1],
                    **_compared(sides[0], sides[1]),
                }
                rows.append(Difference(config=config, split=split, control=control, **fields))
    return rows


def _margins(
    outcomes: OutcomeTables, config: str, split: str
) -> dict[tuple[str, str], Cells | None]:
    # None where one has no margin.
    import numpy as np

    bits = outcomes.by_unit(MARGIN.name, MODEL)
    found: dict[tuple[str, str], Cells | None] = {}
    for kind, places in by_kind(outcomes, predictions_of(outcomes, config, split)).items():
        cells = outcomes.cells(places)
        own = bits[cells.unit]
        found[kind] = None if np.isnan(own).any() else MARGIN.counted(replace(cells, value=own))
    return found


def _compared(own: Cells, other: Cells) -> dict[str, Any]:
    left, right = MARGIN.estimate_of(own), MARGIN.estimate_of(other)
    difference = interval = None
    if left.value is not None and right.value is not None:
        difference = left.value - right.value
        interval = difference_of_means((own.value, own.cluster), (other.value, other.cluster))
    return {
        "n": left.n,
        "n_control": right.n,
        "n_clusters": left.clusters,
        "n_clusters_control": right.clusters,
        "margin_mean": left.value,
        "control_margin_mean": right.value,
        "difference": difference,
        "ci_low": interval.low if interval else None,
        "ci_high": interval.high if interval else None,
        "ci_method": interval.method if interval else "",
    }

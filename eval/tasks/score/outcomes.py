"""Predictions as outcomes: of each whether it holds, and by how many bits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coherencegym.eval.data.baselines import BASELINES
from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.kinds.formula import Comparison, Value, parse_formula
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.metrics.item_accuracy import ItemAccuracy
from coherencegym.eval.metrics.margin import Margin
from coherencegym.eval.outcomes.schema import FLAGS, MODEL, Group, System, UnitRow, name_of_group
from coherencegym.eval.outcomes.tables import OutcomeTables, OutcomeWriter
from coherencegym.eval.statistics.scores import CD, text_of
from coherencegym.eval.tasks.score.metrics import EvaluatedPrediction
from coherencegym.eval.tasks.score.scoring import ScoredItem

#: The metrics of predictions; the target of a margin is the difference in length.
ACCURACY, MARGIN = ItemAccuracy("accuracy", CD), Margin("margin")


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
    """The system of a baseline of :data:`eval.data.baselines.BASELINES`, by what it was trained."""
    label = name.replace("_", " ")
    return System(role="baseline", label=label, folds=folds.get(name), primary=False)


def add_item_baselines(
    writer: OutcomeWriter, table: ItemTable, units: range, evaluated: Sequence[EvaluatedPrediction]
) -> None:
    """Add what the baselines of a table decided on the predictions of which the model has a value.

    Args:
        units, evaluated: those of whole items, as :func:`add_predictions` had and gave them.
    """
    if table.baselines is None:
        return
    decided = table.baselines.decisions(one.item for one in evaluated)
    for name in BASELINES:
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


def item_baselines(outcomes: OutcomeTables) -> list[tuple[str, System]]:
    """The baselines among the systems of outcomes, each with its name.

    A baseline that was trained in other folds for another table is another system.
    """
    labels = {name.replace("_", " "): name for name in BASELINES}
    return [(labels[one.label], one) for one in outcomes.systems if one.role == "baseline"]


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


def predictions_of(outcomes: OutcomeTables, config: str, split: str) -> Any:
    """The places of the outcomes of a table's predictions: whether they hold, in their order."""
    import numpy as np

    for one in outcomes.series():
        found = one.config, one.split, one.metric, one.system
        if found == (config, split, ACCURACY.name, MODEL):
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

"""Predictions as outcomes: of each whether it holds, and by how many bits.

A mean falls with every cheap token that a condition has more, a sum rises with every token. Where
the incoherent region is also the longer or the shorter one, a margin may come from that alone.

Where a manipulation changes surprisals by itself (a separator before the utterance that is scored),
a score of its own says little. A control has the same manipulation without the incoherence; what is
left of the margin when the control's is taken from it can come from the incoherence. Which config
is the control of which is declared by the suite and stands in the dataset's manifest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from coherencegym.eval.data.dataset import BASELINES, MEASURED_BASELINES, SURFACE, ItemTable
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.outcomes.metrics import ItemAccuracy, Margin, RowPlaces, WeightedAccuracy
from coherencegym.eval.outcomes.schema import (
    FLAGS,
    MODEL,
    TIE,
    TOO_CLOSE,
    OutcomeRow,
    System,
    baseline,
    name_of_group,
)
from coherencegym.eval.outcomes.tables import Cells, OutcomeTables, OutcomeWriter, first_places
from coherencegym.eval.statistics.intervals import Estimate, difference_of_means
from coherencegym.eval.statistics.scores import CD, CONTROLLED_CD

if TYPE_CHECKING:
    import numpy as np

#: The metrics of predictions; the target of a margin is the difference in length.
ACCURACY, MARGIN = ItemAccuracy("accuracy", CD), Margin("margin")
#: The accuracy of a table's own score, where its items can be balanced.
CONTROLLED = WeightedAccuracy("controlled", CONTROLLED_CD, by_group=False)
#: The metric and the system of the outcomes that say which predictions of the model hold.
OF_MODEL = (ACCURACY.name, MODEL)


def add_predictions(writer: OutcomeWriter, rows: Sequence[OutcomeRow]) -> range:
    """Add the outcomes of predictions of the model, those of a prediction together; their units."""
    units = writer.units(row.unit for row in rows if row.metric == ACCURACY.name)
    if rows:
        writer.add(
            [units.start - 1 + n for n in accumulate(row.metric == ACCURACY.name for row in rows)],
            [row.metric for row in rows],
            MODEL,
            [row.value for row in rows],
            reason=[row.reason for row in rows],
            target=[row.target for row in rows],
            flags=[row.flags for row in rows],
        )
    return units


def with_margins(rows: Iterable[OutcomeRow]) -> list[tuple[OutcomeRow, float | None]]:
    """What says of each prediction whether it holds, with its margin (bits); None: it has none."""
    rows = list(rows)
    margins = {row.unit.key: row.value for row in rows if row.metric == MARGIN.name}
    return [(row, margins.get(row.unit.key)) for row in rows if row.metric == ACCURACY.name]


#: The systems of the baselines of :data:`eval.data.dataset.BASELINES`.
BASELINE_SYSTEMS = {name: baseline(name.replace("_", " ")) for name in BASELINES}
#: The one that comes furthest under balance weights without reading.
SURFACE_SYSTEM = BASELINE_SYSTEMS[SURFACE]


def add_item_baselines(
    writer: OutcomeWriter,
    table: ItemTable,
    items: Collection[Item],
    units: range,
    rows: Iterable[OutcomeRow],
) -> None:
    """Add what the baselines of a table decided on the predictions of which the model has a value.

    Where the items are balanced, the predictions that count are there once more, with the weights
    of their items, of the model and of what comes furthest without reading.

    Args:
        items: some of the table, each whole.
        units, rows: those of their predictions, as :func:`add_predictions` gave and had them.
    """
    if table.baselines is None:
        return
    decided = table.baselines.decisions(items)
    judged = [row for row in rows if row.metric == ACCURACY.name]
    for name in MEASURED_BASELINES:
        seen, found = Counter[str](), []
        for unit, row in zip(units, judged, strict=True):
            item = row.unit.item
            own, place = decided[name].get(item, ()), seen[item]
            seen[item] += 1
            if row.value is not None and place < len(own):
                found.append((unit, own[place]))
        if found:
            of, values = zip(*found, strict=True)
            writer.add(of, ACCURACY.name, BASELINE_SYSTEMS[name], values)
    weights, surface = table.baselines.weights(items), decided[SURFACE]
    known = weights.keys() & surface.keys()
    counted = [
        (unit, row.value, surface[row.unit.item][0], weights[row.unit.item])
        for unit, row in zip(units, judged, strict=True)
        if row.value is not None and row.unit.item in known
        if not table.headline or ("", table.headline) in row.unit.groups
    ]
    if counted:
        of, met, by_surface, weight = zip(*counted, strict=True)
        writer.add(of, CONTROLLED.name, MODEL, met, weight=weight)
        writer.add(of, CONTROLLED.name, SURFACE_SYSTEM, by_surface, weight=weight)


def item_baselines(outcomes: OutcomeTables) -> list[tuple[str, System]]:
    """The baselines of plain scores among the systems of outcomes, each with its name."""
    known = [(name, BASELINE_SYSTEMS[name]) for name in MEASURED_BASELINES]
    return [(name, system) for name, system in known if system in outcomes.systems]


def prediction_rows(outcomes: OutcomeTables) -> Iterator[dict[str, Any]]:
    """One row for each prediction of each item: what became of it.

    ``met``, ``tie`` and ``margin`` (bits) are null where there is a ``reason`` against them, the
    last also where a formula has none.
    """
    margins = outcomes.by_unit(MARGIN.name, MODEL)
    for (_, _, *key), places in outcomes.series.items():
        if key != [*OF_MODEL]:
            continue
        for row, unit in zip(
            outcomes.rows(places), outcomes.units_of(places).tolist(), strict=True
        ):
            margin = float(margins[unit])
            met = None if row.value is None else row.value == 1
            yield {
                "config": row.unit.config,
                "split": row.unit.split,
                "item_id": row.unit.item,
                "cluster": row.unit.cluster,
                "columns": [name_of_group(group) for group in row.unit.groups if group[0]],
                "formula": row.unit.formula,
                "aggregation": row.unit.aggregation,
                "groups": [name for column, name in row.unit.groups if not column],
                "met": met,
                "tie": None if met is None else bool(row.flags & FLAGS[TIE]),
                "margin": None if margin != margin else margin,
                "too_close": bool(row.flags & FLAGS[TOO_CLOSE]),
                "reason": row.reason,
            }


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
    every = outcomes.places_of(config, split, *OF_MODEL)
    for kind, places in by_kind(outcomes, every).items():
        cells = outcomes.cells(places)
        own = bits[cells.unit]
        found[kind] = None if np.isnan(own).any() else MARGIN.counted(replace(cells, value=own))
    return found


def _compared(own: Cells, other: Cells) -> dict[str, Any]:
    left, right = MARGIN.estimate(own), MARGIN.estimate(other)
    found = Estimate(None, None, 0)
    if left.value is not None and right.value is not None:
        interval = difference_of_means((own.value, own.cluster), (other.value, other.cluster))
        found = Estimate(left.value - right.value, interval, left.n)
    return {
        "n": left.n,
        "n_control": right.n,
        "n_clusters": left.clusters,
        "n_clusters_control": right.clusters,
        "margin_mean": left.value,
        "control_margin_mean": right.value,
        "difference": found.value,
        "ci_low": found.low,
        "ci_high": found.high,
        "ci_method": found.method,
    }


def select(
    outcomes: OutcomeTables, places: np.ndarray, headline: str = "", breakdowns: Sequence[str] = ()
) -> Iterator[RowPlaces]:
    """The rows of one table, those of level ``detail`` last: they are many.

    Args:
        outcomes, places: the predictions of the table.
        headline: the group that the row of all items, and those by column, are over; empty: all.
        breakdowns: the columns by which there are rows.
    """
    counted = inside(outcomes, places, headline)
    yield "all", "", counted
    kinds = by_kind(outcomes, places)
    for own in kinds.values() if len(kinds) > 1 else ():
        yield "formula", "", own
    groups = list(_by_group(outcomes, places, headline))
    yield from (row for row in groups if row[0] != "detail")
    yield from _by_column(outcomes, places, counted, breakdowns)
    yield from (row for row in groups if row[0] == "detail")


def inside(outcomes: OutcomeTables, places: np.ndarray, group: str) -> np.ndarray:
    """The predictions that are in a group, by its whole name; empty: all."""
    import numpy as np

    if not group:
        return places
    of, codes, names = outcomes.memberships(places)
    there = np.array([name_of_group(name) == group for name in names], bool)
    return np.unique(of[there[codes]])


def by_kind(outcomes: OutcomeTables, places: np.ndarray) -> dict[tuple[str, str], np.ndarray]:
    """Predictions by formula and region aggregation, in the order in which these first occur."""
    units = outcomes.units_of(places)
    formula, formulas = outcomes.unit_codes("formula", units)
    aggregation, aggregations = outcomes.unit_codes("aggregation", units)
    kind = formula.astype("i") * len(aggregations) + aggregation
    return {
        (formulas[code // len(aggregations)], aggregations[code % len(aggregations)]): places[
            kind == code
        ]
        for code, _ in first_places(kind)
    }


def _by_group(outcomes: OutcomeTables, places: np.ndarray, headline: str) -> Iterator[RowPlaces]:
    # A prediction may be in a group twice.
    import numpy as np

    of, codes, names = outcomes.memberships(places)
    own = np.array([not column for column, _ in names], bool)[codes]
    other = np.array([bool(headline) and name != headline for _, name in names], bool)
    is_detail = (_positions(of) == 0) & other[codes]
    of, rows = of[own], (codes * 2 + is_detail)[own]
    for row, _ in first_places(rows):
        name = names[row // 2][1]
        level = "headline" if headline and name == headline else "detail" if row % 2 else "group"
        yield level, name, of[rows == row]


def _by_column(
    outcomes: OutcomeTables, places: np.ndarray, counted: np.ndarray, breakdowns: Sequence[str]
) -> Iterator[RowPlaces]:
    of, codes, names = outcomes.memberships(places)
    there = {names[code]: code for code, _ in first_places(codes)}
    if len(counted) < len(places):
        of, codes, _ = outcomes.memberships(counted)
    for column in breakdowns:
        own = sorted((name for name in there if name[0] == column), key=name_of_group)
        # Of one value its row is that of all items.
        for name in own if len(own) > 1 else ():
            if len(found := of[codes == there[name]]):
                yield "column", name_of_group(name), found


def _positions(of: np.ndarray) -> np.ndarray:
    # The number of each membership among those of its prediction.
    import numpy as np

    starts = np.flatnonzero(np.diff(of, prepend=np.int32(-1))).astype(np.int32)
    sizes = np.diff(starts, append=np.int32(len(of)))
    return np.arange(len(of), dtype=np.int32) - np.repeat(starts, sizes)

"""Results of a probe as those of one of its layers, so that layers are compared as models are."""

from __future__ import annotations

from dataclasses import replace

from coherencegym.errors import EvaluationError
from coherencegym.eval.results.saved import Saved, SavedTable
from coherencegym.eval.statistics.scores import LAYER, UnitOutcome


def at_layer(results: Saved, layer: int) -> Saved:
    """The results in which a layer's outcomes stand for those of the layer that was chosen.

    Raises:
        EvaluationError: the layer was not probed, in one of the configs.
    """
    return replace(results, tables=tuple(_at_layer(results, t, layer) for t in results.tables))


def _at_layer(results: Saved, table: SavedTable, layer: int) -> SavedTable:
    groups = {(one.measure, one.unit_id): one.groups for one in table.outcomes if not one.judge}
    found: list[UnitOutcome] = [
        replace(one, judge="", groups=groups.get((one.measure, one.unit_id), ()))
        for one in table.outcomes
        if one.judge == f"{LAYER}{layer}"
    ]
    if not found:
        known = dict.fromkeys(o.judge for o in table.outcomes if o.judge.startswith(LAYER))
        raise EvaluationError(
            f"{results.folder}: {table.config}: no {LAYER}{layer}; expected "
            + (f"one of {', '.join(known)}" if known else "results of coherencegym probe")
        )
    return replace(table, outcomes=tuple(found))

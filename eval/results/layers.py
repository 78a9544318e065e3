"""Results of a probe as those of one of its layers, so that layers are compared as models are."""

from __future__ import annotations

from dataclasses import replace

from coherencegym.errors import EvaluationError
from coherencegym.eval.outcomes.schema import MODEL
from coherencegym.eval.tasks.results import Results


def at_layer(results: Results, layer: int) -> Results:
    """The results in which a layer's outcomes stand for those of the layer that was chosen."""
    import numpy as np

    found = results.outcomes
    series = list(found.series())
    for table in results.tables:
        own = [one for one in series if (one.config, one.split) == (table.config, table.split)]
        known = dict.fromkeys(one.system.label for one in own if one.system.layer is not None)
        if layer not in {one.system.layer for one in own}:
            raise EvaluationError(
                f"{results.place}: {table.config}: no layer {layer}; expected "
                + (f"one of {', '.join(known)}" if known else "results of coherencegym probe")
            )
    places = [one.places for one in series if one.system.layer == layer]
    chosen = found.select(np.sort(np.concatenate(places)))
    systems = tuple(MODEL if one.layer == layer else one for one in found.systems)
    return replace(results, outcomes=replace(chosen, systems=systems))

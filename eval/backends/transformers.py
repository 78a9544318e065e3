"""Run models in transformers: what all the project's promises are of."""

from __future__ import annotations

from typing import Any

from coherencegym.eval.backends.backend import Backend, RunContext
from coherencegym.eval.forward.execute import Execution, all_known, execute
from coherencegym.eval.models.config import padding_of
from coherencegym.eval.models.load import Unloaded, load, vocabulary_size
from coherencegym.eval.models.machine import input_device
from coherencegym.eval.plan.plan import Plan, default_budget, free_budget


def _run(model: Any, plan: Plan, context: RunContext) -> Execution:
    options = context.options
    if isinstance(model, Unloaded):
        twice = () if model.dtype in ("float32", "float64") else context.twice
        found = all_known(plan, context.store, context.progress, context.world, twice)
        if found is not None:
            return found
        model = model.loaded
    return execute(
        model,
        plan,
        default_budget(input_device(model).type, options.batch_tokens, free_budget(model)),
        share=options.share and not options.is_masked,
        padding=padding_of(getattr(model, "config", None)) if options.is_masked else None,
        store=context.store,
        progress=context.progress,
        world=context.world,
        beginnings=context.beginnings,
        twice=context.twice,
        trials=context.trials,
    )


BACKEND = Backend(
    name="transformers",
    title="transformers",
    load=load,
    run=_run,
    vocabulary=vocabulary_size,
    models=None,
    scorers=("causal", "pll", "mntp"),
    has_vectors=True,
    has_all_tokens=True,
)

"""A model that gives all tokens the same probability: the surprisal of chance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from coherencegym.eval.backends.backend import Backend, RunContext
from coherencegym.eval.forward.execute import Execution, begin
from coherencegym.eval.models.arguments import ModelArguments
from coherencegym.eval.models.load import LoadedModel, load_config
from coherencegym.eval.models.source import find_model
from coherencegym.eval.plan.plan import Plan


@dataclass(frozen=True)
class Uniform:
    """A model with the config and the vocabulary size of another one."""

    config: Any
    vocabulary: int


def load_uniform(
    name: str, device: str, dtype: str, *, arguments: ModelArguments, **_: Any
) -> LoadedModel:
    """Load the config and the tokenizer of a model; device and number format have no effect."""
    config, tokenizer = load_config(name, arguments)
    model = Uniform(config, config.vocab_size)
    commit = find_model(name, arguments.revision).identity()
    return LoadedModel(model, tokenizer, name, commit, "cpu", "float64", parameters=0)


def run_uniform(model: Uniform, plan: Plan, context: RunContext) -> Execution:
    """Give every token the same surprisal: log2 of the vocabulary size."""
    execution, done = begin(plan, context.store)
    left = [number for number in range(len(plan.sequences)) if number not in done]
    chance = math.log2(model.vocabulary)
    bits = [np.full(plan.sequences[number].count, chance) for number in left]
    execution.keep(left, bits, context.store)
    return execution


BACKEND = Backend(
    name="uniform",
    title="the uniform model",
    load=load_uniform,
    run=run_uniform,
    vocabulary=lambda model: int(model.vocabulary),
    models=Uniform,
    caution=lambda model: "no model has read the texts: all tokens have the same probability",
)

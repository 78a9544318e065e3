"""The scores of a text: surprisal in bits, taken negative."""

from __future__ import annotations

from coherencegym.eval.outcomes.schema import System

#: Bits per token are what a run's one number is of.
BY_TOKEN, BY_CHARACTER, IN_ALL = SYSTEMS = (
    System(label="bits per token"),
    System(label="bits per character"),
    System(label="bits in total"),
)

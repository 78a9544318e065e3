"""The scores of a text: surprisal in bits, taken negative."""

from __future__ import annotations

from coherencegym.eval.outcomes.schema import System

#: Bits a token are what a run's one number is of.
BY_TOKEN, BY_CHARACTER, IN_ALL = SYSTEMS = (
    System(label="bits a token"),
    System(label="bits a character"),
    System(label="bits in all"),
)

"""The options of ``match``."""

from __future__ import annotations

from dataclasses import dataclass

from coherencegym.command_line import option
from coherencegym.eval.kinds.halves import HALVES
from coherencegym.eval.tasks.options import CommandLine


@dataclass(frozen=True)
class MatchOptions:
    """The options of ``match``."""

    saved: float = option(0.0, "bits that the first half must save on the second one")


COMMAND = CommandLine(
    name="match",
    kind=HALVES,
    options=MatchOptions,
    examples="  coherencegym match --model gpt2 --dataset suites/recipe_halves\n",
)

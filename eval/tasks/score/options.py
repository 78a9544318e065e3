"""The options of ``score`` beside those of reading."""

from __future__ import annotations

from dataclasses import dataclass

from coherencegym.command_line import option
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.eval.tasks.options import CommandLine


@dataclass(frozen=True)
class ScoreOptions:
    """The choices that only this task leaves open.

    Attributes:
        tokens: the surprisal of every token is written, too.
    """

    tokens: bool = option(
        False, "also write the surprisal of every token", group="output", rare=True
    )


COMMAND = CommandLine(
    name="score",
    kind=ITEMS,
    options=ScoreOptions,
    units="items",
    several=True,
    examples="""\
  coherencegym score --model demo --dataset suites/sentence_order
  coherencegym score --model gpt2 --dataset coherencegym/sentence_order --revision v1.0.0
  coherencegym score --model gpt2 --dataset center_embed.json --compat syntaxgym-2021
  coherencegym score --model gpt2 --dataset blimp.jsonl --group-by UID
""",
)

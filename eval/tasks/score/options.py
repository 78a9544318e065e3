"""The options of ``score`` beside those of reading."""

from __future__ import annotations

from dataclasses import dataclass

from coherencegym.eval.tasks.options import option


@dataclass(frozen=True)
class ScoreOptions:
    """The choices that only this task leaves open.

    Attributes:
        tokens: the surprisal of every token is written, too.
    """

    tokens: bool = option(False, "also write the surprisal of every token", rare=True)

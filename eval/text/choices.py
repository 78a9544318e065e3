"""Choices of reading texts, which need no numpy."""

from typing import Literal

BosChoice = Literal["auto", "always", "never"]
SpaceChoice = Literal["keep", "drop"]
#: Ways to mask a token: with the rest of its word, or alone; see :mod:`eval.text.masking`.
MaskingChoice = Literal["within_word_l2r", "original"]

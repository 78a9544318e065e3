"""Choices of how texts are rendered, which need no numpy: see :mod:`eval.text.special`."""

from typing import Literal

BosChoice = Literal["auto", "always", "never"]
SpaceChoice = Literal["keep", "drop"]

"""What a user chooses of how texts are rendered: see :mod:`eval.text.special`."""

from typing import Literal

BosChoice = Literal["auto", "always", "never"]
SpaceChoice = Literal["keep", "drop"]

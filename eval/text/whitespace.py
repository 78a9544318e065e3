"""Which characters of a text are white space: those that ``str.isspace`` says are."""

from __future__ import annotations

import numpy as np

#: For each character up to U+3000, and one that stands for all beyond: none of those is.
_IS_SPACE = np.array([*(chr(code).isspace() for code in range(0x3001)), False])


def solid(text: str) -> np.ndarray:
    """Which of N characters are not white space; shape (N,), bool."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    found: np.ndarray = ~_IS_SPACE[np.minimum(codes, len(_IS_SPACE) - 1)]
    return found

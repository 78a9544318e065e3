"""Sets of words: written in a string, or in a file beside the probes.

Such a file has one or more words a line; ``#`` begins a comment.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def word_list(name: str) -> frozenset[str]:
    """The words of ``lists/<name>.txt``."""
    text = (
        files("coherencegym.manipulations.probes")
        .joinpath("lists", f"{name}.txt")
        .read_text("utf-8")
    )
    return frozenset(word for line in text.splitlines() for word in line.partition("#")[0].split())


def word_set(words: str) -> frozenset[str]:
    """The words of a string with spaces between them."""
    return frozenset(words.split())

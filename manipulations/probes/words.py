"""Word lists that lie beside the probes: one or more words a line, ``#`` begins a comment."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def word_list(name: str) -> frozenset[str]:
    """The words of ``lists/<name>.txt``."""
    text = files("manipulations.probes").joinpath("lists", f"{name}.txt").read_text("utf-8")
    return frozenset(word for line in text.splitlines() for word in line.partition("#")[0].split())

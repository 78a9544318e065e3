"""Scores that papers have published for the suites, for reference beside one's own.

They are data: ``published.tsv``, one score a line, each with the table that it stands in. They were
computed on the original corpora by another program, and are no expectation of this one.
"""

from __future__ import annotations

import csv
from functools import lru_cache
from importlib.resources import files
from typing import Any

#: The columns of the file, in order.
COLUMNS = ("suite", "config", "row", "model", "score", "source")


def published_scores(suite: str) -> list[dict[str, Any]]:
    """Read a suite's published scores: ``config``, ``row``, ``model``, ``score``, ``source``."""
    return [
        {name: value for name, value in entry.items() if name != "suite"}
        for entry in read_published()
        if entry["suite"] == suite
    ]


@lru_cache(maxsize=1)
def read_published() -> tuple[dict[str, Any], ...]:
    """The lines of ``published.tsv``, with the scores as numbers between 0 and 1.

    Raises:
        ValueError: a line is not what the header says, or a score is not between 0 and 1.
    """
    text = files(__package__).joinpath("published.tsv").read_text(encoding="utf-8")
    return tuple(parse_published(text))


def parse_published(text: str) -> list[dict[str, Any]]:
    """The lines of a table of published scores; see :func:`read_published`."""
    header, *lines = list(csv.reader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    if tuple(header) != COLUMNS:
        raise ValueError(f"published.tsv:1: columns {header}; expected {list(COLUMNS)}")
    entries: list[dict[str, Any]] = []
    for number, cells in enumerate(lines, start=2):
        where = f"published.tsv:{number}"
        if len(cells) != len(COLUMNS):
            raise ValueError(f"{where}: {len(cells)} columns; expected {len(COLUMNS)}")
        entry: dict[str, Any] = dict(zip(COLUMNS, cells, strict=True))
        try:
            entry["score"] = float(entry["score"])
        except ValueError:
            raise ValueError(f"{where}: score {entry['score']!r}; expected a number") from None
        if not 0 <= entry["score"] <= 1:
            raise ValueError(f"{where}: score {entry['score']}; expected 0 to 1")
        for name in ("suite", "model", "source"):
            if not entry[name]:
                raise ValueError(f"{where}: no {name}; expected one")
        entries.append(entry)
    return entries

"""The works behind the corpora: ``citations.bib`` beside this module, one BibTeX entry a work."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def _entries() -> dict[str, str]:
    text = Path(__file__).with_name("citations.bib").read_text(encoding="utf-8")
    entries = (entry.strip() for entry in text.split("\n\n"))
    return {entry.partition("{")[2].partition(",")[0]: entry for entry in entries}


def cited(key: str) -> str:
    """The BibTeX entry of this key."""
    return _entries()[key]

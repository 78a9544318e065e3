"""One set of labels for discourse relations of all frameworks: the 17 of DISRPT 2025.

The shared task gives each of the names that its corpora have for relations one
of its labels: ``adversative-concession`` of a rhetorical tree and ``Comparison.Concession`` of the
Penn Discourse Treebank are both ``concession``. The table is data of its repository.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def _labels() -> dict[str, str]:
    text = (files(__package__) / "unified_relations.tsv").read_text(encoding="utf-8")
    rows = (line.partition("\t") for line in text.splitlines() if not line.startswith("#"))
    return {name: label for name, _, label in rows}


def unified_relation(name: str) -> str:
    """The unified label of a relation, whatever its case; empty where the shared task has none.

    >>> unified_relation("Contingency.Cause.Reason"), unified_relation("same-unit")
    ('causal', '')
    """
    return _labels().get(name.lower(), "")


def is_unified(label: str) -> bool:
    """Tell whether a label is one of the 17.

    >>> is_unified("causal"), is_unified("cause")
    (True, False)
    """
    return label in set(_labels().values())

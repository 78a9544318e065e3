"""The figures of Storks and Chai 2021 (Findings of EMNLP), tables 2 and 3, in per cent.

They come from the released program, so that they stand beside scores in its mode alone, and only on
the paper's own items. The models are not to be had, so that no figure can be computed again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

#: The name of the mode, as ``--compat`` takes it.
MODE = "storks-2021"


@dataclass(frozen=True)
class PublishedCoherence:
    """The published figures of one model, in per cent; those of ``lenient`` ask for a right end."""

    config: str
    model: str
    accuracy: float
    strict: float
    lenient: float


PUBLISHED_COHERENCE = (
    PublishedCoherence("conversational_entailment", "BERT-large", 55.8, 28.5, 35.7),
    PublishedCoherence("conversational_entailment", "RoBERTa-large", 70.9, 39.0, 47.5),
    PublishedCoherence("conversational_entailment", "RoBERTa-large + MNLI", 78.5, 50.6, 58.2),
    PublishedCoherence("conversational_entailment", "DeBERTa-large", 67.4, 37.2, 45.2),
    PublishedCoherence("abduction", "BERT-large", 66.7, 42.3, 43.7),
    PublishedCoherence("abduction", "RoBERTa-large", 87.8, 55.0, 59.3),
    PublishedCoherence("abduction", "DeBERTa-large", 88.4, 59.8, 61.8),
)

#: Facts that a reader of the published figures must know, by config.
DIFFERENCES = {
    "conversational_entailment": (
        "published strict and lenient are those of the released program, which does not look at "
        "spans after an answer that a longer span takes back, and counts right spans only where "
        "the whole is right"
    ),
    "abduction": (
        "published strict is whether the last span that the released program visits is right, "
        "and published lenient a running mean over items and thresholds: neither is the paper's "
        "definition"
    ),
}


def published_config(config: str) -> str | None:
    """The paper's data that a config holds, by its name; None if it holds none of them."""
    return next((name for name in DIFFERENCES if name in config), None)


def published_for(config: str) -> Iterator[PublishedCoherence]:
    """The published figures on a config's items."""
    return (row for row in PUBLISHED_COHERENCE if row.config == published_config(config))

"""The names of the criteria, and the combinations that the paper compares."""

from __future__ import annotations

from collections.abc import Sequence

#: Criterion -> the predictions from a sentence's vector whose losses it adds up.
CRITERIA: dict[str, tuple[str, ...]] = {
    "nsp": ("previous_sentence", "next_sentence"),
    "nl": ("level",),
    "spp": ("place_in_paragraph", "place_in_document"),
    "sdt": ("section_title", "document_title"),
}
#: The rows of the paper's Table 2 that are the authors' own encoder, in its order.
ABLATION: tuple[tuple[str, ...], ...] = (
    ("nsp",),
    ("nsp", "sdt"),
    ("nsp", "spp"),
    ("nsp", "nl"),
    ("nsp", "spp", "nl"),
    ("nsp", "sdt", "nl"),
    ("nsp", "sdt", "spp"),
    ("nsp", "sdt", "spp", "nl"),
)
#: The model that is the authors' own, made from nothing.
GRU = "gru"


def terms_of(criteria: Sequence[str]) -> list[str]:
    """The predictions of some criteria, in the order of :data:`CRITERIA`."""
    return [term for name, own in CRITERIA.items() if name in criteria for term in own]


def name_of(criteria: Sequence[str]) -> str:
    """The name of a combination, such as ``nsp+spp``."""
    return "+".join(name for name in ABLATION[-1] if name in criteria)

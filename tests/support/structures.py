"""Documents whose sentences say where they stand, or do not."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coherencegym.eval.kinds.documents import STRUCTURES, DocumentSection, StructuredDocument
from coherencegym.eval.tasks.training.criteria import PlacedSentence
from support.datasets import write_table

#: Words that say where a sentence stands: in its paragraph, and in which of two sections.
PLACES = ("first", "then", "next", "last")
LEVELS = ("outside", "inside")
#: A word of a document, and that of its title.
TOPICS = {"rain": "weather", "bread": "kitchen", "judge": "court"}
_FILLING = ("red", "blue", "green", "grey")


def planted(number: int, seed: int = 0, *, told: bool = True) -> list[StructuredDocument]:
    """Documents of two sections of two paragraphs of four sentences.

    Args:
        number: of them.
        seed: of the draws.
        told: a sentence's words say its place, level and topic; else they are drawn from all.
    """
    draw = random.Random(seed)
    documents = []
    for index in range(number):
        topic = draw.choice(sorted(TOPICS))
        sections = []
        for level, where in enumerate(LEVELS, start=1):
            paragraphs = []
            for _ in range(2):
                words = [
                    (place, where, topic)
                    if told
                    else (draw.choice(PLACES), draw.choice(LEVELS), draw.choice(sorted(TOPICS)))
                    for place in PLACES
                ]
                paragraphs.append(
                    tuple(f"{' '.join(own)} {draw.choice(_FILLING)}." for own in words)
                )
            heading = f"About {TOPICS[topic]}" if level == 2 else ""
            sections.append(DocumentSection(heading, level, tuple(paragraphs)))
        name = f"d{seed}-{index}"
        title = f"The {TOPICS[topic]}"
        documents.append(StructuredDocument(name, title, tuple(sections), name, "toy"))
    return documents


def write_structures(
    folder: Path,
    splits: Mapping[str, Sequence[StructuredDocument]],
    config: str = "structure_toy",
) -> Path:
    """A config of documents with structure in a dataset folder, beside those that are there."""
    return write_table(folder, STRUCTURES, "document_structure", splits, config)


def sentence(text: str, **more: Any) -> PlacedSentence:
    """A sentence at the beginning of everything, without neighbours and titles."""
    empty = dict.fromkeys(("previous", "following", "section_title", "document_title"), "")
    places = dict.fromkeys(("level", "place_in_paragraph", "place_in_document"), 0)
    return PlacedSentence(text, **{**empty, **places, **more})

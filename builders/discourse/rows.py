"""The rows of tasks on sentences: labels, a labelled example of a window, and a pair of windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from coherencegym.builders.judgement.questions import Question
from coherencegym.builders.suite import Column, Contrast, GeneratedItem, generate_item
from coherencegym.eval.kinds.examples import LabelledExample, Slot
from coherencegym.eval.kinds.table_kind import FAMILY
from coherencegym.loaders.discourse import Discourse

#: Labels. In alphabetical order the numbers of the first two are those of the paper's files.
EXCHANGED, IN_ORDER = "exchanged", "in order"
COHERENT, REPLACED = "coherent", "replaced"
ABSTRACT, BODY = "abstract", "body"

#: Prefix of a config -> what a probe gets of its slots, and the slot that the answer is about
#: (Chen et al. 2019, section 3; Hewitt and Liang 2019 for the latter).
PROBED: Mapping[str, Mapping[str, str]] = {
    "position": {"input": "position", "about": "0"},
    "order": {"input": "order", "about": "0"},
    "replaced": {"input": "concatenation", "about": "2"},
    "section": {"input": "concatenation", "about": "0"},
    "relation": {"input": "pair", "about": "1"},
}

#: Prefix of a config -> what people are asked about its rows; the answers are labels in words.
ASKED: Mapping[str, Question] = {
    "position": Question(
        "The first of these five sentences was put there. Where did it stand before?",
        {
            "0": "before 2, where it is",
            **{str(place): f"between {place + 1} and {place + 2}" for place in (1, 2, 3)},
            "4": "after 5",
        },
    ),
    "order": Question(
        "Are the two sentences in their own order, or exchanged?",
        {IN_ORDER: "in their order", EXCHANGED: "exchanged"},
    ),
    "replaced": Question(
        "Are these six sentences of one text, or is one of them from another text?",
        {COHERENT: "of one text", REPLACED: "one is from another"},
    ),
    "section": Question(
        "Is this sentence of a paper’s abstract, or of the middle of its body?",
        {ABSTRACT: "the abstract", BODY: "the body"},
    ),
    "place_in_document": Question(
        "In which fifth of its text did this sentence stand?",
        {
            str(place): f"the {name}"
            for place, name in enumerate(("first", "second", "third", "fourth", "last"))
        },
    ),
}

FAMILY_COLUMN = {
    FAMILY: Column(
        "string",
        "the document, or the first of the documents that share lines with it; rows of one family "
        "form one cluster in intervals",
    )
}

#: Sentences of a window one of which is replaced, by their numbers from 1.
_WINDOW, _REPLACED = 6, range(2, 6)
PAIR_REGIONS = tuple(f"sentence {number}" for number in range(1, _WINDOW + 1))
#: The sum over the sentence that was replaced and what follows it, for each place.
SUMS = tuple(
    Contrast(REPLACED, COHERENT, place, metric="sum", groups=(f"sentence {place}",), last=_WINDOW)
    for place in _REPLACED
)


def example(
    window: Discourse, name: str, label: str, columns: Mapping[str, Any], document: str = ""
) -> LabelledExample:
    """The row of a window whose units are the slots, in their order.

    Args:
        name: the end of the row's id; empty where the window has one row.
        document: the id of the document that it is from; none: the window's own.
    """
    return LabelledExample(
        item_id="/".join(filter(None, (window.id, name))),
        slots=tuple(Slot((text,)) for text in window.texts),
        text=window.texts,
        places=tuple(range(len(window.texts))),
        label=label,
        discourse_id=document or window.id,
        corpus=window.corpus,
        extra=dict(columns),
    )


def window_pair(
    coherent: Discourse, replaced: Discourse, place: int, document: str, columns: dict[str, Any]
) -> GeneratedItem:
    """The item of a window and the same with the sentence at ``place`` (from 0) replaced."""

    def sentences(window: Discourse) -> list[list[int]]:
        return [[unit] for unit in range(len(window.units))]

    made = generate_item(
        "pair",
        {COHERENT: coherent, REPLACED: replaced},
        sentences,
        (SUMS[place + 1 - _REPLACED.start],),
        lambda window: (window.texts[place],),
        columns | {"place": place},
    )
    return replace(made, item=replace(made.item, discourse_id=document))

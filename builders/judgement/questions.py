"""The questions that people answer about rows, and the answers that there are.

One question is asked of a row (:mod:`builders.judgement.asked`); a config of labelled examples may
put it in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.files.strict_json import held

YES, NO, CANNOT_TELL = "yes", "no", "cannot tell"
#: The answer that nothing is as the question says.
NONE = "none"

#: Kind of table -> what people are asked about: the field of a line with its identifier.
JUDGED_UNITS: Mapping[str, str] = {
    "items": "pair",
    "spans": "span",
    "documents": "document",
    "examples": "example",
}

#: The field of a line with the answer, and those that annotators may fill as well.
ANSWER = "answer"
FREE_FIELDS = ("annotator", "comment")


@dataclass(frozen=True, slots=True)
class Question:
    """A question in the words that are printed, and its answers: value in the field -> words.

    Of labelled examples the values are the labels.
    """

    text: str
    answers: Mapping[str, str]


def declared_question(config: str, about: Mapping[str, Any]) -> Question | None:
    """The question that a config declares, by its entry in a manifest, if it does."""
    try:
        return held(about["question"], Question) if "question" in about else None
    except EvaluationError as error:
        message = f"manifest.json: configs.{config}.question: {error}"
        raise EvaluationError(message) from None

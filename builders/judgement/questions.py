"""The questions that annotators answer, and the answers that there are.

Three are asked of every pair; a config of pairs may declare further ones. Of a row of another kind
one is asked (:mod:`builders.judgement.asked`); a config of labelled examples may put it in words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

YES, NO = "yes", "no"
TEXT_A, TEXT_B, CANNOT_TELL = "a", "b", "cannot tell"

#: Kind of table -> what people are asked about: the field of a line with its identifier.
JUDGED_UNITS: Mapping[str, str] = {
    "items": "pair",
    "spans": "span",
    "documents": "document",
    "examples": "example",
}
PAIR = JUDGED_UNITS["items"]

#: Field of an answer -> question, and its answers.
QUESTIONS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "a_grammatical": ("Is A grammatical English?", (YES, NO)),
    "b_grammatical": ("Is B grammatical English?", (YES, NO)),
    "less_coherent": ("Which is less coherent?", (TEXT_A, TEXT_B, CANNOT_TELL)),
}

#: An answer as it is printed.
ANSWER_LABELS = {YES: "yes", NO: "no", TEXT_A: "A", TEXT_B: "B", CANNOT_TELL: "cannot tell"}

#: The fields of a line that annotators fill, or leave empty.
FREE_FIELDS = ("annotator", "comment")

#: The fields of a line that come with the pair.
GIVEN_FIELDS = (PAIR, "number", "text_a", "text_b", "answers")

#: The field with the answer about a row of another kind.
ANSWER = "answer"

#: The answer to a further question that goes with no other.
NONE = "none"


#: The name of an annotator begins so where it is a language model, and goes on ``NAME@COMMIT``.
MODEL_READER = "model:"


def is_model(annotator: str) -> bool:
    """Say whether an annotator is a language model."""
    return annotator.startswith(MODEL_READER)


@dataclass(frozen=True, slots=True)
class Question:
    """A further question about a pair, whichever of its texts is A; or the one about a row.

    ``name`` is the field of its answers, ``text`` the question in the words that are printed.
    ``answers`` are (value, words): what stands in the field, and what is printed; the value
    ``none`` goes with no other. ``several`` of them may be given where it is true. Of labelled
    examples the values are the labels.

    Raises:
        ValueError: the name is none, or that of another field; or there are fewer than two
            answers, or two of one value.
    """

    name: str
    text: str
    answers: tuple[tuple[str, str], ...]
    several: bool = False

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", self.name):
            raise ValueError(f"question {self.name!r}, expected letters a to z or _")
        if self.name in fields():
            raise ValueError(f"question {self.name!r}: a field of every answer, expected another")
        if len(set(self.values)) < max(2, len(self.answers)):
            raise ValueError(f"question {self.name!r}: expected two or more different answers")

    @property
    def values(self) -> tuple[str, ...]:
        """The values that may stand in its field."""
        return tuple(value for value, _ in self.answers)

    @property
    def entry(self) -> dict[str, Any]:
        """The question as a manifest has it."""
        answers = dict(self.answers)
        return {"name": self.name, "text": self.text, "answers": answers, "several": self.several}


def _question(entry: Any) -> Question:
    match entry:
        case {"name": str(), "text": str(), "answers": dict(), "several": bool()}:
            answers = tuple(entry["answers"].items())
            if all(isinstance(words, str) for _, words in answers):
                return Question(entry["name"], entry["text"], answers, entry["several"])
    raise ValueError("a question without name, text, answers or several")


def questions_of(manifest: Mapping[str, Any]) -> dict[str, tuple[Question, ...]]:
    """The questions that each config of a manifest declares; an earlier toolkit's have none.

    Raises:
        ValueError: an entry is no question, or two different ones have the same name.
    """
    found = {name: declared_questions(name, about) for name, about in manifest["configs"].items()}
    distinct(question for questions in found.values() for question in questions)
    return found


def declared_questions(config: str, about: Mapping[str, Any]) -> tuple[Question, ...]:
    """The questions of a config, by its entry in a manifest.

    Raises:
        ValueError: an entry is no question.
    """
    entries = about.get("questions", [])
    if not isinstance(entries, list):
        raise ValueError(f"the questions of {config!r} are no list")
    return tuple(map(_question, entries))


def fields(questions: Iterable[Question] = ()) -> tuple[str, ...]:
    """The fields of a line, in their order."""
    return (*GIVEN_FIELDS, *QUESTIONS, *(question.name for question in questions), *FREE_FIELDS)


def distinct(questions: Iterable[Question]) -> tuple[Question, ...]:
    """Questions, each once.

    Raises:
        ValueError: two different ones have the same name.
    """
    found: dict[str, Question] = {}
    for question in questions:
        if found.setdefault(question.name, question) != question:
            raise ValueError(f"two different questions are called {question.name!r}")
    return tuple(found.values())

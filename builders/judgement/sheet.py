"""The sheet: JSON lines, and one page to read, tick or print.

Nothing in either says which answer is the right one, which suite and config a text is from, or
where the two texts of a pair differ. The difference is not marked on purpose: marks draw the eye to
words, and the question is how the whole text reads. They would also give the replaced word away.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from coherencegym.builders.judgement.asked import Asked
from coherencegym.builders.judgement.draw import DrawnPair
from coherencegym.builders.judgement.questions import (
    ANSWER,
    ANSWER_LABELS,
    FREE_FIELDS,
    NONE,
    PAIR,
    QUESTIONS,
    Question,
    distinct,
)
from coherencegym.eval.kinds.items import SEPARATOR
from coherencegym.files.templates import templates_of, under_policy

#: The page of a folder for annotators; beside it are the lines, ``pairs.jsonl``.
SHEET = "sheet.html"
#: Answers of no more characters than this stand in one line.
_LINE = 60


def lines_file(unit: str) -> str:
    """The name of the file of lines about pairs, documents, ..."""
    return f"{unit}s.jsonl"


def write_sheet(unit: str, drawn: Sequence[DrawnPair | Asked], folder: Path) -> None:
    """Write pairs, or questions about rows, into a folder that is there."""
    (folder / lines_file(unit)).write_text(json_lines(unit, drawn), encoding="utf-8")
    (folder / SHEET).write_text(page(unit, drawn), encoding="utf-8")


def json_lines(unit: str, drawn: Sequence[DrawnPair | Asked]) -> str:
    """One object a line: the identifier, the exact texts, and empty fields for answers.

    ``answers`` has the values that such a field may have, and their words; of pairs by field.

    The field of a question with several answers is an empty list.
    """
    lines = (
        {unit: one.id, "number": number, **_fields(one), **dict.fromkeys(FREE_FIELDS, "")}
        for number, one in enumerate(drawn, start=1)
    )
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def answer_line(pair: DrawnPair, annotator: str, less_coherent: str) -> str:
    """A line of ``pairs.jsonl`` with who read it, and their answer on coherence alone."""
    texts = {PAIR: pair.id, "text_a": pair.text_a, "text_b": pair.text_b}
    line = {**texts, "less_coherent": less_coherent, "annotator": annotator}
    return json.dumps(line, ensure_ascii=False) + "\n"


def _fields(one: DrawnPair | Asked) -> dict[str, Any]:
    if isinstance(one, DrawnPair):
        return {
            "text_a": one.text_a,
            "text_b": one.text_b,
            "answers": {
                **{
                    field: {answer: ANSWER_LABELS[answer] for answer in answers}
                    for field, (_, answers) in QUESTIONS.items()
                },
                **{question.name: dict(question.answers) for question in one.questions},
            },
            **dict.fromkeys(QUESTIONS, ""),
            **{question.name: [] if question.several else "" for question in one.questions},
        }
    texts = {f"text_{name.lower()}" if name else "text": "\n".join(t) for name, t in one.texts}
    asked = one.question
    return {**texts, "question": asked.text, "answers": dict(asked.answers), ANSWER: ""}


def page(unit: str, drawn: Sequence[DrawnPair | Asked]) -> str:
    """A page of HTML that needs nothing else.

    On a screen it keeps the answers in the browser and saves them as JSON lines; on paper it has
    boxes to tick, and no pair or text is torn apart by the end of a page.
    """
    environment = templates_of("builders.judgement", autoescape=True)
    environment.filters["short"] = _are_short
    identifiers = "\n".join(one.id for one in drawn)
    further = distinct(q for one in drawn if isinstance(one, DrawnPair) for q in one.questions)
    text: str = environment.get_template("sheet.html.jinja").render(
        unit=unit,
        sections=[_section(number, one) for number, one in enumerate(drawn, start=1)],
        speakers=any(
            SEPARATOR in one.text_a + one.text_b for one in drawn if isinstance(one, DrawnPair)
        ),
        questions={
            field: (question, [(answer, ANSWER_LABELS[answer]) for answer in answers])
            for field, (question, answers) in (QUESTIONS if unit == PAIR else {}).items()
        },
        further=further,
        fields=[question.name for question in further] if unit == PAIR else [ANSWER],
        nothing=NONE,
        # The browser keeps what was ticked under this name, so that no sheet finds another's.
        sheet=hashlib.sha256(identifiers.encode()).hexdigest()[:16],
    )
    return under_policy(text)


def _section(number: int, one: DrawnPair | Asked) -> dict[str, Any]:
    if isinstance(one, DrawnPair):
        return {"number": number, "id": one.id, "texts": turns(one), "further": one.questions}
    texts = [(name, [("", line) for line in lines]) for name, lines in one.texts]
    return {"number": number, "id": one.id, "texts": texts, "further": (one.question,)}


def _are_short(question: Question) -> bool:
    return sum(len(words) for _, words in question.answers) <= _LINE


def turns(pair: DrawnPair) -> list[tuple[str, list[tuple[str, str]]]]:
    """The two texts as they are printed: (A or B, [(speaker, what is said), ...]).

    Where either text has a change of speaker, both are printed as a dialogue of two: the speaker
    changes at each :data:`SEPARATOR`. They are called 1 and 2, as A and B are the texts.
    """
    dialogue = SEPARATOR in pair.text_a + pair.text_b
    shown = []
    for name, text in (("A", pair.text_a), ("B", pair.text_b)):
        names = cycle(("Speaker 1:", "Speaker 2:") if dialogue else ("",))
        parts = (part.strip() for part in text.split(SEPARATOR))
        shown.append((name, list(zip(names, parts, strict=False))))
    return shown

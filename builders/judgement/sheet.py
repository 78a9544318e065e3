"""The sheet: JSON lines, and one page to read, tick or print.

Nothing in either says which answer is the right one, which suite and config a text is from, or
where the two texts of a pair differ. The difference is not marked on purpose: marks draw the eye to
words, and the question is how the whole text reads. They would also give the replaced word away.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from coherencegym.builders.judgement.asked import Asked
from coherencegym.builders.judgement.questions import ANSWER, FREE_FIELDS, Question
from coherencegym.files.templates import templates_of, under_policy

#: The page of a folder for annotators; beside it are the lines, ``pairs.jsonl``.
SHEET = "sheet.html"
#: Answers of no more characters than this stand in one line.
_LINE = 60


def lines_file(unit: str) -> str:
    """The name of the file of lines about pairs, documents, ..."""
    return f"{unit}s.jsonl"


def write_sheet(unit: str, drawn: Sequence[Asked], folder: Path) -> None:
    """Write questions about pairs, spans, ... (``unit``) into a folder that is there."""
    (folder / lines_file(unit)).write_text(json_lines(unit, drawn), encoding="utf-8")
    (folder / SHEET).write_text(page(unit, drawn), encoding="utf-8")


def json_lines(unit: str, drawn: Sequence[Asked]) -> str:
    """One object a line: the identifier, the texts, and empty fields for the answer and a name.

    ``answers`` has the values that the answer may have, and their words.
    """
    lines = (
        {
            unit: one.id,
            "number": number,
            **{f"text_{name.lower()}" if name else "text": "\n".join(t) for name, t in one.texts},
            "question": one.question.text,
            "answers": one.question.answers,
            **dict.fromkeys((ANSWER, *FREE_FIELDS), ""),
        }
        for number, one in enumerate(drawn, start=1)
    )
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def page(unit: str, drawn: Sequence[Asked]) -> str:
    """A page of HTML that needs nothing else.

    On a screen it keeps the answers in the browser and saves them as JSON lines; on paper it has
    circles to tick, and no question or text is torn apart by the end of a page.
    """
    environment = templates_of("builders.judgement", autoescape=True)
    environment.filters["short"] = _are_short
    identifiers = "\n".join(one.id for one in drawn)
    text: str = environment.get_template("sheet.html.jinja").render(
        unit=unit,
        drawn=drawn,
        # The browser keeps what was ticked under this name, so that no sheet finds another's.
        sheet=hashlib.sha256(identifiers.encode()).hexdigest()[:16],
    )
    return under_policy(text)


def _are_short(question: Question) -> bool:
    return sum(map(len, question.answers.values())) <= _LINE

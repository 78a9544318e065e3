"""The two forms in which annotators get pairs: JSON lines, and one page to read, tick or print.

Nothing in either says which text is the coherent one, which suite and config a pair is from, or
where the two texts differ. The difference is not marked on purpose: marks draw the eye to words,
and the question is how the whole text reads. They would also give the replaced word away.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from coherencegym.builders.judgement.draw import DrawnPair
from coherencegym.builders.judgement.questions import FREE_FIELDS, LABELS, NONE, QUESTIONS, distinct
from coherencegym.eval.kinds.items import SEPARATOR

#: The files of a folder for annotators.
PAIRS, SHEET = "pairs.jsonl", "sheet.html"


def write_sheet(pairs: Sequence[DrawnPair], folder: Path) -> None:
    """Write the pairs into a folder that is there."""
    (folder / PAIRS).write_text(json_lines(pairs), encoding="utf-8")
    (folder / SHEET).write_text(page(pairs), encoding="utf-8")


def json_lines(pairs: Sequence[DrawnPair]) -> str:
    """One object a line: the pair's identifier, the exact texts, and empty fields for answers.

    The field of a question with several answers is an empty list.
    """
    return "".join(
        json.dumps(
            {
                "pair": pair.id,
                "number": number,
                "text_a": pair.text_a,
                "text_b": pair.text_b,
                **dict.fromkeys(QUESTIONS, ""),
                **{question.name: [] if question.several else "" for question in pair.questions},
                **dict.fromkeys(FREE_FIELDS, ""),
            },
            ensure_ascii=False,
        )
        + "\n"
        for number, pair in enumerate(pairs, start=1)
    )


def page(pairs: Sequence[DrawnPair]) -> str:
    """A page of HTML that needs nothing else.

    On a screen it keeps the answers in the browser and saves them as JSON lines; on paper it has
    boxes to tick, and no pair is torn apart by the end of a page.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("coherencegym.builders.judgement", "templates"),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    identifiers = "\n".join(pair.id for pair in pairs)
    return environment.get_template("sheet.html.jinja").render(
        pairs=[
            {"number": number, "id": pair.id, "texts": turns(pair), "further": pair.questions}
            for number, pair in enumerate(pairs, start=1)
        ],
        speakers=any(SEPARATOR in pair.text_a + pair.text_b for pair in pairs),
        questions={
            field: (question, [(answer, LABELS[answer]) for answer in answers])
            for field, (question, answers) in QUESTIONS.items()
        },
        further=distinct(question for pair in pairs for question in pair.questions),
        nothing=NONE,
        # The browser keeps what was ticked under this name, so that no sheet finds another's.
        sheet=hashlib.sha256(identifiers.encode()).hexdigest()[:16],
    )


def turns(pair: DrawnPair) -> list[tuple[str, list[tuple[str, str]]]]:
    """The two texts as they are printed: (A or B, [(speaker, what is said), ...]).

    Where either text has a change of speaker, both are printed as a dialogue of two: the speaker
    changes at each :data:`SEPARATOR`. They are called 1 and 2, as A and B are the texts.
    """
    dialogue = SEPARATOR in pair.text_a + pair.text_b
    shown = []
    for name, text in (("A", pair.text_a), ("B", pair.text_b)):
        parts = [part.strip() for part in text.split(SEPARATOR)]
        speakers = [
            f"Speaker {1 + number % 2}:" if dialogue else "" for number in range(len(parts))
        ]
        shown.append((name, list(zip(speakers, parts, strict=True))))
    return shown

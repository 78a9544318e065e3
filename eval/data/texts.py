"""Texts of people's own: a list, a data frame, or a file: one a line, or a table with a column.

A row of a table may have a context, and an id that stays beside its text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherencegym.command_line import did_you_mean
from coherencegym.errors import EvaluationError
from coherencegym.eval.data.pairs import ID_NAMES
from coherencegym.files.frames import FRAME_SUFFIXES, read_frame, read_text, records

#: The column of texts, where none is named.
TEXT_NAME = "text"
#: The endings of files of texts: one text a line, or a table.
TEXT_SUFFIXES = (".txt", *FRAME_SUFFIXES)


@dataclass(frozen=True)
class LabelledTexts:
    """Texts, and what stands beside them.

    Attributes:
        texts: the texts; they are not checked.
        contexts: a text before each, None or empty where it has none; None: no text has one.
        labels: the columns of each text in a table of results: ``text_number`` (its row, or its
            line in a file of plain text, from 1), and its id where the texts have ids.
    """

    texts: Sequence[Any]
    contexts: Sequence[Any] | None
    labels: Sequence[Mapping[str, Any]]


def labelled_texts(
    given: Any,
    column: str | None = None,
    context: str | None = None,
    contexts: Sequence[Any] | None = None,
) -> LabelledTexts:
    """Texts with their contexts and labels.

    Args:
        given: a path: a ``.txt`` file of one text a line, or a table; a data frame; or texts.
        column, context: the columns of the texts (by default ``text``) and of their contexts.
        contexts: the contexts of texts that have no columns.
    """
    where = "texts"
    if isinstance(given, Path):
        where = str(given)
        if given.suffix != ".txt":
            given = read_frame(given, f"a column {column or TEXT_NAME!r}")
    if hasattr(given, "columns"):
        return _of_frame(given, where, column or TEXT_NAME, context, contexts)
    is_file = isinstance(given, Path)
    if column or context:
        what = "a .txt file has" if is_file else "a list of texts has"
        raise EvaluationError(f"{where}: {what} no columns; expected a table, or no column")
    numbered = dict(enumerate(read_text(given).splitlines() if is_file else given, start=1))
    if is_file:
        numbered = {number: line for number, line in numbered.items() if line.strip()}
        if not numbered:
            raise EvaluationError(f"{where}: the file is empty; expected a text on each line")
    labels = [{"text_number": number} for number in numbered]
    return LabelledTexts(list(numbered.values()), contexts, labels)


def _of_frame(
    frame: Any, where: str, column: str, context: str | None, contexts: Sequence[Any] | None
) -> LabelledTexts:
    for name in filter(None, (column, context)):
        if name not in frame:
            listed = ", ".join(map(str, frame))
            raise EvaluationError(
                f"{where}: no column {name!r}; there are {listed}; expected one of them with "
                f"--column or --context, in Python column= or context={did_you_mean(name, frame)}"
            )
    rows = records(frame)
    if context is not None:
        contexts = [row[context] for row in rows]
    ids = [name for name in ID_NAMES if name in frame][:1]
    labels = [
        {"text_number": number, **{name: row[name] for name in ids}}
        for number, row in enumerate(rows, start=1)
    ]
    return LabelledTexts([row[column] for row in rows], contexts, labels)

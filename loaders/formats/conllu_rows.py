"""The rows of a CoNLL-U sentence: ten columns, ids that count up, places in the text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coherencegym.loaders.formats.lines import LineError, shown, tidy

_COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")

#: ``3`` a word, ``3-4`` a multiword token, ``3.1`` an empty node.
_ID = re.compile(r"(\d{1,6})(?:([-.])(\d{1,6}))?")


@dataclass(frozen=True, slots=True)
class Row:
    """A line as columns; ``last`` is the last word of a multiword token, ``kind`` its separator."""

    line: int
    columns: Sequence[str]
    kind: str
    number: int
    last: int
    form: str
    spaced: bool


def read_row(number: int, line: str) -> Row:
    """Read a line into its columns.

    Raises:
        LineError: there are not ten of them, or the id or the form is none.
    """
    columns = line.split("\t")
    if len(columns) != len(_COLUMNS):
        problem = f"{len(columns)} columns, expected {len(_COLUMNS)} with tabs between them"
        raise LineError(number, problem, "wrong number of columns")
    match = _ID.fullmatch(columns[0])
    if match is None:
        problem = f"id {shown(columns[0])}, expected a number such as 3, 3-4 or 3.1"
        raise LineError(number, problem, "bad id")
    form = tidy(columns[1])
    if not form:
        raise LineError(number, "an empty form, expected a word", "empty form")
    spaced = "SpaceAfter=No" not in columns[9].split("|")
    return Row(number, columns, match[2] or "", int(match[1]), int(match[3] or 0), form, spaced)


def check_ids(rows: Sequence[Row], last_line: int) -> None:
    """Words count from 1; a multiword token stands before its words, an empty node after one.

    Raises:
        LineError: they do not.
    """
    word = empty = reach = 0
    for row in rows:
        if row.kind == "":
            fits, expected = row.number == word + 1, str(word + 1)
            word, empty = word + 1, 0
        elif row.kind == "-":
            fits = row.number == word + 1 and row.number > reach and row.last > row.number
            expected = f"a range of words from {max(word, reach) + 1} on"
            reach = row.last
        else:
            fits, expected = (row.number, row.last) == (word, empty + 1), f"{word}.{empty + 1}"
            empty += 1
        if not fits:
            problem = f"id {shown(row.columns[0])}, expected {expected}"
            raise LineError(row.line, problem, "ids out of order")
    if reach > word:
        problem = f"the sentence ends after word {word}, expected words up to {reach}"
        raise LineError(last_line, problem, "sentence cut off")


def lay_out_rows(rows: Sequence[Row]) -> tuple[str, list[tuple[int, int]]]:
    """The sentence's text, and the place of each row in it."""
    forms = {row.number: row.form for row in rows if not row.kind}
    inside: dict[int, tuple[int, int]] = {}
    parts: list[str] = []
    places: list[tuple[int, int]] = []
    length, space = 0, ""
    for row in rows:
        if row.kind == ".":
            place = (length, length)
        elif row.kind == "" and row.number in inside:
            place = inside[row.number]
        else:
            place = (length + len(space), length + len(space) + len(row.form))
            parts += (space, row.form)
            length, space = place[1], " " if row.spaced else ""
            if row.kind == "-":
                inside |= _inside(row, forms, place)
        places.append(place)
    return "".join(parts), places


def _inside(
    token: Row, forms: Mapping[int, str], place: tuple[int, int]
) -> dict[int, tuple[int, int]]:
    """The places of the words of a multiword token, by number.

    They are parts of the token where the forms make it up (``do``, ``n't``), and all of it where
    they do not (French ``du`` for ``de``, ``le``).
    """
    numbers = range(token.number, token.last + 1)
    if "".join(forms[number] for number in numbers) != token.form:
        return dict.fromkeys(numbers, place)
    places, start = {}, place[0]
    for number in numbers:
        places[number] = (start, start + len(forms[number]))
        start = places[number][1]
    return places

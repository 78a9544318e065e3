"""Winograd schemas in the layouts that they are handed around in, told from the file itself.

- Ernest Davis's XML: a ``schema`` holds ``text`` (``txt1``, ``pron``, ``txt2``), ``quote``,
  ``answers`` (``answer`` twice; more in the pronoun disambiguation problems of 2016, whose files
  look the same), ``correctAnswer`` (``A``, ``A.``, ``B`` ... with white space) and ``source``;
- the Hub's records (``text``, ``pronoun``, ``pronoun_loc``, ``options``, ``label``; ``quote``,
  ``quote_loc`` and ``source`` are not needed), as JSON or parquet: the texts of the XML joined by
  single spaces;
- Winogrande's (``sentence`` with a blank ``_``, ``option1``, ``option2``, ``answer`` 1 or 2, and
  ``qID`` where there is one), one object a line; the WSC is also handed around in it;
- Trinh and Le's (``question_id``, ``substitution``, ``correctness``), an array in which two records
  that follow each other are one schema, each with a candidate already in its place.

No reader of records met its real file (unproven): the first two are documented, the third is known
from the code that reads it (``research/lm_commonsense`` of ``tensorflow/models``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from coherencegym.loaders.corpus import CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.formats.json_records import json_records
from coherencegym.loaders.formats.lines import RecordError, open_text, shown, tidy
from coherencegym.loaders.formats.records import Record, parquet_records
from coherencegym.loaders.formats.xml_elements import Element, elements

#: The fields of records, by layout.
_HUB = ("text", "pronoun", "pronoun_loc", "options", "label")
_WINOGRANDE = ("sentence", "option1", "option2", "answer")
_TRINH_LE = ("question_id", "substitution", "correctness")
_NO_PARTNER = "no partner"

_LETTERS = "ABCDEFGHIJ"
#: Elements in a schema; one has about 15.
_MOST_PARTS = 1000
_PARTS = ("text/txt1", "text/pron", "text/txt2", "correctAnswer", "source")

_TOKEN = re.compile(r"\w+(?:['’]\w+)*|\S")
#: Words that belong to the candidate after them, if they stand before both.
_DETERMINERS = frozenset(("the", "a", "an", "my", "his", "her", "its", "our", "your", "their"))


@dataclass(frozen=True, slots=True)
class Schema:
    """One problem: a text with a place in it, and what could be meant there.

    Attributes:
        number: its place in the file, from 1, bad ones counted.
        line: the line on which it begins in the file.
        left, right: the text before and after the place.
        pronoun: the text at the place; empty where the layout has a blank there.
        options: the candidates, two or more.
        answer: index of the right one.
        identifier: its identifier, where the layout has one.
        credit: the person who thought of it, where the layout says so.
    """

    number: int
    line: int
    left: str
    pronoun: str
    right: str
    options: tuple[str, ...]
    answer: int
    identifier: str = ""
    credit: str = ""


def read_schemas(file: CorpusFile, options: ReadOptions) -> Iterator[Schema]:
    """The schemas of a file in whichever layout it has."""
    with open_text(file) as text:
        head = text.read(1000).lstrip()
    if head.startswith("PAR1"):
        yield from _records(file, parquet_records(file), options)
    elif head.startswith("<"):
        yield from _xml(file, options)
    else:
        yield from _records(file, json_records(file, options), options)


def _xml(file: CorpusFile, options: ReadOptions) -> Iterator[Schema]:
    number = 0
    inside: list[Element] = []
    for element in elements(file.path):
        if element.name != "schema":
            inside.append(element)
            if len(inside) > _MOST_PARTS:
                raise CorpusError(
                    f"{file.path}:{element.line}: {_MOST_PARTS:,} elements without a </schema>, "
                    "expected a collection of Winograd schemas"
                )
            continue
        number += 1
        try:
            yield _of_element(number, element, inside)
        except RecordError as bad:
            bad.report(f"{file.path}:{element.line}: schema {number}", options)
        inside = []
    if not number:
        raise CorpusError(f"{file.path}:1: no <schema>, expected a collection of Winograd schemas")


def _of_element(number: int, element: Element, inside: list[Element]) -> Schema:
    depth = len(element.path)
    found: dict[str, list[str]] = {}
    for part in inside:
        found.setdefault("/".join(part.path[depth:]), []).append(part.text)
    for name in _PARTS:
        if len(found.get(name, ())) > 1:
            raise RecordError(f"<{name}> stands twice, expected it once", "part twice")
    text = {name: "".join(found.get(name, ())) for name in _PARTS}
    if not text["text/pron"].strip():
        raise RecordError("no <pron> in <text>, expected the pronoun", "no pronoun")
    answers = tuple(found.get("answers/answer", ()))
    if len(answers) < 2 or len(answers) > len(_LETTERS):
        raise RecordError(f"{len(answers)} <answer>, expected two", "not two candidates")
    letters = _LETTERS[: len(answers)]
    letter = text["correctAnswer"].strip().rstrip(".").strip().upper()
    if len(letter) != 1 or letter not in letters:
        raise RecordError(
            f"<correctAnswer> is {shown(text['correctAnswer'].strip())}, expected "
            f"{', '.join(letters[:-1])} or {letters[-1]}",
            "unknown answer",
        )
    return Schema(
        number=number,
        line=element.line,
        left=text["text/txt1"],
        pronoun=text["text/pron"],
        right=text["text/txt2"],
        options=answers,
        answer=letters.index(letter),
        credit=text["source"],
    )


def _records(file: CorpusFile, records: Iterable[Record], options: ReadOptions) -> Iterator[Schema]:
    records = iter(records)
    if (first := next(records, None)) is None:
        raise CorpusError(f"{file.path}:1: no record, expected Winograd schemas")
    names, layouts = set(first.values), (_HUB, _WINOGRANDE, _TRINH_LE)
    layout = max(layouts, key=lambda fields: len(names & set(fields)))
    if len(names & set(layout)) < 2:
        raise CorpusError(
            f"{first.place}: fields {shown(', '.join(map(str, first.values)), 80)}; expected "
            + ", or ".join(map(", ".join, layouts))
        )
    records = chain([first], records)
    if layout is _TRINH_LE:
        yield from _pairs(records, options)
        return
    make = _of_hub if layout is _HUB else _of_winogrande
    for record in records:
        try:
            yield make(record)
        except RecordError as bad:
            bad.report(record.place, options)


def _of_hub(record: Record) -> Schema:
    text, pronoun = _text(record, "text"), _text(record, "pronoun")
    place, options = _value(record, "pronoun_loc"), _value(record, "options")
    if not pronoun.strip():
        raise RecordError("pronoun is empty, expected a word", "no pronoun")
    if type(place) is not int or place < 0 or not text.startswith(pronoun, place):
        raise RecordError(
            f"pronoun_loc is {shown(repr(place))}, where {shown(pronoun)} does not stand; "
            "expected its place in text (characters)",
            "pronoun not at pronoun_loc",
        )
    if not isinstance(options, list) or not all(isinstance(option, str) for option in options):
        raise RecordError("options is no list of texts, expected two texts", "wrong type")
    label, allowed = _value(record, "label"), [str(number) for number in range(len(options))]
    if str(label) not in allowed:
        raise RecordError(
            f"label is {shown(repr(label))}, expected {' or '.join(allowed) or 'an option'}",
            "unknown answer",
        )
    right, credit = text[place + len(pronoun) :], record.values.get("source")
    return Schema(
        *(record.number, record.line, text[:place], pronoun, right),
        options=tuple(options),
        answer=int(label),
        credit=credit if isinstance(credit, str) else "",
    )


def _of_winogrande(record: Record) -> Schema:
    left, *rest = _text(record, "sentence").split("_")
    if len(rest) != 1:
        raise RecordError(f"{len(rest)} blanks (_) in sentence, expected one", "not one blank")
    answer = _value(record, "answer")
    if str(answer) not in ("1", "2"):
        hint = "; is this a test set, which is given out without answers?" if answer == "" else ""
        raise RecordError(
            f"answer is {shown(repr(answer))}, expected 1 or 2{hint}", "unknown answer"
        )
    identifier = record.values.get("qID")
    return Schema(
        *(record.number, record.line, left, "", rest[0]),
        options=(_text(record, "option1"), _text(record, "option2")),
        answer=int(answer) - 1,
        identifier=identifier if isinstance(identifier, str) else "",
    )


def _pairs(records: Iterable[Record], options: ReadOptions) -> Iterator[Schema]:
    # A record without a partner spoils no other pair.
    one: Record | None = None
    for two in chain(records, [None]):
        if one is None:
            one = two
            continue
        try:
            yield _of_pair(one, two)
        except RecordError as bad:
            bad.report(one.place, options)
            one = two if bad.reason == _NO_PARTNER else None
        else:
            one = None


def _of_pair(one: Record, two: Record | None) -> Schema:
    if two is None:
        raise RecordError("the last record has no partner, expected two", _NO_PARTNER)
    first, second = (_value(record, "question_id") for record in (one, two))
    if first != second:
        raise RecordError(
            f"question_id is {shown(repr(first))} and then {shown(repr(second))}, "
            "expected two records of one question",
            _NO_PARTNER,
        )
    right = [bool(_value(record, "correctness")) for record in (one, two)]
    if sum(right) != 1:
        raise RecordError(
            f"{sum(right)} of the two records of the question are right, expected one",
            "unknown answer",
        )
    texts = [tidy(_text(record, "substitution")) for record in (one, two)]
    if not all(texts):
        raise RecordError("substitution is empty, expected text", "empty text")
    # The candidates are where the texts differ.
    if (cuts := difference(*texts)) is None:
        raise RecordError("both substitutions are the same, expected two", "same candidates")
    start, ends = cuts
    return Schema(
        *((one.number + 1) // 2, one.line, texts[0][:start], "", texts[0][ends[0] :]),
        options=tuple(text[start:end] for text, end in zip(texts, ends, strict=True)),
        answer=right.index(True),
    )


def _value(record: Record, name: str) -> Any:
    if name not in record.values:
        raise RecordError(f"no field {name}, expected it in every record", "missing field")
    return record.values[name]


def _text(record: Record, name: str) -> str:
    value = _value(record, name)
    if not isinstance(value, str):
        raise RecordError(f"{name} is {shown(repr(value))}, expected text", "wrong type")
    return value


def difference(one: str, two: str) -> tuple[int, tuple[int, int]] | None:
    """Find where two texts differ, in whole words: the start, and the end in each (characters).

    At least one word of each is in it. A determiner that both have before it belongs to it; other
    words that two candidates share at their ends are told apart by nothing, and stay outside.
    None where the texts have the same words.
    """
    one_words, two_words = (list(_TOKEN.finditer(text)) for text in (one, two))
    same = [a[0] == b[0] for a, b in zip(one_words, two_words, strict=False)]
    if all(same) and len(one_words) == len(two_words):
        return None
    most = min(len(one_words), len(two_words)) - 1
    first = next((place for place in range(most) if not same[place]), most)
    last = 0
    while last < most - first and one_words[-1 - last][0] == two_words[-1 - last][0]:
        last += 1
    while first > 0 and one_words[first - 1][0].lower() in _DETERMINERS:
        first -= 1
    start = one_words[first].start()
    if two_words[first].start() != start:  # the same words, spaced otherwise
        return None
    return start, (one_words[-1 - last].end(), two_words[-1 - last].end())

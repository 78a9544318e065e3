"""Winograd schemas as records: three layouts, told apart by the names of their fields.

- the Hub's (``text``, ``pronoun``, ``pronoun_loc``, ``options``, ``label``; ``quote``,
  ``quote_loc`` and ``source`` are not needed), as JSON or parquet: the texts of the XML joined by
  single spaces;
- Winogrande's (``sentence`` with a blank ``_``, ``option1``, ``option2``, ``answer`` 1 or 2, and
  ``qID`` where there is one), one object a line; the WSC is also handed around in it;
- Trinh and Le's (``question_id``, ``substitution``, ``correctness``), an array in which two records
  that follow each other are one schema, each with a candidate already in its place.

None of these readers met its real file (unproven): the first two are documented, the third is known
from the code that reads it (``research/lm_commonsense`` of ``tensorflow/models``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from coherencegym.loaders.corpora.winograd.difference import difference
from coherencegym.loaders.corpora.winograd.schema import BadSchemaError, Schema
from coherencegym.loaders.corpus import CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.formats.lines import shown, tidy
from coherencegym.loaders.formats.records import Record

HUB = ("text", "pronoun", "pronoun_loc", "options", "label")
WINOGRANDE = ("sentence", "option1", "option2", "answer")
TRINH_LE = ("question_id", "substitution", "correctness")

_BLANK = "_"
_NO_PARTNER = "no partner"


def read_records(
    file: CorpusFile, records: Iterable[Record], options: ReadOptions
) -> Iterator[Schema]:
    """The schemas of records in one of the three layouts; the first record says which.

    Raises:
        CorpusError: there is no record, the layout is none of the three, or a bad record.
    """
    remaining = iter(records)
    first = next(remaining, None)
    if first is None:
        raise CorpusError(f"{file.path}:1: no record, expected Winograd schemas")
    names = set(first.values)
    layout = max((HUB, WINOGRANDE, TRINH_LE), key=lambda fields: len(names & set(fields)))
    if len(names & set(layout)) < 2:
        raise CorpusError(
            f"{first.place}: fields {shown(', '.join(map(str, first.values)), 80)}; expected "
            + ", or ".join(", ".join(fields) for fields in (HUB, WINOGRANDE, TRINH_LE))
        )
    records = chain([first], remaining)
    if layout is TRINH_LE:
        yield from _pairs(records, options)
        return
    make = _of_hub if layout is HUB else _of_winogrande
    for record in records:
        try:
            yield make(record)
        except BadSchemaError as bad:
            options.bad(f"{record.place}: {bad.problem}", bad.reason)


def _of_hub(record: Record) -> Schema:
    values = record.values
    text, pronoun = _string(values, "text"), _string(values, "pronoun")
    place, options = _value(values, "pronoun_loc"), _value(values, "options")
    if not pronoun.strip():
        raise BadSchemaError("pronoun is empty, expected a word", "no pronoun")
    if type(place) is not int or place < 0 or not text.startswith(pronoun, place):
        raise BadSchemaError(
            f"pronoun_loc is {shown(repr(place))}, where {shown(pronoun)} does not stand; "
            "expected its place in text (characters)",
            "pronoun not at pronoun_loc",
        )
    if not isinstance(options, list) or not all(isinstance(option, str) for option in options):
        raise BadSchemaError("options is no list of texts, expected two texts", "wrong type")
    label = _value(values, "label")
    allowed = {str(i): i for i in range(len(options))}
    if str(label) not in allowed:
        raise BadSchemaError(
            f"label is {shown(repr(label))}, expected {' or '.join(allowed) or 'an option'}",
            "unknown answer",
        )
    credit = values.get("source")
    return Schema(
        record.number,
        record.line,
        left=text[:place],
        pronoun=pronoun,
        right=text[place + len(pronoun) :],
        options=tuple(options),
        answer=allowed[str(label)],
        credit=credit if isinstance(credit, str) else "",
    )


def _of_winogrande(record: Record) -> Schema:
    values = record.values
    parts = _string(values, "sentence").split(_BLANK)
    if len(parts) != 2:
        raise BadSchemaError(
            f"{len(parts) - 1} blanks (_) in sentence, expected one", "not one blank"
        )
    answer = _value(values, "answer")
    if str(answer) not in ("1", "2"):
        hint = "; is this a test set, which is given out without answers?" if answer == "" else ""
        raise BadSchemaError(
            f"answer is {shown(repr(answer))}, expected 1 or 2{hint}", "unknown answer"
        )
    identifier = values.get("qID")
    return Schema(
        record.number,
        record.line,
        left=parts[0],
        pronoun="",
        right=parts[1],
        options=(_string(values, "option1"), _string(values, "option2")),
        answer=int(answer) - 1,
        identifier=identifier if isinstance(identifier, str) else "",
    )


def _pairs(records: Iterable[Record], options: ReadOptions) -> Iterator[Schema]:
    """The schemas of records two by two; one without a partner spoils no other pair."""
    one: Record | None = None
    for two in chain(records, [None]):
        if one is None:
            one = two
            continue
        try:
            yield _of_pair(one, two)
        except BadSchemaError as bad:
            options.bad(f"{one.place}: {bad.problem}", bad.reason)
            one = two if bad.reason == _NO_PARTNER else None
        else:
            one = None


def _of_pair(one: Record, two: Record | None) -> Schema:
    """The schema of two substituted texts: the candidates are where they differ."""
    if two is None:
        raise BadSchemaError("the last record has no partner, expected two", _NO_PARTNER)
    questions = [_value(record.values, "question_id") for record in (one, two)]
    if questions[0] != questions[1]:
        raise BadSchemaError(
            f"question_id is {shown(repr(questions[0]))} and then {shown(repr(questions[1]))}, "
            "expected two records of one question",
            _NO_PARTNER,
        )
    right = [bool(_value(record.values, "correctness")) for record in (one, two)]
    if sum(right) != 1:
        raise BadSchemaError(
            f"{sum(right)} of the two records of the question are right, expected one",
            "unknown answer",
        )
    texts = [tidy(_string(record.values, "substitution")) for record in (one, two)]
    if not all(texts):
        raise BadSchemaError("substitution is empty, expected text", "empty text")
    cuts = difference(*texts)
    if cuts is None:
        raise BadSchemaError("both substitutions are the same, expected two", "same candidates")
    start, ends = cuts
    return Schema(
        number=(one.number + 1) // 2,
        line=one.line,
        left=texts[0][:start],
        pronoun="",
        right=texts[0][ends[0] :],
        options=(texts[0][start : ends[0]], texts[1][start : ends[1]]),
        answer=right.index(True),
    )


def _value(values: dict[str, Any], name: str) -> Any:
    if name not in values:
        raise BadSchemaError(f"no field {name}, expected it in every record", "missing field")
    return values[name]


def _string(values: dict[str, Any], name: str) -> str:
    value = _value(values, name)
    if not isinstance(value, str):
        raise BadSchemaError(f"{name} is {shown(repr(value))}, expected text", "wrong type")
    return value

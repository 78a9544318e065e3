"""The records of INSteD, and which sentence of its context a record is about.

A record has a context (``ctx``), the context's own sentence (``to_be_replaced``), what takes its
place (``replace_with``) and the number of that sentence (``sen_position``, from 0; -1 where the
document is coherent). How sentences were told apart is not said, and no splitter that was tried
gives all of those numbers (it goes wrong at ``M.D.`` and ``c.``), so the sentence is looked for by
its text.

In both files of the probe ``singular_determiner_flip`` the context is another one: the document in
which the intruder, without the probe, has taken the place of the document's own sentence. There the
intruder is looked for instead: by the text that the probe changed, or else by its number, where
there is but one way to count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from coherencegym.loaders.corpora.json_fields import (
    Problem,
    is_whole,
    missing_field,
    text_field_problem,
)
from coherencegym.loaders.corpus import CorpusFile, ReadOptions
from coherencegym.loaders.formats.json_records import json_records
from coherencegym.loaders.formats.lines import shown, tidy
from coherencegym.loaders.text.sentences import sentence_spans

#: A coherent document's ``sen_position``.
COHERENT = -1
#: Reasons why a record is left out that holds to the format but not together.
_NOT_FOUND = "the sentence to be replaced is not in ctx"
_NOT_THERE = "the intruder is not in ctx: the probe changed the document's own sentence"
_NOT_SURE = "no telling which sentence of ctx is the intruder"
_UNCHANGED = "the sentence is replaced by itself"

_FIELDS = ("file_id", "ctx", "to_be_replaced", "replace_with", "sen_position", "train")
#: Fields with numbers: the numbers that they may have, and these in words.
_NUMBERS = (
    ("sen_position", range(COHERENT, 10**9), f"{COHERENT} or more"),
    ("train", range(2), "0 or 1"),
)
_STOP = re.compile(r"[.!?][\"'”’)\]]*(?=\s|$)")
#: The forms that the probe singular_determiner_flip makes, with the forms before, for the way back.
_FLIPPED = {"these": "(?:this|these)", "those": "(?:that|those)"}


@dataclass(frozen=True, slots=True)
class InstedRecord:
    """A record as the file has it, and where it stands."""

    place: str
    line: int
    file_id: str
    context: str
    own: str
    replacement: str
    position: int
    split: str
    label: str


def insted_records(file: CorpusFile, options: ReadOptions) -> Iterator[InstedRecord]:
    """The records of a file of JSON lines."""
    for record in json_records(file, options):
        problem = _problem(record.values)
        if problem is not None:
            options.bad(f"{record.place}: {problem[0]}", problem[1])
            continue
        values = record.values
        yield InstedRecord(
            place=record.place,
            line=record.line,
            file_id=tidy(str(values["file_id"])),
            context=values["ctx"],
            own=values["to_be_replaced"] or "",
            replacement=values["replace_with"] or "",
            position=int(values["sen_position"]),
            split="train" if int(values["train"]) else "test",
            label=tidy(str(values.get("label", ""))),
        )


def placed(record: InstedRecord, corrupted: str) -> tuple[tuple[str, ...], int] | str:
    """The coherent document of a record and the number of the sentence that it replaces.

    Args:
        record: the record to place.
        corrupted: ``injected`` or ``original`` where the context has the intruder in it, for the
            record of a probe of that kind; empty where it is the document's own.

    Returns:
        The document's own sentences, and the index of the one that is replaced (-1: none is); or
        the reason why there is none.
    """
    context = record.context
    if record.position == COHERENT:
        return _sentences(context), COHERENT
    if tidy(record.own) == tidy(record.replacement):
        return _UNCHANGED
    if not corrupted:
        found, missing = _occurrence(context, record.own, record.position), _NOT_FOUND
    elif corrupted == "injected":
        found, missing = _unflipped(context, record.replacement), _NOT_THERE
    else:
        found, missing = _numbered(context, record.position), _NOT_SURE
    if found is None:
        return missing
    start, end = found
    if corrupted == "injected" and tidy(context[start:end]) == tidy(record.replacement):
        return _UNCHANGED
    before = _sentences(context[:start])
    return (*before, tidy(record.own), *_sentences(context[end:])), len(before)


def _sentences(text: str) -> tuple[str, ...]:
    return tuple(tidy(text[start:end]) for start, end in sentence_spans(text))


def _occurrence(context: str, sentence: str, position: int) -> tuple[int, int] | None:
    words = sentence.split()
    pattern = re.compile(r"\s+".join(map(re.escape, words)))
    places = [match.span() for match in pattern.finditer(context)]
    if not words or not places:
        return None
    # Of several places the one with the right number of sentences before it.
    return min(places, key=lambda span: abs(len(sentence_spans(context[: span[0]])) - position))


def _unflipped(context: str, flipped: str) -> tuple[int, int] | None:
    # The place of the sentence that the probe made ``flipped`` of.
    words = re.split(r"\b(these|those)\b", tidy(flipped), flags=re.IGNORECASE)
    pattern = "".join(
        _FLIPPED.get(word.lower()) or r"\s+".join(map(re.escape, re.split(" ", word)))
        for word in words
    )
    places = [match.span() for match in re.finditer(pattern, context, re.IGNORECASE)]
    return places[0] if len(places) == 1 else None


def _numbered(context: str, position: int) -> tuple[int, int] | None:
    spans = sentence_spans(context)
    if not 0 < position < len(spans):
        return None
    # Every full stop up to its end has to be the end of a sentence.
    stops = len(_STOP.findall(context[: spans[position][1]]))
    return spans[position] if stops == position + 1 else None


def _problem(values: dict[str, Any]) -> Problem | None:
    if problem := missing_field(values, _FIELDS):
        return problem
    for name, allowed, expected in _NUMBERS:
        number = shown(str(values[name]))
        if not _is_number(values[name]):
            return f"{name} is {number}, expected a whole number", f"bad {name}"
        if int(values[name]) not in allowed:
            return f"{name} is {number}, expected {expected}", f"bad {name}"
    free = {"label"}
    if int(values["sen_position"]) == COHERENT:
        free |= {"to_be_replaced", "replace_with"}
    for name in ("file_id", "ctx", "to_be_replaced", "replace_with", "label"):
        value = values.get(name)
        if (value is None and name in free) or (name in ("file_id", "label") and is_whole(value)):
            continue
        if problem := text_field_problem(name, value, may_be_empty=name in free):
            return problem
    return None


def _is_number(value: Any) -> bool:
    is_digits = isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,9}", value.strip())
    return bool(is_digits) or is_whole(value)

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

from coherencegym.loaders.corpus import CorpusFile, ReadOptions
from coherencegym.loaders.formats.json_records import json_kind, json_records
from coherencegym.loaders.formats.lines import shown, text_problem, tidy
from coherencegym.loaders.text.sentences import sentence_spans

#: A coherent document's ``sen_position``.
COHERENT = -1
#: Reasons why a record is left out that holds to the format but not together.
NOT_FOUND = "the sentence to be replaced is not in ctx"
NOT_THERE = "the intruder is not in ctx: the probe changed the document's own sentence"
NOT_SURE = "no telling which sentence of ctx is the intruder"
UNCHANGED = "the sentence is replaced by itself"

_FIELDS = ("file_id", "ctx", "to_be_replaced", "replace_with", "sen_position", "train")
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


@dataclass(frozen=True, slots=True)
class PlacedRecord:
    """A coherent document, and the sentence in it that a record replaces.

    Attributes:
        sentences: the document's own, in order.
        unit: the index of the one that is replaced; -1 where none is.
        intruder: the intruder without a probe, where the context has it; else empty.
    """

    sentences: tuple[str, ...]
    unit: int
    intruder: str = ""


def read_records(file: CorpusFile, options: ReadOptions) -> Iterator[InstedRecord]:
    """The records of a file of JSON lines.

    Raises:
        CorpusError: the file is not of JSON objects, or a bad record.
    """
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


def place(record: InstedRecord, corrupted: str = "") -> PlacedRecord | str:
    """The document of a record and the sentence that it replaces, or why there is none.

    Args:
        record: the record to place.
        corrupted: ``injected`` or ``original`` where the context has the intruder in it, for the
            record of a probe of that kind; empty where it is the document's own.
    """
    if record.position == COHERENT:
        return PlacedRecord(_sentences(record.context), COHERENT)
    if tidy(record.own) == tidy(record.replacement):
        return UNCHANGED
    if not corrupted:
        found, missing = _occurrence(record.context, record.own, record.position), NOT_FOUND
    elif corrupted == "injected":
        found, missing = _unflipped(record.context, record.replacement), NOT_THERE
    else:
        found, missing = _numbered(record.context, record.position), NOT_SURE
    if found is None:
        return missing
    start, end = found
    intruder = tidy(record.context[start:end]) if corrupted else ""
    if corrupted == "injected" and intruder == tidy(record.replacement):
        return UNCHANGED
    before = _sentences(record.context[:start])
    return PlacedRecord(
        (*before, tidy(record.own), *_sentences(record.context[end:])), len(before), intruder
    )


def _sentences(text: str) -> tuple[str, ...]:
    return tuple(tidy(text[start:end]) for start, end in sentence_spans(text))


def _occurrence(context: str, sentence: str, position: int) -> tuple[int, int] | None:
    """Find the place of a sentence; of several places the one with the right number before it."""
    words = sentence.split()
    pattern = re.compile(r"\s+".join(map(re.escape, words)))
    places = [match.span() for match in pattern.finditer(context)]
    if not words or not places:
        return None
    return min(places, key=lambda span: abs(len(sentence_spans(context[: span[0]])) - position))


def _unflipped(context: str, flipped: str) -> tuple[int, int] | None:
    """Find the place of a sentence that the probe made ``flipped`` of."""
    words = re.split(r"\b(these|those)\b", tidy(flipped), flags=re.IGNORECASE)
    pattern = "".join(
        _FLIPPED.get(word.lower()) or r"\s+".join(map(re.escape, re.split(" ", word)))
        for word in words
    )
    places = [match.span() for match in re.finditer(pattern, context, re.IGNORECASE)]
    return places[0] if len(places) == 1 else None


def _numbered(context: str, position: int) -> tuple[int, int] | None:
    """The sentence of a number, if every full stop up to its end is the end of a sentence."""
    spans = sentence_spans(context)
    if not 0 < position < len(spans):
        return None
    stops = len(_STOP.findall(context[: spans[position][1]]))
    return spans[position] if stops == position + 1 else None


def _problem(values: dict[str, Any]) -> tuple[str, str] | None:
    """Say what is wrong with a record, and the short reason; none where it is fine."""
    for name in _FIELDS:
        if name not in values:
            return f"no field {name}, expected one", f"no {name}"
    for name in ("sen_position", "train"):
        if not _is_whole(values[name]):
            return f"{name} is {_shown(values[name])}, expected a whole number", f"bad {name}"
    if int(values["train"]) not in (0, 1):
        return f"train is {_shown(values['train'])}, expected 0 or 1", "bad train"
    if int(values["sen_position"]) < COHERENT:
        return f"sen_position is {_shown(values['sen_position'])}, expected -1 or more", (
            "bad sen_position"
        )
    coherent = int(values["sen_position"]) == COHERENT
    for name in ("file_id", "ctx", "to_be_replaced", "replace_with", "label"):
        value = values.get(name)
        if name in ("file_id", "label") and _is_whole(value):
            continue
        if value is None and (name == "label" or (coherent and name.endswith(("_with", "aced")))):
            continue
        if not isinstance(value, str):
            return f"{name} is {json_kind(value)}, expected a text", "value that is no text"
        needed = name in ("file_id", "ctx") or (not coherent and name != "label")
        if needed and not value.strip():
            return f"{name} is empty, expected a text", "empty text"
        if (problem := text_problem(value)) is not None:
            return f"{name}: {problem[0]}", problem[1]
    return None


def _is_whole(value: Any) -> bool:
    """Tell whether a value is a small whole number, or a text that is one."""
    if isinstance(value, str):
        return re.fullmatch(r"-?[0-9]{1,9}", value.strip()) is not None
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**9


def _shown(value: Any) -> str:
    return shown(str(value))

"""Rows of a table as texts whose parts carry an answer: units, hypothesis, label and evidence.

Columns of a row:

- ``units``: the text, a list of strings;
- ``hypothesis``: what the text is asked about; may be empty or absent;
- ``label``: 1, true, ``entailed`` or ``entailment`` where the answer is yes; 0, false,
  ``not entailed``, ``not_entailment``, ``neutral`` or ``contradiction`` where it is no;
- ``evidence``: a list of ``[first, last]``, numbers of units from 0, both included, any of which
  suffices; empty where the answer is no; null where nobody marked it;
- ``speakers``, of each unit, ``source``, what rows have in common, and ``type``, if there are any.

What comes of a row is what :mod:`loaders.corpora.verifiable` gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coherencegym.loaders.corpora.json_fields import is_whole
from coherencegym.loaders.corpora.verifiable import ENTAILED, NOT_ENTAILED, evidence_judgement
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.discourse import Discourse, HumanJudgement, SourceSpan, Unit
from coherencegym.loaders.formats.lines import (
    LineError,
    shown,
    shown_names,
    text_problem,
    tidy,
)

_NEEDED = ("units", "label", "evidence")
SPAN_COLUMNS = (*_NEEDED, "hypothesis", "speakers", "source", "type")
_LABELS = {
    **dict.fromkeys(("1", "true", "entailed", "entailment"), True),
    **dict.fromkeys(
        ("0", "false", "not entailed", "not_entailment", "neutral", "contradiction"), False
    ),
}


def read_span_row(
    corpus: Corpus,
    file: CorpusFile,
    number: int,
    row: Mapping[str, Any],
    options: ReadOptions,
    *,
    id_column: str | None = None,
) -> Discourse | None:
    """The discourse of a row, which is the ``number``-th of its split; none where it is bad.

    Raises:
        CorpusError: the row has no such column, or is bad.
    """
    for wanted in filter(None, (*_NEEDED, id_column)):
        if wanted not in row:
            problem = f"no column {wanted!r}; the columns are {shown_names(row)}"
            raise CorpusError(f"{file.path}:{number}: {problem}")
    try:
        identifier = _text(number, row, id_column) if id_column else f"{file.split}-{number:06d}"
        source = SourceSpan(file.path.name, number, number)
        units = tuple(Unit(text, speaker, source) for text, speaker in _units(number, row))
        positive = _label(number, row["label"])
        evidence = list(_evidence(number, row["evidence"], len(units), positive))
        texts = {name: _text(number, row, name) for name in ("hypothesis", "source", "type")}
    except LineError as error:
        error.report(file, options)
        return None
    known = row["evidence"] is not None
    return Discourse(
        identifier,
        corpus.name,
        units,
        judgements=(
            HumanJudgement(None, ENTAILED if positive else NOT_ENTAILED),
            *(evidence_judgement(units, *pair) for pair in evidence),
        ),
        meta={
            "split": file.split,
            "question": "table",
            "spans": "known" if known else "unknown",
            **texts,
        },
    )


def _text(number: int, row: Mapping[str, Any], column: str) -> str:
    value = row.get(column)
    text = "" if value is None else tidy(str(value))
    if unusable := text_problem(text):
        raise LineError(number, f"{column}: {unusable[0]}", unusable[1])
    if not text and column not in ("hypothesis", "source", "type"):
        raise LineError(number, f"{column} is empty, expected an id", "empty id")
    return text


def _units(number: int, row: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    texts, speakers = row["units"], row.get("speakers") or []
    if not isinstance(texts, list) or not texts:
        problem = f"units has {shown(repr(texts))}, expected a list of texts"
        raise LineError(number, problem, "wrong type")
    if not isinstance(speakers, list) or len(speakers) not in (0, len(texts)):
        problem = f"speakers has {shown(repr(speakers))}, expected one of each unit"
        raise LineError(number, problem, "wrong type")
    for place, text in enumerate(texts):
        speaker = speakers[place] if speakers else None
        if not isinstance(text, str) or not isinstance(speaker, str | None):
            found = shown(repr(speaker if isinstance(text, str) else text))
            raise LineError(number, f"unit {place} has {found}, expected text", "wrong type")
        for one in filter(None, (text, speaker)):
            if unusable := text_problem(one):
                raise LineError(number, f"unit {place}: {unusable[0]}", unusable[1])
        if not tidy(text):
            raise LineError(number, f"unit {place} is empty, expected text", "empty unit")
        yield tidy(text), tidy(speaker) if speaker else None


def _label(number: int, value: Any) -> bool:
    label = _LABELS.get(tidy(str(value)).lower())
    if label is None:
        expected = ", ".join(_LABELS)
        problem = f"label is {shown(str(value))}, expected one of {expected}"
        raise LineError(number, problem, "unknown label")
    return label


def _evidence(number: int, value: Any, units: int, positive: bool) -> Iterator[tuple[int, int]]:
    if value is None:
        return
    if not isinstance(value, list) or bool(value) != positive:
        expected = "a list of [first, last]" if positive else "[] where the label says no"
        problem = f"evidence is {shown(repr(value))}, expected {expected}"
        raise LineError(number, problem, "bad evidence")
    for pair in value:
        whole = isinstance(pair, list) and len(pair) == 2 and all(map(is_whole, pair))
        if not whole or not 0 <= pair[0] <= pair[1] < units:
            problem = f"evidence has {shown(repr(pair))}, expected two units from 0 to {units - 1}"
            raise LineError(number, problem, "bad evidence")
        yield pair[0], pair[1]

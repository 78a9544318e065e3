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

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainValidator

from coherencegym.errors import EvaluationError
from coherencegym.files.strict_json import Some, held
from coherencegym.loaders.corpora.verifiable import ENTAILED, NOT_ENTAILED, evidence_judgement
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.discourse import Discourse, HumanJudgement, SourceSpan, Unit
from coherencegym.loaders.formats.fields import Identifier, Number, Text
from coherencegym.loaders.formats.lines import shown_names, tidy

_NEEDED = ("units", "label", "evidence")
SPAN_COLUMNS = (*_NEEDED, "hypothesis", "speakers", "source", "type")
_LABELS = {
    **dict.fromkeys(("1", "true", "entailed", "entailment"), True),
    **dict.fromkeys(
        ("0", "false", "not entailed", "not_entailment", "neutral", "contradiction"), False
    ),
}


def _label(value: Any) -> bool:
    label = _LABELS.get(tidy(str(value)).lower())
    if label is None:
        raise ValueError(f"one of {', '.join(_LABELS)}")
    return label


_Word = Annotated[Text | None, BeforeValidator(lambda value: value or None)]


@dataclass(frozen=True)
class _Row:
    units: Some[Text]
    label: Annotated[bool, PlainValidator(_label)]
    evidence: tuple[tuple[Number, Number], ...] | None
    hypothesis: _Word = None
    source: _Word = None
    type: _Word = None
    speakers: tuple[_Word, ...] | None = None

    def __post_init__(self) -> None:
        count = len(self.units)
        if self.speakers and len(self.speakers) != count:
            raise ValueError("one of speakers for each unit")
        if self.evidence is not None and bool(self.evidence) != self.label:
            raise ValueError("evidence to be a list of [first, last], [] where the label says no")
        if not all(0 <= first <= last < count for first, last in self.evidence or ()):
            raise ValueError(f"evidence to be pairs of units from 0 to {count - 1}")


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
        identifier: str = f"{file.split}-{number:06d}"
        if id_column is not None:
            identifier = held(row[id_column], Identifier)  # type: ignore[arg-type]
        values = held(row, _Row)
    except EvaluationError as error:
        options.bad(f"{file.path}:{number}: {error}", "malformed row")
        return None
    source = SourceSpan(file.path.name, number, number)
    speakers = values.speakers or (None,) * len(values.units)
    units = tuple(Unit(*pair, source) for pair in zip(values.units, speakers, strict=True))
    evidence = values.evidence
    return Discourse(
        identifier,
        corpus.name,
        units,
        judgements=(
            HumanJudgement(None, ENTAILED if values.label else NOT_ENTAILED),
            *(evidence_judgement(units, *pair) for pair in evidence or ()),
        ),
        meta={
            "split": file.split,
            "question": "table",
            "spans": "unknown" if evidence is None else "known",
            "hypothesis": values.hypothesis or "",
            "source": values.source or "",
            "type": values.type or "",
        },
    )

"""Answers of people to spans: how often they agree with the answers of the dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from coherencegym.builders.judgement.questions import CANT_TELL
from coherencegym.builders.judgement.span_draw import DrawnSpan
from coherencegym.loaders.corpus import CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.formats.json_records import json_records
from coherencegym.loaders.formats.lines import shown

#: (annotator, span, answer)
SpanAnswer = tuple[str, DrawnSpan, str]


def read_span_answers(
    paths: Sequence[Path], spans: Mapping[str, DrawnSpan]
) -> Iterator[SpanAnswer]:
    """Read files of answers, each of one annotator unless its lines name them.

    Spans that were left open are not among them.

    Raises:
        CorpusError: a line is no answer to one of these spans, or to one that its annotator has
            answered already.
    """
    seen: dict[tuple[str, str], str] = {}
    for path in paths:
        for record in json_records(CorpusFile(path, "answers"), ReadOptions()):
            values = record.values
            span = spans.get(str(values.get("span")))
            if span is None:
                found = shown(str(values.get("span")))
                raise CorpusError(f"{record.place}: span {found} is none of the build's")
            answer = _answer(values, span, record.place)
            annotator = str(values.get("annotator") or path.name)
            if not answer:
                continue
            before = seen.setdefault((annotator, span.id), record.place)
            if before != record.place:
                raise CorpusError(
                    f"{record.place}: span {span.id} was answered at {before}, expected one answer "
                    "to a span from each annotator"
                )
            yield annotator, span, answer


def _answer(values: Mapping[str, Any], span: DrawnSpan, place: str) -> str:
    answer, allowed = values.get("answer", ""), [value for value, _ in span.answers]
    if answer not in ("", *allowed):
        expected = ", ".join(map(repr, allowed))
        raise CorpusError(f"{place}: answer is {shown(str(answer))}, expected {expected} or ''")
    return str(answer)


def agreement_lines(answers: Sequence[SpanAnswer]) -> list[str]:
    """Say for each annotator and config how often the answer is the dataset's, and Cohen's κ.

    Whoever cannot tell does not agree; κ is over the others.
    """
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for annotator, span, answer in answers:
        found.setdefault((span.config, annotator), []).append((span.gold, answer))
    return [
        f"{config}, {annotator}: {_agreement(pairs)}"
        for (config, annotator), pairs in sorted(found.items())
    ]


def _agreement(pairs: Sequence[tuple[str, str]]) -> str:
    from sklearn.metrics import cohen_kappa_score

    agree = sum(gold == answer for gold, answer in pairs)
    said = [(gold, answer) for gold, answer in pairs if answer != CANT_TELL]
    text = f"{agree} of {len(pairs)} answers are the dataset's"
    if len(said) < len(pairs):
        text += f", {len(pairs) - len(said)} cannot tell"
    if len({value for pair in said for value in pair}) > 1:
        golds, given = zip(*said, strict=True)
        text += f"; κ {cohen_kappa_score(golds, given):.2f}"
    return text

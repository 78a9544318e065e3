"""Questions to people about rows that are no pairs: spans, documents and labelled examples.

A question has an identifier as a pair has (:mod:`builders.judgement.pairs`), by which a build knows
the row, and that neither text nor question has changed.

- A **span** of a text is shown without the text around it (Storks and Chai 2021).
- A **document**: which of its sentences is from elsewhere, or none (Shen et al. 2021, section 4.5).
  The first sentence is never the intruder, and no answer.
- A **labelled example**: which label is right (Chen et al. 2019, Table 5). People see what a
  classifier gets vectors of, and no more: the text around it may give the label away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any, NamedTuple

from coherencegym.builders.judgement.pairs import texts_digest
from coherencegym.builders.judgement.questions import (
    ANSWER,
    ANSWER_LABELS,
    CANNOT_TELL,
    NO,
    NONE,
    YES,
    Question,
    declared_questions,
)
from coherencegym.eval.kinds.documents import DOCUMENTS, NO_INTRUDER, Document
from coherencegym.eval.kinds.examples import EXAMPLES, LabelledExample
from coherencegym.eval.kinds.spans import NEGATIVE, SPANS, UNDECIDED, GoldSpan, SpanText

#: A row that people are asked about in this way.
AskedRow = SpanText | Document | LabelledExample
#: ShownTexts as they are shown, (name, lines): one without a name, or alternatives.
ShownTexts = tuple[tuple[str, tuple[str, ...]], ...]

#: The answer that no alternative is better, and how it is printed.
AS_GOOD = "as good"
#: The question about documents.
_INTRUDER = "Which sentence, if any, is from another text?"
#: Questions about spans, by what a positive answer says of a text.
_OF_SPANS = {
    "entailed": "Is this said in the text, or does it follow from it? “{hypothesis}”",
    "incoherent": "Is there a sentence in the text that does not belong there?",
    "contradictory": "Does a speaker contradict himself or herself in the text?",
    "choice": "Which text is the more plausible?",
}


@dataclass(frozen=True, slots=True)
class RowPlace:
    """The table of a row: names, and the manifest's entry of the config."""

    suite: str
    config: str
    split: str
    about: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about a row as annotators get it, and its right answers, which they do not get.

    The first of ``right`` is the dataset's own answer; ``answer_kind`` is that answer, or of a
    document whether there is an intruder.
    """

    id: str
    config: str
    question: Question
    texts: ShownTexts
    right: tuple[str, ...]
    answer_kind: str


class _Part(NamedTuple):
    where: str
    question: str
    answers: tuple[tuple[str, str], ...]
    texts: ShownTexts
    right: tuple[str, ...]
    answer_kind: str = ""


def asked_of(kind: str, place: RowPlace, row: AskedRow) -> Iterator[Asked]:
    """The questions that people can be asked about a row of a kind (its name)."""
    named = f"{place.suite}/{place.config}/{place.split}/{row.item_id}"
    for part in _ASKED[kind](place, row):
        shown = "\n\n".join("\n".join(lines) for _, lines in part.texts)
        where = texts_digest(named, part.where)[:8]
        yield Asked(
            f"{where}-{texts_digest(shown, part.question)}",
            place.config,
            Question(ANSWER, part.question, part.answers),
            part.texts,
            part.right,
            part.answer_kind or part.right[0],
        )


def _spans(place: RowPlace, row: SpanText) -> Iterator[_Part]:
    # Left out are those of which the alternatives have the same text.
    positive = str(place.about.get("task_defaults", {}).get("positive", "entailed"))
    named = "choice" if row.is_choice else positive
    words = _OF_SPANS.get(named, f"Is the text {named}?")
    question = words.replace("{hypothesis}", row.hypothesis)
    for span in row.gold:
        texts = _texts_of_span(row, span)
        if len({lines for _, lines in texts}) == len(texts):
            right = (_gold(row, span),)
            yield _Part(f"{span.start}-{span.end}", question, _answers(row), texts, right)


def _texts_of_span(row: SpanText, span: GoldSpan) -> ShownTexts:
    part = slice(span.start, span.end + 1)
    if row.is_choice:
        return tuple(
            (name, alternative[part])
            for name, alternative in zip(ascii_uppercase, row.alternatives, strict=False)
        )
    speakers = row.speakers[part] or ("",) * len(row.units[part])
    said = zip(speakers, row.units[part], strict=True)
    return (("", tuple(f"{who}: {text}" if who else text for who, text in said)),)


def _answers(row: SpanText) -> tuple[tuple[str, str], ...]:
    unsure = (CANNOT_TELL, ANSWER_LABELS[CANNOT_TELL])
    if not row.is_choice:
        return ((YES, ANSWER_LABELS[YES]), (NO, ANSWER_LABELS[NO]), unsure)
    names = ascii_uppercase[: len(row.alternatives)]
    return (*((name.lower(), name) for name in names), (AS_GOOD, "they are as good"), unsure)


def _gold(row: SpanText, span: GoldSpan) -> str:
    if not row.is_choice:
        return NO if span.answer == NEGATIVE else YES
    return AS_GOOD if span.answer == UNDECIDED else ascii_uppercase[span.answer].lower()


def _document(place: RowPlace, row: Document) -> Iterator[_Part]:
    numbers = [str(number) for number in range(2, len(row.sentences) + 1)]
    # First, so that in a sheet the digit of a key is that of the sentence.
    answers = ((NONE, "none"), *((number, number) for number in numbers))
    texts = (("", _numbered(row.sentences)),)
    kind = "an intruder" if row.intruded else NONE
    yield _Part("", _INTRUDER, answers, texts, (answer_of(row.intruder_position),), kind)


def answer_of(position: int) -> str:
    """The answer that stands for a place (from 0) in a document; -1 for none."""
    return NONE if position == NO_INTRUDER else str(position + 1)


def position_of(answer: str) -> int:
    """The place in a document that an answer stands for; see :func:`answer_of`."""
    return NO_INTRUDER if answer == NONE else int(answer) - 1


def _example(place: RowPlace, row: LabelledExample) -> Iterator[_Part]:
    about = place.about
    labels = tuple((name, name) for name in about["features"]["label"]["names"])
    declared = declared_questions(place.config, about)
    text = declared[0].text if declared else f"Which answer is right? ({about['summary']})"
    words = dict(declared[0].answers) if declared else {}
    answers = (*words.items(), *(pair for pair in labels if pair[0] not in words))
    segments = [" … ".join(slot.segments) for slot in row.slots]
    names = tuple(map(str, about.get("regions", ())))
    lines = _numbered(segments, names if len(names) == len(segments) else ())
    yield _Part("", text, answers, (("", lines),), (row.label, *row.also))


def _numbered(texts: tuple[str, ...] | list[str], names: tuple[str, ...] = ()) -> tuple[str, ...]:
    if len(texts) == 1:
        return tuple(texts)
    heads = [f"{name}:" for name in names] or [f"{n}." for n in range(1, len(texts) + 1)]
    return tuple(f"{head} {text}" for head, text in zip(heads, texts, strict=True))


_ASKED: Mapping[str, Callable[[RowPlace, Any], Iterator[_Part]]] = {
    SPANS.name: _spans,
    DOCUMENTS.name: _document,
    EXAMPLES.name: _example,
}

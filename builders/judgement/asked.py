"""What people are asked about rows of each kind: texts as they are shown, and one question.

- A **pair** of conditions of an item: which text is the less coherent? Which of them is A is up to
  their digests, so that it says nothing, and is the same in every sheet.
- A **span** of a text is shown without the text around it (Storks and Chai 2021).
- A **document**: which of its sentences is from elsewhere, or none (Shen et al. 2021, section 4.5).
  The first sentence is never the intruder, and no answer.
- A **labelled example**: which label is right (Chen et al. 2019, Table 5). People see what a
  classifier gets vectors of, and no more: the text around it may give the label away.

An identifier says nothing to people, and to a build which row it is about, and that neither text
nor question has changed since. So answers need no key.

One question is asked of a row (:mod:`builders.judgement.asked`); a config of labelled examples may
put it in words.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from string import ascii_uppercase
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.documents import (
    DOCUMENTS,
    EXAMPLES,
    NEGATIVE,
    NO_INTRUDER,
    SPANS,
    UNDECIDED,
    Document,
    GoldSpan,
    LabelledExample,
    SpanText,
)
from coherencegym.eval.kinds.formula import WHOLE, Comparison, Truth, parse_formula, sum_of
from coherencegym.eval.kinds.items import ITEMS, SEPARATOR, Item
from coherencegym.files.strict_json import held


@dataclass(frozen=True, slots=True)
class ConditionPair:
    """Two conditions of an item, and their texts; the groups of all predictions about these two."""

    coherent: str
    incoherent: str
    coherent_text: str
    incoherent_text: str
    groups: tuple[str, ...]


def condition_pairs(item: Item) -> list[ConditionPair]:
    """The pairs of an item, in the order of its predictions, each once.

    A prediction that adds up several conditions on each side gives a pair of each of them with the
    one on the other side that has the same text around what is compared. A prediction that is not
    about sums of regions gives none, and neither do two conditions of the same text.
    """
    groups: dict[tuple[str, str], dict[str, None]] = {}
    for prediction in item.predictions:
        for names in _compared(item, parse_formula(prediction.formula)):
            groups.setdefault(names, {}).update(dict.fromkeys(prediction.groups))
    found = []
    for (coherent, incoherent), named in groups.items():
        texts = item.condition(coherent).content, item.condition(incoherent).content
        if texts[0] != texts[1]:
            found.append(ConditionPair(coherent, incoherent, *texts, tuple(named)))
    return found


def _compared(item: Item, formula: Truth) -> Iterator[tuple[str, str]]:
    if not isinstance(formula, Comparison) or formula.operator == "=":
        return
    better, worse = sum_of(formula.right), sum_of(formula.left)
    if formula.operator == "<":
        better, worse = worse, better
    if not worse or len(worse) != len(better):
        return
    left = list(worse)
    regions = [region for own in (*better.values(), *worse.values()) for region in own]
    first = min((region for region in regions if region != WHOLE), default=1)
    for name in better:
        own = [region.content for region in item.condition(name).regions]

        def similarity(other: str, own: list[str] = own) -> tuple[bool, int]:
            regions = [region.content for region in item.condition(other).regions]
            same = sum(a == b for a, b in zip(own, regions, strict=True))
            return own[: first - 1] == regions[: first - 1], same

        nearest = max(left, key=similarity)
        left.remove(nearest)
        yield name, nearest


YES, NO, CANNOT_TELL = "yes", "no", "cannot tell"
#: The answer that nothing is as the question says.
NONE = "none"

#: Kind of table -> what people are asked about: the field of a line with its identifier.
JUDGED_UNITS: Mapping[str, str] = {
    "items": "pair",
    "spans": "span",
    "documents": "document",
    "examples": "example",
}

#: The field of a line with the answer, and those that annotators may fill as well.
ANSWER = "answer"
FREE_FIELDS = ("annotator", "comment")


@dataclass(frozen=True, slots=True)
class Question:
    """A question in the words that are printed, and its answers: value in the field -> words.

    Of labelled examples the values are the labels.
    """

    text: str
    answers: Mapping[str, str]


def declared_question(config: str, about: Mapping[str, Any]) -> Question | None:
    """The question that a config declares, by its entry in a manifest, if it does."""
    try:
        return held(about["question"], Question) if "question" in about else None
    except EvaluationError as error:
        message = f"manifest.json: configs.{config}.question: {error}"
        raise EvaluationError(message) from None


#: A row that people are asked about.
AskedRow = Item | SpanText | Document | LabelledExample
#: Texts as they are shown, (name, lines): one without a name, or alternatives.
ShownTexts = tuple[tuple[str, tuple[str, ...]], ...]

#: The form of an identifier.
IDENTIFIER = r"[0-9a-f]{16}"
#: The answer that no alternative is better.
AS_GOOD = "as good"
_UNSURE = {CANNOT_TELL: CANNOT_TELL}
_YES_NO = {YES: YES, NO: NO} | _UNSURE
_LESS_COHERENT = Question("Which is less coherent?", {"a": "A", "b": "B"} | _UNSURE)
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

    Attributes:
        right: the right answers; the first is the dataset's own.
        answer_kind: that answer, or of a document whether there is an intruder.
        groups: of a pair the groups of the predictions about it.
    """

    id: str
    question: Question
    texts: ShownTexts
    right: tuple[str, ...]
    answer_kind: str
    groups: tuple[str, ...] = ()


def asked_of(kind: str, place: RowPlace, row: Any) -> Iterator[Asked]:
    """The questions that people can be asked about a row of a kind (its name)."""
    return _ASKED[kind](place, row)


def _digest(*parts: str) -> str:
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def _asked(
    place: RowPlace,
    row: AskedRow,
    question: Question,
    texts: ShownTexts,
    right: Sequence[str],
    *,
    part: str = "",
    answer_kind: str = "",
) -> Asked:
    where = (place.suite, place.config, place.split, row.item_id, part)
    shown = ("\n".join(lines) for _, lines in texts)
    identifier = _digest(*where, question.text, *shown)
    return Asked(identifier, question, texts, tuple(right), answer_kind or right[0])


def _pairs(place: RowPlace, item: Item) -> Iterator[Asked]:
    for pair in condition_pairs(item):
        texts = sorted((pair.coherent_text, pair.incoherent_text), key=_digest)
        right = "ab"[texts.index(pair.incoherent_text)]
        shown = tuple(zip("AB", _turns(texts), strict=True))
        # By its texts alone: where several configs have them, an answer serves all.
        yield Asked(_digest(*texts), _LESS_COHERENT, shown, (right,), right, pair.groups)


def _turns(texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    # Where a text has a change of speaker, both are printed as dialogues. A and B are the texts.
    dialogue = any(SEPARATOR in text for text in texts)
    for text in texts:
        speakers = cycle(("Speaker 1: ", "Speaker 2: ") if dialogue else ("",))
        turns = zip(speakers, text.split(SEPARATOR), strict=False)
        yield tuple(speaker + turn.strip() for speaker, turn in turns)


def _spans(place: RowPlace, row: SpanText) -> Iterator[Asked]:
    # Left out are those of which the alternatives have the same text.
    positive = str(place.about.get("task_defaults", {}).get("positive", "entailed"))
    named = "choice" if row.is_choice else positive
    words = _OF_SPANS.get(named, f"Is the text {named}?").replace("{hypothesis}", row.hypothesis)
    question = Question(words, _answers(row))
    for span in row.gold:
        texts = _texts_of_span(row, span)
        if len({lines for _, lines in texts}) == len(texts):
            where = f"{span.start}-{span.end}"
            yield _asked(place, row, question, texts, (_gold(row, span),), part=where)


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


def _answers(row: SpanText) -> dict[str, str]:
    if not row.is_choice:
        return _YES_NO
    names = ascii_uppercase[: len(row.alternatives)]
    return {name.lower(): name for name in names} | {AS_GOOD: "they are as good"} | _UNSURE


def _gold(row: SpanText, span: GoldSpan) -> str:
    if not row.is_choice:
        return NO if span.answer == NEGATIVE else YES
    return AS_GOOD if span.answer == UNDECIDED else ascii_uppercase[span.answer].lower()


def _document(place: RowPlace, row: Document) -> Iterator[Asked]:
    numbers = map(str, range(2, len(row.sentences) + 1))
    # First, so that in a sheet the digit of a key is that of the sentence.
    question = Question(_INTRUDER, {name: name for name in (NONE, *numbers)})
    texts = (("", _numbered(row.sentences)),)
    kind = "an intruder" if row.intruded else NONE
    yield _asked(place, row, question, texts, (answer_of(row.intruder_position),), answer_kind=kind)


def answer_of(position: int) -> str:
    """The answer that stands for a place (from 0) in a document; -1 for none."""
    return NONE if position == NO_INTRUDER else str(position + 1)


def position_of(answer: str) -> int:
    """The place in a document that an answer stands for; see :func:`answer_of`."""
    return NO_INTRUDER if answer == NONE else int(answer) - 1


def _example(place: RowPlace, row: LabelledExample) -> Iterator[Asked]:
    about = place.about
    labels = {name: name for name in about["features"]["label"]["names"]}
    question = Question(f"Which answer is right? ({about['summary']})", labels)
    if declared := declared_question(place.config, about):
        others = {name: name for name in labels if name not in declared.answers}
        question = replace(declared, answers={**declared.answers, **others})
    segments = [" … ".join(slot.segments) for slot in row.slots]
    names = tuple(map(str, about.get("regions", ())))
    lines = _numbered(segments, names if len(names) == len(segments) else ())
    yield _asked(place, row, question, (("", lines),), (row.label, *row.also))


def _numbered(texts: Sequence[str], names: Sequence[str] = ()) -> tuple[str, ...]:
    if len(texts) == 1:
        return tuple(texts)
    heads = [f"{name}:" for name in names] or [f"{n}." for n in range(1, len(texts) + 1)]
    return tuple(f"{head} {text}" for head, text in zip(heads, texts, strict=True))


_ASKED: Mapping[str, Callable[[RowPlace, Any], Iterator[Asked]]] = {
    ITEMS.name: _pairs,
    SPANS.name: _spans,
    DOCUMENTS.name: _document,
    EXAMPLES.name: _example,
}

"""A page of all operators: what each does, its settings, and a text before and after.

::

    python -m coherencegym.manipulations.catalogue > docs/operators.md

The texts are those of the samples, which come with the package; the words are the docstrings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import Differ
from functools import cache
from inspect import getdoc
from typing import Any

from coherencegym.loaders.discourse import Discourse, ParsedWord, Relation, Unit
from coherencegym.loaders.read import read
from coherencegym.loaders.registry import corpus, sample_of
from coherencegym.manipulations.connectives.connective_segments import ConnectiveSegments
from coherencegym.manipulations.connectives.connective_substitution import ConnectiveSubstitution
from coherencegym.manipulations.connectives.inferred_connectives import (
    InferredConnectiveSegments,
    InferredConnectiveSubstitution,
)
from coherencegym.manipulations.editing import replace_text
from coherencegym.manipulations.ending_swap import EndingSwap
from coherencegym.manipulations.intruders.intruder_sentence import IntruderSentence
from coherencegym.manipulations.last_unit import LastUnit
from coherencegym.manipulations.move_units import Exchange, MoveToFront
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.orders.matched_order import MatchedOrder
from coherencegym.manipulations.probe_sentence import ProbeSentence
from coherencegym.manipulations.probes.registry import PROBES
from coherencegym.manipulations.reference.antecedent_removal import AntecedentRemoval
from coherencegym.manipulations.reference.candidate_substitution import CandidateSubstitution
from coherencegym.manipulations.reference.named_people import NewNames, OwnNames, Renaming
from coherencegym.manipulations.reference.pronoun_repetition import PronounRepetition
from coherencegym.manipulations.reference.schemas import PersonGenders
from coherencegym.manipulations.shuffle import Shuffle
from coherencegym.manipulations.speaker_separator import SpeakerSeparator

_INTRODUCTION = """\
# Operators

Look up what each operator does to a text, which arguments the operator has, and how its results \
are named. An operator makes altered versions (results) of a text that is divided into units \
(sentences, or turns of a dialogue). Each result has a name (`variant`) and a list of its changes \
(`edits`). The name of an original text is empty. A result can be the input of a further operator. \
An operator that draws at random gives the same results whenever the seed is the same. \
The command `python -m coherencegym.manipulations.catalogue` prints this page. To write your own \
operator, see the [guide](extending.md#an-operator-a-corpus).

Each example compares a text with the first result of an operator. Each unit of the text has its \
own line. A line that begins with `-` is only in the original text, and a line that begins with \
`+` is only in the result. A moved unit has a line with `-` at its old place and a line with `+` \
at its new place.
"""


@dataclass(frozen=True)
class OperatorExample:
    """A text of a sample that shows what an operator does.

    Attributes:
        operator: the operator.
        corpus: the corpus in whose format the sample is.
        discourse_id: the text.
        units: the first so many units of it; None: all.
        ending: a sentence in the place of the last unit; empty: none.
        text: a text of no sample, in the place of one.
    """

    operator: Any
    corpus: str = ""
    discourse_id: str = ""
    units: int | None = None
    ending: str = ""
    text: Discourse | None = None


def _parsed(text: str, *words: str) -> Unit:
    """A sentence of words, each with its part of speech and its relation: ``hij PRON nsubj``."""
    told, place = [], 0
    for word in words:
        form, pos, relation = word.split()
        start = text.index(form, place)
        place = start + len(form)
        told.append(ParsedWord(start, place, form, pos, "", relation, None))
    return Unit(text, words=tuple(told))


#: A Dutch sentence with a relation whose connective nobody annotated.
_DUTCH = Discourse(
    id="dutch",
    corpus="disrpt",
    units=(
        _parsed(
            "Het regende, maar hij bleef buiten.",
            *("Het PRON nsubj", "regende VERB root", "maar CCONJ cc", "hij PRON nsubj"),
            *("bleef VERB conj", "buiten ADV advmod"),
        ),
    ),
    relations=(
        Relation("None", None, ((0, 0, 12),), ((0, 13, 35),), ("concession",), "concession"),
    ),
    meta={"language": "nl"},
)

EXAMPLES = (
    OperatorExample(Shuffle(), "storycloze", "story-0107"),
    OperatorExample(MatchedOrder(), "storycloze", "story-0107"),
    OperatorExample(MoveToFront(), "storycloze", "story-0107"),
    OperatorExample(Exchange(unit=1), "storycloze", "story-0088"),
    OperatorExample(LastUnit(), "storycloze", "story-0063"),
    OperatorExample(EndingSwap(), "storycloze", "story-0096"),
    OperatorExample(OwnNames(), "storycloze", "story-0088", ending="Mary went home."),
    OperatorExample(Renaming((("Amara", "Helen"),)), "storycloze", "story-0079"),
    OperatorExample(NewNames(), "storycloze", "story-0079"),
    OperatorExample(IntruderSentence(share=1.0), "documents", "lighthouse-01"),
    OperatorExample(CandidateSubstitution(), "winograd", "wsc-059"),
    OperatorExample(PersonGenders(other="masculine"), "winograd", "wsc-053"),
    OperatorExample(PronounRepetition(), "gum", "SAMPLE_interview_diver"),
    OperatorExample(AntecedentRemoval(removed="antecedent"), "gum", "SAMPLE_news_bridge"),
    OperatorExample(ConnectiveSegments(), "pdtb", "wsj_9955"),
    OperatorExample(ConnectiveSubstitution(replacement="although"), "disco", "disco-00095"),
    *(
        OperatorExample(ProbeSentence(probe=name), "storycloze", text)
        for name, text in {
            "gender_flip": "story-0088",
            "animacy_down": "story-0133",
            "animacy_up": "story-0145",
            "demonstrative_flip": "story-0152",
            "conjunction_flip": "story-0107",
            "past_to_future": "story-0088",
            "negation": "story-0107",
            "number_exaggeration": "story-0098",
        }.items()
    ),
    OperatorExample(InferredConnectiveSegments(), text=_DUTCH),
    OperatorExample(
        InferredConnectiveSubstitution(),
        text=next(iter(InferredConnectiveSegments()(_DUTCH, Context(0, "catalogue")))),
    ),
    OperatorExample(SpeakerSeparator(), "personachat", "test-0001", units=3),
    OperatorExample(Shuffle(keep_last=1) | SpeakerSeparator(), "personachat", "test-0001", units=4),
)


def catalogue() -> str:
    """The page, in Markdown."""
    parts, seen = [_INTRODUCTION], set()
    for example in EXAMPLES:
        kind = type(example.operator)
        if kind not in seen:
            name = kind.__name__
            shown = f"Import the operator with `from {kind.__module__} import {name}`."
            parts.append(f"## {name}\n\n{_described(kind)}\n\n{shown}\n")
        seen.add(kind)
        parts.append(_shown(example))
    return "\n".join(parts)


@cache
def _texts(name: str) -> tuple[Discourse, ...]:
    sample = sample_of(corpus(name))
    assert sample is not None
    return tuple(read(sample))


def _described(kind: type) -> str:
    """A docstring in Markdown: its words, and its attributes as a list."""
    text = getdoc(kind) or ""
    text = re.sub(r"\s+\(:\w+:`[^`]*`\)", "", text)
    text = re.sub(r":\w+:`~?(?:[\w.]+\.)?(\w+)`", r"`\1`", text).replace("``", "`")
    paragraphs = []
    for paragraph in text.partition("\nRaises:")[0].strip().split("\n\n"):
        if paragraph.startswith("Attributes:"):
            entries = re.split(r"\n    (?=\w+: )", paragraph)[1:]
            paragraph = "\n".join(
                "- `{}`: {}".format(*" ".join(entry.split()).split(": ", 1)) for entry in entries
            )
            paragraphs.append(paragraph)
        else:
            paragraphs.append(" ".join(paragraph.split()))
    return "\n\n".join(paragraphs)


def _shown(example: OperatorExample) -> str:
    texts, context = _texts(example.corpus) if example.corpus else (), Context(0, "catalogue")
    before = example.text or next(text for text in texts if text.id == example.discourse_id)
    before = replace(before, units=before.units[: example.units])
    if example.ending:
        last = len(before.units) - 1
        end = len(before.units[last].text)
        before = replace_text(before, last, 0, end, example.ending, operator="catalogue")
    operator: Any = example.operator
    call: Callable[..., Iterator[Discourse]] = operator
    if isinstance(operator, MatchedOrder):
        same = [text for text in texts if len(text.units) == len(before.units)]
        call = operator.fit(same, [text.id for text in same], context)
    elif isinstance(operator, IntruderSentence):
        call = operator.fit(texts, context)
    after = next(iter(call(before, context)), None)
    title = f"`{operator}`"
    if isinstance(operator, ProbeSentence):
        title = f"With {title}, {PROBES[operator.probe].description}"
    if after is None:
        reason = next(iter(context.skipped), "")
        title += f" gives no result for this text, because of {reason}"
    lines = _compared(before.texts, before.texts if after is None else after.texts)
    return "\n".join((f"{title}:", "", "```diff", *lines, "```", ""))


def _compared(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """The units in lines, as ``diff`` writes them, without its hints at letters."""
    return (line for line in Differ().compare(before, after) if not line.startswith("?"))


if __name__ == "__main__":
    print(catalogue(), end="")

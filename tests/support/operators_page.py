"""The page of all operators: what each does, its settings, and a text before and after.

The texts are those of the samples; the words are the docstrings. From the root of the project::

    PYTHONPATH=tests python -m support.operators_page > docs/operators.md
"""

from __future__ import annotations

import re
from difflib import Differ
from functools import cache
from inspect import getdoc
from typing import Any

from coherencegym.loaders.discourse import Discourse, Unit
from coherencegym.loaders.read import read
from coherencegym.loaders.registry import corpus, sample_of
from coherencegym.manipulations.connectives import (
    ConnectiveSegments,
    ConnectiveSubstitution,
)
from coherencegym.manipulations.intruders.intruder_sentence import IntruderSentence
from coherencegym.manipulations.matched_order import MatchedOrder
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.probes.registry import PROBES, ProbeSentence
from coherencegym.manipulations.reference.antecedents import PronounRepetition
from coherencegym.manipulations.reference.named_people import NewNames, OwnNames, Renaming
from coherencegym.manipulations.reference.schemas import CandidateSubstitution
from coherencegym.manipulations.units import (
    EndingSwap,
    Exchange,
    LastUnit,
    MoveToFront,
    Shuffle,
    SpeakerSeparator,
)

_INTRODUCTION = """\
# Operators

What each operator does to a text, and which arguments it has. An operator makes altered versions \
(results) of a text that is divided into units (sentences, or turns of a dialogue). A result can \
be the input of a further operator. The same seed always gives the same results.

In Python, `help(Shuffle)` says everything about an operator, also the names of its results, and \
which texts give no result. The changes of `ProbeSentence` are in \
[a table](detecting.md#linguistic-probes). To write your own operator, see the \
[guide](extending.md#an-operator-a-corpus).

In the examples, each unit of a text has its own line. A line that begins with `-` is only in the \
original text, and a line that begins with `+` is only in the first result. A moved unit has both.
"""

_STORY = Discourse(
    id="story",
    corpus="own",
    units=(Unit("Terry was late."), Unit("He ran to the bus stop."), Unit("Mary went home.")),
)
_DIALOGUE = Discourse(
    id="dialogue",
    corpus="own",
    units=(
        Unit("Hello, what do you do for a living?", "A"),
        Unit("I repair old clocks.", "B"),
        Unit("Do you also repair watches?", "A"),
        Unit("Only if nobody else can.", "B"),
    ),
)

#: Operators, each with a text that shows what it does: of a sample, by corpus and id, or its own.
EXAMPLES: tuple[tuple[Any, str | Discourse], ...] = (
    (Shuffle(), "storycloze/story-0107"),
    (MatchedOrder(), "storycloze/story-0107"),
    (MoveToFront(), "storycloze/story-0107"),
    (Exchange(unit=1), "storycloze/story-0088"),
    (LastUnit(), "storycloze/story-0063"),
    (EndingSwap(), "storycloze/story-0096"),
    (OwnNames(), _STORY),
    (Renaming((("Amara", "Helen"),)), "storycloze/story-0079"),
    (NewNames(), "storycloze/story-0079"),
    (IntruderSentence(share=1.0), "documents/lighthouse-01"),
    (CandidateSubstitution(), "winograd/wsc-059"),
    (PronounRepetition(), "gum/SAMPLE_interview_diver"),
    (ConnectiveSegments(), "pdtb/wsj_9955"),
    (ConnectiveSubstitution(replacement="although"), "disco/disco-00095"),
    *(
        (ProbeSentence(probe=name), f"storycloze/{text}")
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
    (SpeakerSeparator(), _DIALOGUE),
    (Shuffle(keep_last=1) | SpeakerSeparator(), _DIALOGUE),
)


def operators_page() -> str:
    """The page, in Markdown."""
    parts, seen = [_INTRODUCTION], set()
    for operator, text in EXAMPLES:
        if (kind := type(operator)) not in seen:
            parts += [f"## {kind.__name__}\n\n{_described(kind)}\n", _shown(operator, text)]
        seen.add(kind)
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
        elif not paragraphs:
            paragraphs.append(" ".join(paragraph.split()))
    paragraphs[0] += f" From `{kind.__module__}`."
    return "\n\n".join(paragraphs)


def _shown(operator: Any, before: str | Discourse) -> str:
    texts: tuple[Discourse, ...] = ()
    context = Context(0, "catalogue")
    if isinstance(before, str):
        name, _, identifier = before.partition("/")
        texts = _texts(name)
        before = next(text for text in texts if text.id == identifier)
    title, call = f"`{operator}`", operator
    if isinstance(operator, MatchedOrder):
        same = [text for text in texts if len(text.units) == len(before.units)]
        call = operator.fit(same, [text.id for text in same], context)
    elif isinstance(operator, IntruderSentence):
        call = operator.fit(texts, context)
    elif isinstance(operator, ProbeSentence):
        title = f"With {title}, {PROBES[operator.probe].description}"
    after = next(iter(call(before, context)), None)
    if after is None:
        title += f" gives no result for this text, because of {next(iter(context.skipped))}"
    # The units in lines, as ``diff`` writes them, without its hints at letters.
    lines = [
        line for line in Differ().compare(before.texts, (after or before).texts) if line[0] != "?"
    ]
    return "\n".join((f"{title}:", "", "```diff", *lines, "```", ""))


if __name__ == "__main__":
    print(operators_page(), end="")

"""A page of all operators: what each does, its settings, and a text before and after.

::

    python -m coherencegym.manipulations.catalogue > docs/operators.md
    python -m coherencegym.manipulations.catalogue Shuffle  # everything about an operator

The texts are those of the samples, which come with the package; the words are the docstrings.

Beyer et al. 2021, section 4.2, on the Story Cloze Test (Mostafazadeh et al. 2016).

Beyer et al. 2021, section 4.6: dialogue models are trained with a separator between utterances. In
a dataset the separator is the abstract ``[SEP]``; the evaluator renders it for each model.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import Differ
from functools import cache
from inspect import getdoc
from typing import Any

from coherencegym.loaders.discourse import Discourse, ParsedWord, Relation, Unit
from coherencegym.loaders.read import read
from coherencegym.loaders.registry import corpus, sample_of
from coherencegym.manipulations.connectives.connective_context import (
    ConnectiveSegments,
    ConnectiveSubstitution,
)
from coherencegym.manipulations.connectives.inferred_connectives import (
    InferredConnectiveSegments,
    InferredConnectiveSubstitution,
)
from coherencegym.manipulations.editing import replace_text
from coherencegym.manipulations.intruders.intruder_sentence import IntruderSentence
from coherencegym.manipulations.operator import Context, Operator
from coherencegym.manipulations.orders.matched_order import MatchedOrder
from coherencegym.manipulations.probes.registry import PROBES, ProbeSentence
from coherencegym.manipulations.reference.antecedent_removal import AntecedentRemoval
from coherencegym.manipulations.reference.named_people import NewNames, OwnNames, Renaming
from coherencegym.manipulations.reference.pronoun_repetition import PronounRepetition
from coherencegym.manipulations.reference.schemas import CandidateSubstitution
from coherencegym.manipulations.shuffle import Exchange, LastUnit, MoveToFront, Shuffle


@dataclass(frozen=True)
class EndingSwap(Operator):
    """Replace the last sentence of a text by a wrong ending that the corpus lists for the text.

    Attributes:
        name: the name of the result, by default ``distractor_ending``. If a text has several
            results, the second and later results have this name and a number, such as
            ``distractor_ending-2``.

    Each wrong ending of a text gives one result. A text without a wrong ending gives no result. The
    Story Cloze Test, for example, is a corpus that lists wrong endings.
    """

    name: str = "distractor_ending"

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse once for each wrong ending."""
        last = len(discourse.units) - 1
        text = discourse.units[last].text
        whole = (last, 0, len(text))
        ending = next((a for a in discourse.alternatives if a.span == (whole,)), None)
        if ending is None:
            context.skipped["no alternative ending"] += 1
            return
        wrong = dict.fromkeys(t for i, t in enumerate(ending.options) if i != ending.right)
        if text in wrong:
            context.skipped["the two endings are the same"] += 1
            del wrong[text]
        for number, other in enumerate(wrong, start=1):
            swapped = replace_text(discourse, *whole, other, operator="EndingSwap")
            name = self.name if number == 1 else f"{self.name}-{number}"
            yield dataclasses.replace(swapped, variant=name)


@dataclass(frozen=True)
class SpeakerSeparator(Operator):
    """Write a mark (``[SEP]``) after every utterance of a dialogue except the last utterance.

    Attributes:
        separator: the mark. The operator writes a space before the mark.

    The operator does not change the name (``variant``): if the dialogue is a result named
    ``shuffled``, the result with marks is also named ``shuffled``. A dialogue that already contains
    the mark gives no result.
    """

    separator: str = "[SEP]"

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse with separators; the variant stays what it was."""
        if any(self.separator in text for text in discourse.texts):
            context.skipped[f"the text itself contains {self.separator}"] += 1
            return
        if len(discourse.units) < 2:
            context.skipped["only one utterance"] += 1
            return
        result = discourse
        for i, text in enumerate(discourse.texts[:-1]):
            end, mark = len(text), f" {self.separator}"
            result = replace_text(result, i, end, end, mark, operator="SpeakerSeparator")
        yield result


_INTRODUCTION = """\
# Operators

What each operator does to a text, and which arguments it has. An operator makes altered versions \
(results) of a text that is divided into units (sentences, or turns of a dialogue). A result can \
be the input of a further operator. The same seed always gives the same results.

The next command prints everything about an operator, also the names of its results, and which \
texts give no result. Without a name, it prints this page. The changes of `ProbeSentence` are in \
[a table](detecting.md#linguistic-probes). To write your own operator, see the \
[guide](extending.md#an-operator-a-corpus).

```bash
python -m coherencegym.manipulations.catalogue Shuffle
```

In the examples, each unit of a text has its own line. A line that begins with `-` is only in the \
original text, and a line that begins with `+` is only in the first result. A moved unit has both.
"""


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
    (AntecedentRemoval(removed="antecedent"), "gum/SAMPLE_news_bridge"),
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
    (InferredConnectiveSegments(), _DUTCH),
    (
        InferredConnectiveSubstitution(),
        next(iter(InferredConnectiveSegments()(_DUTCH, Context(0, "catalogue")))),
    ),
    (SpeakerSeparator(), _DIALOGUE),
    (Shuffle(keep_last=1) | SpeakerSeparator(), _DIALOGUE),
)


def catalogue(*names: str) -> str:
    """The page, in Markdown; with names of operators, everything about these."""
    parts, seen = [] if names else [_INTRODUCTION], set()
    for operator, text in EXAMPLES:
        kind = type(operator)
        if names and kind.__name__ not in names:
            continue
        if kind not in seen:
            parts.append(f"## {kind.__name__}\n\n{_described(kind, whole=bool(names))}\n")
        if names or kind not in seen:
            parts.append(_shown(operator, text))
        seen.add(kind)
    return "\n".join(parts)


@cache
def _texts(name: str) -> tuple[Discourse, ...]:
    sample = sample_of(corpus(name))
    assert sample is not None
    return tuple(read(sample))


def _described(kind: type, *, whole: bool) -> str:
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
        elif whole or not paragraphs:
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
    # The operators of this module are imported by its own name, which ``__main__`` is not.
    from coherencegym.manipulations import catalogue as named

    print(named.catalogue(*sys.argv[1:]), end="")

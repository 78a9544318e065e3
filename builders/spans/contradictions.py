"""Utterances of one person, with two of them that annotators looked at together.

Pairs of DialogueNLI stand among other utterances of its split, in whose triples neither subject
matter nor object is that of any other: they have nothing that they could contradict. The two of a
pair contradict each other, or do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Self

from coherencegym.builders.pipeline.kinds import Fits
from coherencegym.builders.spans.annotated import RULE_COLUMNS, covering_gold, rule_columns
from coherencegym.builders.suite import Column, Contrast
from coherencegym.eval.kinds.documents import NEGATIVE, POSITIVE, SPANS, SpanText
from coherencegym.loaders.corpora.dialogues import NLI_LABELS
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context

CONTRADICTION_COLUMNS = {
    "relation": Column(
        "string",
        "the relation of the two utterances: `contradiction`, or why they do not contradict",
    ),
    "first": Column("int32", "the unit of the earlier utterance of the pair"),
    "second": Column("int32", "the unit of the later utterance of the pair"),
    **RULE_COLUMNS,
}
#: Units of a text.
_FEWEST, _MOST = 3, 6
#: Words in a relation's name -> the matter that it is about: work contradicts school, and so on.
_MATTERS = {
    "work": "profession employ job work school teach study degree retired",
    "place": "live place origin nation location citystate born",
    "family": "marital family child sibling spouse parent relation",
    "food": "food drink diet eat cook allerg vegan",
    "animal": "animal pet",
    "time": "activity hobby sport music read watch game ability goto travel",
    "looks": "physical attribute gender age hair height weight",
}
_MATTER_OF = {word: matter for matter, words in _MATTERS.items() for word in words.split()}
_NO_MATTER = ("other", "")


@dataclass(frozen=True, slots=True)
class Statement:
    """An utterance, the matters it is about, and the words of its triple's object and its own."""

    text: str
    matters: frozenset[str]
    words: frozenset[str]


def statement(text: str, triple: str) -> Statement:
    """An utterance with its triple, as DialogueNLI's reader writes it (``i | have_pet | dog``)."""
    _, relation, thing = (part.strip() for part in triple.split(" | ", 2))
    matters = frozenset(
        matter for word, matter in _MATTER_OF.items() if word in relation.lower()
    ) or frozenset({relation.lower()})
    return Statement(text, matters, _content(text) | _content(thing))


def _content(text: str) -> frozenset[str]:
    return frozenset(word.rstrip("s") for word in re.findall(r"[a-z]{4,}", text.lower()))


@dataclass(frozen=True)
class Contradictions:
    """A pair among utterances that have nothing to do with it."""

    contrasts: tuple[Contrast, ...] = ()
    pool: tuple[Statement, ...] = field(default=(), repr=False, compare=False)

    @property
    def recipe(self) -> str:
        """The operation, as the manifest records it."""
        return f"a pair among other utterances, {_FEWEST} to {_MOST} units"

    def fit(self, discourses: Sequence[Discourse], context: Context, fits: Fits) -> Self:
        """The item generator with all utterances of a split that may stand beside a pair."""
        found = {one.text: one for d in discourses for one in _statements(d)}
        pool = (found[text] for text in sorted(found))
        return replace(self, pool=tuple(one for one in pool if not one.matters & {*_NO_MATTER}))

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[SpanText]:
        """Yield the row, unless too few other utterances fit beside the pair."""
        generator = context.random(discourse, "Contradictions")
        pair = _statements(discourse)
        units = generator.randint(_FEWEST, _MOST)
        others = self._others(pair, units - len(pair), generator)
        if len(others) < _FEWEST - len(pair):
            context.skipped["no other utterance fits beside the pair"] += 1
            return
        units = len(pair) + len(others)
        first, second = sorted(generator.sample(range(units), 2))
        texts = [one.text for one in others]
        texts.insert(first, pair[0].text)
        texts.insert(second, pair[1].text)
        relation = NLI_LABELS[discourse.meta["label"]]
        contradicts = relation == NLI_LABELS["negative"]
        yield contradiction_row(
            discourse, texts, ["A"] * units, (first, second), contradicts, relation
        )

    def _others(self, pair: Sequence[Statement], number: int, generator: Random) -> list[Statement]:
        matters = frozenset[str]().union(*(one.matters for one in pair))
        words = frozenset[str]().union(*(one.words for one in pair))
        found: list[Statement] = []
        for one in generator.sample(self.pool, len(self.pool)):
            if len(found) == number:
                break
            if not (one.matters & matters or one.words & words):
                found.append(one)
                matters, words = matters | one.matters, words | one.words
        return found


def _statements(discourse: Discourse) -> list[Statement]:
    triples = (discourse.meta["triple1"], discourse.meta["triple2"])
    return [statement(*both) for both in zip(discourse.texts, triples, strict=True)]


def contradiction_row(
    discourse: Discourse,
    texts: Sequence[str],
    speakers: Sequence[str],
    pair: tuple[int, int],
    contradicts: bool,
    relation: str,
    **columns: Any,
) -> SpanText:
    """The row of a text whose units ``pair`` contradict each other, or do not."""
    evidence = (pair,) if contradicts else ()
    row = SpanText(
        item_id=discourse.id,
        units=tuple(texts),
        speakers=tuple(speakers),
        hypothesis="",
        alternatives=(),
        label=POSITIVE if contradicts else NEGATIVE,
        evidence=evidence,
        gold=covering_gold(len(texts), evidence),
        discourse_id=discourse.id,
        corpus=discourse.corpus,
        extra={
            "relation": relation,
            "first": pair[0],
            "second": pair[1],
            **columns,
            **rule_columns(len(texts), "contradiction"),
        },
    )
    SPANS.check(row)
    return row

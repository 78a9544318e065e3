"""Span coherence: is a model that is right about a text right about its parts, too?

Storks and Chai 2021. A row is a text of several units with the right answer for the whole and for
each stretch of consecutive units. ``conversational_entailment`` and ``abduction`` are the paper's
items with its annotation; of other texts the answers follow from how they were made: documents
with an intruder, and what somebody says with a contradiction in it. Any table with units,
hypothesis, label and evidence is read, too (``--hub-dataset ... --genre spans``).

For a contradiction a pair of DialogueNLI, whose utterances contradict each other or do not, stands
among other utterances of its split, in whose triples neither subject matter nor object is that of
any other: they have nothing that they could contradict.

    coherencegym build span_coherence --corpus verifiable --data-dir PATH
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Self

from coherencegym.builders.intruder_sentences import (
    DOCUMENT_COLUMNS,
    INTRUDER_CORPORA,
    IntruderView,
)
from coherencegym.builders.pipeline.kinds import Division, Fits
from coherencegym.builders.release.quality import WHOLE_ONLY
from coherencegym.builders.suite import ANY_LANGUAGE, Column, Config, Contrast, Suite
from coherencegym.eval.kinds.documents import (
    NEGATIVE,
    POSITIVE,
    SPANS,
    UNDECIDED,
    GoldSpan,
    SpanText,
)
from coherencegym.eval.kinds.table_kind import FAMILY
from coherencegym.loaders.corpora.dialogues import NLI_LABELS
from coherencegym.loaders.corpora.judged import ENTAILED, EVIDENCE
from coherencegym.loaders.corpus import cited
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.intruders.intruder_sentence import IntruderSentence
from coherencegym.manipulations.operator import Context

#: First and last unit, from 0.
UnitSpan = tuple[int, int]

#: Makers of the gold of a row, by the name that its column ``rule`` has.
RULES = {
    "annotated": "a span is positive iff it covers the units that annotators named",
    WHOLE_ONLY: "only the answer for the whole is known",
    "choice": "the choice table of Storks and Chai 2021, from the annotated conflict",
    "intruder": "a span of two units or more is positive iff it holds the intruder",
    "contradiction": "a span is positive iff it covers both of the contradicting units",
}

RULE_COLUMNS = {
    "unit_count": Column("int32", "how many units the text has, or each alternative"),
    "one_unit": Column("bool", "whether the whole text is the only span"),
    "rule": Column(
        "string",
        "the source of the answers for spans: "
        + "; ".join(f"`{name}`: {what}" for name, what in RULES.items()),
    ),
}


def span_row(
    discourse: Discourse,
    rule: str,
    label: int,
    evidence: tuple[UnitSpan, ...],
    gold: tuple[GoldSpan, ...],
    columns: Mapping[str, Any],
    *,
    units: Sequence[str] = (),
    speakers: Sequence[str] = (),
    hypothesis: str = "",
    alternatives: tuple[tuple[str, ...], ...] = (),
) -> SpanText:
    """The row of a discourse; ``rule`` is one of :data:`RULES`, ``columns`` are those beside it."""
    row = SpanText(
        item_id=discourse.id,
        units=tuple(units),
        speakers=tuple(speakers),
        hypothesis=hypothesis,
        alternatives=alternatives,
        label=label,
        evidence=evidence,
        gold=gold,
        discourse_id=discourse.id,
        corpus=discourse.corpus,
    )
    own = {"unit_count": row.size, "one_unit": row.size == 1, "rule": rule}
    row = replace(row, extra={**columns, **own})
    SPANS.check(row)
    return row


def unit_spans(units: int, fewest: int = 1) -> Iterator[UnitSpan]:
    """All stretches of at least ``fewest`` of so many units, the earlier beginning first."""
    for start in range(units):
        for end in range(start + fewest - 1, units):
            yield start, end


def covering_gold(
    units: int, evidence: Sequence[UnitSpan], fewest: int = 1
) -> tuple[GoldSpan, ...]:
    """Gold of a property: a span has it iff it covers one of the stretches of evidence."""

    def answer(start: int, end: int) -> int:
        covers = any(start <= first and last <= end for first, last in evidence)
        return POSITIVE if covers else NEGATIVE

    return tuple(GoldSpan(*span, answer(*span)) for span in unit_spans(units, fewest))


#: Conflict -> the spans of two sentences or more, and (1, 1), that have the answer of the whole.
_DECIDED: dict[UnitSpan, frozenset[UnitSpan]] = {
    (1, 2): frozenset({(0, 2), (1, 2)}),
    (0, 1): frozenset({(0, 2), (0, 1)}),
    (1, 1): frozenset({(0, 2), (0, 1), (1, 2), (1, 1)}),
    (0, 2): frozenset({(0, 2)}),
}


def choice_gold(
    conflict: UnitSpan, second_pair_plausible: bool | None, label: int
) -> tuple[GoldSpan, ...]:
    """Gold of two texts of three sentences that differ in the second one.

    Args:
        conflict: the sentences of the less plausible text between which the conflict lies.
        second_pair_plausible: true where the less plausible second sentence goes with the
            third, as is asked of a conflict of the first two; false: the last two have the answer,
            too.
        label: the answer of the whole.
    """
    decided = _DECIDED[conflict]
    if conflict == (0, 1) and second_pair_plausible is False:
        decided |= {(1, 2)}
    spans = unit_spans(3)
    return tuple(GoldSpan(*span, label if span in decided else UNDECIDED) for span in spans)


ENTAILMENT_COLUMNS = {
    FAMILY: Column(
        "string", "the conversation; rows of one conversation form one cluster in intervals"
    ),
    "type": Column(
        "string", "what the hypothesis is about in the corpus; empty if the corpus does not say"
    ),
    **RULE_COLUMNS,
}
CHOICE_COLUMNS = {
    "second_pair": Column(
        "string",
        "`true` if annotators found the worse hypothesis plausible with the text after it, "
        "otherwise `false`; empty if they were not asked",
    ),
    **RULE_COLUMNS,
}


def evidence_of(discourse: Discourse) -> tuple[UnitSpan, ...]:
    """The stretches that carry the answer, as annotators marked them."""
    spans = [j.span for j in discourse.judgements if j.label == EVIDENCE and j.span]
    return tuple((span[0][0], span[-1][0]) for span in spans)


@dataclass(frozen=True)
class Entailment:
    """A text and a hypothesis: a span entails it iff it covers the evidence."""

    recipe: str = "the text as it stands; a span is positive iff it covers the evidence"
    contrasts: tuple[Contrast, ...] = ()

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[SpanText]:
        """Yield the row."""
        entailed = any(j.span is None and j.label == ENTAILED for j in discourse.judgements)
        label = POSITIVE if entailed else NEGATIVE
        units, meta = len(discourse.units), discourse.meta
        evidence = evidence_of(discourse) if entailed else ()
        known = meta["spans"] == "known"
        speakers = tuple(unit.speaker or "" for unit in discourse.units)
        yield span_row(
            discourse,
            "annotated" if known else WHOLE_ONLY,
            label,
            evidence,
            covering_gold(units, evidence) if known else (GoldSpan(0, units - 1, label),),
            {FAMILY: meta.get("source", ""), "type": meta.get("type", "")},
            units=discourse.texts,
            speakers=speakers if all(speakers) else (),
            hypothesis=meta["hypothesis"],
        )


@dataclass(frozen=True)
class Abduction:
    """Two texts of three sentences that differ in the second: which is the more plausible?"""

    recipe: str = "both texts as they stand; spans after the annotated conflict"
    contrasts: tuple[Contrast, ...] = ()

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[SpanText]:
        """Yield the row."""
        ((place, _, _),) = discourse.alternatives[0].span
        texts, second = discourse.texts, discourse.meta["second_pair"]
        (conflict,) = evidence_of(discourse)
        label = discourse.alternatives[0].right
        yield span_row(
            discourse,
            "choice",
            label,
            (conflict,),
            choice_gold(conflict, second == "true" if second else None, label),
            {"second_pair": second},
            alternatives=tuple(
                (*texts[:place], option, *texts[place + 1 :])
                for option in discourse.alternatives[0].options
            ),
        )


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
        evidence = ((first, second),) if contradicts else ()
        yield span_row(
            discourse,
            "contradiction",
            POSITIVE if contradicts else NEGATIVE,
            evidence,
            covering_gold(units, evidence),
            {"relation": relation, "first": first, "second": second},
            units=texts,
            speakers=["A"] * units,
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


#: One sentence alone cannot be incoherent.
_FEWEST_SENTENCES = 2

#: Columns of :mod:`builders.intruder_sentences` that spans have, too.
_SHARED = (FAMILY, "domain", "replaced", "source_discourse", "similarity")


@dataclass(frozen=True)
class IntruderSpans(IntruderView):
    """All documents; a span of two sentences or more is incoherent iff it holds the intruder."""

    contrasts: tuple[Contrast, ...] = ()

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[SpanText]:
        """Yield the document, intruded or coherent."""
        if not list(self.kept(discourse, context)):
            return
        units = len(discourse.units)
        if units < _FEWEST_SENTENCES:
            context.skipped["fewer than two sentences"] += 1
            return
        # Documents that stay coherent are rows too: they are counted, and not left out.
        intruded, choice = self.intruded(discourse, Context(context.seed, context.suite))
        pairs = ((choice.slot - 1, choice.slot), (choice.slot, choice.slot + 1)) if choice else ()
        evidence = tuple(pair for pair in pairs if pair[0] >= 0 and pair[1] < units)
        yield span_row(
            discourse,
            "intruder",
            POSITIVE if choice else NEGATIVE,
            evidence,
            covering_gold(units, evidence, _FEWEST_SENTENCES),
            {name: self.document_columns(discourse, choice)[name] for name in _SHARED},
            units=intruded.texts,
        )


@dataclass(frozen=True)
class AskedSplits:
    """The corpus's own splits of texts that it asks something of, and a division of all others.

    The division is that of :mod:`builders.intruder_sentences`, so that a document is in one split
    in both suites.
    """

    division: Division

    def __call__(self, discourses: Sequence[Discourse], seed: int) -> dict[str, list[Discourse]]:
        """The discourses by split, in their order."""
        own: dict[str, list[Discourse]] = {}
        for discourse in discourses:
            if "question" in discourse.meta:
                own.setdefault(discourse.meta["split"], []).append(discourse)
        others = [discourse for discourse in discourses if "question" not in discourse.meta]
        for split, divided in (self.division(others, seed) if others else {}).items():
            own.setdefault(split, []).extend(divided)
        return own


def _config(**settings: Any) -> Config:
    return Config(**{"name": "", "kind": SPANS, "regions": (), **settings})


_ENTAILMENT: dict[str, Any] = {
    "generator": Entailment(),
    "columns": ENTAILMENT_COLUMNS,
    "breakdowns": ("one_unit",),
    "task_defaults": {"question": "entailment", "positive": "entailed"},
}

SUITE = Suite(
    name="span_coherence",
    title="Span coherence",
    version="4.0.0",
    hypothesis=(
        "A model that is right about a text for the right reason is also right about the text's "
        "parts: for each part, it gives the answer that the part itself supports."
    ),
    description=(
        "Texts of several units with the right answer for the whole and for each span of "
        "consecutive units. **Strict coherence** is the share of texts for which a model is right "
        "about the whole and every part. **Lenient coherence** is the mean share of parts that it "
        "is right about."
    ),
    conditions={
        "positive": "the span entails the hypothesis, is incoherent, or contradicts itself",
        "negative": "it does not",
        "answer": "for a choice: the span of one alternative is the better one",
        "none": "for a choice: the spans of both are equally good",
    },
    limitations=(
        "**Answering no to everything is hard to beat**, because most spans are negative. Compare "
        "with the constant answers under Quality, which every report shows beside the scores.",
        "For a text of one unit, strict coherence equals accuracy; scores are broken down by "
        "`one_unit` where such texts exist.",
        "Gold answers by rule assume that nothing else in the text supports the answer, and that "
        "more text never removes support.",
    ),
    citation=cited("storks-chai-2021-beyond-tip"),
    divide=AskedSplits(Division(0.2, 0.1)),
    configs=(
        _config(
            name="conversational_entailment",
            one_corpus=True,
            corpora=("verifiable",),
            select=lambda discourse: discourse.meta.get("question") == "entailment",
            summary="does a span of a telephone conversation entail the hypothesis?",
            **_ENTAILMENT,
        ),
        _config(
            name="abduction",
            one_corpus=True,
            corpora=("verifiable",),
            select=lambda discourse: discourse.meta.get("question") == "choice",
            generator=Abduction(),
            columns=CHOICE_COLUMNS,
            summary="which of two stories, which differ in one sentence, is more plausible?",
            task_defaults={"question": "choice"},
        ),
        _config(
            prefix="entailment",
            corpora=(),
            genre="spans",
            languages=ANY_LANGUAGE,
            summary="does a span of the text entail the hypothesis?",
            **_ENTAILMENT,
        ),
        _config(
            prefix="intruder",
            by="domain",
            corpora=INTRUDER_CORPORA,
            genre="documents",
            languages=ANY_LANGUAGE,
            generator=IntruderSpans(IntruderSentence()),
            columns={name: DOCUMENT_COLUMNS[name] for name in _SHARED} | RULE_COLUMNS,
            summary=(
                "documents, half of them with a sentence of another document: is a span of "
                "sentences incoherent?"
            ),
            task_defaults={"question": "coherence", "positive": "incoherent"},
        ),
        _config(
            prefix="contradiction",
            corpora=("dialoguenli",),
            columns=CONTRADICTION_COLUMNS,
            task_defaults={"question": "coherence", "positive": "contradictory"},
            generator=Contradictions(),
            summary=(
                "utterances of one person, including a pair that is known to contradict itself or "
                "not to: does a span of utterances contradict itself?"
            ),
        ),
    ),
    tags=("entailment", "contradiction", "intruder-sentence-detection"),
    task_categories=("text-classification",),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)

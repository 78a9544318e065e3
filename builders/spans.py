"""Texts with the answers for their spans: from annotators, or by how the texts were made.

Storks and Chai 2021, section 3: spans are all stretches of consecutive units, the whole included.
:mod:`builders.span_coherence` has the suite.

Contradictions are of two kinds. A pair of DialogueNLI, whose utterances contradict each other or do
not, stands among other utterances of its split, in whose triples neither subject matter nor object
is that of any other: they have nothing that they could contradict. In dialogues what was said of
oneself is negated (:mod:`manipulations.probes.verbs`) and put at the end of a later utterance: of
who said it, which contradicts it, or of the other, who may well be different. Whoever denies it
says nothing else of the matter, so that nothing else contradicts the denial.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Self

from coherencegym.builders.crossing.partners import stems
from coherencegym.builders.pipeline.kinds import Fits
from coherencegym.builders.release.quality import WHOLE_ONLY
from coherencegym.builders.suite import Column, Contrast
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
from coherencegym.loaders.discourse import Discourse, Unit
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.probes.sentence import analyse, apply
from coherencegym.manipulations.probes.verbs import negation

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
        speakers = ["A"] * units
        yield _contradiction(discourse, texts, speakers, first, second, contradicts, relation)

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


def _contradiction(
    discourse: Discourse,
    texts: Sequence[str],
    speakers: Sequence[str],
    first: int,
    second: int,
    contradicts: bool,
    relation: str,
) -> SpanText:
    # The row of a text of which two units contradict each other, or do not.
    evidence = ((first, second),) if contradicts else ()
    gold = covering_gold(len(texts), evidence)
    label = POSITIVE if contradicts else NEGATIVE
    columns = {"relation": relation, "first": first, "second": second}
    return span_row(
        discourse, "contradiction", label, evidence, gold, columns, units=texts, speakers=speakers
    )


#: Units of the stretch of a dialogue that a row has.
_UNITS = 6
#: A sentence of somebody about themself, and nobody else.
_OF_SELF = re.compile(r"(?:i|my)\b[a-z' -]{12,60}\.", re.IGNORECASE)
#: Words of what is said to the other, points to what was said before, or is so of the moment only.
_NOT_ALONE = re.compile(
    r"\b(?:you|your|it|that|this|those|these|them|they|their|one|he|she|him|her|there|too|also|"
    r"just|but|or|if|so|then|still|we|(?:am|was|been|be|get|getting) \w+ing|"
    r"do|does|did|said|thinks?|thought|guess|hope|bet|mean|know|wish|wonder|agree|thank|thanks|sorry|would|could|might|"
    r"maybe|currently|today|tonight|now|going|trying|because|since|when|while)\b",
    re.IGNORECASE,
)
#: Words that nobody denies with ``not``, or that are all it denies: ``i do not prefer pop music``.
_NOT_DENIED = re.compile(
    r"\b(?:should|must|prefers?|preferred|hates?|hated|imagine|sometimes|except)\b", re.IGNORECASE
)
#: An answer to what the other said just before.
_ANSWER = re.compile(r"(?:yes|yeah|yep|yup|sure|of course|no|nope|nah|not|i|it|they)\b", re.I)
#: An answer by which what the other said becomes one's own word.
_AGREES = re.compile(
    r"\b(?:me too|me neither|same here|so (?:do|am|did|have) i|we both|both of us|i agree"
    r"|you(?: are|['’]re) right)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Denial:
    """A sentence of a unit, and its negation."""

    unit: int
    sentence: str
    denied: str


def denials(units: Sequence[Unit]) -> Iterator[Denial]:
    """Find statements of some units that can be denied, each in its own words but for love."""
    for number, unit in enumerate(units):
        for sentence in re.split(r"(?<=[.!?]) +", unit.text):
            if not _OF_SELF.fullmatch(sentence):
                continue
            if _NOT_ALONE.search(sentence) or _NOT_DENIED.search(sentence):
                continue
            capital = sentence[0].upper() + sentence[1:]
            if replacements := negation(analyse(capital)):
                # Who does not love something may still like it.
                denied = apply(capital, replacements).replace(" not love ", " not like ")
                yield Denial(number, sentence, sentence[0] + denied[1:])


@dataclass(frozen=True, slots=True)
class _Place:
    # ``later``: the unit behind which it is denied; ``begin``: the first unit of the stretch.
    denial: Denial
    later: int
    begin: int


@dataclass(frozen=True)
class Denials:
    """A stretch of a dialogue with a denial, in as many by the same speaker as by the other.

    ``chosen`` says of the dialogues of a fit whether it is the same speaker.
    """

    contrasts: tuple[Contrast, ...] = ()
    chosen: Mapping[str, bool] = field(default_factory=dict, repr=False, compare=False)

    @property
    def recipe(self) -> str:
        """The operation, as the manifest records it."""
        return f"a statement, negated, at the end of a later utterance; {_UNITS} units"

    def fit(self, discourses: Sequence[Discourse], context: Context, fits: Any) -> Self:
        """The item generator that knows who denies in which of these dialogues."""
        order = []
        for discourse in discourses:
            generator = context.random(discourse, "Denials")
            preferred, lot = generator.random() < 0.5, generator.random()
            may_be = [
                same
                for same in (preferred, not preferred)
                if any(_alone(discourse.units, place) for place in _places(discourse.units, same))
            ]
            if may_be:
                order.append((len(may_be), may_be[0] != preferred, lot, discourse.id, may_be))
        # Those that may be either come last, where fewer are.
        chosen: dict[bool, list[str]] = {True: [], False: []}
        for *_, name, may_be in sorted(order):
            chosen[min(may_be, key=lambda same: len(chosen[same]))].append(name)
        most = min(map(len, chosen.values())) + 1
        return replace(
            self, chosen={name: same for same, of in chosen.items() for name in of[:most]}
        )

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[SpanText]:
        """Yield the row, unless nothing is said that can be denied."""
        units = discourse.units
        same = (self.chosen or self.fit([discourse], context, None).chosen).get(discourse.id)
        if same is None:
            context.skipped[_why_left(units)] += 1
            return
        generator = context.random(discourse, "Denials", same=same)
        place = generator.choice([one for one in _places(units, same) if _alone(units, one)])
        denial, later, begin = place.denial, place.later, place.begin
        texts = [*discourse.texts]
        end = "" if texts[later][-1] in ".!?" else "."
        texts[later] = f"{texts[later]}{end} {denial.denied}"
        stretch = slice(begin, begin + _UNITS)
        speakers = ["AB"[unit.speaker != units[0].speaker] for unit in units]
        first, second = denial.unit - begin, later - begin
        relation = "contradiction" if same else "said by the other"
        yield _contradiction(
            discourse, texts[stretch], speakers[stretch], first, second, same, relation
        )


def _places(units: Sequence[Unit], same: bool) -> list[_Place]:
    return [
        _Place(denial, later, begin)
        for denial in denials(units)
        for later in range(denial.unit + 2, min(denial.unit + _UNITS, len(units)))
        if (units[later].speaker == units[denial.unit].speaker) == same
        for begin in range(max(0, later - _UNITS + 1), min(denial.unit, len(units) - _UNITS) + 1)
    ]


def _alone(units: Sequence[Unit], place: _Place) -> bool:
    shown = units[place.begin : place.begin + _UNITS]
    first, later = place.denial.unit - place.begin, place.later - place.begin
    return not says_more(shown, place.denial.sentence, first, later)


def _why_left(units: Sequence[Unit]) -> str:
    places = [*_places(units, same=True), *_places(units, same=False)]
    if not places:
        return "no statement that can be denied later"
    if not any(_alone(units, place) for place in places):
        return "the speaker of the denial says more about the subject"
    return "left out, so that as many denials are by the other speaker"


def says_more(units: Sequence[Unit], statement: str, first: int, later: int) -> bool:
    """Tell whether who denies a statement speaks of it elsewhere, too.

    That is in a word of the statement, in an answer to one by the other, or by agreeing with the
    other somewhere between the statement (in the unit ``first``) and its denial (``later``).
    """
    matter, denier = stems(statement), units[later].speaker
    for place, unit in enumerate(units):
        answer = units[place + 1 : place + 2]
        agrees = unit.speaker == denier != units[first].speaker and _AGREES.search(unit.text)
        if agrees and first < place <= later:
            return True
        if matter & stems(unit.text.replace(statement, "")) and (
            unit.speaker == denier
            or any(one.speaker == denier and _ANSWER.match(one.text) for one in answer)
        ):
            return True
    return False

"""Connectives: what follows a connective is more surprising if it cannot say how the parts relate.

Beyer, Loáiciga and Schlangen 2021, section 4.5, on Disco-Annotation (Popescu-Belis et al. 2012) and
on corpora in the manner of the Penn Discourse Treebank. One row is one segment: as it stands, and
with each other connective in the place of the annotated one. What is scored is the text after the
connective, or after its clause where that comes first (``Although it rained, we left``). The
paper's connectives are replaced by each other; in the place of an adverbial (``however``) none of
them is wrong and fits, so that adverbials of other senses are put there as well. Two families of
predictions:

- after a replacement the continuation is more surprising than in the original (the paper's Table
  4);
- it is more surprising after a replacement that cannot carry the annotated sense than after one
  that can (the paper's hypothesis). Here neither condition is what the author wrote.

``crossed`` takes two segments of one genre whose connectives are used alike, and neither of
which can carry the other's sense: each segment with both connectives, so that how frequent a
connective is, and how difficult a segment, cancel. As nothing but the sense is to be wrong, and no
list of replacements is needed, commoner connectives (``but``, ``so``, ``because``) count as well.

    coherencegym build connectives --corpus gum --data-dir PATH
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from coherencegym.builders.crossing.generator import (
    Crossed,
    condition_of,
    crossed_columns,
    with_shuffled_contexts,
)
from coherencegym.builders.crossing.partners import Couple, MostSimilar, Partner, any_two
from coherencegym.builders.suite import (
    BEYER_2021,
    GENRE,
    Column,
    Config,
    Contrast,
    GeneratedItem,
    Suite,
    Use,
    generate_item,
)
from coherencegym.eval.kinds.items import SuiteError
from coherencegym.loaders.discourse import Discourse, span_text
from coherencegym.loaders.senses import CONNECTIVES as KNOWN
from coherencegym.loaders.senses import Meaning, UnknownSenseError, beside, carries, meaning_of
from coherencegym.manipulations.connectives import (
    AMBIGUOUS,
    ConnectiveSegments,
    ConnectiveSubstitution,
    around_connective,
    begins_clause,
    denies,
    finite_clause_after,
    fits,
    has_clause,
    has_fillers,
    main_clause,
    says_how_it_goes_on,
    syntax,
)
from coherencegym.manipulations.operator import Context
from coherencegym.words import in_case_of

ORIGINAL = "original"
#: The group that a config's score is taken over: pairs in which nothing but the sense is wrong.
HEADLINE = "different sense, same syntax"
#: Senses whose word is no connective there: groups of their own, in no aggregate.
NO_CONNECTIVES = ("prep", "adv")
#: Put where they fit and begin a clause, and never replaced.
ADVERBIALS = ("for example", "instead", "then", "therefore")
#: The connectives of the config ``crossed``: those whose meaning is known and no other's as well.
CROSSED = (
    *(
        "although",
        "as",
        "because",
        "but",
        "even though",
        "for example",
        "for instance",
        "however",
        "if",
    ),
    *("instead", "nevertheless", "since", "so", "then", "therefore", "though", "whereas"),
    *("while", "yet"),
)
#: The end of a text that asserts nothing.
_UNFINISHED = re.compile(r"\?[\W_]*$|[^.!\]\)”\"’]$")
#: Words of what need not be so.
_POSSIBLE = re.compile(r"\b(?:may|might)\b")
#: A clause of what somebody will, can or wants to do.
_OF_WILL = re.compile(
    r",? (?:[\w-]+,? ){0,2}?(?:I|we|you|he|she|it|they)(?:['’](?:ll|d)|"
    r" (?:\w+ )?(?:will|would|can|could|want|need|have to|shall|should|must))\b"
)
#: Verdicts on a replacement's sense in the names of groups, and what else: :func:`beside`.
SAME, DIFFERENT, IN_PART = "same sense", "different sense", "sense in part"


@dataclass(frozen=True)
class Substitutions:
    """One item for each segment: the original and a condition for each replacement."""

    segments: ConnectiveSegments
    contrasts: tuple[Contrast, ...] = (
        Contrast("replacement", ORIGINAL, 3),
        Contrast("different", "same", 3),
    )

    @property
    def recipe(self) -> str:
        """The operators, as the manifest records them."""
        return (
            f"{self.segments} | ConnectiveSubstitution(each other connective; at the beginning "
            f"of a clause {', '.join(ADVERBIALS)})"
        )

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[GeneratedItem]:
        """Yield the items of a document."""
        for segment in self.segments(discourse, context):
            place = Place.of(segment)
            words = [word for word in self.segments.connectives if word != place.word]
            words += [word for word in ADVERBIALS if place.may_take(word)]
            versions = {ORIGINAL: segment}
            for word in words:
                (versions[_name(word)],) = ConnectiveSubstitution(word)(segment, context)
            contrasts = (*place.against_original(words), *place.different_over_same(words))
            columns = place.columns(segment, words)
            yield generate_item(
                segment.variant,
                versions,
                place.regions,
                contrasts,
                lambda version: (around_connective(version)[1].lower(),),
                columns,
            )


def _name(word: str) -> str:
    # Without spaces, for formulas of other tools.
    return word.replace(" ", "_")


@dataclass(frozen=True)
class Place:
    """An annotated connective: its sense, and which replacements fit.

    Attributes:
        sentence: the connective's, or where its clause comes first no more of it than that.
        start, end: the place of the connective in it.
        scored: the number of characters of the segment, its last, that are scored.
        fronted: true where the connective's clause comes before the main clause.
        clause: true where the connective's clause has a subject and a finite verb.
        denied: true where the first argument denies something.
    """

    word: str
    sense: str
    source: str
    meaning: Meaning
    sentence: str
    start: int
    end: int
    scored: int
    fronted: bool
    clause: bool
    denied: bool

    @classmethod
    def of(cls, segment: Discourse) -> Place:
        """The connective that a segment was cut out for."""
        relation = segment.relations[0]
        assert relation.connective is not None
        unit, start, end = relation.connective[0]
        main = main_clause(segment, relation)
        last, cut = main or (unit, end)
        scored = len(" ".join([segment.texts[last][cut:], *segment.texts[last + 1 :]]))
        sentence = segment.texts[unit]
        if main is not None and last == unit:
            sentence = sentence[:cut]
        word, source = sentence[start:end].lower(), segment.meta.get("sense_source", "")
        try:
            found = [meaning_of(source, sense, word) for sense in relation.senses]
        except UnknownSenseError as error:
            raise SuiteError(f"{segment.corpus}/{segment.id}/{segment.variant}: {error}") from None
        if not found:
            raise SuiteError(f"{segment.corpus}/{segment.id}/{segment.variant}: no sense")
        # Of several senses all have to be carried.
        meanings = tuple(dict.fromkeys(m for each in found for m in each.meanings))
        times = {each.time for each in found if each.time}
        meaning = Meaning(meanings, times.pop() if len(times) == 1 else "")
        finite = finite_clause_after(segment.units[unit], end)
        return cls(
            word=word,
            sense=" + ".join(relation.senses),
            source=source,
            meaning=meaning,
            sentence=sentence,
            start=start,
            end=end,
            scored=scored,
            fronted=main is not None,
            clause=has_clause(sentence[end:]) if finite is None else finite,
            denied=denies(span_text(segment, relation.arg1)),
        )

    def regions(self, version: Discourse) -> tuple[str, str, str]:
        """The text before the connective; it, with its clause if that is first; what is scored."""
        text, (before, _, _) = version.text, around_connective(version)
        cut = len(text) - self.scored
        return before, text[:cut].strip().removeprefix(before).strip(), text[cut:].strip()

    @property
    def is_connective(self) -> bool:
        """True where the word is one here, and may count in aggregates."""
        return self.sense not in NO_CONNECTIVES

    @property
    def row(self) -> str:
        """The row of the paper's table: ``as_causal``, or ``as_prep`` where it is no connective."""
        return f"{self.word}_{self.meaning.name if self.is_connective else self.sense}"

    def same_sense(self, word: str) -> bool | None:
        """True where a replacement can carry the sense; None where in part, or nobody knows."""
        return carries(KNOWN[word], self.meaning)

    def same_syntax(self, word: str) -> bool:
        """Tell whether a replacement can stand here by grammar.

        In the place of an ``as`` of comparison none can: its clause leaves out what is compared
        (``as we've had in the past``), which no other connective's may.
        """
        if self.word == "as" and "comparison" in self.meaning.meanings:
            return False
        known = KNOWN[word].syntax
        return fits(word, known, self.sentence, self.start, self.end, self.clause)

    @property
    def syntax(self) -> str:
        """The use of the connective: ``subordinator``, ``adverbial`` or ``coordinator``."""
        return syntax(self.sentence, self.start, self.end)

    def may_take(self, adverbial: str) -> bool:
        """Tell whether one of :data:`ADVERBIALS` is put here.

        Only where it begins its clause: behind other words (``This statement, then, has to be
        read``) it sets them off, and reads as well as often as not. ``Instead`` of what is denied
        comes what is so, which may be in contrast to it as well.
        """
        begins = begins_clause(self.sentence, self.start)
        possible = self.is_connective and not (adverbial == "instead" and self.denied)
        return possible and begins and self.same_syntax(adverbial)

    def sense_of(self, word: str) -> str:
        """Say how the sense of a replacement goes with the annotated one, as groups name it."""
        often = beside(KNOWN[word], self.meaning)
        if (self.word, word) == ("while", "as") and self.same_sense(word) is False:
            often = "time for contrast"
        return often or {True: SAME, False: DIFFERENT, None: IN_PART}[self.same_sense(word)]

    @property
    def is_open(self) -> bool:
        """Tell whether a subordinate clause may be a cause and a concession alike.

        A cause that comes first is given as known (``Since most people go there, you may ask
        them``), and what stands in brackets as an aside: they may be in spite of what they are
        beside. What comes first and only may be so can be a cause as well.
        """
        clause = self.sentence[self.end :]
        if self.syntax != "subordinator":
            return False
        if self.fronted:
            return "causal" in self.meaning.meanings or _POSSIBLE.search(clause) is not None
        return self.sentence[: self.start].endswith("(")

    def _aggregate(self, sense: str, *words: str) -> tuple[str, ...]:
        grammar = "same" if all(map(self.same_syntax, words)) else "other"
        place = ", open" if self.is_open else ""
        return (f"{sense}, {grammar} syntax{place}",) if self.is_connective else ()

    def against_original(self, replacements: list[str]) -> Iterator[Contrast]:
        """Each replacement against the original."""
        for word in replacements:
            groups = (f"{self.row} → {word}", *self._aggregate(self.sense_of(word), word))
            yield Contrast(_name(word), ORIGINAL, 3, groups=groups)

    def different_over_same(self, replacements: list[str]) -> Iterator[Contrast]:
        """Each replacement that cannot carry the sense against each that can.

        Those whose meaning often holds beside it are groups of their own.
        """
        senses = {word: self.sense_of(word) for word in replacements}
        can = [word for word, sense in senses.items() if sense == SAME]
        for word, sense in senses.items():
            if sense in (SAME, IN_PART):
                continue
            over = f"{sense.removesuffix(' sense')} > same"
            for same in can:
                groups = (f"{self.row}: {over}", *self._aggregate(over, word, same))
                yield Contrast(_name(word), _name(same), 3, groups=groups)

    def columns(self, segment: Discourse, replacements: list[str]) -> dict[str, Any]:
        """The suite's own columns."""
        return {
            "connective": self.word,
            "sense": self.sense,
            "sense_source": self.source,
            "meaning": self.meaning.name,
            "syntax": self.syntax,
            "genre": segment.meta.get("genre", ""),
            "sentences": len(segment.units),
            "fronted": self.fronted,
            "substitutions": [
                {
                    "replacement": word,
                    "same_sense": self.same_sense(word),
                    "same_syntax": self.same_syntax(word),
                }
                for word in replacements
            ],
        }


def segments_to_cross(discourse: Discourse, context: Context) -> Iterator[Partner]:
    """Give the segments around a connective, each with what stands there.

    The parts are the text before the connective, it, the rest of its clause where that comes first,
    and what is scored. Adverbials begin a clause: behind other words they set these off, and read
    as well whatever they mean.
    """
    for segment in ConnectiveSegments(CROSSED)(discourse, context):
        place = Place.of(segment)
        before, clause, scored = place.regions(segment)
        word = around_connective(segment)[1]
        rest = clause.removeprefix(word).strip()
        begins = begins_clause(place.sentence, place.start)
        partner = Partner(
            discourse,
            (before, word, rest, scored),
            segment.variant,
            alike=(place.syntax, begins, place.fronted, (rest or scored).startswith(",")),
            columns={"place": place, "texts": segment.texts},
        )
        own = condition_of("", segment_and_connective(partner, partner))
        if not place.is_connective or "other" in place.meaning.meanings:
            context.skipped["connective of no known sense"] += 1
        elif place.syntax == "adverbial" and not begins:
            context.skipped["adverbial within a clause"] += 1
        elif place.syntax != "adverbial" and not place.clause:
            context.skipped["no plain clause after the connective"] += 1
        elif _UNFINISHED.search(segment.text) or "SpeechAct" in place.sense:
            context.skipped["a question, or a sentence that breaks off"] += 1
        elif has_fillers(segment.text) or says_how_it_goes_on(scored):
            context.skipped["fillers of speech, or another connective after it"] += 1
        elif place.word in ("but", "so") and not _says_what_follows(place):
            context.skipped["`but` or `so` that only continues the talk"] += 1
        elif own.content != segment.text:
            context.skipped["connective that no spaces set apart"] += 1
        else:
            yield partner


def _says_what_follows(place: Place) -> bool:
    # Behind either may stand what somebody will, can or wants to do (``so we can see it``), and
    # whoever tells something goes on with either at the start of a sentence (``So I watched``).
    result = place.word == "but" or place.sense.startswith("Contingency.Cause.Result")
    return result and place.start > 0 and not _OF_WILL.match(place.sentence[place.end :])


def segment_and_connective(segment: Partner, connective: Partner) -> tuple[str, str, str]:
    """Three regions: the segment of one around the connective of the other."""
    before, word, rest, scored = segment.parts
    put = in_case_of(word, connective.parts[1].lower())
    return before, " ".join(filter(None, (put, rest))), scored


def connectives_change_places(one: Partner, other: Partner) -> bool:
    """Tell whether neither of two connectives can say what the other does, but stand in its place.

    Nor may the segments share a sentence, or one have the other's connective already.
    """
    if not any_two(one, other) or set(one.columns["texts"]) & set(other.columns["texts"]):
        return False
    for this, that in ((one, other), (other, one)):
        place, word = this.columns["place"], that.columns["place"].word
        if re.search(rf"\b{word}\b", " ".join(this.columns["texts"]), re.IGNORECASE):
            return False
        if place.same_sense(word) is not False or not place.same_syntax(word):
            return False
    return True


def _crossed_columns(couple: Couple) -> dict[str, Any]:
    places = [partner.columns["place"] for partner in (couple.first, couple.second)]
    return {
        "connectives": [place.word for place in places],
        "senses": [place.sense for place in places],
        "sense_source": places[0].source,
        "meanings": [place.meaning.name for place in places],
        "syntax": places[0].syntax,
        "genre": couple.first.discourse.meta.get("genre", ""),
        "fronted": places[0].fronted,
    }


_COLUMNS = {
    "connective": Column("string", "the connective that the author wrote, lower-case"),
    "sense": Column(
        "string", "the sense of the connective in the corpus; several are joined by ` + `"
    ),
    "sense_source": Column(
        "string",
        "sense inventory: `pdtb3` (Webber et al. 2019), `pdtb2` (Prasad et al. 2008), `disco` "
        "(Popescu-Belis et al. 2012)",
    ),
    "meaning": Column(
        "string",
        "the sense in common terms: contrast, concession, causal, temporal, comparison or other; "
        "two joined by a hyphen where both hold",
    ),
    "syntax": Column(
        "string", "how the connective is used: subordinator, adverbial or coordinator"
    ),
    "genre": GENRE,
    "sentences": Column("int32", "sentences in the segment"),
    "fronted": Column(
        "bool",
        "whether the connective's clause comes first (`Although it rained, we left`), so that the "
        "main clause is scored",
    ),
    "substitutions": Column(
        [{"replacement": "string", "same_sense": "bool", "same_syntax": "bool"}],
        "for each replacement, whether it can express the sense (null: partly, unknown, or often "
        "as a second sense) and whether it is grammatical",
    ),
}


#: Columns of a couple of segments.
_CROSSED_COLUMNS = {
    "connectives": Column(["string"], "the connectives that the author wrote, lower-case"),
    "senses": Column(["string"], "the senses of the connectives in the corpus"),
    "sense_source": _COLUMNS["sense_source"],
    "meanings": Column(["string"], "the senses in common terms, as in the column `meaning`"),
    "syntax": _COLUMNS["syntax"],
    "genre": _COLUMNS["genre"],
    "fronted": _COLUMNS["fronted"],
}


SUITE = Suite(
    name="connectives",
    title="Connectives",
    version="3.0.0",
    hypothesis=(
        "A model that notices incoherence finds what follows a connective more surprising if "
        "the connective cannot express how the two parts of the text are related."
    ),
    description=(
        "Segments of one to four sentences around an annotated connective, and the same segments "
        f"with each of the other connectives ({', '.join(AMBIGUOUS)}). The scored text is the same "
        "in every condition: the text after the connective, or after its clause if the sentence "
        "begins with the connective (`Although it rained, we left`)."
    ),
    conditions={
        ORIGINAL: "the segment as its author wrote it",
        "segment_1_connective_1": "crossed: a segment with its own connective",
        "segment_2_connective_2": "crossed: a second segment with its own connective",
        "segment_1_connective_2": "crossed: the first segment with the other connective",
        "segment_2_connective_1": "crossed: the second segment with the other connective",
        **{
            _name(word): f"the connective replaced by `{word}`"
            for word in (*AMBIGUOUS, *ADVERBIALS)
        },
    },
    uses=(
        Use(
            "",
            "does the author's connective fit best",
            "whether the model finds the fitting connective or prefers a frequent one",
        ),
        Use(
            "crossed",
            "does the author's connective fit best, if frequent connectives have no advantage",
            "how well the model understands rare meanings of connectives, which have few items",
        ),
    ),
    limitations=(
        "A config's score counts only `different sense, same syntax`: replacements that are "
        "grammatical but cannot express the sense. A table, not a judgement of each item, decides "
        "what a connective can mean, and some replacements read well.",
        "Replacements that often read as well as the author's word (`although` for time, `while` "
        "for cause, `then` for contrast) and clauses that may be causes or concessions (`open`) "
        "are groups of their own, which the score leaves out; so are `as` as a preposition and "
        "`yet` as an adverb.",
        "A replacement may be rarer in its place than the original. `different > same` compares "
        "two replacements and avoids this.",
        "Without syntactic annotation, rules guess whether a clause has a subject and a finite "
        "verb. Punctuation stays: `However, it rained` becomes `Since, it rained`.",
        "`crossed` pairs two segments of one document or genre whose connectives have the same "
        "syntax. How a connective fits the words behind it (`but also`) does not cancel.",
    ),
    headline=("",),
    citation=BEYER_2021,
    configs=with_shuffled_contexts(
        Config(
            name="",
            corpora=("disco", "pdtb", "gum", "tedmdb"),
            generator=Substitutions(ConnectiveSegments(AMBIGUOUS)),
            summary=(
                "a segment with its connective, and the same segment with each other connective"
            ),
            regions=(
                "the text before the connective",
                "the connective, with its clause if the clause comes first",
                "the text after it, the same in every condition",
            ),
            columns=_COLUMNS,
            breakdowns=("meaning", "genre", "fronted"),
            headline=HEADLINE,
            partial_input="a bag of words of the connective alone",
        ),
        Config(
            name="crossed",
            corpora=("gum", "tedmdb", "pdtb"),
            generator=Crossed(
                partners=segments_to_cross,
                operators=f"ConnectiveSegments({', '.join(CROSSED)})",
                couple=MostSimilar(
                    connectives_change_places,
                    parts=(0, 2, 3),
                    neighbours=500,
                    within=True,
                ),
                across=True,
                among="genre",
                join=segment_and_connective,
                region=3,
                names=("segment", "connective"),
                columns=_crossed_columns,
            ),
            summary=(
                "two segments of one genre with connectives of the same syntax and "
                "different meanings, each with both connectives; the text after the connective "
                "is scored in all four combinations"
            ),
            regions=(
                "the text before the connective",
                "a connective, with its clause if the clause comes first",
                "the text after it",
            ),
            columns=crossed_columns(**_CROSSED_COLUMNS),
            breakdowns=("syntax", "fronted"),
            partial_input="bags of words of the text before the connective, the connective "
            "with its clause if the clause comes first, and the rest",
        ),
    ),
    one_split=True,
    tags=("discourse-connectives", "discourse-relations"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)

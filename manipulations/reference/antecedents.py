"""Operators on antecedents: one repeated in the place of its pronoun, one removed.

Pronoun repetition: say again what a pronoun stands for.

Beyer et al. 2021, section 4.4: where a noun phrase of the sentence before is repeated instead of
taken up by a pronoun, a text is the less coherent one.

Antecedent removal: take away the sentence that introduces what a later mention takes up.

A pronoun, and a definite phrase that says something of a referent by other words, wants a referent
that the text has introduced (Heim 1982; Prince 1992). An excerpt has three sentences: the *source*,
which has the only mentions of the referent before the scored one, a *neighbour*, which does not
mention it, and the *target*, whose first mention of it is scored. One of the first two is replaced
by a *stand-in*, a sentence of the same text from outside the excerpt that neither mentions the
referent nor anything that the scored mention could be taken to mean instead. The stand-in opens the
excerpt, whichever it replaces, so that what is left of the two stands next to the target: two
versions that differ in nothing else. Either both source and neighbour mention a person or neither
does, so that persons alone do not tell which is which.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from coherencegym.loaders.discourse import Alternative, Discourse, Mention, Span, span_text
from coherencegym.manipulations.editing import (
    cut_excerpt,
    last_edit,
    move_annotations,
    replace_text,
)
from coherencegym.manipulations.operator import Context, NotApplicableError, Operator, refuse
from coherencegym.manipulations.reference.english import ENGLISH_RULES
from coherencegym.manipulations.reference.mention_rules import (
    GENDERS,
    SENTENCE_END,
    MentionRules,
    MentionsOf,
    mentions_of_units,
)


@dataclass(frozen=True)
class PronounRepetition(Operator):
    """Replace a third-person pronoun by its antecedent, the noun phrase or name that it refers to.

    Each result is an excerpt of the text, from the sentence of the antecedent to the sentence of
    the pronoun.

    Attributes:
        max_words: the largest number of words that the antecedent may have. A longer phrase does
            not replace the pronoun.
        repeat: ``True`` (the default) replaces the pronoun by its antecedent. ``False`` gives the
            excerpt with its original pronoun, for comparison.
        continued: ``True`` replaces a pronoun only if further words follow the pronoun in its
            sentence. ``False`` (the default) also replaces a pronoun at the end of its sentence.
        sentences: the largest distance of the antecedent from the pronoun, in sentences. With 1
            (the default), the antecedent must be in the sentence directly before the sentence of
            the pronoun. With a larger number, every sentence between the antecedent and the pronoun
            must contain a pronoun for the same person or thing.

    ``alternatives`` of the excerpt lists the pronoun and the antecedent. The name of a result says
    where the pronoun begins in the text. For example, ``u3c12`` means character 12 of sentence 3,
    both counted from 0. A pronoun gives no result if its sentence has an earlier mention of the
    same person or thing. A pronoun also gives no result if its antecedent would read badly in the
    place of the pronoun, for instance a noun without its article.
    """

    max_words: int = 15
    repeat: bool = True
    continued: bool = False
    sentences: int = 1

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield one excerpt for each pronoun that can be replaced, and count why others cannot."""
        for mention in discourse.mentions:
            if mention.kind == "pronoun":
                with context.counting():
                    yield self._repeated(discourse, mention)

    def _repeated(self, discourse: Discourse, mention: Mention) -> Discourse:
        rules = ENGLISH_RULES
        rules.check_pronoun(discourse, mention)
        unit, start, _ = mention.span[0]
        if first_of_chain(discourse, mention) is not mention:
            raise NotApplicableError("not the first mention in its sentence")
        source = repeated_mention(discourse, mention, self.max_words, self.sentences)
        first = source.span[0][0]
        _check_sentences(discourse, first, unit, rules)
        rules.check_place(discourse, mention)
        phrase, end = rules.phrase(discourse, mention, source)
        if self.continued and not re.search(r"\w", discourse.units[unit].text[end:]):
            raise NotApplicableError("nothing follows the pronoun")
        old = discourse.units[unit].text[start:end]
        last = unit - first
        choice = Alternative(((last, start, end),), (old, phrase), 0)
        excerpt = cut_excerpt(discourse, first, unit, variant=f"u{unit}c{start}")
        excerpt = replace(excerpt, alternatives=(*excerpt.alternatives, choice))
        if not self.repeat:
            return excerpt
        return replace_text(excerpt, last, start, end, phrase, operator="PronounRepetition")


def repeated_mention(
    discourse: Discourse, pronoun: Mention, max_words: int, sentences: int = 1
) -> Mention:
    """The mention that is repeated in the place of a pronoun: the last fit one before it.

    It is of the same chain and stands in the sentence before, or, where that has only pronouns of
    the chain, the one before it, and so on: one of the ``sentences`` before the pronoun's.
    """
    rules = ENGLISH_RULES
    unit = pronoun.span[0][0]
    speakers = {discourse.units[unit].speaker}
    before: list[Mention] = []
    for earlier in range(unit - 1, max(-1, unit - 1 - sentences), -1):
        mentions = [
            mention
            for mention in discourse.mentions
            if mention.chain == pronoun.chain and mention.span[0][0] == earlier
        ]
        speakers.add(discourse.units[earlier].speaker)
        before = [mention for mention in mentions if mention.kind != "pronoun"]
        spoken_to = any(mention.features.person in ("1", "2") for mention in mentions)
        if before or spoken_to or not mentions:
            break
    if not before:
        raise NotApplicableError("no noun phrase or name in the sentence before")
    if len(speakers) > 1:
        raise NotApplicableError("another speaker")
    reasons = []
    while before:
        mention = before.pop()
        reasons.append(rules.objection(discourse, mention, pronoun, before, max_words))
        if not reasons[-1]:
            return mention
    raise NotApplicableError(f"antecedent: {reasons[0]}")


def first_of_chain(discourse: Discourse, mention: Mention) -> Mention:
    """The first mention of the chain in the unit; of those that begin together the longest."""
    return min(
        (
            other
            for other in discourse.mentions
            if other.chain == mention.chain and other.span[0][0] == mention.span[0][0]
        ),
        key=lambda other: (other.span[0][1], -other.span[-1][2]),
    )


def _check_sentences(discourse: Discourse, first: int, last: int, rules: MentionRules) -> None:
    if any(is_heading(discourse, unit) for unit in range(first, last)):
        raise NotApplicableError("heading or fragment before")
    for text in discourse.texts[first : last + 1]:
        if fault := rules.fault_of_sentence(text):
            raise NotApplicableError(fault)


def is_heading(discourse: Discourse, unit: int) -> bool:
    """Tell whether a unit is a heading, or no sentence in a text that nobody speaks."""
    if str(unit) in discourse.meta.get("headings", "").split():
        return True
    types = discourse.meta.get("sentence_types", "").split()
    return discourse.units[unit].speaker is None and types[unit : unit + 1] == ["frag"]


def replaced_pronoun(discourse: Discourse) -> Mention:
    """The pronoun of an excerpt in which it still stands."""
    start, end = replaced_place(discourse)
    place = (len(discourse.units) - 1, start)
    for mention in discourse.mentions:
        # With a contraction (``he's``) the place is longer, in a coordination the mention is.
        first = mention.span[0]
        whole = mention.kind == "pronoun" and len(mention.span) == 1
        if whole and first[:2] == place and first[2] <= end:
            return mention
    raise ValueError(f"{discourse.corpus}/{discourse.id}: no pronoun at its place")


def replaced_place(discourse: Discourse) -> tuple[int, int]:
    """Find the place of the pronoun, or of what replaced it, in the last unit of an excerpt."""
    if (edit := last_edit(discourse, "PronounRepetition")) is not None:
        return edit.start, edit.start + len(edit.after)
    if discourse.alternatives:
        unit, start, end = discourse.alternatives[-1].span[0]
        if unit == len(discourse.units) - 1:
            return start, end
    raise ValueError(f"{discourse.corpus}/{discourse.id}: no place of a pronoun")


_NAME = "AntecedentRemoval"
#: Sentence types that are no whole sentences.
_NO_SENTENCES = frozenset(("frag", "intj", "ger", "inf"))
#: Entity types of what may be taken up from anything that is said.
_SITUATIONS = frozenset(("event", "time", "quantity"))
#: Parts of speech that head a noun phrase; clauses introduce no referent. Some corpora say none.
_NOUNS = frozenset(("NOUN", "PROPN", "NUM", "ADJ", "SYM", ""))
#: The variant of an excerpt.
_VARIANT = re.compile(r"u\d+c(\d+)-(\d+)")
#: Sentences from the source to the target, at most; those between are left out.
_FURTHEST = 5
_NAME_WORD = re.compile(r"[^\W\d_]{3,}")
_STEM = 5  # letters that words of one family share: ``Albania``, ``Albanian``

#: Kinds of mentions to score: pronouns, or definite phrases that share no word with the source.
ScoredKind = Literal["pronoun", "phrase"]
#: Names of the sentence that is replaced: the source, or its neighbour.
Removed = Literal["", "antecedent", "control"]


@dataclass(frozen=True)
class AntecedentRemoval(Operator):
    """Make an excerpt of three sentences and replace the one that introduces a person or thing.

    Each result is an excerpt of three sentences. The last sentence has a mention (a pronoun or noun
    phrase) of a person or thing. The antecedent sentence introduces this person or thing. The
    control sentence, a sentence nearby, does not mention this person or thing. The argument
    ``removed`` says which of these two sentences is replaced by a sentence from another part of the
    text. The inserted sentence is always the first sentence of the excerpt, and the sentence that
    is not replaced comes second. A mention gives no result without both an antecedent sentence and
    a control sentence. The control sentence mentions a person if the antecedent sentence does, and
    only then. The mention cannot refer to this person: the gender or the number is another one.

    In the example, ``They`` is the mention. The sentence ``The city of Harwick ...`` replaces the
    antecedent sentence ``Shopkeepers ...``. The control sentence is ``The bridge was built ...``.

    Attributes:
        scored: the kind of the mention in the last sentence, ``pronoun`` or ``phrase`` (a definite
            noun phrase, such as ``the bridge``).
        removed: ``antecedent`` replaces the antecedent sentence, and ``control`` replaces the
            control sentence. An empty string (the default) replaces no sentence and gives the
            original version of the excerpt.
        length_ratio: the limit for differences in length between the antecedent sentence, the
            control sentence and the inserted sentence. The longest of these sentences has at most
            ``length_ratio`` times as many words as the shortest.

    The name of a result is the position of the mention in the text. For example, ``u5c0-4`` means
    the characters ``[0:4]`` (a Python slice) of sentence 5, counted from 0.
    """

    scored: ScoredKind = "pronoun"
    removed: Removed = ""
    length_ratio: float = 3.0

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the excerpt of each mention; mentions that have none are counted by reason."""
        text = _Text(discourse)
        for mention in discourse.mentions:
            if self._is_scored(text, mention):
                with context.counting():
                    yield self._excerpt(text, mention)

    def _is_scored(self, text: _Text, mention: Mention) -> bool:
        if self.scored == "pronoun":
            return mention.kind == "pronoun"
        words = span_text(text.discourse, mention.span).lower()
        return mention.kind == "nominal" and text.rules.scored.match(words) is not None

    def _excerpt(self, text: _Text, mention: Mention) -> Discourse:
        discourse = text.discourse
        text.check(mention, self.scored)
        source = text.source(mention)
        if self.scored == "phrase" and _share_words(
            span_text(discourse, mention.span), discourse.units[source].text
        ):
            raise NotApplicableError("a word of the phrase stands in the antecedent's sentence")
        target, start, end = mention.span[0]
        for neighbour in self._neighbours(text, mention, source):
            stand_in = self._stand_in(text, mention, source, neighbour)
            if stand_in is not None:
                chosen = (*sorted((source, neighbour)), target)
                excerpt = _excerpt_of(discourse, chosen, f"u{target}c{start}-{end}")
                left = {"antecedent": neighbour, "control": source}.get(self.removed)
                return excerpt if left is None else _replaced(excerpt, discourse, (stand_in, left))
        raise NotApplicableError("no sentence elsewhere that could be the stand-in")

    def _neighbours(self, text: _Text, mention: Mention, source: int) -> Iterator[int]:
        # The fit sentences between source and target, or else those before the source, each nearest
        # first.
        target, found = mention.span[0][0], False
        for unit in (*range(target - 1, source, -1), *range(source - 1, -1, -1)):
            if unit > source:
                reads_well = not text.leans[unit]
            else:
                next_to_it = unit == source - 1 or not text.leans[source]
                reads_well = next_to_it and text.opens[unit]
            alike = text.persons[unit] == text.persons[source]
            if reads_well and alike and not self._objection(text, mention, source, unit):
                found = True
                yield unit
        if not found:
            raise NotApplicableError("no sentence that could be the control")

    def _objection(self, text: _Text, mention: Mention, source: int, unit: int) -> str:
        units = text.discourse.units
        target = mention.span[0][0]
        if units[unit].speaker != units[target].speaker:
            return "another speaker"
        if text.faults[unit]:
            return "not a complete, fluent sentence"
        if text.mentions(unit, mention.chain):
            return "mentions the referent"
        if any(text.may_mean(mention, other) for other in text.of_unit[unit]):
            return "has what the mention could mean instead"
        lengths = [len(units[one].text.split()) for one in (unit, source)]
        return "of another length" * (max(lengths) > self.length_ratio * min(lengths))

    def _stand_in(self, text: _Text, mention: Mention, source: int, neighbour: int) -> int | None:
        # From outside, nearest in length to both that it may replace.
        units = text.discourse.units
        target = mention.span[0][0]
        shown = range(min(source, neighbour), target + 1)
        fit = [
            unit
            for unit in range(len(units))
            if unit not in shown
            and not text.leans[unit]
            and not text.rules.points_back(units[unit].text)
            and not self._objection(text, mention, source, unit)
            and not self._objection(text, mention, neighbour, unit)
        ]
        wanted = sum(len(units[unit].text.split()) for unit in (source, neighbour)) / 2

        def distance(unit: int) -> tuple[float, int]:
            return abs(len(units[unit].text.split()) - wanted), abs(unit - target)

        return min(fit, key=distance, default=None)


@dataclass(frozen=True)
class _Entity:
    # ``stems``: the beginnings of the words of its names.
    mentions: tuple[Mention, ...]
    stems: frozenset[str]


class _Text:
    def __init__(self, discourse: Discourse) -> None:
        self.discourse = discourse

    @cached_property
    def entities(self) -> dict[str, _Entity]:
        # By chain, with the mentions in reading order.
        chains: dict[str, list[Mention]] = {}
        for mention in sorted(self.discourse.mentions, key=lambda each: each.span[0]):
            chains.setdefault(mention.chain, []).append(mention)
        return {
            chain: _Entity(
                tuple(mentions),
                _name_stems(
                    span_text(self.discourse, each.span)
                    for each in mentions
                    if each.kind == "proper"
                ),
            )
            for chain, mentions in chains.items()
        }

    @cached_property
    def of_unit(self) -> MentionsOf:
        return mentions_of_units(self.discourse)

    @cached_property
    def stems(self) -> list[frozenset[str]]:
        # The beginnings of the capitalised words of each unit.
        return [_name_stems([text]) for text in self.discourse.texts]

    @cached_property
    def rules(self) -> MentionRules:
        return ENGLISH_RULES

    @cached_property
    def faults(self) -> list[str]:
        return [self._fault(unit) for unit in range(len(self.discourse.units))]

    @cached_property
    def leans(self) -> list[bool]:
        # Whether each unit is seen to take up another sentence, by a definite phrase, too.
        return [self._goes_on(unit) for unit in self.of_unit]

    @cached_property
    def opens(self) -> list[bool]:
        return [not self._goes_on(unit, definite=False) for unit in self.of_unit]

    @cached_property
    def persons(self) -> list[bool]:
        # Whether each unit mentions a person, as a type, a gender or first and second persons tell.
        known = {
            mention.chain
            for mention in self.discourse.mentions
            if mention.features.entity == "person"
            or mention.features.gender in GENDERS
            or mention.features.person in ("1", "2")
        }
        units = range(len(self.discourse.units))
        return [any(each.chain in known for each in self.of_unit[unit]) for unit in units]

    def _goes_on(self, unit: int, definite: bool = True) -> bool:
        goes_on = self.rules.goes_on(self.discourse.units[unit].text)
        return goes_on or bool(
            self.rules.takes_up(self.discourse, self.of_unit[unit], definite=definite)
        )

    def _fault(self, unit: int) -> str:
        types = self.discourse.meta.get("sentence_types", "").split()
        fragment = _NO_SENTENCES.intersection(types[unit : unit + 1])
        text = self.discourse.units[unit].text
        if fragment or is_heading(self.discourse, unit) or len(text.split()) < 4:
            return "heading or fragment"
        even = text.count('"') % 2 == 0 and text.count("“") == text.count("”")
        whole = even and SENTENCE_END.search(text)
        return self.rules.fault(self.discourse, unit) if whole else "no whole sentence"

    def mentions(self, unit: int, chain: str) -> bool:
        if any(mention.chain == chain for mention in self.of_unit[unit]):
            return True
        return not self.entities[chain].stems.isdisjoint(self.stems[unit])

    def may_mean(self, mention: Mention, other: Mention) -> bool:
        if other.chain == mention.chain or other.features.person in ("1", "2"):
            return False
        # Of definite phrases the same noun is enough.
        heads = {self._head(mention), self._head(other)}
        if mention.kind != "pronoun" and len(heads) == 1:
            return True
        mentions = self.entities[other.chain].mentions
        return self.rules.may_mean(self.discourse, mention, other, mentions)

    def _head(self, mention: Mention) -> str:
        return span_text(self.discourse, mention.head or mention.span).lower()

    def check(self, mention: Mention, scored: ScoredKind) -> None:
        if scored == "pronoun":
            self.rules.check_scored(self.discourse, mention)
        features = mention.features
        apart = len(mention.span) != 1 or features.link in ("cata", "pred", "appos")
        situation = features.entity in _SITUATIONS or features.link == "disc"
        refuse(
            (apart or features.predicate, "predicate, apposition, or in two parts"),
            (situation, "refers to a situation"),
            (
                scored == "phrase" and features.entity == "abstract",
                "refers to something abstract",
            ),
            (
                first_of_chain(self.discourse, mention) is not mention,
                "not the first mention in its sentence",
            ),
        )

    def source(self, mention: Mention) -> int:
        units, (target, start, _) = self.discourse.units, mention.span[0]
        before = [
            each for each in self.entities[mention.chain].mentions if each.span[0][0] < target
        ]
        if not before:
            raise NotApplicableError("no mention in an earlier sentence")
        sources = [
            each.span[0][0]
            for each in before
            if each.kind != "pronoun" and each.features.pos in _NOUNS
        ]
        if not sources:
            raise NotApplicableError("no noun phrase or name in an earlier sentence")
        source = sources[-1]
        if target - source > _FURTHEST:
            raise NotApplicableError(f"the antecedent is more than {_FURTHEST} sentences away")
        mentions, known = self.of_unit[target], {mention.chain}
        if target - source > 1 and (
            self.rules.goes_on(units[target].text)
            or self.rules.takes_up(self.discourse, mentions, known=known)
        ):
            raise NotApplicableError("continues a sentence that is left out")
        if units[source].speaker != units[target].speaker:
            raise NotApplicableError("another speaker")
        if self.faults[source] or self.faults[target]:
            raise NotApplicableError("not a complete, fluent sentence")
        begun = _name_stems([units[target].text[:start]])
        named = not self.entities[mention.chain].stems.isdisjoint(begun)
        if named or any(
            self.may_mean(mention, each) for each in mentions if each.span[-1][2] <= start
        ):
            raise NotApplicableError("the sentence has another possible antecedent")
        if self.rules.takes_up(self.discourse, mentions, known=known, definite=False):
            raise NotApplicableError("another pronoun refers to an earlier sentence")
        return source


def _replaced(excerpt: Discourse, discourse: Discourse, units: tuple[int, int]) -> Discourse:
    # The first two sentences of an excerpt by two others of the discourse.
    for place, unit in enumerate(units):
        old, new = excerpt.units[place].text, discourse.units[unit].text
        if old != new:
            excerpt = replace_text(
                excerpt,
                place,
                0,
                len(old),
                new,
                operator=_NAME,
                source_discourse=discourse.id,
                source_unit=unit,
            )
    return excerpt


def _name_stems(texts: Iterable[str]) -> frozenset[str]:
    # The beginnings of the capitalised words of some texts: ``Alban`` of ``the Albanian king``.
    words = (word for text in texts for word in _NAME_WORD.findall(text))
    return frozenset(word[:_STEM] for word in words if word[0].isupper())


def _word_stems(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM].lower() for word in _NAME_WORD.findall(text))


def _share_words(one: str, other: str) -> bool:
    # Behind the phrase's determiner.
    return not _word_stems(one.partition(" ")[2]).isdisjoint(_word_stems(other))


def _excerpt_of(discourse: Discourse, chosen: tuple[int, ...], variant: str) -> Discourse:
    place = {unit: number for number, unit in enumerate(chosen)}

    def move(span: Span) -> Span | None:
        if any(unit not in place for unit, _, _ in span):
            return None
        return tuple((place[unit], start, end) for unit, start, end in span)

    units = tuple(discourse.units[unit] for unit in chosen)
    return move_annotations(discourse, move, units=units, edits=(), variant=variant)


def scored_place(discourse: Discourse) -> tuple[int, int]:
    """The characters of the last unit of an excerpt at which the scored mention stands."""
    place = _VARIANT.fullmatch(discourse.variant)
    if place is None:
        raise ValueError(f"{discourse.corpus}/{discourse.id}: no excerpt with a scored mention")
    return int(place[1]), int(place[2])


def scored_mention(discourse: Discourse) -> Mention:
    """The mention that is scored in an excerpt."""
    span = ((len(discourse.units) - 1, *scored_place(discourse)),)
    return next(mention for mention in discourse.mentions if mention.span == span)

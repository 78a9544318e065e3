"""Places of a text at which something is mentioned again, and what else could stand there.

Which entities a text is about its summaries show: the more summaries mention one, the more salient
it is (Lin and Zeldes 2026). Two entities are equally *given* at their places where they are of the
same type, gender and number, were mentioned about as often and as recently, last as a pronoun or
not and as a subject or not alike; neither is in the title. Of two such entities one may be far more salient.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from coherencegym.loaders.discourse import Discourse, Mention, span_text
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.antecedents import bare_text, objection
from coherencegym.manipulations.reference.entities import Entity, entities, name_stems
from coherencegym.manipulations.reference.noun_phrases import (
    NotApplicableError,
    capitalised,
    mid_sentence,
)
from coherencegym.manipulations.reference.pronoun_places import fault_of_sentence

#: Summaries, of five, that mention the more salient of two entities and not the other, at least.
MORE_SALIENT = 3
#: Words of a mention at most.
_WORDS = 4
_PRONOUNS = ("personal", "possessive")


@dataclass(frozen=True)
class Given:
    """How an entity was given before a place.

    Attributes:
        entity, number, gender: its type, number and gender; things have no gender.
        mentions: how often it was mentioned.
        distance: sentences from its last mention.
        is_last_pronoun, is_last_subject: whether that mention was a pronoun, and a subject.
    """

    entity: str
    number: str
    gender: str
    mentions: int
    distance: int
    is_last_pronoun: bool
    is_last_subject: bool


@dataclass(frozen=True)
class GivenPlace:
    """A place, what stands or could stand there, and how what it means was given before.

    Attributes:
        variant: the place in the discourse: ``u<unit>c<start>-<end>``.
        chain, summaries: the entity, and how many of five summaries mention it.
        document: the text before the place, from its beginning, without headings.
        near: the last part of it, from the sentence on in which the entity was mentioned last.
        mention, rest: what stands there, and what follows in the sentence.
        form: ``name``, ``the`` (a definite phrase), ``bare`` (a plural without a determiner), or
            the pronoun.
        is_subject: whether it is one.
        given: how the entity was given.
    """

    variant: str
    chain: str
    summaries: int
    document: str
    near: str
    mention: str
    rest: str
    form: str
    is_subject: bool
    given: Given

    @property
    def words_before(self) -> int:
        """The words of the document before the near part."""
        return len(self.document.split()) - len(self.near.split())


def mismatch(one: Given, other: Given) -> str:
    """Say in what two entities are not equally given; empty where in nothing."""
    kinds = (one.entity, one.number, one.gender), (other.entity, other.number, other.gender)
    steps = (
        ("type, gender or number", kinds[0] == kinds[1]),
        ("number of mentions", is_about(one.mentions, other.mentions, 1)),
        ("last mention's distance", is_about(one.distance, other.distance, 2)),
        ("last mention's form", one.is_last_pronoun == other.is_last_pronoun),
        ("last mention's role", one.is_last_subject == other.is_last_subject),
    )
    return next((reason for reason, holds in steps if not holds), "")


def is_about(one: int, other: int, steps: int) -> bool:
    """Tell whether two numbers differ by at most half of the smaller one, or so many steps."""
    return abs(one - other) <= max(steps, min(one, other) // 2)


def given_places(discourse: Discourse, context: Context) -> Iterator[GivenPlace]:
    """Yield the places of a discourse; mentions that are at none are counted by reason."""
    text = _Text(discourse)
    for mention in discourse.mentions if text.is_summarised(context) else ():
        try:
            yield text.place(mention)
        except NotApplicableError as reason:
            context.skipped[str(reason)] += 1


def shared_places(
    discourse: Discourse, context: Context
) -> Iterator[tuple[GivenPlace, GivenPlace]]:
    """Yield places of names and phrases, each with what stands there and with what could.

    The other entity was as given there, and one of the two is far more salient.
    """
    text = _Text(discourse)
    for mention in discourse.mentions if text.is_summarised(context) else ():
        try:
            place = text.place(mention)
            yield place, text.rival(place, mention)
        except NotApplicableError as reason:
            context.skipped[str(reason)] += 1


@dataclass(frozen=True)
class _Text:
    discourse: Discourse

    def is_summarised(self, context: Context) -> bool:
        context.skipped["no summaries of the document"] += not self.salience
        return bool(self.salience)

    @cached_property
    def salience(self) -> dict[str, int]:
        pairs = (one.rpartition(":") for one in self.discourse.meta.get("salience", "").split())
        return {chain: int(number) for chain, _, number in pairs}

    @cached_property
    def entities(self) -> dict[str, Entity]:
        return entities(self.discourse)

    @cached_property
    def headings(self) -> frozenset[int]:
        return frozenset(map(int, self.discourse.meta.get("headings", "").split()))

    @cached_property
    def titled(self) -> frozenset[str]:
        title = name_stems([self.discourse.meta.get("title", "")])
        return frozenset(
            chain
            for chain, entity in self.entities.items()
            if any(one.span[0][0] in self.headings | {0} for one in entity.mentions)
            or not title.isdisjoint(entity.stems)
        )

    def place(self, mention: Mention) -> GivenPlace:
        discourse, chain = self.discourse, mention.chain
        if mention.features.person in ("1", "2"):
            raise NotApplicableError("pronoun of the first or second person")
        if not self.entities[chain].before(mention):
            raise NotApplicableError("first mention of its entity")
        if chain in self.titled:
            raise NotApplicableError("in the title or a heading")
        unit, start, end = mention.span[0]
        text = discourse.units[unit].text
        given = self.given(mention, chain)
        if not given.distance:
            raise NotApplicableError("mentioned before in its sentence")
        if not (form := _form(discourse, mention)):
            raise NotApplicableError("English: no name, definite phrase, bare plural or pronoun")
        if fault := self._fault(mention) or fault_of_sentence(text):
            raise NotApplicableError(f"English: {fault}")
        last = unit - given.distance
        return GivenPlace(
            variant=f"u{unit}c{start}-{end}",
            chain=chain,
            summaries=self.salience.get(chain, 0),
            document=self._before(mention, 0),
            near=self._before(mention, last),
            mention=text[start:end],
            rest=text[end:].strip(),
            form=form,
            is_subject=_is_subject(mention),
            given=given,
        )

    def given(self, mention: Mention, chain: str) -> Given:
        entity = self.entities[chain]
        before = entity.before(mention)
        return Given(
            entity.type,
            entity.number,
            entity.gender if entity.type == "person" else "",
            len(before),
            mention.span[0][0] - before[-1].span[0][0],
            before[-1].kind == "pronoun",
            _is_subject(before[-1]),
        )

    def _before(self, mention: Mention, first: int) -> str:
        unit, start, _ = mention.span[0]
        prose = (n for n in range(first, unit) if n not in self.headings)
        texts = self.discourse.texts
        return " ".join((*(texts[n] for n in prose), texts[unit][:start])).rstrip()

    def _fault(self, mention: Mention) -> str:
        if len(mention.span) > 1:
            return "discontinuous phrase"
        if mention.kind == "pronoun":
            return ""
        if "poss" in mention.features.function:
            return "possessive"
        unit, start, end = mention.span[0]
        longer = any(
            one.kind == "proper" == mention.kind and one is not mention
            for one in self.discourse.mentions
            if one.span[0][0] == unit and one.span[0][1] <= start and end <= one.span[-1][2]
        )
        if longer:
            return "part of a longer name"
        return objection(self.discourse, mention, mention, [], _WORDS)

    def rival(self, place: GivenPlace, mention: Mention) -> GivenPlace:
        unit, start, _ = mention.span[0]
        if mention.kind == "pronoun":
            raise NotApplicableError("pronoun: the same for both entities")
        here = {one.chain for one in self.discourse.mentions if one.span[0][0] == unit}
        others = [
            chain
            for chain, entity in self.entities.items()
            if abs(self.salience.get(chain, 0) - place.summaries) >= MORE_SALIENT
            and entity.before(mention)
        ]
        if not others:
            raise NotApplicableError("no entity of other salience was mentioned before")
        others = [chain for chain in others if chain not in self.titled | here]
        if not others:
            raise NotApplicableError("others are in the title, or in the sentence")
        # Reasons are in the order of the steps: the furthest that any other gets to is counted.
        given = {chain: self.given(mention, chain) for chain in others}
        left = [chain for chain in others if not mismatch(given[chain], place.given)]
        if not left:
            reasons = [mismatch(one, place.given) for one in given.values()]
            raise NotApplicableError(f"matching: {max(reasons, key=_STEPS.index)}")
        for chain in left:
            if said := self._said(mention, chain):
                break
        else:
            raise NotApplicableError("English: no mention of the other that can stand here")
        opens = not re.search(r"\w", self.discourse.units[unit].text[:start])
        first = unit - max(given[chain].distance, place.given.distance)
        return GivenPlace(
            variant=place.variant,
            chain=chain,
            summaries=self.salience.get(chain, 0),
            document=place.document,
            near=self._before(mention, first),
            mention=capitalised(said) if opens else mid_sentence(said),
            rest=place.rest,
            form=place.form,
            is_subject=place.is_subject,
            given=given[chain],
        )

    def _said(self, mention: Mention, other: str) -> str:
        # The last mention of the other one that could stand here, as it was written.
        discourse, own = self.discourse, span_text(self.discourse, mention.span)
        taken = set(own.lower().split()) - {"the"}
        for one in reversed(self.entities[other].before(mention)):
            said = bare_text(discourse, one)
            if (
                _form(discourse, one) == _form(discourse, mention)
                and taken.isdisjoint(said.lower().split())
                and not objection(discourse, one, mention, [], _WORDS)
            ):
                return said
        return ""


_STEPS = [
    "type, gender or number",
    "number of mentions",
    "last mention's distance",
    "last mention's form",
    "last mention's role",
]


def _form(discourse: Discourse, mention: Mention) -> str:
    text, features = span_text(discourse, mention.span), mention.features
    if mention.kind == "pronoun":
        return text.lower() if features.pronoun in _PRONOUNS else ""
    if mention.kind == "proper":
        return "name"
    bare = features.first_pos in ("NOUN", "ADJ") and features.number == "plural"
    return "the" if text.lower().startswith("the ") else "bare" if bare else ""


def _is_subject(mention: Mention) -> bool:
    return mention.features.function.startswith(("nsubj", "csubj"))

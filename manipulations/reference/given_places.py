"""Places of a text at which something is mentioned again, and how it was given before.

Which entities a text is about its summaries show: the more summaries mention one, the more salient
it is (Lin and Zeldes 2025). Two entities are equally *given* at their places where they are of the
same type, gender and number, were mentioned about as often and as recently, and last in a like form
and role; neither is in the title. Of two such entities one may be far more salient.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from coherencegym.loaders.discourse import Discourse, Mention, span_text
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.antecedents import objection
from coherencegym.manipulations.reference.entities import Entity, entities, name_stems
from coherencegym.manipulations.reference.noun_phrases import NotApplicableError
from coherencegym.manipulations.reference.pronoun_places import fault_of_sentence

#: Summaries, of five, that mention the more salient of two entities and not the other, at least.
MORE_SALIENT = 3
#: Words of a mention at most.
_WORDS = 4
_PRONOUNS = ("personal", "possessive")


@dataclass(frozen=True)
class GivenPlace:
    """A place, what stands there, and how what it means was given before.

    Attributes:
        name: the place in the discourse: ``u<unit>c<start>-<end>``.
        summaries: the number of those, of five, that mention the entity.
        document: the text before the place, from its beginning, without headings.
        near: the last part of it, from the sentence on in which the entity was mentioned last.
        mention, rest: the text at the place, and the rest of the sentence.
        form: ``name``, ``the`` (a definite phrase), ``bare`` (a plural without a determiner), or
            the pronoun.
        entity: the type of the entity.
        alike: values that two have in common that are equally given: type, number, gender (of
            persons), form, whether it is a subject, and of the last mention whether it was one,
            and a pronoun.
        mentions: the number of earlier mentions of the entity.
        distance: sentences from its last mention.
    """

    name: str
    summaries: int
    document: str
    near: str
    mention: str
    rest: str
    form: str
    entity: str
    alike: tuple[str | bool, ...]
    mentions: int
    distance: int

    @property
    def words_before(self) -> int:
        """The words of the document before the near part."""
        return len(self.document.split()) - len(self.near.split())


def are_equally_given(one: GivenPlace, other: GivenPlace) -> bool:
    """Tell whether two entities were given alike, about as often and about as recently."""
    return (
        one.alike == other.alike
        and _is_about(one.mentions, other.mentions, 1)
        and _is_about(one.distance, other.distance, 2)
        and _is_about(one.words_before, other.words_before, 100)
    )


def _is_about(one: int, other: int, steps: int) -> bool:
    return abs(one - other) <= max(steps, min(one, other) // 2)


def given_places(discourse: Discourse, context: Context) -> Iterator[GivenPlace]:
    """Yield the places of a discourse; mentions that are at none are counted by reason."""
    text = _Text(discourse)
    if not text.salience:
        context.skipped["no summaries of the document"] += 1
        return
    for mention in discourse.mentions:
        try:
            yield text.place(mention)
        except NotApplicableError as reason:
            context.skipped[str(reason)] += 1


@dataclass(frozen=True)
class _Text:
    discourse: Discourse

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
            if any(one.span[0][0] in self.headings for one in entity.mentions)
            or not title.isdisjoint(entity.stems)
        )

    def place(self, mention: Mention) -> GivenPlace:
        discourse, entity = self.discourse, self.entities[mention.chain]
        before = entity.before(mention)
        if mention.features.person in ("1", "2"):
            raise NotApplicableError("pronoun of the first or second person")
        if not before:
            raise NotApplicableError("first mention of its entity")
        if mention.chain in self.titled:
            raise NotApplicableError("in the title or a heading")
        unit, start, end = mention.span[0]
        last, text = before[-1], discourse.units[unit].text
        if last.span[0][0] == unit:
            raise NotApplicableError("mentioned before in its sentence")
        if not (form := _form(discourse, mention)):
            raise NotApplicableError("English: no name, definite phrase, bare plural or pronoun")
        if fault := self._fault(mention) or fault_of_sentence(text):
            raise NotApplicableError(f"English: {fault}")
        return GivenPlace(
            name=f"u{unit}c{start}-{end}",
            summaries=self.salience.get(mention.chain, 0),
            document=self._before(mention, 0),
            near=self._before(mention, last.span[0][0]),
            mention=text[start:end],
            rest=text[end:].strip(),
            form=form,
            entity=entity.type,
            alike=(
                *(entity.type, entity.number, entity.gender if entity.type == "person" else ""),
                *(form, _is_subject(mention), _is_subject(last), last.kind == "pronoun"),
            ),
            mentions=len(before),
            distance=unit - last.span[0][0],
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

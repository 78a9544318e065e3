"""Places of a text at which two entities were given alike, of which one is far more salient.

Which entities a text is about its summaries show: the more summaries mention one, the more salient
it is (Lin and Zeldes 2025). A place is the beginning of a sentence, where either could be mentioned
next. The two are equally *given* there if they are of the same type, gender and number, were
mentioned about as often and as recently, and last in a like form and role.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

from coherencegym.loaders.discourse import Discourse, Mention
from coherencegym.manipulations.operator import Context, NotApplicableError
from coherencegym.manipulations.reference.entities import (
    FORMS,
    MentionedText,
    name_stems,
    word_stems,
)
from coherencegym.manipulations.reference.languages.english import (
    ENGLISH_RULES,
    bare_text,
    definite,
)
from coherencegym.manipulations.reference.mention_rules import SENTENCE_END
from coherencegym.manipulations.reference.noun_phrases import capitalised

#: Summaries, of five, that mention the more salient of two entities and not the other, at least.
MORE_SALIENT = 3
#: Words of a mention at most.
_WORDS = 4
#: Types of entities that no text goes on with.
_AMOUNTS = ("time", "quantity")
#: Words by which a phrase means something in its own place only.
_NOT_ALONE = re.compile(r"\b(?:only|same|other|next|following|first|last|here|there)\b")


@dataclass(frozen=True)
class GivenEntity:
    """An entity before a place.

    Attributes:
        chain: the entity in the discourse.
        text: the mention that begins a sentence: the last mention before that is
            a name, a definite phrase or a plural without a determiner.
        form: ``name`` or ``phrase``.
        name: the place of its last mention in the discourse: ``u<unit>c<start>``.
        summaries: the number of those, of five, that mention the entity.
        mentions: the number of its mentions before.
        distance: sentences from its last mention.
    """

    chain: str
    text: str
    form: str
    name: str
    summaries: int
    mentions: int
    distance: int


@dataclass(frozen=True)
class SharedPlace:
    """A place, and two entities that were given alike before it.

    Attributes:
        unit: the sentence that begins there in the text.
        salient, other: the more salient entity, and the other one.
        document: the text before the place, from its beginning, without headings.
        near: the last part of it, from the sentence on that has the earlier one of the last
            mentions of the two.
        in_title: true where the title or a heading has one of the two.
        entity: the type of both.
        next: 1 if the text's own next sentence mentions the salient entity alone, -1 if the other
            one alone.
    """

    unit: int
    salient: GivenEntity
    other: GivenEntity
    document: str
    near: str
    in_title: bool
    entity: str
    next: int

    @property
    def words_before(self) -> int:
        """The words of the document before the near part."""
        return len(self.document.split()) - len(self.near.split())


def shared_places(discourse: Discourse, context: Context) -> Iterator[SharedPlace]:
    """Yield the places of each two entities that differ in salience.

    Pairs of like entities that have no place are counted, by what most of their places lack.
    """
    text = _Text(discourse)
    if not text.salience:
        context.skipped["no summaries of the document"] += 1
        return
    for one, two in permutations(text.entities, 2):
        if text.salience.get(one, 0) - text.salience.get(two, 0) < MORE_SALIENT:
            continue
        if reason := text.unlike(one, two):
            context.skipped[reason] += 1
            continue
        reasons: Counter[str] = Counter()
        for unit in range(1, len(discourse.units)):
            try:
                yield text.place(one, two, unit)
                reasons[""] += 1
            except NotApplicableError as reason:
                reasons[str(reason)] += 1
        if not reasons[""]:
            context.skipped[max(reasons, key=reasons.__getitem__)] += 1


class _Text(MentionedText):
    @cached_property
    def salience(self) -> dict[str, int]:
        pairs = (one.rpartition(":") for one in self.discourse.meta.get("salience", "").split())
        return {chain: int(number) for chain, _, number in pairs}

    @cached_property
    def titled(self) -> frozenset[str]:
        title = name_stems([self.discourse.meta.get("title", "")])
        return frozenset(
            chain
            for chain, entity in self.entities.items()
            if any(one.span[0][0] in self.headings for one in entity.mentions)
            or not title.isdisjoint(entity.stems)
        )

    @cached_property
    def faults(self) -> tuple[str, ...]:
        return tuple(map(ENGLISH_RULES.fault_of_sentence, self.discourse.texts))

    @cached_property
    def said(self) -> dict[str, list[Mention]]:
        # The mentions of each entity that may begin a sentence.
        return {
            chain: [mention for mention in entity.mentions if self._may_begin(mention)]
            for chain, entity in self.entities.items()
        }

    def unlike(self, one: str, two: str) -> str:
        """Say what two entities have not in common; empty where they are alike."""
        first, second = self.entities[one], self.entities[two]
        if first.type != second.type or first.number != second.number:
            return "pair of another type or number"
        if first.type in _AMOUNTS:
            return "pair of times or amounts"
        if first.type == "person" and first.gender != second.gender:
            return "pair of another gender"
        return ""

    def place(self, one: str, two: str, unit: int) -> SharedPlace:
        """Give the place before a unit, for two entities of which the first is more salient."""
        before = [
            [mention for mention in self.entities[chain].mentions if mention.span[0][0] < unit]
            for chain in (one, two)
        ]
        if not all(before):
            raise NotApplicableError("place before the first mention of either")
        if unit in self.headings or self.faults[unit - 1] or not self._begins(unit):
            raise NotApplicableError("place that begins no sentence of the same speaker")
        said = [self._last_said(chain, unit) for chain in (one, two)]
        texts = [definite(bare_text(self.discourse, mention)) for mention in said]
        if (word_stems(texts[0]) & word_stems(texts[1])) - {"the"}:
            raise NotApplicableError("mentions with a word in common")
        last = [mentions[-1] for mentions in before]
        distances = [unit - mention.span[0][0] for mention in last]
        if not _is_about(len(before[0]), len(before[1]), 1):
            raise NotApplicableError("not mentioned about as often")
        if not _is_about(distances[0], distances[1], 2):
            raise NotApplicableError("not mentioned about as recently")
        if _is_subject(last[0]) != _is_subject(last[1]):
            raise NotApplicableError("last mentioned in another role")
        if (last[0].kind == "pronoun") != (last[1].kind == "pronoun"):
            raise NotApplicableError("last mentioned in another form")
        salient, other = (
            GivenEntity(
                chain=chain,
                text=capitalised(text),
                form=FORMS[mention.kind],
                name="u{}c{}".format(*mentions[-1].span[0]),
                summaries=self.salience.get(chain, 0),
                mentions=len(mentions),
                distance=distance,
            )
            for chain, mention, text, mentions, distance in zip(
                (one, two), said, texts, before, distances, strict=True
            )
        )
        following = {mention.chain for mention in self.of_unit[unit]}
        return SharedPlace(
            unit=unit,
            salient=salient,
            other=other,
            document=self._prose(0, unit),
            near=self._prose(unit - max(distances), unit),
            in_title=not self.titled.isdisjoint((one, two)),
            entity=self.entities[one].type,
            next=(one in following) - (two in following),
        )

    def _begins(self, unit: int) -> bool:
        units = self.discourse.units
        goes_on = units[unit].speaker == units[unit - 1].speaker and unit - 1 not in self.headings
        return goes_on and SENTENCE_END.search(units[unit - 1].text) is not None

    def _last_said(self, chain: str, unit: int) -> Mention:
        before = [mention for mention in self.said[chain] if mention.span[0][0] < unit]
        if not before:
            raise NotApplicableError("no mention that may begin a sentence")
        return before[-1]

    def _prose(self, first: int, end: int) -> str:
        prose = (n for n in range(first, end) if n not in self.headings)
        return " ".join(self.discourse.texts[n] for n in prose)

    def _may_begin(self, mention: Mention) -> bool:
        # A name, a definite phrase, or a plural without a determiner.
        if mention.kind == "pronoun" or ENGLISH_RULES.objection(
            self.discourse, mention, mention, [], _WORDS
        ):
            return False
        if mention.kind == "proper":
            return not self._is_part(mention)
        features, text = mention.features, bare_text(self.discourse, mention).lower()
        if "poss" in features.function or _NOT_ALONE.search(text):
            return False
        is_plural = features.number == "plural" and features.first_pos in ("NOUN", "ADJ")
        # ``A direct democracy`` is no one thing that could be meant again.
        article = r"the " if features.entity == "abstract" else r"(?:the|an?) "
        return is_plural or re.match(article, text) is not None

    def _is_part(self, mention: Mention) -> bool:
        unit, start, end = mention.span[0]
        return any(
            one.kind == "proper" == mention.kind and one is not mention
            for one in self.discourse.mentions
            if one.span[0][0] == unit and one.span[0][1] <= start and end <= one.span[-1][2]
        )


def _is_about(one: int, other: int, steps: int) -> bool:
    return abs(one - other) <= max(steps, min(one, other) // 2)


def _is_subject(mention: Mention) -> bool:
    return mention.features.function.startswith(("nsubj", "csubj"))

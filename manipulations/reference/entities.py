"""The entities of a text: what all their mentions together say of type, number and gender."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from coherencegym.loaders.discourse import Discourse, Mention, span_text
from coherencegym.manipulations.reference.mention_rules import MentionsOf, mentions_of_units
from coherencegym.manipulations.reference.noun_phrases import number_of

#: Forms of a mention, in words of the tables.
FORMS = {"pronoun": "pronoun", "proper": "name", "nominal": "phrase"}
_NAME_WORD = re.compile(r"[^\W\d_]{3,}")
_STEM = 5  # letters that words of one family share: ``Albania``, ``Albanian``
#: A noun of common gender may be of either person's.
_ALIKE = ({"common", "masculine"}, {"common", "feminine"})


@dataclass(frozen=True)
class Entity:
    """An entity: the things that its mentions say; empty where nobody said anything.

    Attributes:
        mentions: those of its chain, in reading order.
        type, number, gender: those that most of the mentions have.
        stems: the beginnings of the words of its names.
    """

    mentions: tuple[Mention, ...]
    type: str
    number: str
    gender: str
    stems: frozenset[str]

    def before(self, mention: Mention) -> tuple[Mention, ...]:
        """Its mentions that begin before another mention does."""
        return tuple(one for one in self.mentions if one.span[0][:2] < mention.span[0][:2])


class MentionedText:
    """A discourse with what is looked up of its mentions again and again."""

    def __init__(self, discourse: Discourse) -> None:
        """Look up nothing yet."""
        self.discourse = discourse

    @cached_property
    def entities(self) -> dict[str, Entity]:
        """The entities by chain."""
        chains: dict[str, list[Mention]] = {}
        for mention in sorted(self.discourse.mentions, key=lambda each: each.span[0]):
            chains.setdefault(mention.chain, []).append(mention)
        return {
            chain: Entity(
                tuple(mentions),
                _commonest(each.features.entity for each in mentions),
                _commonest(_number(self.discourse, each) for each in mentions),
                _gender(mentions),
                name_stems(
                    span_text(self.discourse, each.span)
                    for each in mentions
                    if each.kind == "proper"
                ),
            )
            for chain, mentions in chains.items()
        }

    @cached_property
    def of_unit(self) -> MentionsOf:
        """The mentions that begin in each unit."""
        return mentions_of_units(self.discourse)

    @cached_property
    def headings(self) -> frozenset[int]:
        """The units that are headings."""
        return frozenset(map(int, self.discourse.meta.get("headings", "").split()))

    @cached_property
    def stems(self) -> list[frozenset[str]]:
        """The beginnings of the capitalised words of each unit."""
        return [name_stems([text]) for text in self.discourse.texts]


def may_be_either(one: Entity, other: Entity) -> bool:
    """Tell whether nothing that is known of two entities keeps a mention from meaning either."""
    pairs = (one.type, other.type), (one.number, other.number)
    if any(first and second and first != second for first, second in pairs):
        return False
    genders = {one.gender, other.gender}
    return "" in genders or len(genders) == 1 or genders in _ALIKE


def name_stems(texts: Iterable[str]) -> frozenset[str]:
    """The beginnings of the capitalised words of some texts.

    >>> sorted(name_stems(["the Albanian king", "Bo of Albania"]))
    ['Alban']
    """
    words = (word for text in texts for word in _NAME_WORD.findall(text))
    return frozenset(word[:_STEM] for word in words if word[0].isupper())


def word_stems(text: str) -> frozenset[str]:
    """The beginnings of the words of a text, in lower case.

    >>> sorted(word_stems("the Albanian king"))
    ['alban', 'king', 'the']
    """
    return frozenset(word[:_STEM].lower() for word in _NAME_WORD.findall(text))


def _gender(mentions: Iterable[Mention]) -> str:
    # Of a person where a name or pronoun tells it, before that of a noun.
    told = [one.features.gender for one in mentions]
    return _commonest(gender for gender in told if gender != "common") or _commonest(told)


def _commonest(values: Iterable[str]) -> str:
    counts: Mapping[str, int] = Counter(filter(None, values))
    return max(counts, key=counts.__getitem__, default="")


def _number(discourse: Discourse, mention: Mention) -> str:
    if mention.features.number or mention.kind == "pronoun":
        return mention.features.number
    return number_of(span_text(discourse, mention.span), mention.kind == "proper")

"""The entities of a text: what all their mentions together say of type, number and gender."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from coherencegym.loaders.discourse import Discourse, Mention, span_text
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


def entities(discourse: Discourse) -> dict[str, Entity]:
    """The entities of a discourse, by chain."""
    chains: dict[str, list[Mention]] = {}
    for mention in sorted(discourse.mentions, key=lambda one: one.span[0]):
        chains.setdefault(mention.chain, []).append(mention)
    return {
        chain: Entity(
            tuple(mentions),
            _commonest(one.features.entity for one in mentions),
            _commonest(_number(discourse, one) for one in mentions),
            _gender(mentions),
            name_stems(span_text(discourse, m.span) for m in mentions if m.kind == "proper"),
        )
        for chain, mentions in chains.items()
    }


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

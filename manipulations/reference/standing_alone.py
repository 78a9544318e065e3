"""Sentences that can be read without those that stood before them.

A sentence that is put into another place of its text must not take up what only its own place
gives: a pronoun (``he``), a definite phrase whose referent was mentioned before or is inferred from
what was (``the portal``; Prince 1992), a connective (``however``), a word such as ``another``. What
is annotated is checked by the annotation, the rest by words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from coherencegym.loaders.discourse import Discourse, Mention, span_text

#: Marks of a quotation: who is quoted was said before it.
_QUOTES = ('"', "“", "‘")
#: Types of pronouns that take up nothing from another sentence.
_FREE = ("relative", "interrogative", "expletive", "reciprocal", "indefinite")
#: Information status of what is inferred from what was said, or is a part of it.
_INFERRED = ("acc:inf", "acc:aggr")

#: The mentions of each unit of a discourse, in their order.
MentionsOf = Mapping[int, Sequence[Mention]]
#: A discourse, a mention, a mention of something else, all mentions of that -> whether a reader
#: could take the first to mean the other, by number, gender and type.
MayMean = Callable[[Discourse, Mention, Mention, Sequence[Mention]], bool]


def mentions_of_units(discourse: Discourse) -> MentionsOf:
    """The mentions that begin in each unit; of those that begin together the longest first."""
    found: dict[int, list[Mention]] = {unit: [] for unit in range(len(discourse.units))}
    for mention in discourse.mentions:
        found[mention.span[0][0]].append(mention)
    for mentions in found.values():
        mentions.sort(key=lambda one: (one.span[0][1], -one.span[-1][2]))
    return found


def any_of(*phrases: str) -> str:
    """A pattern of whole words or phrases, each of which is a pattern."""
    return rf"\b(?:{'|'.join(phrases)})\b"


@dataclass(frozen=True)
class RemovalRules:
    """The rules of a language for a sentence that is taken out of its text, or put into it.

    Attributes:
        check_pronoun: raises :class:`~manipulations.reference.noun_phrases.NotApplicableError`
            where a mention is no pronoun that can be scored.
        fault: says what is wrong with a sentence, by its unit; empty where nothing is.
        openers: the beginning of a sentence that goes on from another one.
        pointers: words anywhere in a sentence that point to what was said before it.
        definite: the beginning of a phrase that may take up a referent.
        scored: the beginning of a definite phrase that takes one up by other words, in lower case.
        free: pronouns that take up nothing from another sentence, in lower case.
        may_mean: tells what a mention could be taken to mean.
    """

    check_pronoun: Callable[[Discourse, Mention], None]
    fault: Callable[[Discourse, int], str]
    openers: re.Pattern[str]
    pointers: re.Pattern[str]
    definite: re.Pattern[str]
    scored: re.Pattern[str]
    free: frozenset[str]
    may_mean: MayMean

    def goes_on(self, text: str) -> bool:
        """Tell whether a sentence goes on from another one, or begins with a quotation."""
        return text[:1] in _QUOTES or self.openers.match(text) is not None

    def points_back(self, text: str) -> bool:
        """Tell whether a word of a sentence points out of it (``another``, ``this``, ``above``)."""
        return self.goes_on(text) or self.pointers.search(text) is not None

    def takes_up(
        self,
        discourse: Discourse,
        mentions: Sequence[Mention],
        known: Collection[str] = (),
        definite: bool = True,
    ) -> str:
        """Say what in a sentence takes up something from outside; empty where nothing is seen to.

        Args:
            discourse: the text.
            mentions: those of the sentence, in their order.
            known: chains that may be taken up.
            definite: look at definite phrases, too, and not only at pronouns.
        """
        seen = set(known)
        for mention in mentions:
            features, text = mention.features, span_text(discourse, mention.span)
            if mention.chain not in seen:
                pronoun = mention.kind == "pronoun" and features.pronoun not in _FREE
                pronoun = pronoun and text.lower() not in self.free
                if pronoun and features.person not in ("1", "2"):
                    return "pronoun of another sentence's referent"
                given = features.status.startswith("giv") or features.status in _INFERRED
                phrase = definite and mention.kind == "nominal" and self.definite.match(text)
                unsaid = phrase and not features.status
                if phrase and (given or (unsaid and _mentioned_before(discourse, mention))):
                    return "definite phrase for another sentence's referent"
            seen.add(mention.chain)
        return ""


def _mentioned_before(discourse: Discourse, mention: Mention) -> bool:
    return any(
        other.chain == mention.chain and other.span[0] < mention.span[0]
        for other in discourse.mentions
    )

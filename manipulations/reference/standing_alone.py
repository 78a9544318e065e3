"""Sentences that can be read without those that stood before them.

A sentence that is put into another place of its text must not take up what only its own place
gives: a pronoun (``he``), a definite phrase whose referent was mentioned before or is inferred from
what was (``the portal``; Prince 1992), a connective (``however``), a word such as ``another``. What
is annotated is checked by the annotation, the rest by words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from coherencegym.loaders.discourse import Discourse, Mention, span_text
from coherencegym.words import word_lists

#: Connectives, answers and words of order that begin a sentence which goes on from another one.
_OPENERS = re.compile(
    r"\W*(?:" + "|".join(" ".join(words) for words in word_lists("continuing_openers")) + r")\b",
    re.IGNORECASE,
)
#: Words anywhere in a sentence that point to what was said before it, or where it stood.
_POINTERS = re.compile(
    r"\b(?:another|others?|such|too|also|both|former|latter|same|there|this|these|those|either"
    r"|neither|above|below|following|respectively|so|then|again|next|instead|however|therefore"
    r"|thus|hence|otherwise|similar(?:ly)?|more|less|each|further|only|even|still|that(?:['’]s| is"
    r"| was)|here|now|today|yesterday|tomorrow|first|second|third|final(?:ly)?)\b|\[|\(see\b",
    re.IGNORECASE,
)
#: Marks of a quotation: who is quoted was said before it.
_QUOTES = ('"', "“", "‘")
_DEFINITE = re.compile(r"(?:the|this|that|these|those|such)\b", re.IGNORECASE)
#: Types of pronouns that take up nothing from another sentence.
_FREE = ("relative", "interrogative", "expletive", "reciprocal", "indefinite")
#: Information status of what is inferred from what was said, or is a part of it.
_INFERRED = ("acc:inf", "acc:aggr")

#: The mentions of each unit of a discourse, in their order.
MentionsOf = Mapping[int, Sequence[Mention]]


def mentions_of_units(discourse: Discourse) -> MentionsOf:
    """The mentions that begin in each unit; of those that begin together the longest first."""
    found: dict[int, list[Mention]] = {unit: [] for unit in range(len(discourse.units))}
    for mention in discourse.mentions:
        found[mention.span[0][0]].append(mention)
    for mentions in found.values():
        mentions.sort(key=lambda one: (one.span[0][1], -one.span[-1][2]))
    return found


def goes_on(text: str) -> bool:
    """Tell whether a sentence begins as one that goes on from another one, or with a quotation.

    >>> goes_on("However, it rained."), goes_on("Ann ran.")
    (True, False)
    """
    return text[:1] in _QUOTES or _OPENERS.match(text) is not None


def points_back(text: str) -> bool:
    """Tell whether a word of a sentence points out of it (``another``, ``this``, ``above``)."""
    return goes_on(text) or _POINTERS.search(text) is not None


def takes_up(
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
            if pronoun and features.person not in ("1", "2"):
                return "pronoun of another sentence's referent"
            given = features.status.startswith("giv") or features.status in _INFERRED
            unsaid = not features.status and _mentioned_before(discourse, mention)
            phrase = definite and mention.kind == "nominal" and _DEFINITE.match(text)
            if phrase and (given or unsaid):
                return "definite phrase for another sentence's referent"
        seen.add(mention.chain)
    return ""


def _mentioned_before(discourse: Discourse, mention: Mention) -> bool:
    return any(
        other.chain == mention.chain and other.span[0] < mention.span[0]
        for other in discourse.mentions
    )

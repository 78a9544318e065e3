"""English: sentences that can be read without others, and what a mention could mean in them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from coherencegym.loaders.discourse import Discourse, Mention, span_text
from coherencegym.manipulations.reference.languages.english_repetition import check_pronoun
from coherencegym.manipulations.reference.pronoun_places import fault_of_sentence
from coherencegym.manipulations.reference.standing_alone import RemovalRules, any_of
from coherencegym.words import word_lists

#: Connectives, answers and words of order that begin a sentence which goes on from another one.
_OPENERS = tuple(" ".join(words) for words in word_lists("continuing_openers"))
#: Words anywhere in a sentence that point to what was said before it, or where it stood.
_POINTERS = re.compile(
    r"\b(?:another|others?|such|too|also|both|former|latter|same|there|this|these|those|either"
    r"|neither|above|below|following|respectively|so|then|again|next|instead|however|therefore"
    r"|thus|hence|otherwise|similar(?:ly)?|more|less|each|further|only|even|still|that(?:['’]s| is"
    r"| was)|here|now|today|yesterday|tomorrow|first|second|third|final(?:ly)?)\b|\[|\(see\b",
    re.IGNORECASE,
)
_JOINED = re.compile(r" (?:and|or|&) ")


def _fault(discourse: Discourse, unit: int) -> str:
    return fault_of_sentence(discourse.units[unit].text)


def _may_mean(
    discourse: Discourse, mention: Mention, other: Mention, mentions: Sequence[Mention]
) -> bool:
    one, two = mention.features, other.features
    several = _JOINED.search(span_text(discourse, other.span))
    if one.number and two.number and one.number != two.number and not several:
        return False
    if one.gender and two.gender and one.gender != two.gender:
        return False
    if mention.kind == other.kind == "pronoun":
        return True
    # ``They`` of things may mean any things.
    things = {one.entity, two.entity}.isdisjoint(("person", "time", "quantity"))
    if mention.kind == "pronoun" and one.number == "plural" and things:
        return True
    return not one.entity or not two.entity or one.entity == two.entity


ENGLISH_REMOVAL = RemovalRules(
    check_pronoun=check_pronoun,
    fault=_fault,
    openers=re.compile(rf"\W*{any_of(*_OPENERS)}", re.IGNORECASE),
    pointers=_POINTERS,
    definite=re.compile(r"(?:the|this|that|these|those|such)\b", re.IGNORECASE),
    scored=re.compile(r"(?:the|this|that|these|those) (?!same\b|other\b|next\b|following\b)"),
    free=frozenset(),
    may_mean=_may_mean,
)

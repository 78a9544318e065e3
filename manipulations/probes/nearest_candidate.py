"""Antecedents of a pronoun: the nearest noun phrase before it that is one thing or person.

Going back from the pronoun, through its sentence and those before it. Passed over is what neither
``it`` nor ``he`` is likely to take up: plurals, times, places behind their preposition (``in
Rome``), nouns without a determiner (``at school``), and for an object the subject of its own clause
(``The club signed him``).
"""

from __future__ import annotations

from collections.abc import Sequence

from coherencegym.manipulations.probes.clauses import main_verb
from coherencegym.manipulations.probes.sentence import Sentence, Word, analyse
from coherencegym.manipulations.probes.tagging import NOUNS
from coherencegym.manipulations.probes.words import word_list, word_set

_PERSONAL = word_set("i me my he him his she her hers himself herself")
_THINGS = word_set("it its itself")
_DETERMINERS = frozenset(("DT", "PRP$", "WP$"))
#: A phrase is looked back through this many words for its determiner.
_LONGEST_PHRASE = 6
_NAMES = frozenset(("NNP", "NNPS"))
_BEFORE_PLACES = word_set("in at from to near into of across throughout around outside inside via")
_TIMES = word_set(
    "year day week month season time night morning evening summer winter spring autumn afternoon "
    "weekend century decade moment hour minute age end beginning start way rest lot number couple "
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday"
)
_PEOPLE_ENDINGS = ("man", "woman", "person", "ist", "ian")


def nearest_is_inanimate(sentence: Sentence, at: int, is_object: bool) -> bool:
    """True where the nearest candidate before the pronoun at an index is a thing.

    Args:
        sentence: the sentence, with those before it in ``preceding``.
        at: the index of the pronoun.
        is_object: true where it is a verb's or preposition's object.
    """
    barred = frozenset[int]()
    if is_object and (verb := main_verb(sentence)) is not None and verb.index < at:
        barred = frozenset(verb.subject)
    found = _last(sentence.words[:at], barred)
    for text in reversed(sentence.preceding):
        if found is not None:
            break
        found = _last(analyse(text, sentence.pipeline).words)
    return found == "thing"


def _last(words: Sequence[Word], barred: frozenset[int] = frozenset()) -> str | None:
    """Classify the last candidate of some words: ``thing`` or ``person``; none without one."""
    for index in range(len(words) - 1, -1, -1):
        if index not in barred and (kind := _kind(words, index)) is not None:
            return kind
    return None


def _kind(words: Sequence[Word], at: int) -> str | None:
    """Classify the candidate whose last word this is; none where it ends none."""
    word = words[at]
    if word.lower in _PERSONAL | _THINGS:
        return "thing" if word.lower in _THINGS else "person"
    after = words[at + 1] if at + 1 < len(words) else None
    if after is not None and after.may_be(NOUNS) and not after.may_be(("VBD", "VBZ", "VBP", "IN")):
        return None  # no head: "the football *club*"
    if word.lower in _TIMES or not word.may_be(("NN", "NNP")):
        return None
    if word.is_only(_NAMES):
        return _named(words, at)
    if _is_person(word):
        return "person"
    return "thing" if _determined(words, at) else None


def _named(words: Sequence[Word], at: int) -> str | None:
    """Classify a name: a thing with an article, none behind a preposition of place, a person."""
    for word in reversed(words[max(0, at - _LONGEST_PHRASE) : at]):
        if word.is_only(_NAMES):
            continue
        if word.may_be(_DETERMINERS):
            return "thing"  # "the 2005 Cup"
        if word.lower in _BEFORE_PLACES or word.text == ",":
            return None  # "in Rome", "in Rome, Italy"
        if word.may_be(("NN",)) and not word.may_be(("IN", "VBZ", "VBD")):
            # "company Zain Group", but "actor James Hill"
            return "person" if _is_person(word) else "thing"
        if not word.may_be(("CD", "JJ")):
            break
    return "person"


def _is_person(noun: Word) -> bool:
    """Tell whether a common noun is of those that mean a person."""
    listed = noun.lower in word_list("person_nouns") | word_list("gendered_nouns")
    return listed or noun.lower.endswith(_PEOPLE_ENDINGS)


def _determined(words: Sequence[Word], at: int) -> bool:
    """Tell whether the phrase that ends at an index has a determiner."""
    for word in reversed(words[max(0, at - _LONGEST_PHRASE) : at]):
        if word.may_be(_DETERMINERS) and not word.may_be(("IN",)):
            return True
        if not word.may_be(NOUNS | {"JJ", "JJR", "JJS", "CD", "VBN", "VBG", "POS", "RB", "-"}):
            return False
    return False

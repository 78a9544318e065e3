"""Demonstrative flip: ``this book was`` becomes ``these books were``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coherencegym.manipulations.connectives.connective_substitution import in_case_of
from coherencegym.manipulations.probes.clauses import main_verb
from coherencegym.manipulations.probes.inflection import base_form, inflect
from coherencegym.manipulations.probes.probe import Replacement
from coherencegym.manipulations.probes.sentence import Sentence, Word
from coherencegym.manipulations.probes.tagging import ADVERBS, FINITE, NOUNS
from coherencegym.manipulations.probes.words import word_list, word_set

_PLURAL = {"this": "these", "that": "those"}
#: Nouns that stand as adverbials of time without a preposition: ``that year``.
_TIMES = word_set(
    "year day week month season time night morning evening summer winter spring autumn way "
    "afternoon weekend century decade moment"
)
_COUNTABLE_TIMES = word_set("year day week month season period decade century time")
#: Prepositions before a time that bear the plural: ``during these years``, but ``to this day``.
_TIME_PREPOSITIONS = word_set("during in of throughout for from between over")
_BEFORE_THAT = word_set(
    "of on at for from with by during into under through about against within after before "
    "to around near inside outside across along behind beyond throughout between towards toward"
)
_AGREEING = {"is": "are", "was": "were", "has": "have", "does": "do"}
_LINKING = word_set("is was be been become became becomes remains remained are were 's")
_SINGULAR = word_set("it its itself each another every unique only")
#: Words between the demonstrative and its noun that ask for one thing.
_ONE = word_set("one single sole only whole entire very latter former particular")
#: Names that a text gives itself: no antecedent says that it is one, and there may be more of them.
_TEXTS = word_set(
    "paper article work study letter note review report contribution chapter thesis dissertation "
    "survey section list manuscript essay communication talk lecture tutorial"
)
_RELATIVES = word_set("who which that whose where when whom")


@dataclass(frozen=True)
class DemonstrativeFlip:
    """``this`` and ``that`` with a singular noun become ``these`` and ``those`` with its plural.

    Sound: the noun is of those that are commonly counted and does not name the text itself (``in
    this paper``), its phrase ends with it, a verb of which it is the subject agrees, and nothing
    else in the sentence speaks of the one thing (``it``, ``which``, ``is a``).
    """

    name: str = "demonstrative_flip"

    def __call__(self, sentence: Sentence) -> tuple[Replacement, ...]:
        """The determiner, its noun and verb, of the first phrase that can."""
        for at, word in enumerate(sentence.words):
            if word.lower in _PLURAL and (changes := _plural(sentence, at)):
                return changes
        return ()


def _plural(sentence: Sentence, at: int) -> tuple[Replacement, ...]:
    """The changes that make the phrase at a demonstrative plural; empty where uncertain."""
    words = sentence.words
    word = words[at]
    if word.text[0].isupper() and at > 0:
        return ()
    noun_at = _noun(words, at)
    if noun_at is None:
        return ()
    noun = words[noun_at]
    plural = None if noun.lower in _TEXTS else inflect(noun.lower, "NNS")
    if plural is None or plural == noun.lower or noun.text != noun.lower:
        return ()
    before = words[at - 1].lower if at else ""
    if _says_one(words[at + 1 : noun_at], words[noun_at + 1 :]):
        return ()
    if not _may_follow(before, word.lower, noun.lower):
        return ()
    changes = [
        Replacement(word.start, word.end, in_case_of(word.text, _PLURAL[word.lower])),
        Replacement(noun.start, noun.end, plural),
    ]
    agreement = _agreement(sentence, at, noun_at)
    return () if agreement is None else (*changes, *agreement)


def _says_one(modifiers: Sequence[Word], rest: Sequence[Word]) -> bool:
    """True where words before a noun or behind it speak of the one thing, or go on with it."""
    if not _SINGULAR.isdisjoint(other.lower for other in rest):
        return True
    if not _ONE.isdisjoint(other.lower for other in modifiers):
        return True
    if not _RELATIVES.isdisjoint(other.lower for other in rest[:2]) or _as_one(rest):
        return True
    return bool(rest) and rest[0].text in ("(", "and", "or")  # "this aim (and that one) is"


def _may_follow(before: str, demonstrative: str, noun: str) -> bool:
    """True where the plural phrase can stand behind the word ``before``."""
    if noun in _TIMES and not (noun in _COUNTABLE_TIMES and before in _TIME_PREPOSITIONS):
        return False
    if demonstrative == "that" and before not in _BEFORE_THAT | {"in"}:
        return False  # a conjunction, as far as the rules can tell
    return before not in ("as", "like", "such", "than", "unlike", "half")


def _as_one(rest: Sequence[Word]) -> bool:
    """Tell whether what follows says that it is one: ``released this song as a single``."""
    return any(
        rest[i].lower
        in ("as", "into", "became", "become", "becoming", "remain", "remained", "make")
        and rest[i + 1].lower in ("a", "an", "the", "one")
        for i in range(len(rest) - 1)
    )


def _noun(words: Sequence[Word], at: int) -> int | None:
    """The index of the head of the noun phrase that a demonstrative begins; none if uncertain."""
    countable = word_list("countable_nouns") | _COUNTABLE_TIMES
    for index in range(at + 1, min(at + 4, len(words))):
        word = words[index]
        if word.lower in countable and (index + 1 == len(words) or _ends_phrase(words[index + 1])):
            return index
        if not word.may_be(("JJ", "NN", "VBN")) or word.may_be(("IN", "DT", "VBZ", "MD", "PRP")):
            return None
        if word.lower in ("one", "kind", "sort", "type", "much", "many", "latter", "former"):
            return None
    return None


def _ends_phrase(after: Word) -> bool:
    """True where the word behind a noun is no part of its phrase."""
    if after.may_be(("JJ",)) and not after.may_be(FINITE | ADVERBS | {"IN"}):
        return False
    if after.may_be(FINITE) and not after.may_be(("NN", "NNP", "POS")):
        return True
    signs = ("-", "'", "’", '"', "“", "``", "/")
    return not after.may_be(NOUNS | {"POS", "CD"}) and after.text not in signs


def _agreement(sentence: Sentence, at: int, noun_at: int) -> tuple[Replacement, ...] | None:
    """The change of the verb of which the phrase is the subject; none where that is uncertain."""
    words = sentence.words
    verb = main_verb(sentence)
    if verb is not None and at in verb.subject and _heads(words, at, verb.subject):
        return _verbs_agree(words, verb.index)
    if at > 0 and not (
        words[at - 1].text in (",", ";") or words[at - 1].lower in _CLAUSE_BEGINNERS
    ):
        after = [word for word in words[noun_at + 1 :] if not word.is_only(ADVERBS)]
        return () if _is_no_subject(words[at - 1], after) else None
    following = [i for i in range(noun_at + 1, len(words)) if not words[i].is_only(ADVERBS)]
    if not following or not words[following[0]].is_only(FINITE):
        return None
    return _verbs_agree(words, following[0])


def _is_no_subject(before: Word, after: Sequence[Word]) -> bool:
    """True where a phrase behind ``before`` is certainly no subject, so that no verb changes."""
    if before.lower in _PREPOSITIONS:  # "the end of this year was": not the subject
        return True
    if before.lower in _AGREEING or (after and after[0].may_be(FINITE)):
        return False  # "what is this error": the verb before it may agree with it
    return before.is_only(("IN", "RP", "RB", "TO", "VBZ", "VBD", "VBN", "VB", "VBG", "VBP"))


def _verbs_agree(words: Sequence[Word], index: int) -> tuple[Replacement, ...] | None:
    """The changes of a verb and of those that share its subject; none where uncertain."""
    changes: list[Replacement] = []
    for place in (index, *_further_verbs(words, index)):
        before = next(word for word in words[place - 1 :: -1] if not word.is_only(ADVERBS))
        if place != index and before.lower not in ("and", "but"):
            return None  # a verb of another subject, or of this one
        changed = _plural_verb(words, place)
        if changed is None:
            return None
        changes += changed
    return tuple(changes)


def _further_verbs(words: Sequence[Word], index: int) -> list[int]:
    """Indices of the verbs behind one that say that their subject is one."""
    return [
        place
        for place in range(index + 1, len(words))
        if words[place].lower in _AGREEING
        or (words[place].may_be(("VBZ",)) and not words[place].may_be(NOUNS))
    ]


def _plural_verb(words: Sequence[Word], index: int) -> tuple[Replacement, ...] | None:
    """The change of a finite verb to the plural; none where what follows would not fit it."""
    word = words[index]
    rest = [other for other in words[index + 1 :] if not other.is_only(ADVERBS)]
    if word.lower in _LINKING and not _predicate_fits(rest):
        return None
    if rest and rest[0].lower in _LINKING and not _predicate_fits(rest[1:]):
        return None
    if word.lower in _AGREEING:
        plural = in_case_of(word.text, _AGREEING[word.lower])
        return (Replacement(word.start, word.end, plural),)
    if word.is_only(("VBD", "MD")) or (word.may_be(("VBD",)) and not word.may_be(("VBZ",))):
        return ()
    base = base_form(word.lower, "VBZ")
    if base is None or word.text in ("'s", "’s"):
        return None
    return (Replacement(word.start, word.end, base),)


#: Prepositions that begin no clause.
_PREPOSITIONS = (_BEFORE_THAT | {"in", "to", "from", "over"}) - {"after", "before"}
_CLAUSE_BEGINNERS = word_set(
    "and but because although though when while if since until whether that as so where"
)


def _heads(words: Sequence[Word], at: int, subject: Sequence[int]) -> bool:
    """Tell whether the phrase at an index is the subject's head and no part of a phrase in it."""
    begin = subject.index(at)
    return begin == 0 or words[subject[begin - 1]].text == ","


def _predicate_fits(rest: Sequence[Word]) -> bool:
    """True where what follows ``be`` can be said of several: no ``a painter``, no ``the best``."""
    if not rest:
        return False
    first = rest[0]
    return not first.may_be(("DT", "PRP$", "CD", "WRB", "WP", "PRP", "NNP", "NNS")) and (
        first.may_be(("VBN", "VBG", "JJ", "IN"))
        and not first.is_only(("NN",))
        and not first.may_be(("NN",))
    )

"""The gendered pronouns of a sentence, with the case that each has in its place."""

from __future__ import annotations

from dataclasses import dataclass

from coherencegym.manipulations.connectives.connective_substitution import in_case_of
from coherencegym.manipulations.probes.probe import Replacement
from coherencegym.manipulations.probes.sentence import Sentence, Word
from coherencegym.manipulations.probes.tagging import ADVERBS, FINITE, NOUNS, VERBAL
from coherencegym.manipulations.probes.words import word_list, word_set

_GENDERS = {
    "he": "masculine", "him": "masculine", "his": "masculine", "himself": "masculine",
    "she": "feminine", "her": "feminine", "hers": "feminine", "herself": "feminine",
}  # fmt: skip
_CASES = {
    "he": "subject", "she": "subject", "him": "object", "hers": "independent",
    "himself": "reflexive", "herself": "reflexive",
}  # fmt: skip
#: Relatives: another person, whose sex says nothing of the one whose relative it is.
_KIN = word_set(
    "father mother son sons daughter daughters brother brothers sister sisters uncle uncles aunt "
    "aunts nephew nephews niece nieces grandfather grandmother grandson granddaughter parents "
    "stepfather stepmother half-brother half-sister godfather godmother"
)
#: Verbs with two objects, or with an object and what it is or does: after them ``her`` and a noun
#: may be one phrase or two (``gave her flowers``, ``named her Mary``, ``made her work``).
_TWO_OBJECTS = word_set(
    "give send tell teach show offer lend pay bring buy owe grant award hand promise earn win cost "
    "call name make let see hear watch help have appoint elect declare crown consider feel deem "
    "dub find keep bill get leave ask deny allot assign cause afford wish ensure guarantee"
)
_QUOTES = frozenset(('"', "“", "”", "«", "»", "``", "''"))


@dataclass(frozen=True, slots=True)
class Pronoun:
    """A pronoun, its gender, and its case: subject, object, possessive, independent, reflexive."""

    word: Word
    gender: str
    case: str


def replace(pronoun: Pronoun, form: str) -> Replacement:
    """The replacement of a pronoun by another form, in its letter case."""
    word = pronoun.word
    return Replacement(word.start, word.end, in_case_of(word.text, form))


def personal_pronouns(sentence: Sentence) -> tuple[Pronoun, ...] | None:
    """The pronouns ``he`` and ``she`` in all their cases; none where they cannot be flipped safely.

    Not safe: the case is uncertain; a pronoun is part of a name or of a quotation; it is no pronoun
    (``a she``); it stands for anybody (``he or she``, ``he who``); a noun or title in the sentence
    tells a sex, unless it is a relative's (``his mother``).
    """
    found: list[Pronoun] = []
    quoted = False
    for index, word in enumerate(sentence.words):
        if word.lower in _QUOTES:
            quoted = not quoted
        if word.lower not in _GENDERS:
            continue
        case = pronoun_case(sentence, index)
        if case is None or quoted or not _is_plain(sentence, index):
            return None
        found.append(Pronoun(word, _GENDERS[word.lower], case))
    if found and names_a_sex(sentence):
        return None
    return tuple(found)


def names_a_sex(sentence: Sentence) -> bool:
    """Tell whether a noun or title tells a sex that may be that of whom the pronouns mean."""
    gendered = word_list("gendered_nouns")
    for index, word in enumerate(sentence.words):
        # A hyphen makes three tokens of ``half-brother``; the last says enough.
        if word.lower not in gendered and word.lower.rstrip(".") not in gendered:
            continue
        before = [w.lower for w in sentence.words[max(0, index - 3) : index]]
        owned = any(owner in before for owner in ("his", "her"))
        if not (word.lower in _KIN and owned):
            return True
    return False


def _is_plain(sentence: Sentence, index: int) -> bool:
    """True where the pronoun is part of no name, pair (``he or she``) or set phrase."""
    words = sentence.words
    word = words[index]
    if word.text != word.text.lower() and not begins(sentence, index):
        return False
    if begins_a_name(sentence, index):
        return False
    if index and not _may_stand_behind(sentence, index, words[index - 1].lower):
        return False
    pairs = [w.lower for w in (words[max(0, index - 2) : index + 3])]
    others = {"he", "she", "his", "her", "him", "they", "their", "it", "its"} - {word.lower}
    if any(mark in pairs for mark in ("/", "or")) and others & set(pairs):
        return False
    after = words[index + 1].lower if index + 1 < len(words) else ""
    if after in ("who", "that", "whom", "-", "/"):
        return after == "that" and word.lower in ("him", "her")
    return True


def _may_stand_behind(sentence: Sentence, index: int, before: str) -> bool:
    """True where the word ``before`` leaves the pronoun at an index a plain one."""
    lower = sentence.words[index].lower
    if before in ("or", "and"):
        return lower in ("his", "her", "him") or _starts_a_clause(sentence, index)
    if before == "(":
        return lower in ("he", "she", "his", "her")
    return before not in ("/", "a", "an", "the", "-", "’", "'", "dear", "oh")


def begins(sentence: Sentence, index: int) -> bool:
    """Tell whether the word is the first of the sentence, but for signs."""
    return not any(any(c.isalnum() for c in word.text) for word in sentence.words[:index])


def begins_a_name(sentence: Sentence, index: int) -> bool:
    """True where the word and a capital behind it are of a name: ``She Wore``, ``His Majesty``."""
    word, after = sentence.words[index], sentence.words[index + 1 : index + 2]
    return word.text[0].isupper() and any(other.text[0].isupper() for other in after)


def _starts_a_clause(sentence: Sentence, index: int) -> bool:
    after = sentence.words[index + 1 : index + 4]
    following = [word for word in after if not word.is_only(ADVERBS)]
    return (
        sentence.words[index].lower in ("he", "she")
        and bool(following)
        and following[0].may_be(FINITE)
    )


def pronoun_case(sentence: Sentence, index: int) -> str | None:
    """The case of the pronoun at an index; none where it is uncertain."""
    word = sentence.words[index]
    if word.lower in _CASES:
        return _CASES[word.lower]
    following = sentence.words[index + 1 : index + 4]
    if word.lower == "his":
        possessive = begins_noun_phrase(sentence, index)
        return {True: "possessive", False: "independent"}.get(possessive)  # type: ignore[arg-type]
    if word.is_only(("PRP$",)):  # a tagger says so
        return "possessive"
    if word.is_only(("PRP",)):
        return "object"
    possessive = begins_noun_phrase(sentence, index)
    if possessive is None:
        return None
    if not possessive:
        return "object"
    before = sentence.words[index - 1] if index else None
    if before is not None and _takes_two_objects(before):
        first = following[0]
        plural = first.may_be(("NNS", "NNP", "NNPS", "JJ", "VB", "VBG", "VBN", "CD", "RB"))
        if first.lower not in _SINGULAR_AFTER and plural:
            return None
    return "possessive"


#: Words behind ``made her`` and the like that can only be what she has.
_SINGULAR_AFTER = word_set(
    "debut own first second third last final way name career role mark home appearance return "
    "death work life most best"
)


def _takes_two_objects(word: Word) -> bool:
    from coherencegym.manipulations.probes.inflection import lemma

    return word.lower == "had" or lemma(word.lower, "VERB") in _TWO_OBJECTS


def begins_noun_phrase(sentence: Sentence, index: int) -> bool | None:
    """Tell whether what follows is a noun phrase that a possessive could begin; none: uncertain."""
    if index + 1 >= len(sentence.words):
        return False
    word = sentence.words[index + 1]
    if word.text in ('"', "“", "'", "‘", "``"):
        return None if index + 2 < len(sentence.words) else False
    if not any(character.isalnum() for character in word.text):
        return False
    if word.lower in _POSSESSED:
        return True
    if (
        word.is_only(("IN", "TO", "CC", "DT", "MD", "WDT", "WRB", "WP", "PRP", "PRP$", "RP", "VBZ"))
        or word.lower in _NEVER_POSSESSED
    ):
        return False
    nominal = word.may_be(NOUNS | {"JJ", "JJR", "JJS", "CD"})
    if word.is_only(ADVERBS):
        after = sentence.words[index + 2] if index + 2 < len(sentence.words) else None
        if after is None or not after.may_be({"JJ", "VBN", "VBG"}):
            return False
        return (
            None
            if not after.is_only({"JJ", "VBN", "NN", "NNS"})
            else _noun_follows(sentence, index + 2)
        )
    if not nominal:
        return None if word.may_be(("VBG", "VBN")) else False
    if word.may_be(ADVERBS):
        return _noun_follows(sentence, index + 1)
    if word.may_be({"IN", "DT", "TO", "MD"}):
        return None
    return word.may_be(NOUNS | {"JJ"}) or not word.may_be({"VBD", "VBZ"})


def _noun_follows(sentence: Sentence, index: int) -> bool | None:
    """Tell whether the word after a possible adjective is a noun: ``her late husband``."""
    if index + 1 >= len(sentence.words):
        return None
    after = sentence.words[index + 1]
    if after.is_only(NOUNS | {"JJ", "CD"}) or after.is_only(NOUNS | {"VB", "VBP", "JJ"}):
        return True
    if after.may_be(NOUNS) and not after.may_be(VERBAL | {"IN", "TO", "DT"}):
        return True
    if after.is_only({"IN", "TO", "CC", "DT"}) or not any(c.isalnum() for c in after.text):
        return None
    return None


_POSSESSED = word_set("own first second third last late next best most more many other")
_NEVER_POSSESSED = word_set(
    "to in on at by from into with as and or but for when while after before until because that "
    "there here up out off down back away again too also not then so about around over under "
    "through during since than if who which what how where why a an the this these those all "
    "along together alone only just instead within without among between against"
)

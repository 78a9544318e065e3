"""Animacy up: ``It lost its roof`` becomes ``He lost his roof``."""

from __future__ import annotations

from dataclasses import dataclass

from coherencegym.manipulations.connectives.connective_substitution import in_case_of
from coherencegym.manipulations.probes.inflection import lemma
from coherencegym.manipulations.probes.probe import Replacement
from coherencegym.manipulations.probes.pronouns import begins, begins_a_name, begins_noun_phrase
from coherencegym.manipulations.probes.sentence import Sentence
from coherencegym.manipulations.probes.tagging import ADVERBS, BE, FINITE
from coherencegym.manipulations.probes.words import word_list, word_set

_FORMS = {"it": "he", "object": "him", "its": "his", "itself": "himself"}
_QUOTES = frozenset(('"', "“", "”", "«", "»", "``", "''"))
#: Words that come with an expletive's clause: ``it is clear that``, ``it was there that``, ``to``.
_CLAUSE_WORDS = word_set(
    "that who whom which whether if how why what where when to until because as since like "
    "before after for"
)
_WEATHER_AND_TIME = word_set(
    "rain snow hail drizzle thunder storm freeze thaw seem appear turn happen matter transpire "
    "occur follow suffice remain"
)
_TAKES = word_set("take cost require")
#: Verbs that take ``it`` and an adjective before a clause: ``made it clear that``, ``found it hard
#: to``; and set phrases: ``call it a day``, ``make it to the final``.
_OBJECT_EXPLETIVES = word_set(
    "make find think consider believe deem call get take leave keep have put feel hold hit owe see "
    "lose bring run play rough wing tough live fight go"
)


@dataclass(frozen=True)
class AnimacyUp:
    """Every ``it`` becomes ``he``, in the case that the grammar asks for.

    Always ``he`` and never ``she``, so that the result does not hang on a draw. Sound: no ``it`` of
    the sentence can be an expletive (weather, time, ``it is clear that``, ``it was there that``,
    ``make it possible to``), part of a name or a quotation, and no ``he`` is there already.
    """

    name: str = "animacy_up"

    def __call__(self, sentence: Sentence) -> tuple[Replacement, ...]:
        """One replacement for each pronoun."""
        places = [
            index
            for index, word in enumerate(sentence.words)
            if word.lower in ("it", "its", "itself")
        ]
        taken = {"he", "him", "his", "himself", "she", "her", "hers", "herself"}
        if not taken.isdisjoint(sentence.lowers) or sentence.lowers[-1:] == ("?",):
            return ()
        replacements = []
        for index in places:
            word = sentence.words[index]
            case = _case(sentence, index)
            if case == "subject" and _may_be_expletive(sentence, index):
                return ()
            if case is None or not _is_plain(sentence, index):
                return ()
            form = _FORMS["object"] if case == "object" else _FORMS[word.lower]
            replacements.append(Replacement(word.start, word.end, in_case_of(word.text, form)))
        return tuple(replacements)


def _case(sentence: Sentence, index: int) -> str | None:
    """The case of the pronoun at an index; none where it is uncertain."""
    words = sentence.words
    if words[index].lower != "it":
        return "possessive" if words[index].lower == "its" else "reflexive"
    after = [word for word in words[index + 1 : index + 4] if not word.is_only(ADVERBS)]
    before = words[index - 1] if index else None
    finite = bool(after) and after[0].may_be(FINITE)
    if before is not None and before.is_only(("VB", "VBG", "TO", "VBZ")):
        return None if finite and not after[0].is_only(("VBN", "NN", "NNS", "JJ")) else "object"
    if before is not None and before.lower in _PREPOSITIONS:
        return None if finite else "object"
    if finite:
        return "subject" if _only_finite(sentence, index) else None
    if before is not None and before.may_be(("VBD", "VBN", "VBP")) and not finite:
        return "object"
    return None


_PREPOSITIONS = word_set(
    "of in on at by from with about against between into through during over under to upon within "
    "without around behind beyond near inside toward towards across along onto beneath above below "
    "beside via up down off out"
)


def _only_finite(sentence: Sentence, index: int) -> bool:
    after = [word for word in sentence.words[index + 1 : index + 4] if not word.is_only(ADVERBS)]
    return after[0].may_be(FINITE) and not after[0].may_be(("TO", "IN", "DT"))


def _may_be_expletive(sentence: Sentence, index: int) -> bool:
    """Tell whether the subject at an index may mean nothing."""
    words = sentence.words
    after = [word for word in words[index + 1 :] if not word.is_only(ADVERBS)]
    verb = after[0]
    rest = after[1:]
    while rest and (rest[0].lower in BE or rest[0].lower in ("have", "has", "had")):
        verb, rest = rest[0], rest[1:]
    if verb.may_be(("MD",)) and rest:
        verb, rest = rest[0], rest[1:]
        while rest and rest[0].lower in BE:
            verb, rest = rest[0], rest[1:]
    main = lemma(verb.lower, "VERB")
    if main in _WEATHER_AND_TIME:
        return True
    if main in _TAKES or verb.lower in BE or verb.lower in ("'s", "become", "became", "becomes"):
        if rest and rest[0].lower in word_list("expletive_predicates"):
            return True
        following = [word.lower for word in rest]
        if not _CLAUSE_WORDS.isdisjoint(following[1:6]) and not _is_passive(rest, following):
            return True
        # A cleft can have its clause far off: ``it was the King of France who``.
        return not {"that", "who", "whom"}.isdisjoint(following[:12])
    return False


def _is_passive(rest: list, following: list[str]) -> bool:  # type: ignore[type-arg]
    """``It was released as``: a participle of a verb that takes no clause, so ``it`` is a thing."""
    if not rest or not rest[0].is_only(("VBN", "VBD", "JJ")) or not rest[0].may_be(("VBN",)):
        return False
    return rest[0].lower not in word_list("clause_participles")


def _owns(sentence: Sentence, index: int) -> bool:
    """Tell whether ``its`` is no slip for ``it's``: ``its a small town``, ``its probably late``."""
    owned = begins_noun_phrase(sentence, index)
    after = sentence.words[index + 1 : index + 2]
    return bool(owned) or (owned is None and not after[0].is_only(ADVERBS))


def _is_plain(sentence: Sentence, index: int) -> bool:
    words = sentence.words
    word = words[index]
    if word.text != word.text.lower() and not begins(sentence, index):
        return False
    if begins_a_name(sentence, index):
        return False
    if sum(other.lower in _QUOTES for other in words[:index]) % 2:
        return False
    if word.lower == "its" and not _owns(sentence, index):
        return False
    near = {w.lower for w in words[max(0, index - 2) : index + 3]}
    if near & {"/", "they", "their", "them"}:
        return False
    before = words[index - 1] if index else None
    if before is None:
        return True
    if before.lower in ("a", "an", "the", "as", "this", "that's", "not", "-", "so"):
        # "as it" is mostly "as it were", "as it is", where nothing is meant.
        return before.lower in ("as", "so") and words[index].lower in ("its", "itself")
    if word.lower == "itself" and before.may_be(("NN", "NNP")):
        return False  # "the lake itself"
    return word.lower != "it" or lemma(before.lower, "VERB") not in _OBJECT_EXPLETIVES

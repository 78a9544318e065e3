"""Gender flip and animacy down and up: one personal pronoun in the place of another."""

from __future__ import annotations

from collections.abc import Sequence

from coherencegym.manipulations.probes.inflection import lemma
from coherencegym.manipulations.probes.probe import Replacement, apply, put
from coherencegym.manipulations.probes.pronouns import (
    FEMININE,
    MASCULINE,
    QUOTES,
    Pronoun,
    begins_noun_phrase,
    in_a_name,
    nearest_is_inanimate,
    personal_pronouns,
)
from coherencegym.manipulations.probes.sentence import (
    Tagged,
    TaggedSentence,
    analyse,
    first_plain,
    plain,
    word_at,
)
from coherencegym.manipulations.probes.tagging import ADVERBS, BE, FINITE
from coherencegym.words import word_list, word_set

_NEUTER = {"subject": "it", "object": "it", "possessive": "its", "reflexive": "itself"}
_OTHER = {"feminine": MASCULINE, "masculine": FEMININE}

#: Words that come with an expletive's clause: ``it is clear that``, ``it was there that``, ``to``.
_CLAUSE_WORDS = word_list("expletive_clauses")
_WEATHER_AND_TIME = word_list("expletive_verbs")
_TAKES = word_set("take cost require")
#: Verbs that take ``it`` and an adjective before a clause: ``made it clear that``, ``found it hard
#: to``; and set phrases: ``call it a day``, ``make it to the final``.
_OBJECT_EXPLETIVES = word_list("object_expletives")
_PREPOSITIONS = word_list("prepositions")


def gender_flip(sentence: TaggedSentence) -> tuple[Replacement, ...]:
    """Every ``he`` becomes ``she``, every ``she`` ``he``, in the case that the grammar asks for.

    Sound: all gendered pronouns of the sentence have one gender (so they are taken to corefer), no
    word tells the sex of the one they mean (:mod:`manipulations.probes.pronouns`), and flipping
    the result gives the sentence back, which holds only where the case of ``her`` and ``his`` is
    certain. First names do not count: whose they are is not for grammar to say.
    """
    flips = _flips(_of_one_gender(sentence))
    if not flips:
        return ()
    flipped = analyse(apply(sentence.text, flips), sentence.pipeline)
    back = _flips(personal_pronouns(flipped) or ())
    return flips if apply(flipped.text, back) == sentence.text else ()


def _of_one_gender(sentence: TaggedSentence) -> tuple[Pronoun, ...]:
    pronouns = personal_pronouns(sentence) or ()
    return pronouns if len({pronoun.gender for pronoun in pronouns}) == 1 else ()


def _flips(pronouns: Sequence[Pronoun]) -> tuple[Replacement, ...]:
    return tuple(put(_OTHER[one.gender][one.case], one.word) for one in pronouns)


def animacy_down(sentence: TaggedSentence) -> tuple[Replacement, ...]:
    """Every ``he`` or ``she`` becomes ``it``: ``She lost her way`` → ``It lost its way``.

    Sound: as for the gender flip, all gendered pronouns have one gender and no word tells their
    sex; none is independent (``a friend of his``: English has no such ``its``); the sentence has no
    ``it`` already that the new ones could be taken for; and what stands nearest before the first of
    them, here or in the sentences before, is no thing, which ``it`` could well mean
    (:func:`manipulations.probes.pronouns.nearest_is_inanimate`).
    """
    pronouns = _of_one_gender(sentence)
    independent = any(pronoun.case == "independent" for pronoun in pronouns)
    if not pronouns or independent or not {"it", "its", "itself"}.isdisjoint(sentence.lowers):
        return ()
    first = pronouns[0]
    at = sentence.words.index(first.word)
    if nearest_is_inanimate(sentence, at, first.case == "object"):
        return ()
    return tuple(put(_NEUTER[pronoun.case], pronoun.word) for pronoun in pronouns)


def animacy_up(sentence: TaggedSentence) -> tuple[Replacement, ...]:
    """Every ``it`` becomes ``he``: ``It lost its roof`` → ``He lost his roof``.

    Always ``he`` and never ``she``, so that the result does not hang on a draw. Sound: no ``it`` of
    the sentence can be an expletive (weather, time, ``it is clear that``, ``it was there that``,
    ``make it possible to``), part of a name or a quotation, and no ``he`` is there already.
    """
    taken = {*MASCULINE.values(), *FEMININE.values()}
    words = sentence.words
    if not taken.isdisjoint(sentence.lowers) or sentence.lowers[-1:] == ("?",):
        return ()
    replacements = []
    for index, word in enumerate(words):
        if word.lower not in ("it", "its", "itself"):
            continue
        case = _case_of_it(words, index)
        if case is None or not _is_plain(words, index):
            return ()
        if case == "subject" and _may_be_expletive(plain(words[index + 1 :])):
            return ()
        replacements.append(put(MASCULINE[case], word))
    return tuple(replacements)


def _case_of_it(words: Sequence[Tagged], index: int) -> str | None:
    if words[index].lower != "it":
        return "possessive" if words[index].lower == "its" else "reflexive"
    before, after = word_at(words, index - 1), first_plain(words[index + 1 : index + 4])
    finite = after.may_be(FINITE)
    if before.is_only(("VB", "VBG", "TO", "VBZ")) or before.lower in _PREPOSITIONS:
        return None if finite else "object"
    if finite:
        return None if after.may_be(("TO", "IN", "DT")) else "subject"
    return "object" if before.may_be(("VBD", "VBN", "VBP")) else None


def _may_be_expletive(after: Sequence[Tagged]) -> bool:
    verb, rest = _last_verb(after)
    main = lemma(verb.lower, "VERB")
    if main in _WEATHER_AND_TIME:
        return True
    linking = BE | {"'s", "become", "became", "becomes"}
    if main not in _TAKES and verb.lower not in linking:
        return False
    following = [word.lower for word in rest]
    predicate = word_at(rest, 0)
    clause = not _CLAUSE_WORDS.isdisjoint(following[1:6]) and not _is_passive(predicate)
    # A cleft can have its clause far off: ``it was the King of France who``.
    cleft = not {"that", "who", "whom"}.isdisjoint(following[:12])
    return predicate.lower in word_list("expletive_predicates") or clause or cleft


def _last_verb(words: Sequence[Tagged]) -> tuple[Tagged, Sequence[Tagged]]:
    at = 0
    while word_at(words, at + 1).lower in BE | {"have", "has", "had"}:
        at += 1
    if words[at].may_be(("MD",)) and at + 1 < len(words):
        at += 1
        while word_at(words, at + 1).lower in BE:
            at += 1
    return words[at], words[at + 1 :]


def _is_passive(word: Tagged) -> bool:
    # ``It was released as``: of a verb that takes no clause, so ``it`` is a thing.
    participle = word.is_only(("VBN", "VBD", "JJ")) and word.may_be(("VBN",))
    return participle and word.lower not in word_list("clause_participles")


def _is_plain(words: Sequence[Tagged], index: int) -> bool:
    near = {word.lower for word in words[max(0, index - 2) : index + 3]}
    quoted = sum(word.lower in QUOTES for word in words[:index]) % 2
    if in_a_name(words, index) or quoted or near & {"/", "they", "their", "them"}:
        return False
    if words[index].lower == "its" and not _owns(words, index):
        return False
    return index == 0 or _may_stand_behind(words[index - 1], words[index].lower)


def _owns(words: Sequence[Tagged], index: int) -> bool:
    # No slip for ``it's``: ``its a small town``, ``its probably late``.
    owned = begins_noun_phrase(words, index)
    return bool(owned) or (owned is None and not words[index + 1].is_only(ADVERBS))


def _may_stand_behind(before: Tagged, pronoun: str) -> bool:
    if before.lower in ("a", "an", "the", "as", "this", "that's", "not", "-", "so"):
        # "as it" is mostly "as it were", "as it is", where nothing is meant.
        return before.lower in ("as", "so") and pronoun != "it"
    if pronoun == "itself":
        return not before.may_be(("NN", "NNP"))  # "the lake itself"
    return pronoun == "its" or lemma(before.lower, "VERB") not in _OBJECT_EXPLETIVES

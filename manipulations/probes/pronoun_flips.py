"""Gender flip and animacy down and up: one personal pronoun in the place of another.

The gendered pronouns of a sentence, their case, and what they could stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coherencegym.manipulations.probes.sentence import (
    ADVERBS,
    BE,
    FINITE,
    HAVE,
    NOUNS,
    VERBAL,
    Replacement,
    Tagged,
    TaggedSentence,
    analyse,
    apply,
    first_plain,
    plain,
    possible_tags,
    put,
    verb_lemma,
    word_at,
)
from coherencegym.manipulations.probes.verbs import main_verb
from coherencegym.manipulations.reference.mention_rules import (
    GENDERED_NOUNS,
    PRONOUNS,
    other_gender,
)
from coherencegym.words import word_list, word_set

_GENDERS = {form: gender for gender, forms in PRONOUNS.items() for form in forms.values()}
_CASE_OF = {form: case for forms in PRONOUNS.values() for case, form in forms.items()}
#: Relatives: another person, whose sex says nothing of the one whose relative it is.
_KIN = word_list("kin")
#: Verbs with two objects, or with an object and what it is or does: after them ``her`` and a noun
#: may be one phrase or two (``gave her flowers``, ``named her Mary``, ``made her work``).
_TWO_OBJECTS = word_list("two_object_verbs")
#: Words behind ``made her`` and the like that can only be what she has.
_SINGULAR_AFTER = word_list("owned_after_verbs")
_POSSESSED = word_set("own first second third last late next best most more many other")
_NEVER_POSSESSED = word_list("never_possessed")
#: Tags of words that begin no noun phrase.
_BEGINS_NONE = word_set("IN TO CC DT MD WDT WRB WP PRP PRP$ RP VBZ")
#: Tags of forms of which some begin a noun phrase, whatever the form is taken for elsewhere.
_MAY_BEGIN = word_set("NN NNS JJ JJR VB VBP VBZ")
_MARKS = word_set(". , ; : ? ! … )") | {""}
_QUOTES = frozenset(('"', "“", "”", "«", "»", "``", "''"))
_PERSONAL = word_set("i me my he him his she her hers himself herself")
_THINGS = word_set("it its itself")
_DETERMINERS = frozenset(("DT", "PRP$", "WP$"))
#: A phrase is looked back through this many words for its determiner.
_LONGEST_PHRASE = 6
_NAMES = frozenset(("NNP", "NNPS"))
_BEFORE_PLACES = word_set("in at from to near into of across throughout around outside inside via")
_TIMES = word_list("time_nouns")
_PEOPLE_ENDINGS = ("man", "woman", "person", "ist", "ian")
_NEUTER = {"subject": "it", "object": "it", "possessive": "its", "reflexive": "itself"}

#: Words that come with an expletive's clause: ``it is clear that``, ``it was there that``, ``to``.
_CLAUSE_WORDS = word_list("expletive_clauses")
_WEATHER_AND_TIME = word_list("expletive_verbs")
_TAKES = word_set("take cost require")
#: Verbs that take ``it`` and an adjective before a clause: ``made it clear that``, ``found it hard
#: to``; and set phrases: ``call it a day``, ``make it to the final``.
_OBJECT_EXPLETIVES = word_list("object_expletives")
_PREPOSITIONS = word_list("prepositions")


@dataclass(frozen=True, slots=True)
class _Pronoun:
    """A pronoun, its gender, and its case: subject, object, possessive, independent, reflexive."""

    word: Tagged
    gender: str
    case: str


def gender_flip(sentence: TaggedSentence) -> tuple[Replacement, ...]:
    """Every ``he`` becomes ``she``, every ``she`` ``he``, in the case that the grammar asks for.

    Sound: all gendered pronouns of the sentence have one gender (so they are taken to corefer), no
    word tells the sex of the one they mean, and flipping the result gives the sentence back, which
    holds only where the case of ``her`` and ``his`` is certain. First names do not count: whose
    they are is not for grammar to say.
    """
    flips = _flips(_of_one_gender(sentence))
    if not flips:
        return ()
    flipped = analyse(apply(sentence.text, flips))
    back = _flips(_personal_pronouns(flipped) or ())
    return flips if apply(flipped.text, back) == sentence.text else ()


def _of_one_gender(sentence: TaggedSentence) -> tuple[_Pronoun, ...]:
    pronouns = _personal_pronouns(sentence) or ()
    return pronouns if len({pronoun.gender for pronoun in pronouns}) == 1 else ()


def _flips(pronouns: Sequence[_Pronoun]) -> tuple[Replacement, ...]:
    return tuple(
        put(PRONOUNS[other_gender(each.gender)][each.case], each.word) for each in pronouns
    )


def animacy_down(sentence: TaggedSentence) -> tuple[Replacement, ...]:
    """Every ``he`` or ``she`` becomes ``it``: ``She lost her way`` → ``It lost its way``.

    Sound: as for the gender flip, all gendered pronouns have one gender and no word tells their
    sex; none is independent (``a friend of his``: English has no such ``its``); the sentence has no
    ``it`` already that the new ones could be taken for; and what stands nearest before the first of
    them, here or in the sentences before, is no thing, which ``it`` could well mean.
    """
    pronouns = _of_one_gender(sentence)
    independent = any(pronoun.case == "independent" for pronoun in pronouns)
    if not pronouns or independent or not {"it", "its", "itself"}.isdisjoint(sentence.lowers):
        return ()
    first = pronouns[0]
    at = sentence.words.index(first.word)
    if _nearest_is_inanimate(sentence, at, first.case == "object"):
        return ()
    return tuple(put(_NEUTER[pronoun.case], pronoun.word) for pronoun in pronouns)


def animacy_up(sentence: TaggedSentence) -> tuple[Replacement, ...]:
    """Every ``it`` becomes ``he``: ``It lost its roof`` → ``He lost his roof``.

    Always ``he`` and never ``she``, so that the result does not hang on a draw. Sound: no ``it`` of
    the sentence can be an expletive (weather, time, ``it is clear that``, ``it was there that``,
    ``make it possible to``), part of a name or a quotation, and no ``he`` is there already.
    """
    words = sentence.words
    if not _GENDERS.keys().isdisjoint(sentence.lowers) or sentence.lowers[-1:] == ("?",):
        return ()
    replacements = []
    for index, word in enumerate(words):
        if word.lower not in ("it", "its", "itself"):
            continue
        case = _case_of_it(words, index)
        if case is None or not _is_plain_it(words, index):
            return ()
        if case == "subject" and _may_be_expletive(plain(words[index + 1 :])):
            return ()
        replacements.append(put(PRONOUNS["masculine"][case], word))
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
    main = verb_lemma(verb.lower)
    # ``It has rained``, ``it won't stop snowing``, ``it is going to rain``.
    tags = ("VBN",) if verb.lower in HAVE else ("VB", "VBG")
    verbs = (verb, *(word for word in rest[:3] if word.may_be(tags)))
    if any(verb_lemma(word.lower) in _WEATHER_AND_TIME for word in verbs):
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


def _is_plain_it(words: Sequence[Tagged], index: int) -> bool:
    near = {word.lower for word in words[max(0, index - 2) : index + 3]}
    quoted = sum(word.lower in _QUOTES for word in words[:index]) % 2
    if _in_a_name(words, index) or quoted or near & {"/", "they", "their", "them"}:
        return False
    if words[index].lower == "its" and not _owns(words, index):
        return False
    return index == 0 or _may_precede_it(words[index - 1], words[index].lower)


def _owns(words: Sequence[Tagged], index: int) -> bool:
    # No slip for ``it's``: ``its a small town``, ``its probably late``.
    owned = _may_begin_noun_phrase(words, index)
    return bool(owned) or (owned is None and not words[index + 1].is_only(ADVERBS))


def _may_precede_it(before: Tagged, pronoun: str) -> bool:
    if before.lower in ("a", "an", "the", "as", "this", "that's", "not", "-", "so"):
        # "as it" is mostly "as it were", "as it is", where nothing is meant.
        return before.lower in ("as", "so") and pronoun != "it"
    if pronoun == "itself":
        return not before.may_be(("NN", "NNP"))  # "the lake itself"
    return pronoun == "its" or verb_lemma(before.lower) not in _OBJECT_EXPLETIVES


def _personal_pronouns(sentence: TaggedSentence) -> tuple[_Pronoun, ...] | None:
    """The pronouns ``he`` and ``she`` in all their cases; none where they cannot be flipped safely.

    Not safe: the case is uncertain; a pronoun is part of a name or of a quotation; it is no pronoun
    (``a she``); it stands for anybody (``he or she``, ``he who``); a noun or title in the sentence
    tells a sex, unless it is a relative's (``his mother``).
    """
    found: list[_Pronoun] = []
    quoted = False
    for index, word in enumerate(sentence.words):
        if word.lower in _QUOTES:
            quoted = not quoted
        if word.lower not in _GENDERS:
            continue
        case = _case(sentence.words, index)
        if case is None or quoted or not _is_plain(sentence.words, index):
            return None
        found.append(_Pronoun(word, _GENDERS[word.lower], case))
    return None if found and _names_a_sex(sentence.words) else tuple(found)


def _names_a_sex(words: Sequence[Tagged]) -> bool:
    for index, word in enumerate(words):
        # A hyphen makes three tokens of ``half-brother``; the last says enough.
        if word.lower in GENDERED_NOUNS or word.lower.rstrip(".") in GENDERED_NOUNS:
            before = {other.lower for other in words[max(0, index - 3) : index]}
            if word.lower not in _KIN or before.isdisjoint(("his", "her")):
                return True
    return False


def _is_plain(words: Sequence[Tagged], index: int) -> bool:
    lower, after = words[index].lower, word_at(words, index + 1).lower
    if _in_a_name(words, index) or not _may_stand_behind(words, index):
        return False
    near = {word.lower for word in words[max(0, index - 2) : index + 3]}
    others = {"he", "she", "his", "her", "him", "they", "their", "it", "its"} - {lower}
    if near & {"/", "or"} and near & others:
        return False
    if after in ("who", "that", "whom", "-", "/"):
        return after == "that" and lower in ("him", "her")
    return True


def _may_stand_behind(words: Sequence[Tagged], index: int) -> bool:
    lower, before = words[index].lower, word_at(words, index - 1).lower
    if before in ("or", "and"):
        begins_clause = first_plain(words[index + 1 : index + 4]).may_be(FINITE)
        return lower in ("his", "her", "him") or (lower in ("he", "she") and begins_clause)
    if before == "(":
        return lower in ("he", "she", "his", "her")
    return before not in ("/", "a", "an", "the", "-", "’", "'", "dear", "oh")


def _in_a_name(words: Sequence[Tagged], index: int) -> bool:
    """True where a capital is not the sentence's, or one follows: ``She Wore``, ``His Majesty``."""
    word, after = words[index], word_at(words, index + 1)
    first = not any(c.isalnum() for earlier in words[:index] for c in earlier.text)
    followed = word.text[0].isupper() and after.text[:1].isupper()
    return followed or (word.text != word.text.lower() and not first)


def _case(words: Sequence[Tagged], index: int) -> str | None:
    word = words[index]
    if word.lower not in ("his", "her"):
        return _CASE_OF[word.lower]
    possessive = _begins_noun_phrase(words, index)
    if possessive is None:
        return None
    if not possessive:
        return "object" if word.lower == "her" else "independent"
    uncertain = word.lower == "her" and _two_objects(word_at(words, index - 1), words[index + 1])
    return None if uncertain else "possessive"


def _two_objects(verb: Tagged, after: Tagged) -> bool:
    if verb.lower != "had" and verb_lemma(verb.lower) not in _TWO_OBJECTS:
        return False
    tags = ("NNS", "NNP", "NNPS", "JJ", "VB", "VBG", "VBN", "CD", "RB")
    return after.lower not in _SINGULAR_AFTER and after.may_be(tags)


def _begins_noun_phrase(words: Sequence[Tagged], index: int) -> bool | None:
    """Tell whether a noun phrase follows that a possessive could begin; none: uncertain."""
    word, after = word_at(words, index + 1), word_at(words, index + 2)
    if not any(character.isalnum() for character in word.text):
        return False if word.text in _MARKS else None
    begins = _may_begin_noun_phrase(words, index)
    # ``his act``, ``her will``, ``his opposite hand``, ``her half-cousin``, ``his All Star game``.
    function = word.lower in BE | HAVE | _NEVER_POSSESSED
    name = word.text != word.lower and word.text != "I"
    doubtful = (
        name or after.text == "-" or (not function and possible_tags(word.lower) & _MAY_BEGIN)
    )
    return None if begins is False and doubtful else begins


def _may_begin_noun_phrase(words: Sequence[Tagged], index: int) -> bool | None:
    word, after = word_at(words, index + 1), word_at(words, index + 2)
    if word.lower in _POSSESSED:
        return True
    if word.is_only(_BEGINS_NONE) or word.lower in _NEVER_POSSESSED:
        return False
    if word.is_only(ADVERBS):
        return _begins_behind_adverb(after, word_at(words, index + 3))
    if not word.may_be(NOUNS | {"JJ", "JJR", "JJS", "CD"}):
        return None if word.may_be(("VBG", "VBN")) else False
    if word.may_be(ADVERBS):
        return _is_certain_noun(after)
    if word.may_be(("IN", "DT", "TO", "MD")):
        return None
    return word.may_be(NOUNS | {"JJ"}) or not word.may_be(("VBD", "VBZ"))


def _begins_behind_adverb(word: Tagged, after: Tagged) -> bool | None:
    # ``Her very old house``.
    if not word.may_be(("JJ", "VBN", "VBG")):
        return False
    return _is_certain_noun(after) if word.is_only(("JJ", "VBN", "NN", "NNS")) else None


def _is_certain_noun(word: Tagged) -> bool | None:
    # Behind a possible adjective: ``her late husband``.
    if word.is_only(NOUNS | {"JJ", "CD"}) or word.is_only(NOUNS | {"VB", "VBP", "JJ"}):
        return True
    return True if word.may_be(NOUNS) and not word.may_be(VERBAL | {"IN", "TO", "DT"}) else None


def _nearest_is_inanimate(sentence: TaggedSentence, at: int, is_object: bool) -> bool:
    """True where the nearest candidate before the pronoun at an index is a thing.

    Looked for through its sentence and those before it. Passed over is what neither ``it`` nor
    ``he`` is likely to take up: plurals, times, places behind their preposition (``in Rome``),
    nouns without a determiner (``at school``), and for an object (``is_object``) the subject of its
    own clause (``The club signed him``).
    """
    verb = main_verb(sentence) if is_object else None
    barred = verb.subject if verb is not None and verb.index < at else ()
    found = _last_kind(sentence.words[:at], barred)
    for text in reversed(sentence.preceding):
        found = found or _last_kind(analyse(text).words)
    return found == "thing"


def _last_kind(words: Sequence[Tagged], barred: Sequence[int] = ()) -> str | None:
    kinds = (_kind(words, at) for at in reversed(range(len(words))) if at not in barred)
    return next((kind for kind in kinds if kind is not None), None)


def _kind(words: Sequence[Tagged], at: int) -> str | None:
    word, after = words[at], word_at(words, at + 1)
    if word.lower in _PERSONAL | _THINGS:
        return "thing" if word.lower in _THINGS else "person"
    if after.may_be(NOUNS) and not after.may_be(("VBD", "VBZ", "VBP", "IN")):
        return None  # no head: "the football *club*"
    if word.lower in _TIMES or not word.may_be(("NN", "NNP")):
        return None
    if word.is_only(_NAMES):
        return _kind_of_name(words, at)
    if _is_person(word):
        return "person"
    return "thing" if _determined(words, at) else None


def _kind_of_name(words: Sequence[Tagged], at: int) -> str | None:
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


def _is_person(noun: Tagged) -> bool:
    listed = noun.lower in word_list("person_nouns") | GENDERED_NOUNS
    return listed or noun.lower.endswith(_PEOPLE_ENDINGS)


def _determined(words: Sequence[Tagged], at: int) -> bool:
    for word in reversed(words[max(0, at - _LONGEST_PHRASE) : at]):
        if word.may_be(_DETERMINERS) and not word.may_be(("IN",)):
            return True
        if not word.may_be(NOUNS | {"JJ", "JJR", "JJS", "CD", "VBN", "VBG", "POS", "RB", "-"}):
            return False
    return False

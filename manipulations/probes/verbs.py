"""Negation and future: ``He walked home`` becomes ``He did not walk home``, and ``will walk``.

Of the future, past verbs that are coordinated with the main verb become one, too. The words behind
that are read from left to right, and each that may be a past verb is judged by its neighbours:
``True`` where it is coordinated, ``False`` where it is not (a participle, the verb of a relative
clause), none where the rules cannot tell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from coherencegym.manipulations.probes.clauses import (
    RELATIVES,
    SUBORDINATORS,
    MainVerb,
    main_verb,
    visible,
)
from coherencegym.manipulations.probes.inflection import base_form
from coherencegym.manipulations.probes.sentence import (
    ADVERBS,
    BE,
    FINITE,
    NOMINATIVE,
    NOUNS,
    Replacement,
    Tagged,
    TaggedSentence,
    first_plain,
    put,
    word_at,
)
from coherencegym.words import word_list, word_set

#: A sentence with one of these is negative already, or what it says would not bear a negation.
_NEGATIVE = word_list("negative_words")
#: Words that a negation would have to change: ``some`` to ``any``, ``already`` to ``yet``.
_POSITIVE = word_list("positive_words")
#: Quantifiers: if the subject has one, it is not clear what is denied.
_QUANTIFIERS = word_list("quantified_subjects")
#: Nouns of ``there are a number of``: a negation would ask for ``there are no``.
_MANY = word_set("number variety lot series range couple several")
#: Adverbs that stand before ``not``: ``it also did not``, ``is therefore not``.
_BEFORE_NOT = word_list("before_not")
#: Words that take a negation to themselves behind the verb, so that the clause need not be denied:
#: ``will not be discussed in detail``, ``does not detect at least one``, ``was not sold because``.
_FOCUS = word_list("negation_focus")
#: Adverbs in -ly that say nothing of how something is done.
_NO_MANNER = word_set("finally recently lately formerly eventually subsequently previously early")
#: Nouns of ``in detail``, ``in full``.
_EXTENT = word_set("detail full part particular general depth order total addition")
#: Modals of what may be so, and may also not be so.
_POSSIBLE = word_set("may might could")
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_HAVE = ("has", "have", "had")
_DO = {"VBD": "did not", "VBZ": "does not", "VBP": "do not"}
#: Verbs that are no auxiliaries and do not take ``do`` well either.
_UNSURE = word_set("used ought need dare")

#: Verbs whose clause would have to change its tense as well, and verbs without a future.
_REPORTING = word_list("tense_bound_verbs")
_MODALS = word_set("could would might should")
_NOT = ("not", "n't")
_IRREGULAR = {"had": "have", "did": "do"}


#: Adverbs and degree words that belong to what follows the verb: ``was very small``.
_AFTER_VERB = word_list("after_verb")
_CONJUNCTIONS = frozenset(("and", "but", "or"))
_SUBJECTS = NOMINATIVE | {"it", "there", "this"}


def negation(sentence: TaggedSentence) -> tuple[Replacement, ...]:
    """``not`` after the first auxiliary of the main clause, or with ``do`` where there is none.

    Sound: the sentence is not negative already, has no word that would have to change with it
    (``some``, ``already``), its subject is not quantified, and nothing behind the verb takes the
    negation to itself (quantities, manner, reasons: ``will not be discussed in detail``).
    """
    if not _NEGATIVE.union(_POSITIVE).isdisjoint(sentence.lowers):
        return ()
    verb = main_verb(sentence)
    if verb is None:
        return ()
    words = sentence.words
    quantified = not _QUANTIFIERS.isdisjoint(words[index].lower for index in verb.subject)
    many = not _MANY.isdisjoint(word.lower for word in words[verb.index + 1 : verb.index + 5])
    if quantified or many or _is_partial(words, verb):
        return ()
    return _behind_auxiliary(words, verb) or _with_do(words, verb)


def _is_partial(words: Sequence[Tagged], verb: MainVerb) -> bool:
    # It could deny only how, how many, why, or that it may be.
    if words[verb.index].lower in _POSSIBLE:
        return True
    return any(
        _takes_negation(word, word_at(words, at))
        for at, word in enumerate(words[verb.adverbs :], verb.adverbs + 1)
    )


def _takes_negation(word: Tagged, after: Tagged) -> bool:
    if word.lower in _FOCUS or _is_count(word, after):
        return True
    if word.lower.endswith("ly") and word.is_only(ADVERBS):
        return word.lower not in _NO_MANNER | _BEFORE_NOT
    if word.lower == "in":
        return after.lower in _EXTENT
    # "was not cruising and spotted a ship": is the second denied, too?
    second = after.may_be(("VBD", "VBZ")) and not after.may_be(NOUNS)
    return word.lower in ("and", "or") and second


def _is_count(word: Tagged, after: Tagged) -> bool:
    # ``Three boats``, no date, year or part of a name.
    number = word.is_only(("CD",)) and not _YEAR.fullmatch(word.text)
    return number and after.may_be(("NNS", "JJ", "NN", "CD"))


def _behind_auxiliary(words: Sequence[Tagged], verb: MainVerb) -> tuple[Replacement, ...]:
    word, rest = words[verb.index], words[verb.index + 1 :]
    if not rest or not _is_auxiliary(word, verb.tag, first_plain(rest)):
        return ()
    if rest[0].lower in ("better", "to", "like", "have") and word.lower in ("had", "would"):
        return ()
    if word.lower == "can":
        return (put("cannot", word),)
    place = word.end
    for other in rest:
        if other.lower not in _BEFORE_NOT:
            break
        place = other.end
    return (Replacement(place, place, " not"),)


def _is_auxiliary(word: Tagged, tag: str, following: Tagged) -> bool:
    if word.lower in ("'d", "'ve", "'ll", "'m"):
        return False
    if word.lower == "'s":
        return bool(following.text) and not following.may_be(("NN", "NNS", "NNP"))
    if word.lower in _HAVE:
        return following.may_be(("VBN",)) and following.lower != "had"
    return (word.lower in BE or tag == "MD") and word.lower not in _UNSURE


def _with_do(words: Sequence[Tagged], verb: MainVerb) -> tuple[Replacement, ...]:
    word, rest = words[verb.index], words[verb.index + 1 :]
    if verb.tag == "MD" or word.lower in BE | _UNSURE | {"'s"} or not rest:
        return ()
    if _is_coordination(rest) or rest[0].lower in ("not", "n't", "rid"):
        return ()
    base = _base_with_do(word, verb.tag, first_plain(rest))
    if base is None:
        return ()
    adverbs = words[verb.adverbs : verb.index]
    start = next((other.start for other in adverbs if other.lower not in _BEFORE_NOT), word.start)
    return _with_auxiliary(word, start, _DO[verb.tag], base)


def _base_with_do(word: Tagged, tag: str, following: Tagged) -> str | None:
    if word.lower in ("do", "does", "did"):
        return "do"
    if word.lower not in _HAVE:
        return base_form(word.lower, tag)
    auxiliary = not following.text or following.may_be(("VBN",)) or following.lower == "better"
    return None if auxiliary else "have"


def _is_coordination(rest: Sequence[Tagged]) -> bool:
    # ``Built and sold boats``.
    signs = rest[0].text == "," or rest[0].lower in ("and", "or", "as")
    if signs and len(rest) > 1:
        return any(other.may_be(("VBD", "VBZ", "VBP")) for other in rest[1:4])
    return any(
        one.lower in ("and", "or")
        and other.may_be(("VBP", "VB"))
        and not other.may_be(("NN", "JJ", "VBD"))
        for one, other in pairwise(rest)
    )


def past_to_future(sentence: TaggedSentence) -> tuple[Replacement, ...]:
    """The finite past verbs of the main clause become ``will`` and the base form.

    Verbs that are coordinated with the first become so too. Sound: every other past verb stands in
    a relative clause; where one stands in a clause that would have to follow in its tense (``when
    he died``, ``said that``), or may be a participle or not, there is no result. Adverbials of past
    time stay: that they contradict the verb is what the probe is about.
    """
    verb = main_verb(sentence)
    if verb is None or verb.tag != "VBD" or verb.after_clause:
        return ()
    others = _coordinated(sentence, verb)
    if others is None or not _MODALS.isdisjoint(sentence.lowers):
        return ()
    changes = [_to_future(sentence.words, *one) for one in ((verb.index, verb.adverbs), *others)]
    return tuple(one for change in changes for one in change) if all(changes) else ()


def _to_future(words: Sequence[Tagged], index: int, adverbs: int) -> tuple[Replacement, ...]:
    word, rest = words[index], words[index + 1 :]
    negated = word_at(rest, 0).lower in _NOT
    if word.lower in ("was", "were"):
        return _auxiliary_to_future(word, rest, "be")
    if word.lower == "had" and _is_participle(first_plain(rest)):
        return _auxiliary_to_future(word, rest, "have")
    if word.lower == "did" and negated:
        return (Replacement(word.start, rest[0].end, "will not"),)
    base = _base_of(word, rest)
    if base is None:
        return ()
    return _with_auxiliary(word, words[adverbs].start, "will", base)


def _with_auxiliary(word: Tagged, start: int, auxiliary: str, base: str) -> tuple[Replacement, ...]:
    # The auxiliary stands at a character, before the adverbs of the verb.
    if start == word.start:
        return (Replacement(start, word.end, f"{auxiliary} {base}"),)
    return (Replacement(start, start, f"{auxiliary} "), Replacement(word.start, word.end, base))


def _is_participle(word: Tagged) -> bool:
    return word.may_be(("VBN",)) and not word.may_be(("JJ",))


def _auxiliary_to_future(
    word: Tagged, rest: Sequence[Tagged], base: str
) -> tuple[Replacement, ...]:
    following = word_at(rest, 0).lower
    if following in ("to", "being", "better", "going", "about", "all", "both", "each"):
        return ()
    if following in _NOT:
        return (Replacement(word.start, rest[0].end, f"will not {base}"),)
    after = first_plain(rest)
    adverbs = {other.lower for other in rest if other.start < after.start}
    if not adverbs or adverbs & _AFTER_VERB or not after.text[0].isalnum():
        return (Replacement(word.start, word.end, f"will {base}"),)
    if after.lower in ("to", "being"):
        return ()
    place = after.start
    return (Replacement(word.start, word.end, "will"), Replacement(place, place, f"{base} "))


def _base_of(word: Tagged, rest: Sequence[Tagged]) -> str | None:
    if word.lower == "used" and word_at(rest, 0).lower == "to":
        return None
    base = _IRREGULAR.get(word.lower) or base_form(word.lower, "VBD")
    return None if base in _REPORTING and _takes_clause(rest) else base


def _takes_clause(rest: Sequence[Tagged]) -> bool:
    for word in rest:
        if word.lower == "that" or word.is_only(FINITE):
            return True
        if word.lower in RELATIVES | _CONJUNCTIONS or word.text == ";":
            return False
    return False


def _coordinated(sentence: TaggedSentence, verb: MainVerb) -> list[tuple[int, int]] | None:
    # Indices of the verbs, and of the adverbs before each.
    places = [index for index in visible(sentence) or () if index > verb.index]
    behind = [sentence.words[index] for index in places]
    passive = sentence.words[verb.index].lower in BE | {"had"}
    auxiliary = passive and first_plain(behind).may_be(("VBN",))
    found: list[tuple[int, int]] = []
    for at, word in enumerate(behind):
        back = _before_adverbs(behind, at)
        if word.text in (";", ":") or (word.lower == "that" and back < 0):
            return None
        if not word.may_be(("VBD",)) or word.lower == "'s":
            continue
        after_be = any(sentence.words[index].lower in BE for index, _ in found)
        verdict = _is_coordinated(behind, at, auxiliary, after_be)
        if verdict is None:
            return None
        if verdict:
            found.append((places[at], places[back + 1]))
    return found


def _before_adverbs(words: Sequence[Tagged], at: int) -> int:
    return next((back for back in reversed(range(at)) if not words[back].is_only(ADVERBS)), -1)


def _is_coordinated(
    words: Sequence[Tagged], at: int, auxiliary: bool, after_be: bool
) -> bool | None:
    # ``auxiliary``: the main verb is one, with a participle (``was built``); ``after_be``: a
    # coordinated verb that was found earlier is a form of ``be``.
    word, before = words[at], word_at(words, _before_adverbs(words, at))
    certain, joined = word.is_only(FINITE), before.lower in _CONJUNCTIONS | {",", "then"}
    opener = _opener(words[: at + 1])
    if before.lower in _SUBJECTS:
        return {"relative": False}.get(opener)
    if opener:
        doubtful = opener == "subordinate" and (certain or _ends_subject(before))
        return None if joined or doubtful else False
    if certain:
        return True if joined and before.text != "," else None
    if joined:
        return _is_joined(words, at, auxiliary, after_be)
    if not word.may_be(("VBN",)):
        return None  # "fell", which the rules do not tell from "to fell"
    # ", but the board decided", else a participle: "the house built in 1960"
    parallel = _CONJUNCTIONS & {other.lower for other in words[:at]}
    return None if parallel and _ends_subject(before) else False


def _opener(words: Sequence[Tagged]) -> str:
    if any(word.lower in SUBORDINATORS for word in words):
        return "subordinate"
    return "relative" if any(word.lower in RELATIVES for word in words) else ""


def _ends_subject(word: Tagged) -> bool:
    return word.may_be(NOUNS | {"PRP", "RB", "CD"}) or word.lower in ("since", "once")


def _is_joined(words: Sequence[Tagged], at: int, auxiliary: bool, after_be: bool) -> bool | None:
    word, after, back = words[at], word_at(words, at + 1), _before_adverbs(words, at)
    if not word.may_be(("VBN", "VB", "NN", "JJ")):
        return False
    if words[back].text == ",":  # ", followed by"
        return False if word.may_be(("VBN",)) and after.is_only(("IN", "TO")) else None
    if not after.text or after.may_be(NOUNS | {"JJ"}):
        return None
    if auxiliary:  # "was built and opened"
        return False if back == 1 and words[0].may_be(("VBN",)) else None
    if not word.may_be(("VBN",)) or word.may_be(("NN", "VB")) or after.lower == "by":
        return None
    return None if after_be else True  # "aired in May and was written by A and directed"

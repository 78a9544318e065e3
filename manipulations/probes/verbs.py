"""Negation and future: ``He walked home`` becomes ``He did not walk home``, and ``will walk``.

Of the future, past verbs that are coordinated with the main verb become one, too. The words behind
that are read from left to right, and each that may be a past verb is judged by its neighbours:
``True`` where it is coordinated, ``False`` where it is not (a participle, the verb of a relative
clause), none where the rules cannot tell.

What stands in quotation marks or brackets is passed over. The verb is the first word that can be
nothing but a finite verb there, with nothing before it that could begin another clause.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from coherencegym.manipulations.probes.sentence import (
    ADVERBS,
    BE,
    FINITE,
    HAVE,
    NOMINATIVE,
    NOUNS,
    Replacement,
    Tagged,
    TaggedSentence,
    base_form,
    first_plain,
    plain,
    put,
    word_at,
)
from coherencegym.words import word_list, word_set

_OPENING = frozenset("([{“«")
_CLOSING = frozenset(")]}”»")
_STRAIGHT = frozenset(('"', "``", "''"))

#: Words that can begin a clause inside another.
SUBORDINATORS = word_list("subordinators")
RELATIVES = word_set("which who whom whose that where")
#: Words that begin a clause, and are prepositions too.
_PREPOSITIONS_TOO = word_set("until since after before as than once till except so for")
#: First words after which subject and verb change places, or that negate.
_INVERTING = word_list("inverting")
_PRONOUNS_TOO = word_set("this these that those")
_CLAUSE_OPENERS = SUBORDINATORS | RELATIVES | {"for"}
_PRONOUN_SUBJECTS = NOMINATIVE | {"it", "there", "this", "these", "you"}


@dataclass(frozen=True, slots=True)
class MainVerb:
    """The place of the main clause's finite verb.

    Attributes:
        index: the index of the verb in ``Sentence.words``.
        tag: ``VBD``, ``VBZ``, ``VBP`` or ``MD``.
        subject: indices of the words from the clause's beginning to the verb.
        after_clause: true where a subordinate clause stands before the main one.
        adverbs: index of the first of the adverbs that directly precede the verb, or the verb's.
    """

    index: int
    tag: str
    subject: tuple[int, ...]
    after_clause: bool
    adverbs: int


def visible(sentence: TaggedSentence) -> tuple[int, ...] | None:
    """Indices of the words outside quotation marks and brackets; none where a mark is unpaired."""
    shown: list[int] = []
    depth, quoted = 0, False
    for index, word in enumerate(sentence.words):
        if word.text in _STRAIGHT:
            quoted = not quoted
        elif word.text in _OPENING:
            depth += 1
        elif word.text in _CLOSING:
            depth -= 1
        elif depth == 0 and not quoted:
            shown.append(index)
    return tuple(shown) if depth == 0 and not quoted else None


def main_verb(sentence: TaggedSentence) -> MainVerb | None:
    """Find the finite verb of the main clause; none in questions and where it is uncertain."""
    shown = visible(sentence)
    if not shown:
        return None
    words = [sentence.words[index] for index in shown]
    first = words[0]
    if words[-1].text == "?" or first.lower in _INVERTING:
        return None
    if not (shown[0] > 0 or first.text[0].isupper() or first.text[0].isdigit()):
        return None  # the rest of a cut sentence
    behind: tuple[int, bool] | None = 0, False
    if first.lower in SUBORDINATORS | RELATIVES - {"that"}:
        behind = _clause_after_comma(words, 1, strict=first.lower in _PREPOSITIONS_TOO)
    verb = None if behind is None else _verb_from(words, *behind)
    return verb and MainVerb(
        shown[verb.index],
        verb.tag,
        tuple(shown[place] for place in verb.subject),
        verb.after_clause,
        shown[verb.adverbs],
    )


def _verb_from(words: Sequence[Tagged], start: int, after_clause: bool) -> MainVerb | None:
    # Here and below the places are those among the words that are seen.
    passed = False  # a word that may have been the verb
    for place, word in enumerate(words[start:], start):
        if _ends_clause(word, passed):
            return None
        if place > start and word.lower in _CLAUSE_OPENERS:
            if word.lower in _PREPOSITIONS_TOO:
                continue
            behind = _clause_after_comma(words, place, strict=False)
            return None if behind is None else _first_verb(words, behind[0])
        if (tag := _finite_tag(words, place, start)) is not None:
            if passed and word.may_be(("VBN",)):
                return None  # "concentrates on the cup held in May"
            return _verb_at(words, start, place, tag, after_clause)
        if place > start and word.may_be(("VBD", "VBZ")) and _is_noun(words[place - 1]):
            passed = True
    return None


def _ends_clause(word: Tagged, passed: bool) -> bool:
    ends = word.text in (";", ":", "–", "—", "--", "...", "…") or word.lower == "but"
    return ends or (passed and word.lower in ("and", "or"))


def _first_verb(words: Sequence[Tagged], start: int) -> MainVerb | None:
    for place in range(start, len(words)):
        if (tag := _finite_tag(words, place, start)) is not None:
            return _verb_at(words, start, place, tag, after_clause=True)
    return None


def _clause_after_comma(
    words: Sequence[Tagged], place: int, strict: bool
) -> tuple[int, bool] | None:
    # Where it begins, and whether what is before it was surely a clause.
    verbs = False
    for at in range(place, len(words) - 2):
        verbs = verbs or words[at].may_be(FINITE)
        if words[at].text != ",":
            continue
        after = plain(words[at + 1 :])
        if word_at(after, 0).lower in _PRONOUN_SUBJECTS and word_at(after, 1).may_be(FINITE):
            return at + 1, verbs
        if strict and not verbs:  # a preposition's phrase: "After the war, Smith moved"
            return at + 1, False
    return None


def _finite_tag(words: Sequence[Tagged], place: int, start: int) -> str | None:
    word, rest = words[place], words[place + 1 :]
    earlier = reversed(range(start, place))
    back = next((at for at in earlier if not words[at].is_only(ADVERBS | {"RP"})), None)
    if not word.may_be(FINITE) or back is None or not _may_end_subject(words[back]):
        return None
    if word.may_be(("MD",)):
        return "MD" if first_plain(rest).may_be(("VB",)) else None
    before = words[back]
    opens = back == start or words[back - 1].text == ","
    if before.lower in NOMINATIVE or (before.lower in _PRONOUN_SUBJECTS and opens):
        return _finite_after_pronoun(word, before)
    return _finite_after_noun(word, before, rest)


def _may_end_subject(word: Tagged) -> bool:
    if word.lower in ("to", "and", "or", "but"):
        return False
    return word.lower in _PRONOUNS_TOO or not word.is_only(("DT", "PRP$", "MD", "TO"))


def _finite_after_pronoun(word: Tagged, pronoun: Tagged) -> str | None:
    if pronoun.lower in ("this", "these") and word.may_be(NOUNS):
        return None
    return "VBZ" if word.lower == "'s" else _only_tag(word.tags & FINITE, pronoun)


def _finite_after_noun(word: Tagged, before: Tagged, rest: Sequence[Tagged]) -> str | None:
    if word.lower in ("'s", "am"):
        return None
    if word.lower in BE | HAVE | {"does", "do", "did"} or word.is_only(FINITE):
        return _only_tag(word.tags & FINITE, before)
    after = word_at(rest, 0)
    # A participle would belong to the noun that follows it: "the Smith owned company".
    modifies = after.may_be(("NN",)) and not after.may_be(("NNP", "IN", "DT"))
    if word.is_only(("VBD", "VBN")) and _is_noun(before) and not modifies:
        return None if _is_clause_participle(rest) else "VBD"
    several = before.may_be(("NNS", "NNPS")) and not before.may_be(("NN",))
    return "VBP" if several and word.is_only(("VB", "VBP")) else None


def _is_clause_participle(rest: Sequence[Tagged]) -> bool:
    # An agent or the real verb follows.
    if rest and (rest[0].lower == "by" or rest[0].may_be(("VBZ",))):
        return True
    return any(other.is_only(FINITE) and not _opened(rest[:at]) for at, other in enumerate(rest))


def _is_noun(word: Tagged) -> bool:
    return word.may_be(NOUNS | {"CD"}) and not word.may_be(("IN", "RB"))


def _opened(words: Sequence[Tagged]) -> bool:
    openers = SUBORDINATORS | RELATIVES | {"and", "but", "or"}
    return any(word.lower in openers or word.text in ";:" for word in words)


def _only_tag(tags: frozenset[str], subject: Tagged) -> str | None:
    # ``VBP`` and ``VBD`` of one form (``put``) are told apart by ``he``.
    if len(tags) == 1:
        return next(iter(tags))
    third = subject.lower in ("he", "she", "it")
    return "VBD" if tags == {"VBP", "VBD"} and third else None


def _verb_at(
    words: Sequence[Tagged], start: int, place: int, tag: str, after_clause: bool
) -> MainVerb | None:
    subject = words[start:place]
    while len(subject) > 1 and subject[-1].is_only(ADVERBS):
        subject = subject[:-1]
    before, adverbs = subject[-1], start + len(subject)
    # Of "In 1961, he" the clause begins behind the comma, and so it does of "Smith, a painter,".
    commas = [at for at in range(start, place) if words[at].text == ","]
    if before.text == "," and len(commas) < 2:
        return None
    if before.is_only(("IN", "TO", "CC", "MD")):
        return None
    begin = commas[-1] + 1 if commas and before.text != "," else start
    if _is_inverted(words[begin], before, begin + 1 < adverbs):
        return None
    nominal = NOUNS | {"PRP", "EX", "DT", "CD", "VBG"}
    if not any(word.may_be(nominal) for word in words[start:place]):
        return None
    return MainVerb(place, tag, tuple(range(start, place)), after_clause, adverbs)


def _is_inverted(head: Tagged, before: Tagged, longer: bool) -> bool:
    # ``In the middle was``, ``Best known was``; ``longer``: ``head`` and ``before`` are two words.
    if before.lower in _PRONOUN_SUBJECTS:
        return False
    if head.is_only(("VBG", "VBN")) or (head.is_only(("RB",)) and _is_noun(before)):
        return not longer
    return head.may_be(("IN",)) or head.is_only(("TO", "RB", "VBG", "VBN"))


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
        _takes_negation(word, word_at(words, at), first_plain(words[at:]))
        for at, word in enumerate(words[verb.adverbs :], verb.adverbs + 1)
    )


def _takes_negation(word: Tagged, after: Tagged, next_plain: Tagged) -> bool:
    if word.lower in _FOCUS or _is_count(word, after):
        return True
    if word.lower.endswith("ly") and word.is_only(ADVERBS):
        return word.lower not in _NO_MANNER | _BEFORE_NOT
    if word.lower == "in":
        return after.lower in _EXTENT
    # "was not cruising and spotted a ship", "did not get on and fell asleep": is the second denied?
    present = next_plain.may_be(("VBZ",)) and not next_plain.may_be(NOUNS)
    return word.lower in ("and", "or") and (present or next_plain.may_be(("VBD",)))


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

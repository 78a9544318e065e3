"""Past to future: ``He was born in Rome`` becomes ``He will be born in Rome``.

So do past verbs that are coordinated with the main verb. The words behind that are read from left
to right, and each that may be a past verb is judged by its neighbours: ``True`` where it is
coordinated, ``False`` where it is not (a participle, the verb of a relative clause), none where the
rules cannot tell.
"""

from __future__ import annotations

from collections.abc import Sequence

from coherencegym.manipulations.probes.clauses import (
    RELATIVES,
    SUBORDINATORS,
    MainVerb,
    main_verb,
    visible,
)
from coherencegym.manipulations.probes.inflection import base_form
from coherencegym.manipulations.probes.probe import Replacement
from coherencegym.manipulations.probes.sentence import (
    ADVERBS,
    BE,
    FINITE,
    NOMINATIVE,
    NOUNS,
    Tagged,
    TaggedSentence,
    first_plain,
    word_at,
)
from coherencegym.words import word_list, word_set

#: Verbs whose clause would have to change its tense as well, and verbs without a future.
_REPORTING = word_list("tense_bound_verbs")
_MODALS = word_set("could would might should")
_NOT = ("not", "n't")
_IRREGULAR = {"had": "have", "did": "do"}


#: Adverbs and degree words that belong to what follows the verb: ``was very small``.
_AFTER_VERB = word_list("after_verb")
_CONJUNCTIONS = frozenset(("and", "but", "or"))
_SUBJECTS = NOMINATIVE | {"it", "there", "this"}


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
    start = words[adverbs].start
    if start == word.start:
        return (Replacement(start, word.end, f"will {base}"),)
    return (Replacement(start, start, "will "), Replacement(word.start, word.end, base))


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

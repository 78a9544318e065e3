"""The finite verb of a sentence's main clause, found from the left; none where it is uncertain.

What stands in quotation marks or brackets is passed over. The verb is the first word that can be
nothing but a finite verb there, with nothing before it that could begin another clause.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coherencegym.manipulations.probes.sentence import (
    ADVERBS,
    BE,
    FINITE,
    HAVE,
    NOMINATIVE,
    NOUNS,
    Tagged,
    TaggedSentence,
    first_plain,
    plain,
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
        return None if _is_participle(rest) else "VBD"
    several = before.may_be(("NNS", "NNPS")) and not before.may_be(("NN",))
    return "VBP" if several and word.is_only(("VB", "VBP")) else None


def _is_participle(rest: Sequence[Tagged]) -> bool:
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

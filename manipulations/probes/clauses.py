"""The finite verb of a sentence's main clause, found from the left; none where it is uncertain.

What stands in quotation marks or brackets is passed over. The verb is the first word that can be
nothing but a finite verb there, with nothing before it that could begin another clause.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coherencegym.manipulations.probes.sentence import Sentence, Word
from coherencegym.manipulations.probes.tagging import ADVERBS, BE, FINITE, HAVE, NOMINATIVE, NOUNS
from coherencegym.manipulations.probes.words import word_set

_OPENING = frozenset("([{“«")
_CLOSING = frozenset(")]}”»")
_STRAIGHT = frozenset(('"', "``", "''"))

#: Words that can begin a clause inside another.
SUBORDINATORS = word_set(
    "because although though when while if unless until since after before as than whether once "
    "how why what lest whereas whenever wherever whoever whatever whichever so till except "
    "provided supposing"
)
RELATIVES = word_set("which who whom whose that where")
#: Of the subordinators those that are prepositions too.
_PREPOSITIONS_TOO = word_set("until since after before as than once till except so")
#: First words after which subject and verb change places, or that negate.
_INVERTING = word_set(
    "not nor neither never only so such here seldom rarely hardly scarcely little no had were "
    "should did do does is are was has have can could will would may might am let"
)
_PRONOUNS_TOO = word_set("this these that those")
_PRONOUN_SUBJECTS = NOMINATIVE | {"it", "there", "this", "these", "you"}


@dataclass(frozen=True, slots=True)
class MainVerb:
    """Where the main clause's finite verb is.

    Attributes:
        index: of the verb in ``Sentence.words``.
        tag: ``VBD``, ``VBZ``, ``VBP`` or ``MD``.
        subject: indices of the words from the clause's beginning to the verb.
        after_clause: whether a subordinate clause stands before the main one.
        adverbs: index of the first of the adverbs that directly precede the verb, or the verb's.
    """

    index: int
    tag: str
    subject: tuple[int, ...]
    after_clause: bool
    adverbs: int


def visible(sentence: Sentence) -> tuple[int, ...] | None:
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


def main_verb(sentence: Sentence) -> MainVerb | None:
    """The finite verb of the main clause; none in questions and where it is uncertain."""
    shown = visible(sentence)
    words = sentence.words
    if not shown or words[shown[-1]].text == "?" or words[shown[0]].lower in _INVERTING:
        return None
    start, after_clause = 0, False
    first = words[shown[0]]
    if not (words[shown[0]].text[0].isupper() or words[shown[0]].text[0].isdigit()) and (
        shown[0] == 0
    ):
        return None  # the rest of a sentence that was cut
    if first.lower in SUBORDINATORS | RELATIVES - {"that"}:
        continued = _clause_after_comma(words, shown, 1, strict=first.lower in _PREPOSITIONS_TOO)
        if continued is None:
            return None
        start, after_clause = continued
    passed = False  # a word that may have been the verb
    for place in range(start, len(shown)):
        word = words[shown[place]]
        if word.text in (";", ":", "–", "—", "--", "...", "…") or word.lower == "but":
            return None
        if passed and word.lower in ("and", "or"):
            return None
        if place > start and word.lower in SUBORDINATORS | RELATIVES | {"for"}:
            if word.lower in _PREPOSITIONS_TOO | {"for"}:
                continue
            continued = _clause_after_comma(words, shown, place, strict=False)
            if continued is None:
                return None
            return _verb_from(sentence, shown, continued[0], True)
        if (tag := _finite(words, shown, place, start)) is not None:
            if passed and word.may_be(("VBN",)):
                return None  # "concentrates on the cup held in May"
            return _made(words, shown, start, place, tag, after_clause)
        if place > start and word.may_be(("VBD", "VBZ")) and _is_noun(words[shown[place - 1]]):
            passed = True
    return None


def _verb_from(
    sentence: Sentence, shown: Sequence[int], start: int, after_clause: bool
) -> MainVerb | None:
    for place in range(start, len(shown)):
        tag = _finite(sentence.words, shown, place, start)
        if tag is not None:
            return _made(sentence.words, shown, start, place, tag, after_clause)
    return None


def _clause_after_comma(
    words: Sequence[Word], shown: Sequence[int], place: int, strict: bool
) -> tuple[int, bool] | None:
    """Where a clause begins that follows a fronted one, and whether that was a clause for sure."""
    verbs = False
    for at in range(place, len(shown) - 2):
        word = words[shown[at]]
        verbs = verbs or word.may_be(FINITE)
        if word.text != ",":
            continue
        after = [words[i] for i in shown[at + 1 :] if not words[i].is_only(ADVERBS)]
        if len(after) > 1 and after[0].lower in _PRONOUN_SUBJECTS and after[1].may_be(FINITE):
            return at + 1, verbs
        if strict and not verbs:  # a preposition's phrase: "After the war, Smith moved"
            return at + 1, False
    return None


def _finite(words: Sequence[Word], shown: Sequence[int], place: int, start: int) -> str | None:
    """The tag of the word at a place if it is certainly a finite verb with a subject before it."""
    word = words[shown[place]]
    if not word.may_be(FINITE) or place == start:
        return None
    back = place - 1
    while back >= start and words[shown[back]].is_only(ADVERBS | {"RP"}):
        back -= 1
    if back < start:
        return None
    before = words[shown[back]]
    rest = [words[i] for i in shown[place + 1 :]]
    determiner = before.is_only(("DT", "PRP$", "MD", "TO")) and before.lower not in _PRONOUNS_TOO
    if determiner or before.lower in ("to", "and", "or", "but"):
        return None
    pronoun = before.lower in _PRONOUN_SUBJECTS and (
        before.lower in NOMINATIVE or back == start or words[shown[back - 1]].text == ","
    )
    tags = word.tags & FINITE
    if "MD" in tags:
        following = [other for other in rest if not other.is_only(ADVERBS)]
        return "MD" if following and following[0].may_be(("VB",)) else None
    if pronoun:
        if before.lower in ("this", "these") and word.may_be(NOUNS):
            return None
        return "VBZ" if word.lower == "'s" else _one(tags, before)
    if word.lower in ("'s", "am"):
        return None
    if word.lower in BE | HAVE | {"does", "do", "did"} or word.is_only(FINITE):
        return _one(tags, before)
    modifies = bool(rest) and rest[0].may_be(("NN",)) and not rest[0].may_be(("NNP", "IN", "DT"))
    if word.is_only(("VBD", "VBN")) and _is_noun(before) and not modifies:
        if _lower(rest, 0) == "by" or (rest and rest[0].may_be(("VBZ",))):
            return None
        later = [
            other
            for at, other in enumerate(rest)
            if other.is_only(FINITE) and not _opened(rest[:at])
        ]
        return None if later else "VBD"
    if (
        word.is_only(("VB", "VBP"))
        and before.may_be(("NNS", "NNPS"))
        and not before.may_be(("NN",))
    ):
        return "VBP"
    return None


def _lower(words: Sequence[Word], at: int) -> str:
    return words[at].lower if at < len(words) else ""


def _is_noun(word: Word) -> bool:
    return word.may_be(NOUNS | {"CD"}) and not word.may_be(("IN", "RB"))


def _opened(words: Sequence[Word]) -> bool:
    """Whether a clause or a further verb phrase has begun."""
    return any(
        word.lower in SUBORDINATORS | RELATIVES | {"and", "but", "or"} or word.text in ";:"
        for word in words
    )


def _one(tags: frozenset[str], subject: Word) -> str | None:
    """The one finite tag; ``VBP`` and ``VBD`` of one form (``put``) are told apart by ``he``."""
    if len(tags) == 1:
        return next(iter(tags))
    if tags == {"VBP", "VBD"} and subject.lower in ("he", "she", "it"):
        return "VBD"
    return None


def _made(
    words: Sequence[Word], shown: Sequence[int], start: int, place: int, tag: str, after: bool
) -> MainVerb | None:
    subject = shown[start:place]
    # Of "In 1961, he" the clause begins behind the comma, and so it does of "Smith, a painter,".
    commas = [at for at in range(start, place) if words[shown[at]].text == ","]
    back = place
    while words[shown[back - 1]].is_only(ADVERBS) and back - 1 > start:
        back -= 1
    before = words[shown[back - 1]]
    if before.text == "," and len(commas) < 2:
        return None
    if before.is_only(("IN", "TO", "CC", "MD")):
        return None
    begin = commas[-1] + 1 if commas and before.text != "," else start
    head = words[shown[begin]]
    fronted = head.may_be(("IN",)) or head.is_only(("TO", "RB", "VBG", "VBN"))
    if fronted and before.lower not in _PRONOUN_SUBJECTS:
        # "In the middle was a statue", "Best known was his", "In 1960 Smith became".
        if head.is_only(("RB",)) and begin + 1 < back and _is_noun(before):
            pass
        elif not (head.is_only(("VBG", "VBN")) and begin + 1 < back):
            return None
    if not any(words[i].may_be(NOUNS | {"PRP", "EX", "DT", "CD", "VBG"}) for i in subject):
        return None
    return MainVerb(shown[place], tag, tuple(subject), after, shown[back])

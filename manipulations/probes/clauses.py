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
#: Subordinators that are prepositions too.
_PREPOSITIONS_TOO = word_set("until since after before as than once till except so")
#: First words after which subject and verb change places, or that negate.
_INVERTING = word_set(
    "not nor neither never only so such here seldom rarely hardly scarcely little no had were "
    "should did do does is are was has have can could will would may might am let"
)
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
    """Find the finite verb of the main clause; none in questions and where it is uncertain."""
    shown = visible(sentence)
    words = sentence.words
    if not shown or not _is_statement(words, shown):
        return None
    start, after_clause = 0, False
    first = words[shown[0]].lower
    if first in SUBORDINATORS | RELATIVES - {"that"}:
        continued = _clause_after_comma(words, shown, 1, strict=first in _PREPOSITIONS_TOO)
        if continued is None:
            return None
        start, after_clause = continued
    passed = False  # a word that may have been the verb
    for place in range(start, len(shown)):
        word = words[shown[place]]
        if _ends_clause(word, passed):
            return None
        if place > start and word.lower in _CLAUSE_OPENERS:
            if word.lower in _PREPOSITIONS_TOO | {"for"}:
                continue
            continued = _clause_after_comma(words, shown, place, strict=False)
            return None if continued is None else _verb_from(sentence, shown, continued[0])
        if (tag := _finite(words, shown, place, start)) is not None:
            if passed and word.may_be(("VBN",)):
                return None  # "concentrates on the cup held in May"
            return _made(words, shown, start, place, tag, after_clause)
        if place > start and word.may_be(("VBD", "VBZ")) and _is_noun(words[shown[place - 1]]):
            passed = True
    return None


def _is_statement(words: Sequence[Word], shown: Sequence[int]) -> bool:
    """False for questions, inverted and negated beginnings, and the rest of a cut sentence."""
    first = words[shown[0]]
    if words[shown[-1]].text == "?" or first.lower in _INVERTING:
        return False
    return shown[0] > 0 or first.text[0].isupper() or first.text[0].isdigit()


def _ends_clause(word: Word, passed: bool) -> bool:
    """The clause ends with the word; ``passed``: it may have had its verb already."""
    return (
        word.text in (";", ":", "–", "—", "--", "...", "…")
        or word.lower == "but"
        or (passed and word.lower in ("and", "or"))
    )


def _verb_from(sentence: Sentence, shown: Sequence[int], start: int) -> MainVerb | None:
    """The first finite verb from a place on, which stands behind a subordinate clause."""
    for place in range(start, len(shown)):
        tag = _finite(sentence.words, shown, place, start)
        if tag is not None:
            return _made(sentence.words, shown, start, place, tag, True)
    return None


def _clause_after_comma(
    words: Sequence[Word], shown: Sequence[int], place: int, strict: bool
) -> tuple[int, bool] | None:
    """Find the start of a clause behind a fronted one, and whether that was surely a clause."""
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
    passed_over = ADVERBS | {"RP"}
    back = place - 1
    while back >= start and words[shown[back]].is_only(passed_over):
        back -= 1
    if back < start or not _may_end_subject(words[shown[back]]):
        return None
    before = words[shown[back]]
    rest = [words[i] for i in shown[place + 1 :]]
    if word.may_be(("MD",)):
        following = [other for other in rest if not other.is_only(ADVERBS)]
        return "MD" if following and following[0].may_be(("VB",)) else None
    opens = back == start or words[shown[back - 1]].text == ","
    if before.lower in NOMINATIVE or (before.lower in _PRONOUN_SUBJECTS and opens):
        return _finite_after_pronoun(word, before)
    return _finite_after_noun(word, before, rest)


def _may_end_subject(word: Word) -> bool:
    """False for what no finite verb follows: a determiner, a modal, ``to``, a conjunction."""
    if word.lower in ("to", "and", "or", "but"):
        return False
    return word.lower in _PRONOUNS_TOO or not word.is_only(("DT", "PRP$", "MD", "TO"))


def _finite_after_pronoun(word: Word, pronoun: Word) -> str | None:
    """The finite tag of a word whose subject is a pronoun: ``he left``; none if uncertain."""
    if pronoun.lower in ("this", "these") and word.may_be(NOUNS):
        return None
    return "VBZ" if word.lower == "'s" else _one(word.tags & FINITE, pronoun)


def _finite_after_noun(word: Word, before: Word, rest: Sequence[Word]) -> str | None:
    """The finite tag of a word whose subject ends with a noun; none if uncertain."""
    if word.lower in ("'s", "am"):
        return None
    if word.lower in BE | HAVE | {"does", "do", "did"} or word.is_only(FINITE):
        return _one(word.tags & FINITE, before)
    if word.is_only(("VBD", "VBN")) and _is_noun(before) and not _modifies(rest):
        return None if _is_participle(rest) else "VBD"
    several = before.may_be(("NNS", "NNPS")) and not before.may_be(("NN",))
    return "VBP" if several and word.is_only(("VB", "VBP")) else None


def _modifies(rest: Sequence[Word]) -> bool:
    """A participle would belong to the noun that follows it: ``the Smith owned company``."""
    return bool(rest) and rest[0].may_be(("NN",)) and not rest[0].may_be(("NNP", "IN", "DT"))


def _is_participle(rest: Sequence[Word]) -> bool:
    """A form in -ed before ``rest`` is rather a participle: an agent or the real verb follows."""
    if rest and (rest[0].lower == "by" or rest[0].may_be(("VBZ",))):
        return True
    return any(other.is_only(FINITE) and not _opened(rest[:at]) for at, other in enumerate(rest))


def _is_noun(word: Word) -> bool:
    return word.may_be(NOUNS | {"CD"}) and not word.may_be(("IN", "RB"))


def _opened(words: Sequence[Word]) -> bool:
    """Tell whether a clause or a further verb phrase has begun."""
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
    """The main verb at a place, unless what stands before it cannot be its subject."""
    subject = shown[start:place]
    back = place
    while words[shown[back - 1]].is_only(ADVERBS) and back - 1 > start:
        back -= 1
    before = words[shown[back - 1]]
    # Of "In 1961, he" the clause begins behind the comma, and so it does of "Smith, a painter,".
    commas = [at for at in range(start, place) if words[shown[at]].text == ","]
    if before.text == "," and len(commas) < 2:
        return None
    if before.is_only(("IN", "TO", "CC", "MD")):
        return None
    begin = commas[-1] + 1 if commas and before.text != "," else start
    if _is_inverted(words[shown[begin]], before, begin + 1 < back):
        return None
    if not any(words[i].may_be(NOUNS | {"PRP", "EX", "DT", "CD", "VBG"}) for i in subject):
        return None
    return MainVerb(shown[place], tag, tuple(subject), after, shown[back])


def _is_inverted(head: Word, before: Word, longer: bool) -> bool:
    """A fronted phrase stands where the subject should: ``In the middle was``, ``Best known was``.

    ``head`` begins the clause, ``before`` stands before the verb; ``longer``: they are two words.
    """
    if before.lower in _PRONOUN_SUBJECTS:
        return False
    if head.is_only(("VBG", "VBN")) or (head.is_only(("RB",)) and _is_noun(before)):
        return not longer
    return head.may_be(("IN",)) or head.is_only(("TO", "RB", "VBG", "VBN"))

"""Past verbs that are coordinated with the main verb: ``He was born in Rome and moved``.

The words behind the main verb are read from left to right, and each that may be a past verb is
judged by its neighbours: ``True`` where it is coordinated, ``False`` where it is not (a participle,
the verb of a relative clause), none where the rules cannot tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coherencegym.manipulations.probes.clauses import (
    RELATIVES,
    SUBORDINATORS,
    MainVerb,
    visible,
)
from coherencegym.manipulations.probes.sentence import Sentence, Word
from coherencegym.manipulations.probes.tagging import ADVERBS, BE, FINITE, NOMINATIVE, NOUNS

_CONJUNCTIONS = frozenset(("and", "but", "or"))
_JOINING = _CONJUNCTIONS | {",", "then"}
_SUBJECTS = NOMINATIVE | {"it", "there", "this"}


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A word that may be a past verb, with what decides whether it is a coordinated one.

    Attributes:
        word: the word itself.
        before: the nearest word before it that is no adverb; none directly behind the main verb.
        after: the next word; none at the end.
        parallel: a conjunction stands somewhere between the main verb and the word.
        opener: the last clause that began in between: ``relative``, ``subordinate`` or none.
        auxiliary: the main verb is one, with a participle: ``was built``.
        participles: the word before is a conjunction directly behind that participle.
        after_be: a coordinated verb that was found earlier is a form of ``be``.
    """

    word: Word
    before: Word | None
    after: Word | None
    parallel: bool
    opener: str
    auxiliary: bool
    participles: bool
    after_be: bool

    @property
    def joined(self) -> bool:
        """A conjunction or a comma stands before the word."""
        return self.before is not None and self.before.lower in _JOINING

    @property
    def after_comma(self) -> bool:
        """A comma stands before the word."""
        return self.before is not None and self.before.lower == ","

    @property
    def has_subject(self) -> bool:
        """The word before may end a subject of the word's own, or an adverbial."""
        subject = NOUNS | {"PRP", "RB", "CD"}
        before = self.before
        return before is not None and (before.may_be(subject) or before.lower in ("since", "once"))


def coordinated_past(sentence: Sentence, verb: MainVerb) -> tuple[tuple[int, int], ...] | None:
    """Indices of the coordinated past verbs and of the adverbs before each; none if uncertain."""
    shown = visible(sentence)
    if shown is None:
        return None
    places = [index for index in shown if index > verb.index]
    behind = [sentence.words[index] for index in places]
    auxiliary = sentence.words[verb.index].lower in BE | {"had"} and _participle_follows(behind)
    found: list[tuple[int, int]] = []
    opener = ""
    for at, word in enumerate(behind):
        back = _before_adverbs(behind, at)
        if word.text in (";", ":") or (word.lower == "that" and back < 0):
            return None
        opener = _opener(word, opener)
        if not word.may_be(("VBD",)) or word.lower == "'s":
            continue
        verdict = _is_coordinated(
            _Candidate(
                word,
                before=behind[back] if back >= 0 else None,
                after=behind[at + 1] if at + 1 < len(behind) else None,
                parallel=any(other.lower in _CONJUNCTIONS for other in behind[:at]),
                opener=opener,
                auxiliary=auxiliary,
                participles=back == 1 and behind[0].may_be(("VBN",)),
                after_be=any(sentence.words[other].lower in BE for other, _ in found),
            )
        )
        if verdict is None:
            return None
        if verdict:
            found.append((places[at], places[back + 1]))
    return tuple(found)


def _before_adverbs(words: Sequence[Word], at: int) -> int:
    """The place of the nearest word before ``at`` that is no adverb; -1 where there is none."""
    return next((back for back in reversed(range(at)) if not words[back].is_only(ADVERBS)), -1)


def _opener(word: Word, opener: str) -> str:
    """The kind of clause that is open once the word was read."""
    if word.lower in RELATIVES and not (word.lower == "that" and word.may_be(("NN",))):
        return opener or "relative"
    return "subordinate" if word.lower in SUBORDINATORS else opener


def _is_coordinated(candidate: _Candidate) -> bool | None:
    """The verdict on a word that may be a past verb."""
    word, before = candidate.word, candidate.before
    certain = word.is_only(FINITE)
    if before is not None and before.lower in _SUBJECTS:
        return False if candidate.opener == "relative" else None
    if candidate.opener == "relative":
        return None if candidate.joined else False
    if candidate.opener == "subordinate":
        return None if certain or candidate.joined or candidate.has_subject else False
    if certain:
        return True if candidate.joined and not candidate.after_comma else None
    if not candidate.joined:
        return _is_coordinated_unjoined(candidate)
    if not word.may_be(("VBN", "VB", "NN", "JJ")):
        return False
    return _is_coordinated_form(candidate)


def _is_coordinated_unjoined(candidate: _Candidate) -> bool | None:
    """The verdict where no conjunction stands before a form that need not be a past verb."""
    if not candidate.word.may_be(("VBN",)):
        return None  # "fell", which the rules do not tell from "to fell"
    if candidate.parallel and candidate.has_subject:
        return None  # ", but the board decided"
    return False  # a participle: "the house built in 1960"


def _is_coordinated_form(candidate: _Candidate) -> bool | None:
    """The verdict where a conjunction stands before a form that need not be a past verb."""
    word, after = candidate.word, candidate.after
    if candidate.after_comma:
        participle = word.may_be(("VBN",)) and after is not None and after.is_only(("IN", "TO"))
        return False if participle else None  # ", followed by"
    if after is None or after.may_be(NOUNS | {"JJ"}):
        return None
    if candidate.auxiliary:
        return False if candidate.participles else None  # "was built and opened"
    if not word.may_be(("VBN",)) or word.may_be(("NN", "VB")) or after.lower == "by":
        return None
    return None if candidate.after_be else True  # "aired in May and was written by A and directed"


def _participle_follows(words: Sequence[Word]) -> bool:
    """The first word that is no adverb may be a participle."""
    following = [word for word in words if not word.is_only(ADVERBS)]
    return bool(following) and following[0].may_be(("VBN",))

"""Conjunction flip: ``It was cheap, and it worked`` becomes ``It was cheap, but it worked``."""

from __future__ import annotations

from collections.abc import Sequence

from coherencegym.manipulations.probes.sentence import (
    FINITE,
    NOMINATIVE,
    Replacement,
    Tagged,
    TaggedSentence,
    plain,
    put,
    word_at,
)
from coherencegym.manipulations.probes.verbs import visible
from coherencegym.words import word_list, word_set

#: Adverbs set off by commas: the sense is turned round, the syntax is the same.
_ADVERBS = {
    "however": "therefore", "nevertheless": "consequently", "nonetheless": "consequently",
    "therefore": "however", "consequently": "nevertheless", "thus": "however", "hence": "however",
    "accordingly": "nevertheless",
}  # fmt: skip
#: Words that begin a clause with a subject and a finite verb.
_SUBORDINATORS = {
    "although": "because", "though": "because", "because": "although", "before": "after",
    "after": "before", "unless": "if",
}  # fmt: skip
_SUBJECTS = NOMINATIVE | {"it", "there", "this", "these"}
#: Words before a subordinator that would not bear the other one: ``not because``, ``soon after``.
_BEFORE = word_list("before_subordinators")
#: Words in a clause that hang on whether it is affirmed.
_POLAR = frozenset(("yet", "already", "any", "ever", "then"))
#: Words that an ``and`` may be the second half of.
_PAIRED = word_set("both between either")


#: The index of the last word of a conjunction, and what it becomes.
_Flip = tuple[int, str]


def conjunction_flip(sentence: TaggedSentence) -> tuple[Replacement, ...]:
    """One conjunction or connective becomes one of the opposed sense and the same syntax.

    Of a sentence the first is taken that joins clauses (or verb phrases) for certain: ``and``
    before a subject and a finite verb, or before a finite verb after a comma (never ``but``: an
    ``and`` in its place says less, and nothing wrong); ``although``
    and ``because``, ``before`` and ``after``, ``unless`` before a subject pronoun and a finite
    verb; ``however`` and ``therefore`` and their like set off by commas; ``despite`` and ``because
    of``.
    """
    for place in visible(sentence) or ():
        for rule in (_adverb, _because_of, _subordinator, _coordinator):
            if flip := rule(sentence.words, place):
                end, form = flip
                return (put(form, sentence.words[place], sentence.words[end]),)
    return ()


def _at(words: Sequence[Tagged], index: int) -> str:
    return word_at(words, index).lower


def _adverb(words: Sequence[Tagged], at: int) -> _Flip | None:
    # Between commas it may belong to a word and not to the clause: "Smith, however, was".
    set_off = (at == 0 or _at(words, at - 1) == ";") and _at(words, at + 1) == ","
    return (at, _ADVERBS[words[at].lower]) if set_off and words[at].lower in _ADVERBS else None


def _because_of(words: Sequence[Tagged], at: int) -> _Flip | None:
    if _at(words, at - 1) in _BEFORE | {"-", "both", "either"}:
        return None
    lower = words[at].lower
    if lower == "because" and _at(words, at + 1) == "of":
        return None if _at(words, at + 2) in ("which", "whom") else (at + 1, "despite")
    if lower == "despite" and _at(words, at + 1) not in ("which", "whom"):
        return at, "because of"
    spite = [word.lower for word in words[at : at + 3]] == ["in", "spite", "of"]
    return (at + 2, "because of") if spite else None


def _subordinator(words: Sequence[Tagged], at: int) -> _Flip | None:
    lower, before = words[at].lower, _at(words, at - 1)
    even = lower == "even" and _at(words, at + 1) == "though"
    if not even and (lower not in _SUBORDINATORS or before in _BEFORE):
        return None
    if before in ("-", '"', "(", "as"):
        return None
    end, lower = (at + 1, "though") if even else (at, lower)
    return (end, _SUBORDINATORS[lower]) if _bears_flip(lower, words[end + 1 :]) else None


def _bears_flip(lower: str, clause: Sequence[Tagged]) -> bool:
    temporal = lower in ("before", "after")
    first = word_at(clause, 0)
    if temporal and first.may_be(("VBG",)):
        return True
    # "before the wind would allow it"
    modal = any(word.may_be(("MD",)) for word in clause[:8])
    following = plain(clause[1:])
    if not following or (temporal and modal):
        return False
    if first.lower not in _SUBJECTS:
        return _full_clause(clause)
    return _is_subject(first.lower, following[0], temporal) and _POLAR.isdisjoint(
        word.lower for word in clause[:12]
    )


def _is_subject(pronoun: str, verb: Tagged, temporal: bool) -> bool:
    if temporal and pronoun in ("this", "these"):
        return False
    return verb.may_be(FINITE) and (pronoun in NOMINATIVE or not verb.may_be(("NN", "NNS")))


def _coordinator(words: Sequence[Tagged], at: int) -> _Flip | None:
    if words[at].lower != "and" or at < 2:
        return None
    end, after = at, "but"
    if _at(words, at + 1) in ("therefore", "thus", "hence", "consequently"):
        end, after = at + 1, "but nevertheless"
    earlier = words[:at]
    clause = any(word.may_be(FINITE) for word in earlier)
    if not clause or not _PAIRED.isdisjoint(word.lower for word in earlier):
        return None
    return (end, after) if _joins_clause(earlier, words[end + 1 :]) else None


def _joins_clause(earlier: Sequence[Tagged], rest: Sequence[Tagged]) -> bool:
    following = plain(rest)
    if len(following) < 2 or rest[0].lower in ("so", "then", "not"):
        return False
    comma = earlier[-1].lower == ","
    subject, verb = following[:2]
    if subject.lower in _SUBJECTS and _is_subject(subject.lower, verb, temporal=False):
        # "the house where he lived and he": a clause inside another is not worth the risk.
        return comma or subject.lower in NOMINATIVE
    lowers = [word.lower for word in earlier]
    if not comma or lowers.count(",") > 1 or "and" in lowers:
        return False  # it may end a list
    return subject.is_only(FINITE) or _full_clause(rest)


def _full_clause(rest: Sequence[Tagged]) -> bool:
    # A noun phrase and then a certain finite verb: ``the house was``.
    if not rest[0].is_only(("DT", "PRP$", "NNP")):
        return False
    for word in rest[1:8]:
        if word.is_only(FINITE):
            return True
        if not word.may_be(("NN", "NNS", "NNP", "JJ", "IN", "DT", "CD")):
            return False
    return False

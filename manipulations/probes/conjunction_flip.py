"""Conjunction flip: ``It was cheap, and it worked`` becomes ``It was cheap, but it worked``."""

from __future__ import annotations

from dataclasses import dataclass

from coherencegym.manipulations.connectives.connective_substitution import in_case_of
from coherencegym.manipulations.probes.clauses import visible
from coherencegym.manipulations.probes.probe import Replacement
from coherencegym.manipulations.probes.sentence import Sentence, Word
from coherencegym.manipulations.probes.tagging import ADVERBS, FINITE, NOMINATIVE
from coherencegym.manipulations.probes.words import word_set

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
_BEFORE = word_set(
    "not n't just only even partly largely mainly mostly simply merely perhaps is was are were be "
    "soon immediately right long ever never until from and or but as so well all year years month "
    "months day days week weeks hour hours minute minutes time shortly"
)
#: Words in a clause that hang on whether it is affirmed.
_POLAR = frozenset(("yet", "already", "any", "ever", "then"))
#: Words that an ``and`` may be the second half of.
_PAIRED = word_set("both between either")


@dataclass(frozen=True)
class ConjunctionFlip:
    """One conjunction or connective becomes one of the opposed sense and the same syntax.

    Of a sentence the first is taken that joins clauses (or verb phrases) for certain: ``and``
    before a subject and a finite verb, or before a finite verb after a comma (never ``but``: an
    ``and`` in its place says less, and nothing wrong); ``although``
    and ``because``, ``before`` and ``after``, ``unless`` before a subject pronoun and a finite
    verb; ``however`` and ``therefore`` and their like set off by commas; ``despite`` and ``because
    of``.
    """

    name: str = "conjunction_flip"

    def __call__(self, sentence: Sentence) -> tuple[Replacement, ...]:
        """One replacement, of the first conjunction that can."""
        for place in visible(sentence) or ():
            word = sentence.words[place]
            for rule in (_adverb, _because_of, _subordinator, _coordinator):
                flipped = rule(sentence.words, place)
                if flipped is not None:
                    end, after = flipped
                    text = in_case_of(word.text, after)
                    return (Replacement(word.start, sentence.words[end].end, text),)
        return ()


def _at(words: tuple[Word, ...], index: int) -> str:
    return words[index].lower if 0 <= index < len(words) else ""


def _adverb(words: tuple[Word, ...], at: int) -> tuple[int, str] | None:
    """``However,`` and ``; therefore,``; nothing of ``however large`` or ``thus making``."""
    before, after = _at(words, at - 1), _at(words, at + 1)
    if words[at].lower not in _ADVERBS or after != ",":
        return None
    # Between commas it may belong to a word and not to the clause: "Smith, however, was".
    if not (at == 0 or before == ";"):
        return None
    return at, _ADVERBS[words[at].lower]


def _because_of(words: tuple[Word, ...], at: int) -> tuple[int, str] | None:
    lower = words[at].lower
    if _at(words, at - 1) in _BEFORE | {"-", "both", "either"}:
        return None
    if lower == "because" and _at(words, at + 1) == "of":
        return None if _at(words, at + 2) in ("which", "whom") else (at + 1, "despite")
    if lower == "despite" and _at(words, at + 1) not in ("which", "whom"):
        return at, "because of"
    if [_at(words, at + i) for i in range(3)] == ["in", "spite", "of"]:
        return at + 2, "because of"
    return None


def _subordinator(words: tuple[Word, ...], at: int) -> tuple[int, str] | None:
    """The end of the subordinator that begins at an index, and the one of opposed sense."""
    start, lower = at, words[at].lower
    if lower == "even" and _at(words, at + 1) == "though":
        at, lower = at + 1, "though"
    elif lower not in _SUBORDINATORS or _at(words, at - 1) in _BEFORE:
        return None
    if start and _at(words, start - 1) in ("-", '"', "(", "as"):
        return None
    clause = words[at + 1 :]
    return (at, _SUBORDINATORS[lower]) if _bears_flip(lower, clause) else None


def _bears_flip(lower: str, clause: tuple[Word, ...]) -> bool:
    """True where ``clause`` is one that the opposite of the subordinator before it can begin."""
    temporal = lower in ("before", "after")
    if temporal and clause and clause[0].may_be(("VBG",)):
        return True
    following = [word for word in clause[1:] if not word.is_only(ADVERBS)]
    if not following:
        return False
    if temporal and any(word.may_be(("MD",)) for word in clause[:8]):
        return False  # "before the wind would allow it"
    subject = clause[0].lower
    if subject not in _SUBJECTS:
        return _full_clause(clause)
    if not following[0].may_be(FINITE):
        return False
    if following[0].may_be(("NN", "NNS")) and subject in ("this", "these", "it", "there"):
        return False
    if temporal and subject in ("this", "these"):
        return False
    return not any(word.lower in _POLAR for word in clause[:12])


def _coordinator(words: tuple[Word, ...], at: int) -> tuple[int, str] | None:
    """The end of the ``and`` at an index if it joins clauses, and what it becomes."""
    if words[at].lower != "and" or at < 2:
        return None
    end, after = at, "but"
    if _at(words, at + 1) in ("therefore", "thus", "hence", "consequently"):
        end, after = at + 1, "but nevertheless"
    joins = _has_clause(words[:at]) and _joins_clause(words[:at], words[end + 1 :])
    return (end, after) if joins else None


def _has_clause(words: tuple[Word, ...]) -> bool:
    """True where a verb may be there, and nothing that an ``and`` may be the second half of."""
    may_be_clause = any(word.may_be(FINITE) for word in words)
    return may_be_clause and _PAIRED.isdisjoint(word.lower for word in words)


def _joins_clause(earlier: tuple[Word, ...], rest: tuple[Word, ...]) -> bool:
    """True where an ``and`` between these words has a clause behind it."""
    plain = [word for word in rest if not word.is_only(ADVERBS)]
    if len(plain) < 2 or rest[0].lower in ("so", "then", "not"):
        return False
    comma = earlier[-1].lower == ","
    subject, verb = plain[0], plain[1]
    nominative = subject.lower in NOMINATIVE
    certain = nominative or not verb.may_be(("NN", "NNS"))
    if subject.lower in _SUBJECTS and verb.may_be(FINITE) and certain:
        # "the house where he lived and he": a clause inside another is not worth the risk.
        return comma or nominative
    lowers = [word.lower for word in earlier]
    if not comma or lowers.count(",") > 1 or "and" in lowers:
        return False  # it may end a list
    return subject.is_only(FINITE) or _full_clause(rest)


def _full_clause(rest: tuple[Word, ...]) -> bool:
    """Tell whether a noun phrase and then a certain finite verb follow: ``but the house was``."""
    if not rest[0].is_only(("DT", "PRP$", "NNP")):
        return False
    for word in rest[1:8]:
        if word.is_only(FINITE):
            return True
        if not word.may_be(("NN", "NNS", "NNP", "JJ", "IN", "DT", "CD")):
            return False
    return False

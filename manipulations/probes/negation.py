"""Negation: ``He walked home`` becomes ``He did not walk home``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from coherencegym.manipulations.connectives.connective_substitution import in_case_of
from coherencegym.manipulations.probes.clauses import MainVerb, main_verb
from coherencegym.manipulations.probes.inflection import base_form
from coherencegym.manipulations.probes.probe import Replacement
from coherencegym.manipulations.probes.sentence import Sentence, Word
from coherencegym.manipulations.probes.tagging import ADVERBS, BE, NOUNS
from coherencegym.manipulations.probes.words import word_set

#: A sentence with one of these is negative already, or what it says would not bear a negation.
_NEGATIVE = word_set(
    "not n't never no nobody nothing none nor neither nowhere without hardly scarcely barely "
    "rarely seldom few little only cannot any anyone anything anybody anywhere ever either yet "
    "unless unlike instead rather but"
)
#: Words that a negation would have to change: ``some`` to ``any``, ``already`` to ``yet``.
_POSITIVE = word_set(
    "some someone somebody something somewhere somewhat already too both almost nearly enough "
    "mostly mainly largely quite pretty fairly perhaps probably maybe possibly presumably arguably "
    "apparently certainly undoubtedly merely simply just even especially such"
)
#: Quantifiers: if the subject has one, it is not clear what is denied.
_QUANTIFIERS = word_set(
    "every each all both many most some several few everyone everybody everything much more "
    "numerous various other others half at least"
)
#: Adverbs that stand before ``not``: ``it also did not``, ``is therefore not``.
_BEFORE_NOT = word_set(
    "also still therefore thus hence then later subsequently eventually finally consequently "
    "however now soon initially originally sometimes often"
)
#: Words that take a negation to themselves behind the verb, so that the clause need not be denied:
#: ``will not be discussed in detail``, ``does not detect at least one``, ``was not sold because``.
_FOCUS = word_set(
    "all every each many much several half numerous various entire whole more less fewer most "
    "least than together alone well always usually often frequently generally typically normally "
    "regularly necessarily because due owing thanks if when whenever until while otherwise "
    "different same"
)
#: Adverbs in -ly that say nothing of how something is done.
_NO_MANNER = word_set("finally recently lately formerly eventually subsequently previously early")
#: Nouns of ``in detail``, ``in full``.
_EXTENT = word_set("detail full part particular general depth order total addition")
#: Modals of what may be so, and may also not be so.
_POSSIBLE = word_set("may might could")
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_HAVE = ("has", "have", "had")
_CAN = {"can": "cannot"}
_DO = {"VBD": "did not", "VBZ": "does not", "VBP": "do not"}
#: Verbs that are no auxiliaries and do not take ``do`` well either.
_UNSURE = word_set("used ought need dare")


@dataclass(frozen=True)
class Negation:
    """``not`` after the first auxiliary of the main clause, or with ``do`` where there is none.

    Sound: the sentence is not negative already, has no word that would have to change with it
    (``some``, ``already``), its subject is not quantified, and nothing behind the verb takes the
    negation to itself (quantities, manner, reasons: ``will not be discussed in detail``).
    """

    name: str = "negation"

    def __call__(self, sentence: Sentence) -> tuple[Replacement, ...]:
        """One replacement at the verb; two where an adverb stands before it."""
        if not _NEGATIVE.union(_POSITIVE).isdisjoint(sentence.lowers):
            return ()
        verb = main_verb(sentence)
        if verb is None:
            return ()
        subject = {sentence.words[index].lower for index in verb.subject}
        if subject & _QUANTIFIERS or _says_many(sentence, verb) or _is_partial(sentence, verb):
            return ()
        return _auxiliary(sentence, verb) or _with_do(sentence, verb)


def _says_many(sentence: Sentence, verb: MainVerb) -> bool:
    """True of "there are a number of": a negation would ask for "there are no"."""
    following = {word.lower for word in sentence.words[verb.index + 1 : verb.index + 5]}
    return bool(following & {"number", "variety", "lot", "series", "range", "couple", "several"})


def _is_partial(sentence: Sentence, verb: MainVerb) -> bool:
    """Tell whether a negation could deny only how, how many, why, or that it may be."""
    words = sentence.words
    if words[verb.index].lower in _POSSIBLE:
        return True
    for at in range(verb.adverbs, len(words)):
        word = words[at]
        if word.lower in _FOCUS or _is_count(words, at):
            return True
        manner = word.lower.endswith("ly") and word.is_only(ADVERBS)
        if manner and word.lower not in _NO_MANNER | _BEFORE_NOT:
            return True
        after = words[at + 1] if at + 1 < len(words) else None
        if after is None:
            continue
        if word.lower == "in" and after.lower in _EXTENT:
            return True
        if word.lower in ("and", "or") and after.may_be(("VBD", "VBZ")) and not after.may_be(NOUNS):
            return True  # "was not cruising and spotted a ship": is the second denied, too?
    return False


def _is_count(words: tuple[Word, ...], at: int) -> bool:
    """True where a number counts what follows: ``three boats``, no date, year or part of a name."""
    if not words[at].is_only(("CD",)) or _YEAR.fullmatch(words[at].text):
        return False
    after = words[at + 1 : at + 2]
    return bool(after) and after[0].may_be(("NNS", "JJ", "NN", "CD"))


def _auxiliary(sentence: Sentence, verb: MainVerb) -> tuple[Replacement, ...]:
    """``not`` behind the main verb where that is an auxiliary; empty where it is none."""
    word = sentence.words[verb.index]
    rest = sentence.words[verb.index + 1 :]
    if not rest or not _is_auxiliary(word, verb.tag, rest):
        return ()
    if rest[0].lower in ("better", "to", "like", "have") and word.lower in ("had", "would"):
        return ()
    if word.lower in _CAN:
        return (Replacement(word.start, word.end, in_case_of(word.text, _CAN[word.lower])),)
    last = word
    for other in rest:
        if other.lower not in _BEFORE_NOT:
            break
        last = other
    return (Replacement(last.end, last.end, " not"),)


def _is_auxiliary(word: Word, tag: str, rest: Sequence[Word]) -> bool:
    """True where a finite verb before ``rest`` is an auxiliary that ``not`` can follow."""
    if word.lower in ("'d", "'ve", "'ll", "'m"):
        return False
    following = _no_adverb(rest)
    if word.lower == "'s":
        return following is not None and not following.may_be(("NN", "NNS", "NNP"))
    if word.lower in _HAVE:
        return following is not None and following.may_be(("VBN",)) and following.lower != "had"
    return (word.lower in BE or tag == "MD") and word.lower not in _UNSURE


def _no_adverb(words: Sequence[Word]) -> Word | None:
    """The first word that is no mere adverb."""
    return next((word for word in words if not word.is_only(ADVERBS)), None)


def _with_do(sentence: Sentence, verb: MainVerb) -> tuple[Replacement, ...]:
    """``do not`` before a main verb that is no auxiliary, and its base form; empty where unsure."""
    word = sentence.words[verb.index]
    rest = sentence.words[verb.index + 1 :]
    if verb.tag == "MD" or word.lower in BE | _UNSURE | {"'s"} or not rest:
        return ()
    if _coordinated(rest) or rest[0].lower in ("not", "n't", "rid"):
        return ()
    base = _base_of(word, verb.tag, rest)
    if base is None:
        return ()
    do = _DO[verb.tag]
    adverbs = list(sentence.words[verb.adverbs : verb.index])
    while adverbs and adverbs[0].lower in _BEFORE_NOT:
        adverbs.pop(0)
    if not adverbs:
        return (Replacement(word.start, word.end, f"{do} {base}"),)
    start = adverbs[0].start
    return (Replacement(start, start, f"{do} "), Replacement(word.start, word.end, base))


def _base_of(word: Word, tag: str, rest: Sequence[Word]) -> str | None:
    """The base form of a finite verb; none where it is an auxiliary, or uncertain."""
    if word.lower in ("do", "does", "did"):
        return "do"
    if word.lower not in _HAVE:
        return base_form(word.lower, tag)
    following = _no_adverb(rest)
    if following is None or following.may_be(("VBN",)) or following.lower == "better":
        return None
    return "have"


def _coordinated(rest: tuple[Word, ...]) -> bool:
    """Tell whether a second verb shares the first one's object: ``built and sold boats``."""
    signs = rest[0].text == "," or rest[0].lower in ("and", "or", "as")
    if signs and len(rest) > 1:
        return any(other.may_be(("VBD", "VBZ", "VBP")) for other in rest[1:4])
    return any(
        other.lower in ("and", "or")
        and rest[at + 1 : at + 2]
        and rest[at + 1].may_be(("VBP", "VB"))
        and not rest[at + 1].may_be(("NN", "JJ", "VBD"))
        for at, other in enumerate(rest)
    )

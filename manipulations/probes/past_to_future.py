"""Past to future: ``He was born in Rome`` becomes ``He will be born in Rome``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coherencegym.manipulations.probes.clauses import RELATIVES, main_verb
from coherencegym.manipulations.probes.coordination import coordinated_past
from coherencegym.manipulations.probes.inflection import base_form
from coherencegym.manipulations.probes.probe import Replacement
from coherencegym.manipulations.probes.sentence import Sentence, Word
from coherencegym.manipulations.probes.tagging import ADVERBS, FINITE
from coherencegym.manipulations.probes.words import word_set

#: Verbs whose clause would have to change its tense as well, and verbs without a future.
_REPORTING = word_set(
    "say state claim announce believe think know feel argue suggest report declare reveal note "
    "add explain admit hope assume conclude decide discover find realize realise remember recall "
    "write tell show indicate mean insist confirm deny propose observe learn understand use "
    "consider wish ought need dare"
)
_MODALS = word_set("could would might should")
_NOT = ("not", "n't")
_IRREGULAR = {"had": "have", "did": "do"}


@dataclass(frozen=True)
class PastToFuture:
    """The finite past verbs of the main clause become ``will`` and the base form.

    Verbs that are coordinated with the first become so too. Sound: every other past verb stands in
    a relative clause; where one stands in a clause that would have to follow in its tense (``when
    he died``, ``said that``), or may be a participle or not, there is no result. Adverbials of past
    time stay: that they contradict the verb is what the probe is about.
    """

    name: str = "past_to_future"

    def __call__(self, sentence: Sentence) -> tuple[Replacement, ...]:
        """The replacements at each verb."""
        verb = main_verb(sentence)
        if verb is None or verb.tag != "VBD" or verb.after_clause:
            return ()
        if not _MODALS.isdisjoint(sentence.lowers):
            return ()
        others = coordinated_past(sentence, verb)
        if others is None:
            return ()
        changes: list[Replacement] = []
        for index, first in ((verb.index, verb.adverbs), *others):
            change = _to_future(sentence, index, first)
            if not change:
                return ()
            changes += change
        return tuple(changes)


def _to_future(sentence: Sentence, index: int, adverbs: int) -> tuple[Replacement, ...]:
    """``will`` before the adverbs of a past verb, and its base form; empty where uncertain."""
    word, rest = sentence.words[index], sentence.words[index + 1 :]
    if word.lower in ("was", "were"):
        return _auxiliary_to_future(word, rest, "be")
    if word.lower == "had" and _is_auxiliary(rest):
        return _auxiliary_to_future(word, rest, "have")
    if word.lower == "did" and _first(rest) in _NOT:
        return (Replacement(word.start, rest[0].end, "will not"),)
    base = _base_of(word, rest)
    if base is None:
        return ()
    start = sentence.words[adverbs].start
    if start == word.start:
        return (Replacement(start, word.end, f"will {base}"),)
    return (Replacement(start, start, "will "), Replacement(word.start, word.end, base))


def _auxiliary_to_future(word: Word, rest: Sequence[Word], base: str) -> tuple[Replacement, ...]:
    """``will`` in the auxiliary's place, and its base form behind the adverbs that follow it."""
    following = _first(rest)
    if following in ("to", "being", "better", "going", "about", "all", "both", "each"):
        return ()
    if following in _NOT:
        return (Replacement(word.start, rest[0].end, f"will not {base}"),)
    middle = next((at for at, other in enumerate(rest) if not other.is_only(ADVERBS)), None)
    if (
        not middle
        or any(other.lower in _AFTER_VERB for other in rest[:middle])
        or not rest[middle].text[0].isalnum()
    ):
        return (Replacement(word.start, word.end, f"will {base}"),)
    if rest[middle].lower in ("to", "being"):
        return ()
    place = rest[middle].start
    return (Replacement(word.start, word.end, "will"), Replacement(place, place, f"{base} "))


def _base_of(word: Word, rest: Sequence[Word]) -> str | None:
    """The base form of a past verb that is no auxiliary; none where its future is uncertain."""
    if word.lower == "used" and _first(rest) == "to":
        return None
    base = _IRREGULAR.get(word.lower) or base_form(word.lower, "VBD")
    return None if base in _REPORTING and _takes_clause(rest) else base


#: Adverbs and degree words that belong to what follows the verb: ``was very small``.
_AFTER_VERB = word_set(
    "very so too quite rather most more less about around almost nearly only just even there here "
    "once twice up down off out over in on back away well highly so-called not n't"
)


def _is_auxiliary(rest: Sequence[Word]) -> bool:
    following = [word for word in rest if not word.is_only(ADVERBS)]
    return bool(following) and following[0].may_be(("VBN",)) and not following[0].may_be(("JJ",))


def _takes_clause(rest: Sequence[Word]) -> bool:
    """Tell whether a clause follows that is no relative and is not coordinated."""
    for word in rest:
        if word.lower == "that" or word.is_only(FINITE):
            return True
        if word.lower in RELATIVES | {"and", "but", "or"} or word.text == ";":
            return False
    return False


def _first(words: Sequence[Word]) -> str:
    return words[0].lower if words else ""

"""Past to future: ``He was born in Rome`` becomes ``He will be born in Rome``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coherencegym.manipulations.probes.clauses import (
    RELATIVES,
    SUBORDINATORS,
    MainVerb,
    main_verb,
    visible,
)
from coherencegym.manipulations.probes.inflection import base_form
from coherencegym.manipulations.probes.probe import Replacement
from coherencegym.manipulations.probes.sentence import Sentence, Word
from coherencegym.manipulations.probes.tagging import ADVERBS, BE, FINITE, NOMINATIVE, NOUNS
from coherencegym.manipulations.probes.words import word_set

#: Verbs whose clause would have to change its tense as well, and verbs without a future.
_REPORTING = word_set(
    "say state claim announce believe think know feel argue suggest report declare reveal note "
    "add explain admit hope assume conclude decide discover find realize realise remember recall "
    "write tell show indicate mean insist confirm deny propose observe learn understand use "
    "consider wish ought need dare"
)
_MODALS = word_set("could would might should")


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
        others = _coordinated(sentence, verb)
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
    words = sentence.words
    word = words[index]
    rest = words[index + 1 :]
    start = words[adverbs].start
    following = _lower(rest, 0)
    if word.lower in ("was", "were") or (word.lower == "had" and _is_auxiliary(rest)):
        base = "be" if word.lower != "had" else "have"
        if following in ("to", "being", "better", "going", "about", "all", "both", "each"):
            return ()
        if following in ("not", "n't"):
            return (Replacement(word.start, rest[0].end, f"will not {base}"),)
        middle = next((at for at, other in enumerate(rest) if not other.is_only(ADVERBS)), None)
        if (
            not middle
            or any(other.lower in _AFTER_VERB for other in rest[:middle])
            or not rest[middle].text[0].isalnum()
        ):
            return (Replacement(word.start, word.end, f"will {base}"),)
        place = rest[middle].start
        if rest[middle].lower in ("to", "being"):
            return ()
        return (Replacement(word.start, word.end, "will"), Replacement(place, place, f"{base} "))
    if word.lower == "did" and following in ("not", "n't"):
        return (Replacement(word.start, rest[0].end, "will not"),)
    if word.lower == "had":
        base_verb: str | None = "have"
    elif word.lower == "did":
        base_verb = "do"
    else:
        base_verb = base_form(word.lower, "VBD")
    if base_verb is None or (base_verb in _REPORTING and _takes_clause(rest)):
        return ()
    if word.lower == "used" and following == "to":
        return ()
    if start == word.start:
        return (Replacement(start, word.end, f"will {base_verb}"),)
    return (Replacement(start, start, "will "), Replacement(word.start, word.end, base_verb))


#: Adverbs and degree words that belong to what follows the verb: ``was very small``.
_AFTER_VERB = word_set(
    "very so too quite rather most more less about around almost nearly only just even there here "
    "once twice up down off out over in on back away well highly so-called not n't"
)


def _is_auxiliary(rest: Sequence[Word]) -> bool:
    following = [word for word in rest if not word.is_only(ADVERBS)]
    return bool(following) and following[0].may_be(("VBN",)) and not following[0].may_be(("JJ",))


def _takes_clause(rest: Sequence[Word]) -> bool:
    """Whether a clause follows that is no relative and is not coordinated."""
    for word in rest:
        if word.lower == "that" or word.is_only(FINITE):
            return True
        if word.lower in RELATIVES | {"and", "but", "or"} or word.text == ";":
            return False
    return False


def _lower(words: Sequence[Word], at: int) -> str:
    return words[at].lower if at < len(words) else ""


def _coordinated(sentence: Sentence, verb: MainVerb) -> tuple[tuple[int, int], ...] | None:
    """Indices of the coordinated past verbs and of the adverbs before each; none if uncertain."""
    shown = visible(sentence)
    if shown is None:
        return None
    words = sentence.words
    places = [index for index in shown if index > verb.index]
    passive = words[verb.index].lower in BE and _participle_follows(words, places)
    had = words[verb.index].lower == "had" and _participle_follows(words, places)
    found: list[tuple[int, int]] = []
    opener = ""
    for at, index in enumerate(places):
        word = words[index]
        back = at - 1
        while back >= 0 and words[places[back]].is_only(ADVERBS):
            back -= 1
        before = words[places[back]] if back >= 0 else None
        joined = before is not None and before.lower in ("and", "but", "or", ",", "then")
        if word.text in (";", ":") or (word.lower == "that" and back < 0):
            return None
        if word.lower in RELATIVES and not (word.lower == "that" and word.may_be(("NN",))):
            opener = opener or "relative"
        elif word.lower in SUBORDINATORS:
            opener = "subordinate"
        if not word.may_be(("VBD",)) or word.lower == "'s":
            continue
        certain = word.is_only(FINITE)
        parallel = any(words[i].lower in ("and", "but", "or") for i in places[:at])
        if before is not None and before.lower in NOMINATIVE | {"it", "there", "this"}:
            if opener != "relative":
                return None
            continue
        if not word.may_be(("VBN",)) and not word.is_only(FINITE) and not joined and not opener:
            return None  # "fell", which the rules do not tell from "to fell"
        if opener == "relative" and not joined:
            continue
        if opener == "relative":
            return None
        if opener == "subordinate":
            if certain or joined or _follows_its_subject(before):
                return None
            continue
        if certain:
            if not joined or before is None or before.lower == ",":
                return None
            found.append((index, places[back + 1]))
        elif word.may_be(("VBN",)) or word.may_be(("VB", "NN", "JJ")):
            if not joined and parallel and _follows_its_subject(before):
                return None  # ", but the board decided"
            if not joined:
                continue  # a participle: "the house built in 1960"
            after = words[places[at + 1]] if at + 1 < len(places) else None
            if before is not None and before.lower == ",":
                if word.may_be(("VBN",)) and after is not None and after.is_only(("IN", "TO")):
                    continue  # ", followed by"
                return None
            if after is None or after.may_be(NOUNS | {"JJ"}):
                return None
            if passive or had:
                if back == 1 and words[places[0]].may_be(("VBN",)):
                    continue  # "was built and opened"
                return None
            if not word.may_be(("VBN",)) or word.may_be(("NN", "VB")) or after.lower == "by":
                return None
            if any(words[other].lower in BE for other, _ in found):
                return None  # "aired in May and was written by A and directed"
            found.append((index, places[back + 1]))
    return tuple(found)


def _follows_its_subject(before: Word | None) -> bool:
    """Whether the word before a possible past verb may end its subject, or an adverbial."""
    subject = NOUNS | {"PRP", "RB", "CD"}
    return before is not None and (before.may_be(subject) or before.lower in ("since", "once"))


def _participle_follows(words: Sequence[Word], places: Sequence[int]) -> bool:
    following = [words[i] for i in places if not words[i].is_only(ADVERBS)]
    return bool(following) and following[0].may_be(("VBN",))

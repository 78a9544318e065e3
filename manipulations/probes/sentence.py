"""A sentence as the probes see it, and what they replace in it.

Words have their places and the tags that they can have.

Tags are those of the Penn Treebank, by rules in the manner of a constraint grammar: every word
begins with all the tags that its form allows, and a neighbour can only take readings away. More
than one is left where the rules cannot tell, and a probe that would have to know does not apply.

Inflection is lemminflect's: what a form can be, and the form that a tag asks for.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from coherencegym.loaders.languages.language import ENGLISH
from coherencegym.words import in_case_of, word_lists

#: A tag of the Penn Treebank for each form of a noun or verb that lemminflect knows.
_OPEN_CLASSES = ("NOUN", "VERB", "AUX", "ADJ", "ADV")
#: Plurals where lemminflect puts the rarer of two first.
_PLURALS = {"person": "people", "fish": "fish", "series": "series", "species": "species"}


@lru_cache(1 << 16)
def possible_tags(form: str) -> frozenset[str]:
    """The Penn Treebank tags that a lower-case form can have; empty where it is not known.

    >>> sorted(possible_tags("led")), sorted(possible_tags("xyzzy"))
    (['VBD', 'VBN'], [])
    """
    import lemminflect

    tags: set[str] = set()
    for part_of_speech, lemmas in lemminflect.getAllLemmas(form).items():
        if part_of_speech not in _OPEN_CLASSES:
            continue
        for lemma in lemmas:
            inflections = lemminflect.getAllInflections(lemma, upos=part_of_speech)
            for tag, forms in inflections.items():
                # Every noun has its singular among its plurals: believed of the first form only.
                if form in forms and (tag != "NNS" or form != lemma or forms[0] == form):
                    tags.add(tag)
            if form in inflections.get("VBD", ()) and "VBN" not in inflections:
                tags.add("VBN")  # left out where it is the past form
    return frozenset(tags)


@lru_cache(1 << 16)
def verb_lemma(form: str) -> str:
    """The lemma of a lower-case form as a verb; the form where none is known.

    Of several the one that is a form of itself: ``found`` is of ``find``, ``saw`` of ``see``.
    """
    import lemminflect

    lemmas = lemminflect.getAllLemmas(form, upos="VERB").get("VERB", ())
    others = [other for other in lemmas if other != form]
    return str(others[0] if others else form)


@lru_cache(1 << 16)
def plural_of(noun: str) -> str | None:
    """The plural of a noun's lemma; none where it is not known."""
    import lemminflect

    forms = lemminflect.getAllInflections(noun, upos="NOUN").get("NNS", ())
    return _PLURALS.get(noun) or (str(forms[0]) if forms else None)


@lru_cache(1 << 16)
def base_form(form: str, tag: str) -> str | None:
    """The lemma of which a lower-case form is the ``tag``; none where there are several, or none.

    >>> base_form("led", "VBD"), base_form("lives", "VBZ"), base_form("was", "VBD")
    ('lead', 'live', 'be')
    """
    import lemminflect

    lemmas = lemminflect.getAllLemmas(form, upos="VERB").get("VERB", ())
    fitting = [
        str(lemma)
        for lemma in lemmas
        if form in lemminflect.getAllInflections(lemma, upos="VERB").get(tag, ())
    ]
    if len(fitting) > 1:  # ``found`` is the past of ``find``, hardly ever anything of itself
        fitting = [lemma for lemma in fitting if lemma != form]
    return fitting[0] if len(fitting) == 1 else None


_LISTED: dict[str, set[str]] = defaultdict(set)
for _tag, *_words in word_lists("closed_classes"):
    for _word in _words:
        _LISTED[_word].add(_tag)

FINITE = frozenset(("VBD", "VBZ", "VBP", "MD"))
VERBAL = FINITE | {"VB", "VBN", "VBG"}
NOUNS = frozenset(("NN", "NNS", "NNP", "NNPS"))
ADVERBS = frozenset(("RB", "RBR", "RBS"))
#: Personal pronouns that are only ever subjects.
NOMINATIVE = ENGLISH.forms("nominative")
BE = frozenset(("is", "are", "was", "were", "am", "be", "been", "being", "'m", "'re"))
HAVE = frozenset(("has", "have", "had", "having", "'ve"))
_AUXILIARIES = frozenset(("had", "have", "has", "do", "does", "did", "'s", "'d"))

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_WORDLIKE = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Tagged:
    """A token: its characters in the sentence and the Penn Treebank tags that it can have.

    ``lower`` has plain apostrophes.
    """

    text: str
    lower: str
    start: int
    end: int
    tags: frozenset[str]

    def is_only(self, tags: Collection[str]) -> bool:
        """Tell whether it can be nothing but one of ``tags``."""
        return self.tags <= frozenset(tags)

    def may_be(self, tags: Collection[str]) -> bool:
        """Tell whether it can be one of ``tags``."""
        return not self.tags.isdisjoint(tags)


#: Stands where no word is: neither is it only, nor may it be, of any tag.
NOTHING = Tagged("", "", 0, 0, frozenset(("",)))


def word_at(words: Sequence[Tagged], index: int) -> Tagged:
    """The word at an index (from 0); :data:`NOTHING` before the first and behind the last."""
    return words[index] if 0 <= index < len(words) else NOTHING


def plain(words: Iterable[Tagged]) -> list[Tagged]:
    """The words that may be something else than an adverb."""
    return [word for word in words if not word.is_only(ADVERBS)]


def first_plain(words: Iterable[Tagged]) -> Tagged:
    """The first word that may be something else than an adverb, or :data:`NOTHING`."""
    return next((word for word in words if not word.is_only(ADVERBS)), NOTHING)


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """A sentence, its tokens, and the sentences before it."""

    text: str
    words: tuple[Tagged, ...]
    preceding: tuple[str, ...] = ()

    @property
    def lowers(self) -> tuple[str, ...]:
        """The words in lower case, with plain apostrophes."""
        return tuple(word.lower for word in self.words)


def analyse(text: str, preceding: Sequence[str] = ()) -> TaggedSentence:
    """The words of a sentence with their tags; ``preceding`` are the sentences before it."""
    tokens = [token for token in _tokenizer()(text) if not token.is_space]
    lowers = [token.text.lower().replace("’", "'") for token in tokens]
    tags = [_form_tags(token.text, first=index == 0) for index, token in enumerate(tokens)]
    words = tuple(
        Tagged(token.text, lower, token.idx, token.idx + len(token.text), tag)
        for token, lower, tag in zip(tokens, lowers, _disambiguate(lowers, tags), strict=True)
    )
    return TaggedSentence(text, words, tuple(preceding))


@cache
def _tokenizer() -> Any:
    import spacy

    tokenizer = spacy.blank("en").tokenizer
    # ``id``, ``wed``, ``cant`` and ``wont`` would be two tokens each.
    tokenizer.rules = {
        form: parts
        for form, parts in tokenizer.rules.items()
        if not (form.isalpha() and possible_tags(form.lower()))
    }
    return tokenizer


def _form_tags(text: str, first: bool) -> frozenset[str]:
    # All tags that the form allows; ``first``: whether a capital may be a sentence's. A sign that
    # is no word and no number has itself as its only tag.
    lower = text.lower().replace("’", "'")
    if _NUMBER.fullmatch(text):
        return frozenset(("CD",))
    if not _WORDLIKE.search(text):
        return frozenset((text,))
    name = {"NNP"} if text[0].isupper() else set()
    if lower in _LISTED:
        return frozenset(_LISTED[lower] if first or lower == "i" else _LISTED[lower] | name)
    if name and not first:
        return frozenset(name)
    if any(character.isdigit() for character in text):
        return frozenset(("JJ", "NN", "NNS"))
    return (possible_tags(lower) or _guess(lower)) | name


def _guess(lower: str) -> frozenset[str]:
    endings = {"ly": "RB", "eenth": "JJ", "ieth": "JJ", "ed": "VBD VBN JJ", "ing": "VBG NN JJ"}
    if lower.endswith("s") and not lower.endswith(("ss", "us", "is")):
        endings["s"] = "NNS VBZ"
    tags = (tags for ending, tags in endings.items() if lower.endswith(ending))
    return frozenset(next(tags, "NN JJ").split())


def _disambiguate(words: Sequence[str], tags: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    # The tags that are left once every word's neighbours on the left have had their say.
    left: list[frozenset[str]] = []
    for word, current in zip(words, tags, strict=True):
        # The nearest word on the left that is no adverb.
        at = next((at for at in reversed(range(len(left))) if not left[at] <= ADVERBS), None)
        before = ("", frozenset()) if at is None else (words[at], left[at])
        if word in _AUXILIARIES:
            current = _auxiliary(*before, current)
        elif word not in _LISTED and at is not None:
            current = _among_neighbours(*before, at < len(left) - 1, current)
        left.append(current)
    return left


def _among_neighbours(
    word: str, tags: frozenset[str], adverb: bool, current: frozenset[str]
) -> frozenset[str]:
    # The readings left behind a word with these tags; ``adverb``: one stands in between.
    modal = tags == {"MD"} or word in ("do", "does", "did")
    determined = tags & {"DT", "PRP$", "POS", "WP$"} and not tags & {"PRP", "IN", "WDT"}
    rules = (
        (word in NOMINATIVE and "NNP" not in tags, _keep, FINITE),
        (word == "to", _drop, {"VBD", "VBZ", "VBP"}),
        (modal and not adverb, _keep, {"VB"}),
        (modal, _drop, FINITE),
        (word in HAVE | BE, _drop, FINITE | {"VB"}),
        ((determined or tags == {"JJ"} or tags <= {"IN"}) and not adverb, _drop, FINITE | {"VB"}),
    )
    return next((rule(current, which) for holds, rule, which in rules if holds), current)


def _auxiliary(word: str, tags: frozenset[str], current: frozenset[str]) -> frozenset[str]:
    if tags == {"MD"} or word in ("do", "does", "did", "to"):
        return _keep(current, {"VB"})
    return _keep(current, {"VBN"}) if word in HAVE else _drop(current, {"VB", "VBN"})


def _keep(tags: frozenset[str], wanted: AbstractSet[str]) -> frozenset[str]:
    return tags & wanted or tags


def _drop(tags: frozenset[str], unwanted: AbstractSet[str]) -> frozenset[str]:
    return tags - unwanted or tags


@dataclass(frozen=True, slots=True)
class Replacement:
    """The characters ``start`` to ``end`` of a sentence become ``after``."""

    start: int
    end: int
    after: str


#: A rule-based edit of one sentence: its replacements in order, none overlapping; empty where the
#: probe does not apply.
Probe = Callable[[TaggedSentence], tuple[Replacement, ...]]


def put(form: str, word: Tagged, last: Tagged | None = None) -> Replacement:
    """Replace a word, or all from it to a last one, by a form in the word's letter case."""
    return Replacement(word.start, (last or word).end, in_case_of(word.text, form))


def apply(sentence: str, replacements: Iterable[Replacement]) -> str:
    """The sentence with its replacements made."""
    parts: list[str] = []
    position = 0
    for replacement in sorted(replacements, key=lambda one: (one.start, one.end)):
        if not position <= replacement.start <= replacement.end <= len(sentence):
            raise ValueError(
                f"characters {replacement.start} to {replacement.end} overlap with another "
                f"replacement, or are not in a sentence of {len(sentence)}"
            )
        parts += [sentence[position : replacement.start], replacement.after]
        position = replacement.end
    return "".join(parts) + sentence[position:]

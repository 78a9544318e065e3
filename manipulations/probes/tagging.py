"""The Penn Treebank tags that words of a sentence can have: word lists, forms, neighbours.

Rules in the manner of a constraint grammar: every word begins with all the tags that its form
allows, and a neighbour can only take readings away. More than one is left where the rules cannot
tell, and a probe that would have to know does not apply.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from coherencegym.manipulations.probes.inflection import possible_tags

_CLOSED = {
    "DT": "the a an this these that those every each another any some no all both either neither",
    "PDT": "all both such half",
    "PRP$": "my your his her its our their whose",
    "PRP": "i me you he him she her it we us they them myself yourself himself herself itself "
    "ourselves themselves mine yours his hers ours theirs",
    "MD": "will would can could may might shall should must 'll ca wo cannot",
    "TO": "to",
    "IN": "of in on at by for from with about against between into through during before after "
    "above below under over until till since without within along following across behind beyond "
    "plus except up down off among amongst amid amidst upon onto toward towards throughout despite "
    "per via like as than that because although though if unless whether while whereas lest once "
    "around near beside besides alongside inside outside versus including concerning regarding "
    "notwithstanding past opposite aboard atop underneath beneath",
    "CC": "and or but nor yet & plus",
    "WDT": "which that what whatever whichever",
    "WP": "who whom what whoever",
    "WP$": "whose",
    "WRB": "when where why how whenever wherever however",
    "EX": "there",
    "NN": "something anything nothing everything someone anyone everyone somebody anybody nobody "
    "everybody none one",
    "RB": "not n't never also then there here now thus hence therefore however moreover "
    "furthermore so too very quite rather just even still yet already again soon once twice "
    "always often sometimes seldom rarely usually ever almost nearly only about around instead "
    "later earlier before after since though perhaps together away back up down off over around "
    "out in on through along across today tomorrow yesterday tonight afterwards afterward else",
    "RP": "up down off out over back away in on along through around by",
    "CD": "one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty "
    "ninety hundred thousand million billion trillion",
    "VBZ": "is has does 's",
    "VBP": "am are have do 're 've 'm",
    "VBD": "was were had did 'd",
    "VB": "be have do",
    "VBN": "been had done",
    "VBG": "being having doing",
    "POS": "'s '",
    "JJ": "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth many "
    "much few several other such own same more most less least various numerous certain "
    "able due like near worth",
    "UH": "yes oh please",
}
_LISTED: dict[str, set[str]] = {}
for _tag, _words in _CLOSED.items():
    for _word in _words.split():
        _LISTED.setdefault(_word, set()).add(_tag)

FINITE = frozenset(("VBD", "VBZ", "VBP", "MD"))
VERBAL = FINITE | {"VB", "VBN", "VBG"}
NOUNS = frozenset(("NN", "NNS", "NNP", "NNPS"))
NOMINAL = NOUNS | {"JJ", "JJR", "JJS", "CD", "VBG", "VBN", "PRP$", "DT", "PDT", "POS"}
ADVERBS = frozenset(("RB", "RBR", "RBS"))
#: Personal pronouns that are only ever subjects.
NOMINATIVE = frozenset(("i", "he", "she", "we", "they"))
BE = frozenset(("is", "are", "was", "were", "am", "be", "been", "being", "'m", "'re"))
HAVE = frozenset(("has", "have", "had", "having", "'ve"))

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_WORDLIKE = re.compile(r"[^\W\d_]")


def form_tags(text: str, first: bool) -> frozenset[str]:
    """All tags that the form allows; ``first``: whether a capital may be a sentence's.

    A sign that is no word and no number has itself as its only tag.
    """
    lower = text.lower().replace("’", "'")
    if _NUMBER.fullmatch(text):
        return frozenset(("CD",))
    if not _WORDLIKE.search(text):
        return frozenset((text,))
    if lower in _LISTED:
        capital = text[0].isupper() and not first and lower != "i"
        return frozenset(_LISTED[lower] | {"NNP"}) if capital else frozenset(_LISTED[lower])
    if text[0].isupper() and not first:
        return frozenset(("NNP",))
    if any(character.isdigit() for character in text):
        return frozenset(("JJ", "NN", "NNS"))
    tags = set(possible_tags(lower)) or _guess(lower)
    if text[0].isupper():
        tags.add("NNP")
    return frozenset(tags)


def _guess(lower: str) -> set[str]:
    if lower.endswith("ly"):
        return {"RB"}
    if lower.endswith(("eenth", "ieth")):
        return {"JJ"}
    if lower.endswith("ed"):
        return {"VBD", "VBN", "JJ"}
    if lower.endswith("ing"):
        return {"VBG", "NN", "JJ"}
    if lower.endswith("s") and not lower.endswith(("ss", "us", "is")):
        return {"NNS", "VBZ"}
    return {"NN", "JJ"}


def disambiguate(words: Sequence[str], tags: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """The tags that are left once every word's neighbours on the left have had their say.

    ``words`` are lower-case; ``tags`` are theirs, in the same order.
    """
    left: list[frozenset[str]] = []
    for index, word in enumerate(words):
        current = tags[index]
        if word not in _LISTED:
            current = _among_neighbours(words, left, current)
        elif word in ("had", "have", "has", "do", "does", "did", "'s", "'d"):
            current = _auxiliary(words, left, current)
        left.append(current)
    return left


def _among_neighbours(
    words: Sequence[str], left: list[frozenset[str]], current: frozenset[str]
) -> frozenset[str]:
    at = len(left) - 1
    while at >= 0 and left[at] <= ADVERBS:
        at -= 1
    if at < 0:
        return current
    word, before, adverb = words[at], left[at], at < len(left) - 1
    if word in NOMINATIVE and "NNP" not in before:
        return _keep(current, FINITE)
    if word == "to":
        return _drop(current, {"VBD", "VBZ", "VBP"})
    if before == {"MD"} or word in ("do", "does", "did"):
        return _keep(current, {"VB"}) if not adverb else _drop(current, FINITE)
    if word in HAVE:
        return _drop(current, FINITE | {"VB"})
    if word in BE:
        return _drop(current, FINITE | {"VB"})
    determined = before & {"DT", "PRP$", "POS", "WP$"} and not before & {"PRP", "IN", "WDT"}
    if (determined or before == {"JJ"} or before <= {"IN"}) and not adverb:
        return _drop(current, FINITE | {"VB"})
    return current


def _auxiliary(
    words: Sequence[str], left: list[frozenset[str]], current: frozenset[str]
) -> frozenset[str]:
    at = len(left) - 1
    while at >= 0 and left[at] <= ADVERBS:
        at -= 1
    if at >= 0 and (left[at] == {"MD"} or words[at] in ("do", "does", "did", "to")):
        return _keep(current, {"VB"})
    if at >= 0 and words[at] in HAVE:
        return _keep(current, {"VBN"})
    return _drop(current, {"VB", "VBN"})


def _keep(tags: frozenset[str], wanted: set[str] | frozenset[str]) -> frozenset[str]:
    return tags & wanted or tags


def _drop(tags: frozenset[str], unwanted: set[str] | frozenset[str]) -> frozenset[str]:
    return tags - unwanted or tags

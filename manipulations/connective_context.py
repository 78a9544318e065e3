"""What stands around a connective: whether it can be replaced at all, and how it is used."""

from __future__ import annotations

import re

_WORD = re.compile(r"[\w'’]+(?:-[\w'’]+)*")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


#: Words before a connective that make one of more than one word with it, or limit it.
_MODIFIERS = _set(
    "even ever especially exactly just long mainly only particularly partly precisely right "
    "shortly simply if"
)
#: More such words, of single connectives: ``and yet``, ``as yet``, ``as though``.
_MODIFIERS_OF = {
    "yet": _set("and but as not or"),
    "though": _set("as"),
    "while": _set("a the once all"),
}
#: Words after ``as`` with which it is a connective or a preposition of several words.
_AFTER_AS = _set("if though soon long well far much many of to for yet such per opposed")
#: Words before ``as`` to which it belongs: ``so tired as``, ``the same day as``.
_CORRELATES = _set("as so such same")
#: How many words may stand between the two parts of ``as ... as``.
_NEAR = 5
#: After ``however`` these say a degree: ``however hard they try``.
_DEGREES = _set("much many few little long hard small big great often far good bad well old young")


def unsuitable(sentence: str, start: int, end: int) -> str:
    """Why the connective ``sentence[start:end]`` cannot be replaced; empty where it can.

    One word is assumed. Reasons are short, for counting.
    """
    word = sentence[start:end].lower()
    if sentence[:start][-1:].isalnum() or sentence[end:][:1].isalnum():
        return "connective inside a word"
    # Only as far as the clause reaches: "as he left, as well" is no "as ... as".
    clause_before = re.split(r"[,;:.!?()\"“”–—]", sentence[:start])[-1]
    clause_after = re.split(r"[,;:.!?()\"“”–—]", sentence[end:])[0]
    before = [w.lower() for w in _WORD.findall(clause_before)]
    after = [w.lower() for w in _WORD.findall(clause_after)]
    last, following = before[-1:], after[:1]
    if word == "as":
        if _CORRELATES & set(before[-_NEAR - 1 :]) or "as" in after[: _NEAR + 1]:
            return "correlative as"
        if _AFTER_AS & set(following):
            return "connective of several words"
    if word == "however" and _DEGREES & set(following):
        return "however of degree"
    if (_MODIFIERS | _MODIFIERS_OF.get(word, frozenset())) & set(last):
        return "connective of several words"
    return ""


def words(text: str) -> int:
    """The number of words of a text; punctuation is none."""
    return len(_WORD.findall(text))


def syntax(sentence: str, start: int, end: int) -> str:
    """How a connective is used: ``subordinator``, ``adverbial`` or ``coordinator``.

    ``though`` is an adverbial where a comma or the sentence's end follows, else a subordinator.
    """
    word = sentence[start:end].lower()
    if word in ("however", "meanwhile"):
        return "adverbial"
    if word == "yet":
        return "coordinator"
    following = sentence[end:].lstrip()
    if word == "though" and (not following or following[0] in ",.;:!?)"):
        return "adverbial"
    return "subordinator"


def fits(word: str, classes: frozenset[str], sentence: str, start: int, end: int) -> bool:
    """Whether a connective of these classes can stand where another does, by grammar alone.

    ``though`` is an adverbial only inside a sentence: ``Though, it rained`` is no English.
    """
    used = syntax(sentence, start, end)
    if word == "though" and used == "adverbial" and not words(sentence[:start]):
        return False
    return used in classes

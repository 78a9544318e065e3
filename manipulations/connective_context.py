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
    "yet": _set("and but as or"),
    "though": _set("as"),
    "while": _set("a the once all"),
}
#: Words after ``as`` with which it is a connective or a preposition of several words.
_AFTER_AS = _set(
    "if though soon long well far of to for yet such per opposed usual never always ever before "
    "follows part"
)
#: After ``as`` these have no subject, and after another connective would need one: ``as would be``.
_VERBS = _set(
    "is are was were do does did has have had can could will would should shall may might must"
)
#: Verbs of ``as you can see`` and ``as she said``: such a clause names a source, whatever sense it
#: was given.
_REPORTS = _set(
    "see sees saw seen know knows known understand understands say says said state states stated "
    "note notes noted mention mentions mentioned recall recalls suggest suggests suggested explain "
    "explains explained understood predict predicted argue argues argued review reviews describe "
    "describes described tell tells told expect expected promised presented discussed shown show "
    "shows put report reports reported point points pointed"
)
#: Within how many words after ``as`` such a verb is looked for.
_REPORT_WITHIN = 5
#: Words before ``as`` to which it belongs: ``so tired as``, ``the same day as``.
_CORRELATES = _set("as so such same")
#: How many words may stand between the two parts of ``as ... as``.
_NEAR = 5
#: After ``however`` these say a degree: ``however hard they try``.
_DEGREES = _set(
    "much many few little long short hard easy small big great often far near good bad well old "
    "young high low strong weak slow slowly fast quickly deep rich poor wide brief briefly "
    "unlikely difficult important tempting"
)
#: Words before a participle that leave it one: ``while simultaneously demanding``.
_ADVERB = re.compile(r"\w+ly|not|also|still|once|again")
_PREPOSITIONS = _set("in at on under within abroad away")
#: Words in -ing and -ed that are no participles.
_NO_PARTICIPLES = _set(
    "thing something nothing everything anything king spring evening morning during being bed need "
    "indeed hundred speed seed weed red"
)


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
        if _VERBS & set(following) or _reduced(sentence[end:]) in ("ing", "ed"):
            return "as without a subject"
        # Over commas, too: "as his daughter, Ann, said".
        near = [w.lower() for w in _WORD.findall(sentence[end:])[:_REPORT_WITHIN]]
        if _REPORTS & set(near):
            return "as that names a source"
    if word == "however" and _DEGREES & set(following):
        return "however of degree"
    if re.search(rf"\b{word}\b[^.!?]{{0,40}}[—–-]\s*$", sentence[:start], re.IGNORECASE):
        return "connective said twice"
    if (_MODIFIERS | _MODIFIERS_OF.get(word, frozenset())) & set(last):
        return "connective of several words"
    return ""


def words(text: str) -> int:
    """The number of words of a text; punctuation is none."""
    return len(_WORD.findall(text))


def syntax(sentence: str, start: int, end: int) -> str:
    """How a connective is used: ``subordinator``, ``adverbial`` or ``coordinator``.

    ``though`` is an adverbial where a comma, the sentence's end, ``so``, ``and`` or ``but``
    follows, else a subordinator.
    """
    word = sentence[start:end].lower()
    if word in ("however", "meanwhile"):
        return "adverbial"
    if word == "yet":
        return "coordinator"
    following = sentence[end:].lstrip()
    if word == "though" and re.match(r"$|[,.;:!?)]|(?:so|and|but)\b", following):
        return "adverbial"
    return "subordinator"


def fits(word: str, classes: frozenset[str], sentence: str, start: int, end: int) -> bool:
    """Whether a connective of these classes can stand where another does, by grammar alone.

    ``though`` is an adverbial only inside a sentence: ``Though, it rained`` is no English. Before
    a participle (``while demanding``, ``although called``) or a preposition (``while in prison``)
    there is neither ``since`` nor ``as``.
    """
    used = syntax(sentence, start, end)
    if word == "though" and used == "adverbial" and not words(sentence[:start]):
        return False
    if word in ("as", "since") and _reduced(sentence[end:]):
        return False
    return used in classes


def _reduced(after: str) -> str:
    """What a clause without subject and verb begins with: ``ing``, ``ed``, or a preposition.

    Empty where the clause begins with anything else.
    """
    for match in _WORD.finditer(after):
        found = match[0]
        if _ADVERB.fullmatch(found):
            continue
        if found.lower() in _PREPOSITIONS:
            return found.lower()
        if found.lower() in _NO_PARTICIPLES:
            return ""
        return "ing" if found.endswith("ing") else "ed" if found.endswith("ed") else ""
    return ""

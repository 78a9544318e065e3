"""The words around a connective: whether it can be replaced at all, and how it is used."""

from __future__ import annotations

import itertools
import re

from coherencegym.manipulations.connectives.clauses import WORD, begins_with_participle, has_clause
from coherencegym.manipulations.connectives.clauses import word_set as _set

#: Words before a connective that make one of more than one word with it, or limit it.
_MODIFIERS = _set(
    "even ever especially exactly just long mainly only particularly partly precisely right "
    "shortly simply if"
)
#: More such words, of single connectives: ``and yet``, ``as yet``, ``as though``.
_MODIFIERS_OF = {
    "however": _set("and but or"),
    "yet": _set("and but as or"),
    "though": _set("as"),
    "while": _set("a the once all"),
}
#: Words after ``as`` with which it is a connective or a preposition of several words.
_AFTER_AS = _set(
    "if though soon long well far of to for yet such per opposed usual never always ever before "
    "follows part possible necessary needed"
)
#: Two words after ``as`` that make an idiom with it: ``as it turns out``.
_IDIOMS = ("it turns", "it turned", "it happens", "it happened", "it were", "luck would")
#: Verbs that have no subject after ``as``, and would need one after another connective: ``as would
#: be``.
_VERBS = _set(
    "is are was were do does did has have had can could will would should shall may might must"
)
#: Verbs of ``as you can see`` and ``as she said``: such a clause names a source, whatever sense it
#: was given.
_REPORTS = _set(
    "see sees saw seen know knows known aware understand understands say says said state states "
    "stated note notes noted mention mentions mentioned recall recalls remember suggest suggests "
    "suggested explain explains explained understood predict predicted argue argues argued review "
    "reviews describe describes described tell tells told expect expected promised presented "
    "discussed shown show shows put report reports reported point points pointed announced "
    "observe observes observed demonstrate demonstrates demonstrated illustrate illustrates "
    "illustrated indicate indicates indicated confirm confirms confirmed imagine heard"
)
#: The number of words after ``as`` within which such a verb is looked for; one that ends the clause
#: may be farther away: ``as the plight of many towns shows``.
_REPORT_WITHIN = 5
#: Words before ``as`` to which it belongs: ``so tired as``, ``the same day as``.
_CORRELATES = _set("as so such same")
#: The most words between the two parts of ``as ... as``.
_NEAR = 5
#: Words for a degree behind ``however``: ``however hard they try``. After a first ``as`` they wait
#: for the second, however far away it is: ``as much of the rent of land as possible``.
_DEGREES = _set(
    "much many few little long short hard easy small big great often far near good bad well old "
    "young high low strong weak slow slowly fast quickly deep rich poor wide brief briefly "
    "unlikely difficult important tempting"
)
_PREPOSITIONS = _set("in at on under within with from during by")
#: Marks that end a clause, as far as words of one connective are looked for.
_CLAUSE_END = r"[,;:.!?()\"“”–—]"
#: Marks and words that a clause may begin behind, other than its sentence's start.
_OPENS = re.compile(r"(?:^|[;:(–—-])\W*$")


def unsuitable(sentence: str, start: int, end: int) -> str:
    """Say why the connective ``sentence[start:end]`` cannot be replaced; empty where it can.

    One word is assumed. Reasons are short, for counting.
    """
    word = sentence[start:end].lower()
    if sentence[:start][-1:].isalnum() or sentence[end:][:1].isalnum():
        return "connective inside a word"
    # Only as far as the clause reaches: "as he left, as well" is no "as ... as".
    before = _words(re.split(_CLAUSE_END, sentence[:start])[-1])
    after = _words(re.split(_CLAUSE_END, sentence[end:])[0])
    if word == "as" and (reason := _unsuitable_as(sentence, start, end, before, after)):
        return reason
    if word == "however" and _DEGREES & set(after[:1]):
        return "however of degree"
    if word == "however" and _half_set_off(sentence, start, end):
        return "however between a comma and none"
    if re.search(rf"\b{word}\b[^.!?]{{0,40}}[—–-]\s*$", sentence[:start], re.IGNORECASE):
        return "connective said twice"
    if (_MODIFIERS | _MODIFIERS_OF.get(word, frozenset())) & set(before[-1:]):
        return "connective of several words"
    return ""


def _unsuitable_as(sentence: str, start: int, end: int, before: list[str], after: list[str]) -> str:
    """Say why ``as`` between these words of its clause cannot be replaced; empty where it can."""
    degree = any(one == "as" and two in _DEGREES for one, two in itertools.pairwise(before))
    if degree or _CORRELATES & set(before[-_NEAR - 1 :]) or "as" in after[: _NEAR + 1]:
        return "correlative as"
    if begins_clause(sentence, start) and re.search(r",\s*so\b", sentence[end:]):
        return "correlative as"
    if _AFTER_AS & set(after[:1]) or " ".join(after[:2]) in _IDIOMS:
        return "connective of several words"
    bare = _PREPOSITIONS & set(after[:1]) and not has_clause(sentence[end:])
    if bare or _VERBS & set(after[:1]) or begins_with_participle(sentence[end:]):
        return "as without a subject"
    # Over commas, too: "as his daughter, Ann, said".
    if _REPORTS & {*_words(sentence[end:])[:_REPORT_WITHIN], *after[-1:]}:
        return "as that names a source"
    return ""


def _half_set_off(sentence: str, start: int, end: int) -> bool:
    """True for a word with a comma on one side only, inside a sentence: ``he was however, ill``.

    Such a sentence is badly written already, and with another word it reads as another slip.
    """
    before, after = sentence[:start].rstrip()[-1:], sentence[end:].lstrip()[:1]
    if begins_clause(sentence, start) or not after:
        return False
    return (before == ",") != (after == ",") and (before == "," or before.isalnum())


def begins_clause(sentence: str, start: int) -> bool:
    """Tell whether a place begins its sentence, or a clause after a semicolon or a dash."""
    return _OPENS.search(sentence[:start]) is not None


def words(text: str) -> int:
    """The number of words of a text; punctuation is none."""
    return len(WORD.findall(text))


def syntax(sentence: str, start: int, end: int) -> str:
    """Classify the use of a connective: ``subordinator``, ``adverbial`` or ``coordinator``.

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
    """Tell whether a connective of these classes can stand where another does, by grammar alone.

    A clause without a subject or a finite verb (``while demanding``, ``although not perfect``)
    follows neither ``since`` nor ``as``, but for the ``since`` that is a preposition (``since
    getting it``), where nothing else fits. No connective stands beside itself. Of adverbials see
    :func:`_fits_adverbial`.
    """
    before, after = sentence[:start], sentence[end:]
    used = syntax(sentence, start, end)
    if word in (_words(before)[-1:] + _words(after)[:1]):
        return False
    if used != "subordinator" and "adverbial" in classes:
        return _fits_adverbial(word, used, sentence, start, end)
    if used == "adverbial" and "coordinator" in classes:
        return begins_clause(sentence, start)
    original = sentence[start:end].lower()
    if original == "since" and begins_with_participle(after):
        return False
    if word in ("as", "since") and original not in ("as", "since"):
        return used in classes and has_clause(after)
    return used in classes


def _fits_adverbial(word: str, used: str, sentence: str, start: int, end: int) -> bool:
    """Tell whether an adverbial can stand in the place of another, or of ``yet``.

    In the place of ``yet`` only where that begins its clause; ``though`` only where nothing does
    (``Though, it rained`` is no English). ``For example``, and ``however`` for ``yet``, have a
    comma behind them; the ``though`` that ends a clause without one (``it rained though so we``)
    is like no other. None stands twice in a sentence.
    """
    begins = begins_clause(sentence, start)
    comma = sentence[end:].lstrip().startswith(",")
    if re.search(rf"\b{word}\b", f"{sentence[:start]}|{sentence[end:]}", re.IGNORECASE):
        return False
    if used == "coordinator" and not begins:
        return False
    if word == "though":
        return not begins
    if not comma and (word == "for example" or sentence[start:end].lower() == "though"):
        return False
    return comma or used == "adverbial" or word != "however"


def _words(text: str) -> list[str]:
    return [found.lower() for found in WORD.findall(text)]

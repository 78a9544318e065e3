"""Signs that text is no prose: list, table, markup, fragments, and what extraction left behind.

:func:`text_drop` and :func:`sentences_drop` judge any text, :func:`debris` the sentences of edited
pages. Where a converter drops a template with the words that it holds, a sentence goes on around a
gap (``It covers an area of and is connected by a -long causeway.``), and where a page has a table,
a list or a caption, its pieces stand as sentences. Those rules are of form alone; chat is written
as it comes, and TeX has signs of its own, so that sentences with any are left alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

#: Words that a sentence has at least and at most.
SHORTEST, LONGEST = 3, 100

#: Letters among the characters that are no white space. Wikipedia's paragraphs have 94 % in the
#: median, and 999 of 1,000 have more than 79 %.
_FEWEST_LETTERS = 0.75

_MARKUP = re.compile(r"==|\{\{|\}\}|\[\[|\]\]|\||'''|</?[a-zA-Z]\w*[^<>\n]{0,200}>|&[a-z]{2,6};")
_ITEM = re.compile(r"[^\S\n]*(?:[*•‣◦▪·]|[-–—][^\S\n]|\(?\d{1,3}[.)][^\S\n]|\(?[a-z]\)[^\S\n])")
_FINAL = re.compile(r"[.!?…。！？।՞؟۔។][\"'”’»)\]）」』]*$")
_WORD = re.compile(r"\w+(?:[-.,'’]\w+)*")
#: Scripts that put no space between words; there the number of words is not counted.
_NO_SPACES = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")

_TEX = re.compile(r"[\\$^_{}]")
_NO_LETTER_BEFORE = r"(?<![\w'’-])"
#: Nouns of measure: what follows their ``of`` is a number with its unit, from a template.
_MEASURES = (
    "area length distance weight depth elevation height altitude population width temperature "
    "temperatures speed capacity radius diameter span thickness footprint range total volume mass"
)
_AFTER_MEASURE = "|".join(rf"(?<=\b{noun} of)" for noun in _MEASURES.split())
#: Words that end a sentence which has been cut, and hardly a whole one.
_PREPOSITIONS = "of|from|with|by|at|into|between|during|against|than"
_PARTICLES = "de|del|della|di|da|du|do|dos|von|van|der|den|zu|la|le|el|al|ad|ibn|bin|bint|ben|y"

_LOST_NOUN = "a preposition without its noun"
#: Reason -> what shows it; the first that is found is the reason.
_RULES = {
    "leftover markup": re.compile(
        r"==|\{\||\[\[|\]\]|(?:^|\s)\|\s|'''|&[a-z]{2,6};|<\s?[/!]|"
        r"<\s?(?:br|ref|section|nowiki|onlyinclude|noinclude|small|su[bp]|div|span|table)\b|"
        r"\b(?:colspan|rowspan|style|align|class|width|bgcolor)\s?=",
        re.IGNORECASE,
    ),
    "empty brackets or quotation marks": re.compile(
        r"\((?:\s*[,;:])*\s*\)|\[\s*\]|(?<![^\s(,])\"\s?\"(?![\w(])|“\s*”"
    ),
    "doubled punctuation": re.compile(
        r"[,;:]\s?[,;:]|[,;:]\s?\.(?![\w.])|(?<!\.)(?<!\. )\.\s?\.(?!\s?\.)(?!\d)|\(\s?[,;:]|"
        r"[,;:]\s?\)"
    ),
    "a determiner without its noun": re.compile(
        rf"{_NO_LETTER_BEFORE}(?:(?:the|its|their|our|your)\s?(?:[.,;:)](?!\w)|$)|"
        r"a(?:\s?[.:;]?$|, (?=[a-z]{2}))|"
        r"(?:the (?:in the|was|at|or)|(?:the|an) (?:and|but|of|with|were|is|are|has|had|from))"
        r"\b(?!-))"
    ),
    _LOST_NOUN: re.compile(
        rf"{_NO_LETTER_BEFORE}(?<!in )(?:{_PREPOSITIONS})\s?[.;:]?$|"
        rf" of(?:{_AFTER_MEASURE})(?: (?:and|or|is|was|in|by|with|from|at|of|on|to)\b(?!-)|"
        r"\s?[,;)])|\b(?:of of|between and|from to)\b(?!-)"
    ),
    "a hyphen without its number": re.compile(r"\b(?:an?|the|its|of) -[a-z]"),
    "a sentence that begins in the middle": re.compile(
        rf"(?!(?:{_PARTICLES})\b)[a-z]+(?=[ ,;])|[,;:!?)\]%•|*]|\.(?![\w.])"
    ),
    "a bracket that is not closed": re.compile(r"[^()]*(?:\([^()]*\)[^()]*)*\([^()]*$"),
}
#: A clause that may well end with its preposition: ``where it comes from``, ``hard to deal with``.
_STRANDING = re.compile(
    r"\b(?:where|what|whatever|who|whom|which|that|whose|how)\b|\bto \w+(?: \w+){0,3}\W*$"
)
#: Ends at which a splitter takes an abbreviation's point for that of a sentence: several initials
#: ("the U.S."), one behind a name (but "World War I."), what stands before a name or a number; and
#: the point of an ordinal ("between 1.").
_CUT_END = re.compile(
    r"(?:(?<![\w/])(?:[^\W\d_]\.){2,9}|(?:^|\b[A-Z][\w.]{0,60},? )[A-HJ-Z]\."
    r"|\b(?:Mr|Mrs|Ms|Dr|Prof|Hon|Rev|Gen|Col|Capt|Lt|Sgt|Maj|Adm|Gov|Sen|Rep|St|Mt|Ft|[Vv]ol|Nos|Op"
    r"|Figs?|Eqs?|Sect?|Refs?|vs|cf|ca|approx|pp|eds?|al|resp)\."
    r"|^(?:Ltd|Inc|Corp|Co|Jr|Sr|Bros)\.|\b(?:between|the|vs\.?|versus) \d{1,2}\.)$"
)
#: Marks of quotations, whatever the language: they come in pairs.
_QUOTATION_MARKS = re.compile(r"[\"“”„«»]")
_SMALL_BEGINNING = re.compile(r"[\"“'‘]*(\w+)(?![\w-])")
_AT_BEGINNING = ("a sentence that begins in the middle", "a bracket that is not closed")


def text_drop(text: str) -> str | None:
    """Say why a text with its line breaks is no prose; none where it may be.

    A list is at least two lines one after another that begin as items do; a line with a tab inside
    is a row of a table.
    """
    if _MARKUP.search(text):
        return "leftover markup"
    items = [_ITEM.match(line) is not None for line in text.split("\n") if line.strip()]
    if any(one and two for one, two in pairwise(items)):
        return "list"
    if any("\t" in line.strip() for line in text.split("\n")):
        return "table"
    return None


def sentences_drop(sentences: Sequence[str]) -> str | None:
    """Say why these sentences are no prose (markup, letters, words, final marks); else none."""
    if any(_MARKUP.search(sentence) for sentence in sentences):
        return "leftover markup"
    characters = [character for character in "".join(sentences) if not character.isspace()]
    # Letters, and the marks that scripts such as Devanagari write vowels with.
    letters = sum(unicodedata.category(character)[0] in "LM" for character in characters)
    if letters < _FEWEST_LETTERS * len(characters):
        return "too few letters"
    for sentence in sentences:
        words = len(_WORD.findall(sentence))
        if words < SHORTEST and not _NO_SPACES.search(sentence):
            return f"a sentence of fewer than {SHORTEST} words"
        if words > LONGEST:
            return f"a sentence of more than {LONGEST} words"
    if not all(map(_FINAL.search, sentences)):
        return "a sentence without its end"
    return None


@lru_cache(maxsize=100_000)  # windows and tasks share most sentences
def sentence_debris(sentence: str) -> str | None:
    """Name the sign that a sentence lost something, or never was one; none where nothing shows."""
    if _TEX.search(sentence):
        return None
    for reason, rule in _RULES.items():
        found = rule.match(sentence) if reason in _AT_BEGINNING else rule.search(sentence)
        stranded = found and found.end() == len(sentence) and _STRANDING.search(sentence)
        if found and not (reason == _LOST_NOUN and stranded):
            return reason
    return None if _FINAL.search(sentence) else "a sentence without its end"


def badly_split(sentence: str) -> bool:
    """Tell whether a sentence is a piece of one: it ends in an abbreviation, or begins small.

    A splitter that took a point for an end makes two of a sentence, which belong one behind the
    other.
    """
    begins = _SMALL_BEGINNING.match(sentence)
    return _CUT_END.search(sentence) is not None or (begins is not None and begins[1].islower())


def unfinished(sentence: str) -> bool:
    """Tell whether a sentence goes on in another one: after a comma, or inside a quotation."""
    return sentence.endswith(",") or len(_QUOTATION_MARKS.findall(sentence)) % 2 == 1


#: The number of a list in its sentence, ``a)`` or ``iii)``, whose bracket is not opened.
_NUMBER_OF_LIST = re.compile(r"(?:^|[\s,;:])(?:\d{1,2}|[a-zA-Z]|[ivx]{2,4})$")


def debris(sentences: Iterable[str]) -> str | None:
    """The first sign in the sentences of a document that one lost something; none without any.

    Beside those of :func:`sentence_debris` it is a bracket without its other one, round or square,
    as pieces of a list of references have.
    """
    for sentence in sentences:
        if (reason := sentence_debris(sentence)) is not None:
            return reason
        if not _TEX.search(sentence) and not _has_pairs_of_brackets(sentence):
            return "a bracket without its other one"
    return None


def _has_pairs_of_brackets(sentence: str) -> bool:
    depth = 0
    for found in re.finditer(r"[()\[\]]", sentence):
        # Intervals open and close with different ones.
        if found[0] in "([":
            depth += 1
        elif depth:
            depth -= 1
        elif not _NUMBER_OF_LIST.search(sentence, 0, found.start()):
            return False
    return depth == 0

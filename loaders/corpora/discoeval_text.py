"""The sentences of DiscoEval's files as a reader would see them.

Beside tokenisation the files have marks of how they were made, which are undone here: sentences cut
in two at an abbreviation or at a closing sign, brackets that are empty because what stood in them
was a template, and in SP's Wikipedia quotation marks that all look alike, opening marks left at the
end of the sentence before, and signs set apart that touch the words around them.
What was lost before (``a draft of .``) cannot be put back.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from coherencegym.loaders.formats.lines import tidy
from coherencegym.loaders.text.detokenize import detokenize
from coherencegym.loaders.text.sentences import rejoined
from coherencegym.loaders.text.tex_spacing import without_tex_spaces

#: A name or a word that the corpus hides: ``<user>``, ``<unka>``, ``<unk#a.>``.
MASKED = re.compile(r"<(?:user|unk[^\s<>]*)>")

#: Whom a message is for, at its beginning (``<user> :``); who wrote it is not in the files.
_ADDRESSEE = re.compile(r"<(?:user|unk[a#]*)>(?: [:,])+(?:\s+|$)|<unk[a#]*[:,]>(?:\s+|$)")

_ENTITY = re.compile(r"& (#?\w{1,8}) ;")
_STOPS = {".", "!", "?"}
_MONTH = (
    "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|January|February|March|April|June|July|"
    "August|September|October|November|December"
)


def sentences(tokenised: Sequence[str], domain: str, ordered: bool = True) -> list[str]:
    """The sentences of one document, in order; fewer where one was cut in two.

    Args:
        tokenised: the sentences as the file has them, in the order of the document.
        domain: the kind of text, as ``meta`` has it.
        ordered: false of the files of Wikipedia's that are in no order, whose signs differ, too.
    """
    if domain == "chat":
        plain = [_ADDRESSEE.sub("", sentence, count=1) for sentence in tokenised]
        return _with_words([detokenize(sentence) for sentence in plain])
    plain = [_ENTITY.sub(_character, sentence) for sentence in tokenised]
    plain = rejoined(plain) if ordered else [_apart(directed(sentence)) for sentence in plain]
    if domain == "arxiv":
        plain = [without_tex_spaces(sentence, detokenize) for sentence in plain]
    elif domain == "wikipedia":
        plain = [detokenize(_wiki(sentence)) for sentence in plain]
    else:
        plain = [detokenize(sentence) for sentence in plain]
    return _with_words(plain)


def _with_words(texts: Sequence[str]) -> list[str]:
    return [tidy(text) for text in texts if any(map(str.isalnum, text))]


def _character(match: re.Match[str]) -> str:
    """Give the character that a tokenised entity of HTML (``& amp ;``) stands for."""
    entity = f"&{match[1]};"
    character = html.unescape(entity)
    return match[0] if character == entity or not character.isprintable() else character


def _wiki(text: str) -> str:
    """Wikipedia without what an empty template left in brackets, doubled marks, and ``R & B``."""
    text = re.sub(r"(?<!\S)([A-Z]{1,3}) & ([A-Z]{1,3})(?!\S)", r"\1&\2", text)
    text = re.sub(r"\( (?:[,;:] )*\) ?", "", text)
    text = re.sub(r"\( (?:[,;:] )+", "( ", text)
    return re.sub(r"``\s+(?:``|'')\s+(\w[^`\"]*?)\s+(?:``|'')\s+(?:``|'')", r"`` \1 ''", text)


def _apart(text: str) -> str:
    """Join signs that are never set apart in running text: names, fractions, ranges, ``R&B``."""
    text = re.sub(r"(?<!\S)([OLDTSNCJMQoldtsncjmq]) '(?=\w)", r"\1'", text)
    text = re.sub(r"(?<=[^\W\d_]) '(?=[a-zà-ÿ]{2})(?!(?:re|ve|ll|em|til|tis)\b)", "'", text)
    text = re.sub(r"(?<=\w) / (?=\w)", "/", text)
    return re.sub(rf"(?<=\d) – (?=\d+(?! (?:{_MONTH})\b))", "–", text)


def directed(tokenised: str) -> str:
    """Tell opening quotation marks from closing ones, where all of them are two backquotes.

    They open and close by turns, unless they do not pair: then a mark behind the full stop belonged
    to the next sentence, and one that can only close a quotation lost its beginning to the sentence
    before.
    """
    tokens = tokenised.split()
    marks = [place for place, token in enumerate(tokens) if token == "``"]
    if len(marks) % 2 and len(tokens) > 1 and tokens[-1] == "``" and tokens[-2] in _STOPS:
        tokens.pop()
        marks.pop()
    elif len(marks) % 2 and _closes(tokens, marks[0]):
        tokens.insert(0, "``")
        marks = [0, *(place + 1 for place in marks)]
    for place in marks[1::2]:
        tokens[place] = "''"
    return " ".join(tokens)


def _closes(tokens: Sequence[str], place: int) -> bool:
    """Tell whether a first mark closes a quotation: a name begins the text, and none follows it."""
    after = tokens[place + 1 : place + 2]
    begins = 0 < place <= 8 and tokens[0][0].isalnum()
    return begins and bool(after) and (after[0][0].islower() or after[0] in {",", ".", "(", "'s"})

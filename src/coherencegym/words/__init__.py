"""Words of a language: lists of them, their letter case, their stems, and the space between them.

English has its closed classes (``lists/``); of other languages the words that say nothing are
spaCy's stop words. Stems are Snowball's (Porter 2001), where it has the language; elsewhere a word
is its own stem. In scripts without spaces between words (Chinese, Japanese) texts are joined, and
words told, in a way of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any


def word_set(words: str) -> frozenset[str]:
    """The words of a string with spaces between them."""
    return frozenset(words.split())


@cache
def word_lists(name: str) -> tuple[tuple[str, ...], ...]:
    """The words of each line of ``lists/<name>.txt``; ``#`` begins a comment."""
    file = files(__package__).joinpath("lists", f"{name}.txt")
    lines = (line.partition("#")[0].split() for line in file.read_text("utf-8").splitlines())
    return tuple(tuple(words) for words in lines if words)


@cache
def word_list(name: str) -> frozenset[str]:
    """The words of ``lists/<name>.txt``."""
    return frozenset(word for line in word_lists(name) for word in line)


def in_case_of(word: str, replacement: str) -> str:
    """The replacement in the case of a word: ``However`` → ``Since``, ``HOWEVER`` → ``SINCE``."""
    if word.isupper() and len(word) > 1:
        return replacement.upper()
    return replacement.capitalize() if word[0].isupper() else replacement


ENGLISH = "en"
#: Snowball's names of languages.
_STEMMERS = {
    **{"en": "english", "nl": "dutch", "de": "german", "it": "italian", "fr": "french"},
    **{"es": "spanish", "pt": "portuguese", "ru": "russian", "hu": "hungarian", "sv": "swedish"},
    **{"da": "danish", "nb": "norwegian", "fi": "finnish", "ro": "romanian"},
}


@cache
def stop_words(code: str) -> frozenset[str]:
    """The words of a language that say nothing of what a text is about, in small letters.

    Args:
        code: ISO 639-1; none are known of a language that spaCy does not have.
    """
    if code == ENGLISH:
        return word_list("closed_classes") | word_list("auxiliaries") | word_list("word_pieces")
    from spacy.util import get_lang_class

    try:
        return frozenset(word.lower() for word in get_lang_class(code).Defaults.stop_words)
    except ImportError:
        return frozenset()


@cache
def stem(word: str, code: str) -> str:
    """The stem of a word in small letters; the word, where no stemmer has the language."""
    return str(_stemmer(code).stem(word)) if code in _STEMMERS else word


@cache
def _stemmer(code: str) -> Any:
    from nltk.stem.snowball import SnowballStemmer

    return SnowballStemmer(_STEMMERS[code])


#: Ideographs and kana, with the punctuation and the wide forms that stand among them.
_UNSPACED = "\u3000-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
_ONE = re.compile(f"[{_UNSPACED}]")
#: A letter of such a script; a regular expression.
LETTER = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
_LETTERS = re.compile(f"{LETTER}+")
#: Characters of a word at most.
_LONGEST = 8
_QUOTES = "\"'“”‘’"


def is_unspaced(character: str) -> bool:
    """Tell whether a character is of a script without spaces."""
    return _ONE.match(character) is not None


def join_texts(texts: Iterable[str]) -> str:
    """Texts that follow one another: with a space between them, and with none in Chinese.

    >>> join_texts(["It rained.", "She stayed."]), join_texts(["下雨了。", "她没走。"])
    ('It rained. She stayed.', '下雨了。她没走。')
    """
    texts = list(texts)
    plain = " ".join(texts)
    if plain.isascii() or not _ONE.search(plain):
        return plain
    joined = ""
    for text in texts:
        before, after = joined.rstrip(_QUOTES)[-1:], text.lstrip(_QUOTES)[:1]
        touch = not joined or is_unspaced(before) or is_unspaced(after)
        joined += text if touch else f" {text}"
    return joined


def place_texts(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Start and end (characters) of each text in what :func:`join_texts` makes of them."""
    joined, places = "", list[tuple[int, int]]()
    for text in texts:
        joined = join_texts([joined, text]) if places else text
        places.append((len(joined) - len(text), len(joined)))
    return places


def with_spaces(text: str, words: frozenset[str] = frozenset()) -> str:
    """A text with spaces between its words; one of other scripts comes back as it is.

    Args:
        text: a text.
        words: the known words of Chinese, of which the longest that fits is always taken; none:
            pairs of neighbouring characters, as retrieval has them (Nie and Ren 1999).

    >>> with_spaces("我们看到了GDP。"), with_spaces("It rained.")
    ('我们 们看 看到 到了 GDP。', 'It rained.')
    >>> with_spaces("我们看到了GDP。", frozenset(["我们", "看到"]))
    '我们 看到 了 GDP。'
    """
    if text.isascii():
        return text
    return _LETTERS.sub(lambda run: _spaced(run, _matched(run[0], words)), text)


def unspaced_words(words: Iterable[str]) -> frozenset[str]:
    """Those of several characters, all of a script without spaces."""
    return frozenset(word for word in words if len(word) > 1 and _LETTERS.fullmatch(word))


def count_words(text: str) -> int:
    """The number of words between spaces; of Chinese, of characters."""
    return len(_LETTERS.sub(lambda run: f" {' '.join(run[0])} ", text).split())


def _matched(letters: str, words: frozenset[str]) -> list[str]:
    if not words:
        return [letters[place : place + 2] for place in range(max(1, len(letters) - 1))]
    found, place = list[str](), 0
    while place < len(letters):
        sizes = range(min(_LONGEST, len(letters) - place), 1, -1)
        size = next((size for size in sizes if letters[place : place + size] in words), 1)
        found.append(letters[place : place + size])
        place += size
    return found


def _spaced(run: re.Match[str], parts: Iterable[str]) -> str:
    before = " " * (run.start() > 0 and not run.string[run.start() - 1].isspace())
    return f"{before}{' '.join(parts)} "

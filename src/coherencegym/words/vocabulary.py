"""The words of a language for baselines: those that say nothing, and the stems of the others.

English has its closed classes (``lists/``); of other languages the words that say nothing are
spaCy's stop words. Stems are Snowball's (Porter 2001), where it has the language; elsewhere a word
is its own stem.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from coherencegym.words import word_list, word_set

ENGLISH = "en"
#: Forms of auxiliaries, and the pieces of contractions, that are in no list of word classes.
_PIECES = word_set(
    "be been being doing done having don didn doesn isn wasn weren aren couldn wouldn shouldn "
    "hasn haven hadn won ain ll ve re"
)
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
        return word_list("closed_classes") | word_list("auxiliaries") | _PIECES
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

"""All languages by their code. A new language is one module and one line here.

A language without a module is as its text is: it has spaces as most have, the rules of English for
points, and no tables. Stop words and stems of baselines are a library's
(:mod:`coherencegym.words`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.languages.language import (
    CHINESE,
    DUTCH,
    ENGLISH,
    GERMAN,
    ITALIAN,
    Language,
    Spacing,
)

#: Language by ISO 639-1 code.
LANGUAGES: Mapping[str, Language] = {
    one.code: one for one in (ENGLISH, DUTCH, CHINESE, GERMAN, ITALIAN)
}


#: The code of a corpus whose documents say their languages (ISO 639-2).
SEVERAL = "mul"


@cache
def language(code: str) -> Language:
    """The language of a code: ISO 639-1, or any that spaCy knows as one (``nld``, ``zh-CN``).

    >>> language("nld").name, language("fr").name
    ('Dutch', 'French')
    """
    if code in LANGUAGES:
        return LANGUAGES[code]
    from spacy.util import find_matching_language, get_lang_class

    known = find_matching_language(code) or code
    if known in LANGUAGES:
        return LANGUAGES[known]
    try:
        name = get_lang_class(known).__name__
    except ImportError:
        name = known
    return Language(known, name, Spacing(), sentences=ENGLISH.sentences)


def language_of(discourse: Discourse) -> Language:
    """The language of a discourse: English where nothing is said."""
    return language(discourse.meta.get("language", ENGLISH.code))

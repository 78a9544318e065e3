"""Sentences that a connective can be put before: written, whole, and without one of their own."""

from __future__ import annotations

import re

from coherencegym.manipulations.words import word_lists

_OPENING = re.compile(
    rf"\W*(?:{'|'.join(' '.join(words) for words in word_lists('sentence_openings'))})\b",
    re.IGNORECASE,
)
#: Fillers: what people say while they think of what to say, and words said twice.
_FILLERS = re.compile(
    r"\b(?:um|uh|uhm|oh|wow|hey|hi|hello|alright|yeah|okay|ok|gonna|kinda|gotta|wanna|anyways?"
    r"|you know|i mean|like i|was like|if i may)\b|\b(\w+(?: \w+)?) \1\b"
    r"|\blike,|, like\b|\b(?:doing|been|was|were|is|are) like \w+ing\b|\w- |\b(?:the|a|to|of) –|--",
    re.IGNORECASE,
)
#: Words with which something is denied.
_DENIAL = re.compile(
    r"\b(?:not|no|none|nobody|nothing|never|neither|nor|hardly|without|cannot|rather than)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)


def says_how_it_goes_on(sentence: str) -> bool:
    """Tell whether a sentence begins with a connective or the like, or with a quotation."""
    return _OPENING.match(sentence) is not None or sentence[:1] in set("\"“‘'([")


def has_fillers(text: str) -> bool:
    """Tell whether a text has fillers of speech: it reads badly whatever the connective."""
    return _FILLERS.search(text) is not None


def denies(text: str) -> bool:
    """Tell whether a text says what is not so: ``instead`` may say then what is."""
    return _DENIAL.search(text) is not None

"""Sentences that a connective can be put before: written, whole, and without one of their own."""

from __future__ import annotations

import re

from coherencegym.loaders.discourse import Unit
from coherencegym.words import word_lists

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
_ADVERBIALS = (
    r"(?:however|therefore|thus|hence|instead|nevertheless|nonetheless|moreover|furthermore"
    r"|consequently|accordingly|for example|for instance|in fact|in particular|after all|indeed"
    r"|on the other hand|in turn|meanwhile|otherwise|likewise|similarly|then|rather|of course)"
)
#: A phrase before a sentence that takes up the one before it: ``For this reason, ...``.
_TAKING_UP = re.compile(
    r"(?:[\w-]+ )?(?:for|in|at|by|on|to|with|from|under|after|before|since|because of|given|despite"
    r"|besides|of) (?:all )?(?:this|that|these|those|such|doing so|so doing)\b[^,]*,"
    r"|(?:that|this) (?:being )?said,|all in all,|in (?:any|either) case,|in the mean ?time,"
    r"|in (?:turn|short|sum|conclusion|the end|return),|(?:at|by) the same time,|as such,",
    re.IGNORECASE,
)
_SET_OFF = re.compile(rf", {_ADVERBIALS},", re.IGNORECASE)
#: Words with which something is denied.
_DENIAL = re.compile(
    r"\b(?:not|no|none|nobody|nothing|never|neither|nor|hardly|without|cannot|rather than"
    r"|more than (?:just|only)|(?:lack|fail|refus)(?:s|e|ed|es)?)\b|n['’]t\b",
    re.IGNORECASE,
)


def says_how_it_goes_on(sentence: str) -> bool:
    """Tell whether a sentence begins with a connective or the like, or with a quotation."""
    return _OPENING.match(sentence) is not None or sentence[:1] in set("\"“‘'([")


def has_own_adverbial(unit: Unit) -> bool:
    """Tell whether a sentence has an adverbial that says how it goes on from the one before it.

    That is a phrase that begins it (``For this reason,``), one between commas, or, where the
    grammar is known, one that belongs to its main verb.
    """
    if _TAKING_UP.match(unit.text) or _SET_OFF.search(unit.text):
        return True
    return any(
        word.relation == "advmod"
        and word.head is not None
        and unit.words[word.head].head is None
        and re.fullmatch(_ADVERBIALS, unit.text[word.start : word.end], re.IGNORECASE)
        for word in unit.words
    )


def has_fillers(text: str) -> bool:
    """Tell whether a text has fillers of speech: it reads badly whatever the connective."""
    return _FILLERS.search(text) is not None


def denies(text: str) -> bool:
    """Tell whether a text says what is not so: ``instead`` may say then what is."""
    return _DENIAL.search(text) is not None

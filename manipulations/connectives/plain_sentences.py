"""Sentences that a connective can be put before, and the clauses that one joins.

The former are written, whole, and without a connective of their own. Clauses are told where a
corpus has the grammar of its sentences, that of Universal Dependencies: a subordinator is a
``mark`` of its clause's verb, and that an ``advcl`` of the verb of the other one.
"""

from __future__ import annotations

import re

from coherencegym.loaders.discourse import ParsedWord, Unit
from coherencegym.words import word_lists

_SUBJECTS = ("nsubj", "csubj", "expl")
#: Relations by which a word belongs to a noun, and is no predicate of a sentence.
_OF_NOUNS = frozenset(("acl", "amod", "nmod", "obl", "obj", "nsubj", "dislocated"))
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


def joins_clauses(unit: Unit, end: int) -> bool:
    """Tell whether the subordinator that ends at a character joins a clause to another clause.

    It does not where it is an adverb (``it is possible though that``), or its clause belongs to a
    phrase (``the time elapsed since he left``). True where the unit has no grammar.
    """
    found = _last_word_and_head(unit, end)
    if found is None:
        return True
    word, verb = found
    if word.relation != "mark" or verb.relation == "acl":
        return False
    joined = None if verb.head is None else unit.words[verb.head]
    return joined is None or joined.relation not in _OF_NOUNS or _has_subject(unit, verb.head)


def finite_clause_after(unit: Unit, end: int) -> bool | None:
    """Tell whether the clause of the connective that ends at a character is a whole one.

    It has a subject and a finite verb then. None where the unit has no grammar.
    """
    found = _last_word_and_head(unit, end)
    if found is None:
        return None
    word, verb = found
    auxiliaries = (each for each in unit.words if each.head == word.head)
    finite = "VerbForm=Fin" in verb.features or any(
        "VerbForm=Fin" in each.features and each.relation.startswith(("aux", "cop"))
        for each in auxiliaries
    )
    return finite and _has_subject(unit, word.head)


def tells_what_happened(unit: Unit) -> bool:
    """Tell whether the main verb of a sentence is a past one; false where it has no grammar."""
    root = next((number for number, word in enumerate(unit.words) if word.head is None), None)
    return any(
        "Tense=Past" in word.features
        and "VerbForm=Fin" in word.features
        and (number == root or (word.head == root and word.relation.startswith(("aux", "cop"))))
        for number, word in enumerate(unit.words)
    )


def _last_word_and_head(unit: Unit, end: int) -> tuple[ParsedWord, ParsedWord] | None:
    word = next((word for word in unit.words if word.end == end), None)
    return None if word is None or word.head is None else (word, unit.words[word.head])


def _has_subject(unit: Unit, verb: int | None) -> bool:
    return any(word.head == verb and word.relation.startswith(_SUBJECTS) for word in unit.words)

"""The clauses that a connective joins, where a corpus has the grammar of its sentences.

Grammar is that of Universal Dependencies: a subordinator is a ``mark`` of its clause's verb, and
that an ``advcl`` of the verb of the other one.
"""

from __future__ import annotations

from coherencegym.loaders.discourse import ParsedWord, Unit

_SUBJECTS = ("nsubj", "csubj", "expl")
#: Relations by which a word belongs to a noun, and is no predicate of a sentence.
_OF_NOUNS = frozenset(("acl", "amod", "nmod", "obl", "obj", "nsubj", "dislocated"))


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

"""Alpino's part-of-speech tags of Dutch, and what they show of a mention.

A tag is a word class with its features: ``N[soort,ev,basis,zijd,stan]`` is a common noun in the
singular that has the article *de*.

Source: van Eynde 2004, Part of speech tagging en lemmatisering van het Corpus Gesproken Nederlands
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from coherencegym.loaders.discourse import Features

_TAG = re.compile(r"(\w+)\[([^\]]*)\]")
_PARTS_OF_SPEECH = {
    "N": "NOUN", "SPEC": "PROPN", "VNW": "PRON", "WW": "VERB", "ADJ": "ADJ", "TW": "NUM",
    "LID": "DET", "VZ": "ADP", "VG": "CCONJ", "BW": "ADV", "LET": "PUNCT", "TSW": "INTJ",
}  # fmt: skip
_PRONOUNS = {
    "pers": "personal", "pr": "personal", "bez": "possessive", "refl": "reflexive",
    "recip": "reciprocal", "betr": "relative", "vb": "interrogative", "aanw": "demonstrative",
    "onbep": "indefinite", "excl": "indefinite",
}  # fmt: skip
_NUMBERS = {"ev": "singular", "mv": "plural"}
_GENDERS = {
    "zijd": "common",
    "onz": "neuter",
    "masc": "masculine",
    "fem": "feminine",
}
#: Classes that begin what follows the head of a noun phrase.
_AFTER_HEAD = ("ADP", "CCONJ", "PUNCT", "VERB")


def tag_features(tag: str) -> Features:
    """The features that a tag shows; those of no word where it is malformed."""
    match = _TAG.fullmatch(tag)
    if match is None:
        return Features()
    kind, values = match[1], match[2].split(",")
    pos = _PARTS_OF_SPEECH.get(kind, "")
    if kind == "N" and "eigen" in values:
        pos = "PROPN"
    pronoun = _PRONOUNS.get(values[0], "") if kind == "VNW" else ""
    return Features(
        pos=pos,
        pronoun=pronoun,
        person=next((value[0] for value in values if value[:1].isdigit()), "") if pronoun else "",
        number=next((_NUMBERS[value] for value in values if value in _NUMBERS), ""),
        gender=next((_GENDERS[value] for value in values if value in _GENDERS), ""),
    )


def head_of(words: Sequence[Features]) -> int:
    """The number of the head of a noun phrase: its last noun before what may follow a noun."""
    head = None
    for index, word in enumerate(words):
        if head is not None and (word.pos in _AFTER_HEAD or word.pronoun == "relative"):
            break
        if word.pos in ("NOUN", "PROPN"):
            head = index
    return len(words) - 1 if head is None else head

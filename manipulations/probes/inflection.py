"""English inflection by lemminflect: what a form can be, and the form that a tag asks for."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

#: A tag of the Penn Treebank for each form of a noun or verb that lemminflect knows.
_OPEN_CLASSES = ("NOUN", "VERB", "AUX", "ADJ", "ADV")
#: Plurals where lemminflect puts the rarer of two first.
_PLURALS = {"person": "people", "fish": "fish", "series": "series", "species": "species"}


@cache
def _lemminflect() -> Any:
    import lemminflect

    return lemminflect


@lru_cache(1 << 16)
def possible_tags(form: str) -> frozenset[str]:
    """The Penn Treebank tags that a lower-case form can have; empty where it is not known.

    >>> sorted(possible_tags("led")), sorted(possible_tags("xyzzy"))
    (['VBD', 'VBN'], [])
    """
    library = _lemminflect()
    tags: set[str] = set()
    for part_of_speech, lemmas in library.getAllLemmas(form).items():
        if part_of_speech not in _OPEN_CLASSES:
            continue
        for lemma in lemmas:
            inflections = library.getAllInflections(lemma, upos=part_of_speech)
            for tag, forms in inflections.items():
                # Every noun has its singular among its plurals: believed of the first form only.
                if form in forms and (tag != "NNS" or form != lemma or forms[0] == form):
                    tags.add(tag)
            if form in inflections.get("VBD", ()) and "VBN" not in inflections:
                tags.add("VBN")  # left out where it is the past form
    return frozenset(tags)


@lru_cache(1 << 16)
def lemma(form: str, part_of_speech: str) -> str:
    """The lemma of a lower-case form as a ``VERB`` or ``NOUN``; the form where none is known.

    Of several the one that is a form of itself: ``found`` is of ``find``, ``saw`` of ``see``.
    """
    lemmas = _lemminflect().getAllLemmas(form, upos=part_of_speech).get(part_of_speech, ())
    others = [other for other in lemmas if other != form]
    return str(others[0] if others else form)


@lru_cache(1 << 16)
def inflect(word: str, tag: str) -> str | None:
    """The form of a lemma that a Penn Treebank tag asks for; none where it is not known."""
    if tag == "NNS" and word in _PLURALS:
        return _PLURALS[word]
    part_of_speech = "NOUN" if tag.startswith("NN") else "VERB"
    inflections = _lemminflect().getAllInflections(word, upos=part_of_speech)
    forms = inflections.get(tag, ())
    return str(forms[0]) if forms else None


@lru_cache(1 << 16)
def base_form(form: str, tag: str) -> str | None:
    """The lemma of which a lower-case form is the ``tag``; none where there are several, or none.

    >>> base_form("led", "VBD"), base_form("lives", "VBZ"), base_form("was", "VBD")
    ('lead', 'live', 'be')
    """
    library = _lemminflect()
    lemmas = library.getAllLemmas(form, upos="VERB").get("VERB", ())
    fitting = [
        str(lemma)
        for lemma in lemmas
        if form in library.getAllInflections(lemma, upos="VERB").get(tag, ())
    ]
    if len(fitting) > 1:  # ``found`` is the past of ``find``, hardly ever anything of itself
        fitting = [lemma for lemma in fitting if lemma != form]
    return fitting[0] if len(fitting) == 1 else None

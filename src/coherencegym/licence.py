"""Licences that let derived text be republished, by SPDX identifier; and what never is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from coherencegym.extensions import added, load_extension

#: Suite name -> one line for the listing. The module ``builders.<name>`` holds ``SUITE``.
SUITES = {
    "sentence_order": "sentences in a shuffled order, compared with the original order",
    "story_cloze": "the wrong ending of a story, compared with the right ending",
    "winograd": "a pronoun replaced by the wrong referent, compared with the right referent",
    "coreference": "a repeated noun phrase, compared with a pronoun",
    "connectives": "another connective, compared with the author's connective",
    "speaker_commitment": "a contradiction by one speaker, compared with a change of speaker",
    "intruder_sentences": "a sentence of another document, compared with the original",
    "linguistic_probes": "a sentence with a wrong gender, tense, ..., compared with the original",
    "replies": "a reply to another chat message, compared with the right reply",
    "rewrites": "an incoherent sentence, compared with its rewrite",
    "coherence_ratings": "texts with human ratings of their coherence",
    "discourse_tasks": "labelled text segments, for probing classifiers",
    "document_structure": "documents with their sections, for training sentence encoders",
    "span_coherence": "questions about texts, with the right answer for every part of a text",
}


#: Licences that allow publishing adapted text, on their conditions (credit, share alike, ...).
#: Licences with a no-derivatives clause are left out: a manipulated text is an adaptation.
ADAPTABLE = (
    *("CC0-1.0", "CC-BY-2.0", "CC-BY-2.5", "CC-BY-3.0", "CC-BY-4.0"),
    *("CC-BY-SA-2.0", "CC-BY-SA-2.5", "CC-BY-SA-3.0", "CC-BY-SA-4.0"),
    *("CC-BY-NC-2.0", "CC-BY-NC-3.0", "CC-BY-NC-4.0"),
    *("CC-BY-NC-SA-2.0", "CC-BY-NC-SA-3.0", "CC-BY-NC-SA-4.0"),
    *("Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "Unlicense"),
    *("ODC-By-1.0", "ODbL-1.0", "PDDL-1.0"),
)
_BY_LOWER_CASE = dict(zip(map(str.lower, ADAPTABLE), ADAPTABLE, strict=True))
#: Between identifiers of licences all of which hold, as SPDX expressions have it.
_AND = " AND "
#: The word for a licence that has no identifier.
OTHER = "other"
#: A corpus's licence of its texts, where each document states its own; one that does not has none.
BY_DOCUMENT = "by document"

#: Corpora that no licence lets anybody republish, by name: whatever a manifest or a user says of
#: one of them, nothing that is made of it is published. ``loaders`` declares them.
CLOSED = frozenset(
    {
        *("storycloze", "rocstories", "arrau", "parcor", "ontonotes", "disco", "pdtb", "tedmdb"),
        *("dialoguenli", "discoeval", "insted", "disrpt", "verifiable", "decor", "cohesentia"),
    }
)
#: All others of the toolkit, which no extension of the same name stands for.
OPEN = frozenset(
    {
        *("sample", "personachat", "winograd", "winogrande", "gum", "irc"),
        "documents",
    }
)


def is_closed(corpus: str) -> bool:
    """Tell whether nothing that is made of the corpus of this name is published, whoever says so.

    It is one of :data:`CLOSED`, or that of an installed extension which declares no licence that
    lets anybody republish it.
    """
    if corpus in CLOSED:
        return True
    entry = added("corpora", OPEN).get(corpus)
    return entry is not None and not getattr(load_extension(entry), "republishable", False)


def may_republish(licence: str) -> bool:
    """Tell whether text adapted from a document under this licence may be published.

    Of several (``A AND B``) each has to allow it. Case does not matter (the Hub writes lower case).
    An unknown identifier is no permission.
    """
    return all(each.lower() in _BY_LOWER_CASE for each in licence.split(_AND))


#: The answers to the question whether what is made of some texts may be published.
YES, IN_PART, NO = "yes", "in part", "no"


def may_publish(annotation: str, texts: Iterable[str], closed: bool = False) -> str:
    """Say whether what is made of some texts may be published, as tables have it.

    Args:
        annotation: the licence of the annotation.
        texts: the licences of the texts, of which :data:`BY_DOCUMENT` may be one.
        closed: nothing of it may, whatever the licences say.

    Returns:
        :data:`YES`, :data:`NO`, or :data:`IN_PART` where the licence of some texts allows it.
    """
    if closed or not may_republish(annotation):
        return NO
    answers = {
        IN_PART if one == BY_DOCUMENT else YES if may_republish(one) else NO for one in texts
    }
    return answers.pop() if len(answers) == 1 else IN_PART


def closed_line(name: str, answer: str = NO) -> str:
    """A corpus or config of which not all may be published, in a sentence; see above."""
    if answer == IN_PART:
        return f"{name} may be published in part, by the licences of its documents"
    return f"{name} may not be published, by its licence"


#: Licences that ask for nothing, not even for credit.
_PUBLIC_DOMAIN = frozenset({"CC0-1.0", "PDDL-1.0", "Unlicense"})
#: The licence under which texts of several licences that only ask for credit are published.
_CREDIT = "CC-BY-4.0"
_CREATIVE_COMMONS = re.compile(r"CC-BY(?P<terms>(?:-NC)?(?:-SA)?)-(?P<version>[\d.]+)")


def _terms(licence: str) -> str:
    # What a licence asks for beside credit: ``-NC-SA``.
    found = _CREATIVE_COMMONS.fullmatch(licence)
    return found["terms"] if found else "-ODbL" * (licence == "ODbL-1.0")


def combined_licence(licences: Iterable[str]) -> str:
    """The licence under which texts of all these licences may be adapted and published together.

    Texts that ask for credit alone may be published under the terms of any other licence, earlier
    versions of Creative Commons under those of the latest (section 4b of version 3.0). "Share
    alike" and "non-commercial" exclude each other: an adaptation of CC-BY-SA texts has to allow
    commercial use, and one of CC-BY-NC or CC-BY-NC-SA texts must not.

    >>> combined_licence(["CC-BY-4.0", "CC-BY-SA-3.0"]), combined_licence(["CC0-1.0"])
    ('CC-BY-SA-3.0', 'CC0-1.0')
    >>> combined_licence(["CC-BY-SA-4.0", "CC-BY-NC-4.0"])
    ''

    Returns:
        The SPDX identifier; empty where there is no such licence, or one of them is unknown.
    """
    stated = {each.lower() for licence in licences for each in licence.split(_AND)}
    if not stated or not stated <= _BY_LOWER_CASE.keys():
        return ""
    named = {_BY_LOWER_CASE[each] for each in stated}
    named = named - _PUBLIC_DOMAIN or {min(named)}
    strict = {terms for each in named if (terms := _terms(each))}
    if len(strict) > 1 and strict != {"-NC", "-NC-SA"}:
        return ""
    if not strict and len(named) > 1 and not any(map(_CREATIVE_COMMONS.fullmatch, named)):
        return _CREDIT
    terms = max(strict, default="")
    of_terms = {each for each in named if _terms(each) == terms}
    return max(of_terms, key=lambda each: (bool(_CREATIVE_COMMONS.fullmatch(each)), each))


def licence_class(licence: str) -> str:
    """The class of an adaptable licence: the end of the name of the repository for its texts.

    >>> [licence_class(one) for one in ("CC-BY-4.0", "CC-BY-SA-3.0", "CC-BY-NC-SA-4.0", "MIT")]
    ['', '-sa', '-nc', '']
    """
    terms = _terms(licence)
    return "-nc" if terms.startswith("-NC") else terms.lower()


def licence_fields(stated: object, name: object = None, url: object = None) -> dict[str, Any]:
    """The fields of a :class:`loaders.corpus.Corpus` that speak of its licence.

    Of what is not known to allow it, nothing may be published.

    Args:
        stated: an SPDX identifier, in any case, or a list of them; or nothing.
        name, url: the licence's name, and its address, if it has no identifier.
    """
    names = stated if isinstance(stated, list) else [stated] if isinstance(stated, str) else []
    known = [_BY_LOWER_CASE.get(str(each).lower()) for each in names]
    if known and all(known):
        return {"licence": _AND.join(filter(None, known))}
    return {
        "licence": OTHER,
        "licence_name": str(name or ", ".join(map(str, names)) or "unknown"),
        "licence_url": str(url or ""),
    }

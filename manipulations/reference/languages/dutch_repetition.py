"""Dutch: a noun phrase that is said again in the place of a pronoun.

``een man`` becomes ``de man``, ``een huis`` becomes ``het huis``: the noun's gender is annotated.
After ``een`` and before a neuter noun an adjective has no ending (``een oud huis``, ``het oude
huis``), so that such phrases are left out. ``zijn hoed`` becomes ``Fogg's hoed``, and is left where
a noun stands for the owner.

Spelling before 1947 inflects the article of masculine nouns that are no subject (``den man``).
Where a text does so, an object is said again as it stands after ``den``, and otherwise left out.

Source: Algemene Nederlandse Spraakkunst, 14.4 (articles), 6.4 (adjectives); de Vries and te Winkel
1866 for ``den`` and ``'s``.
"""

from __future__ import annotations

import re

from coherencegym.loaders.discourse import Discourse, Mention
from coherencegym.loaders.languages.dutch import DUTCH
from coherencegym.manipulations.reference.table_repetition import RepetitionGrammar

_NAME_BESIDE = re.compile(r"[a-z,] [A-Z][\w'-]* $")


def _fault_of_place(discourse: Discourse, mention: Mention) -> str:
    ((unit, start, end),) = mention.span
    before, after = discourse.units[unit].text[:start], discourse.units[unit].text[end:]
    if _NAME_BESIDE.search(before) or re.match(r" [A-Z]", after):
        return "name beside a name"
    possessive = mention.features.pronoun == "possessive"
    return "independent possessive" if possessive and re.search(r"\bvan $", before) else ""


DUTCH_REPETITION = RepetitionGrammar(
    language=DUTCH,
    conjunctions="en of noch",
    quantified=re.compile(
        r"(?:(?:een )?(?:paar|enkele|eenige|vele?|weinige?|alle|beide|elke?|iedere?n?|geene?"
        r"|andere)|een der|een van|zulk|twee|drie|vier|vijf|zes|zeven|acht|negen|tien|\d)\b",
        re.IGNORECASE,
    ),
    clause=re.compile(r",| (?:die|dat|wie|waar\w*|als|dan)\b|^[A-Z]\w* van [a-z]+$"),
    predicated=re.compile(
        r"\b(?:is|was|ben|bent|zijn|waren|geweest|werd|wordt|worden|werden|geworden|bleef|blijft"
        r"|heet|heette|scheen|schijnt|leek|lijkt|als|genoemd|noemde|noemt)(?: [\w'-]+){0,3} $",
        re.IGNORECASE,
    ),
    modified=re.compile(r" (?:zelve?n?|alleen|die|wien?|allen|beiden)\b|zelf\b"),
    genitive="'s",
    no_genitive="sxz",
    inflected={"den": "de", "dezen": "deze", "dien": "die"},
    fault_of_place=_fault_of_place,
).rules

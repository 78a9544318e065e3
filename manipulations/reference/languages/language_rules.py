"""The rules of each language for mentions: said again, and without their antecedents."""

from __future__ import annotations

from collections.abc import Mapping

from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.languages.registry import language_of
from coherencegym.manipulations.reference.languages.dutch_removal import DUTCH_REMOVAL
from coherencegym.manipulations.reference.languages.dutch_repetition import DUTCH_REPETITION
from coherencegym.manipulations.reference.languages.english_removal import ENGLISH_REMOVAL
from coherencegym.manipulations.reference.languages.english_repetition import ENGLISH_REPETITION
from coherencegym.manipulations.reference.languages.german_repetition import GERMAN_REPETITION
from coherencegym.manipulations.reference.repetition_rules import RepetitionRules
from coherencegym.manipulations.reference.standing_alone import RemovalRules

#: Rules by ISO 639-1 code.
REPETITION_RULES: Mapping[str, RepetitionRules] = {
    "en": ENGLISH_REPETITION,
    "nl": DUTCH_REPETITION,
    "de": GERMAN_REPETITION,
}
_REMOVAL: Mapping[str, RemovalRules] = {"en": ENGLISH_REMOVAL, "nl": DUTCH_REMOVAL}


def rules_of(discourse: Discourse) -> RepetitionRules:
    """The rules of a discourse's language.

    Raises:
        KeyError: there are none; configs name the languages that they can be made in.
    """
    return REPETITION_RULES[language_of(discourse).code]


def removal_rules_of(discourse: Discourse) -> RemovalRules:
    """The rules of a discourse's language for sentences that are taken out of their text.

    Raises:
        KeyError: there are none; configs name the languages that they can be made in.
    """
    return _REMOVAL[language_of(discourse).code]

"""The rules of each language for noun phrases in the place of pronouns."""

from __future__ import annotations

from collections.abc import Mapping

from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.languages.registry import language_of
from coherencegym.manipulations.reference.dutch_repetition import DUTCH_REPETITION
from coherencegym.manipulations.reference.english_repetition import ENGLISH_REPETITION
from coherencegym.manipulations.reference.german_repetition import GERMAN_REPETITION
from coherencegym.manipulations.reference.repetition_rules import RepetitionRules

#: Rules by ISO 639-1 code.
REPETITION_RULES: Mapping[str, RepetitionRules] = {
    "en": ENGLISH_REPETITION,
    "nl": DUTCH_REPETITION,
    "de": GERMAN_REPETITION,
}


def rules_of(discourse: Discourse) -> RepetitionRules:
    """The rules of a discourse's language.

    Raises:
        KeyError: there are none; configs name the languages that they can be made in.
    """
    return REPETITION_RULES[language_of(discourse).code]

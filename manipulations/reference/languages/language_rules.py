"""The rules of each language for mentions."""

from __future__ import annotations

from collections.abc import Mapping

from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.languages.registry import language_of
from coherencegym.manipulations.reference.languages.dutch import DUTCH_RULES
from coherencegym.manipulations.reference.languages.english import ENGLISH_RULES
from coherencegym.manipulations.reference.languages.german import GERMAN_RULES
from coherencegym.manipulations.reference.mention_rules import MentionRules

#: Rules by ISO 639-1 code.
MENTION_RULES: Mapping[str, MentionRules] = {
    "en": ENGLISH_RULES,
    "nl": DUTCH_RULES,
    "de": GERMAN_RULES,
}


def rules_of(discourse: Discourse) -> MentionRules:
    """The rules of a discourse's language."""
    return MENTION_RULES[language_of(discourse).code]

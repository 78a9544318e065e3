"""The rules of a language for a noun phrase that is repeated in the place of a pronoun."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coherencegym.loaders.discourse import Discourse, Mention
from coherencegym.manipulations.reference.antecedents import Objection


@dataclass(frozen=True)
class RepetitionRules:
    """The rules of a language.

    Attributes:
        check_pronoun: raises :class:`~manipulations.reference.noun_phrases.NotApplicableError`
            where a mention is no pronoun that can be replaced, wherever it stands.
        objection: says what keeps a mention from standing in the place of a pronoun.
        fault_of_sentence: says what is wrong with a sentence; empty where nothing is.
        check_place: raises where no noun phrase would read well in the place of a pronoun.
        phrase: a pronoun and its antecedent -> the phrase for the pronoun's place, and the end of
            that place in the unit (characters); raises where no rule gives a good form.
    """

    check_pronoun: Callable[[Discourse, Mention], None]
    objection: Objection
    fault_of_sentence: Callable[[str], str]
    check_place: Callable[[Discourse, Mention], None]
    phrase: Callable[[Discourse, Mention, Mention], tuple[str, int]]

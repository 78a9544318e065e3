"""Animacy down: ``She lost her way`` becomes ``It lost its way``."""

from __future__ import annotations

from dataclasses import dataclass

from coherencegym.manipulations.probes.nearest_candidate import nearest_is_inanimate
from coherencegym.manipulations.probes.probe import Replacement
from coherencegym.manipulations.probes.pronouns import personal_pronouns, replace
from coherencegym.manipulations.probes.sentence import Sentence

_FORMS = {"subject": "it", "object": "it", "possessive": "its", "reflexive": "itself"}


@dataclass(frozen=True)
class AnimacyDown:
    """Every ``he`` or ``she`` becomes ``it``, in the case that the grammar asks for.

    Sound: as for the gender flip, all gendered pronouns have one gender and no word tells their
    sex; none is independent (``a friend of his``: English has no such ``its``); the sentence has no
    ``it`` already that the new ones could be taken for; and what stands nearest before the first of
    them, here or in the sentences before, is no thing, which ``it`` could well mean
    (:mod:`manipulations.probes.nearest_candidate`).
    """

    name: str = "animacy_down"

    def __call__(self, sentence: Sentence) -> tuple[Replacement, ...]:
        """One replacement for each pronoun."""
        pronouns = personal_pronouns(sentence)
        if not pronouns:
            return ()
        if (
            len({pronoun.gender for pronoun in pronouns}) > 1
            or any(pronoun.case == "independent" for pronoun in pronouns)
            or not {"it", "its", "itself"}.isdisjoint(sentence.lowers)
        ):
            return ()
        first = pronouns[0]
        at = sentence.words.index(first.word)
        if nearest_is_inanimate(sentence, at, first.case == "object"):
            return ()
        return tuple(replace(pronoun, _FORMS[pronoun.case]) for pronoun in pronouns)

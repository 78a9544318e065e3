"""Gender flip: ``She lost her way`` becomes ``He lost his way``."""

from __future__ import annotations

from dataclasses import dataclass

from coherencegym.manipulations.probes.probe import Replacement, apply
from coherencegym.manipulations.probes.pronouns import Pronoun, personal_pronouns, replace
from coherencegym.manipulations.probes.sentence import Sentence, analyse

_FORMS = {
    ("feminine", "subject"): "she",
    ("feminine", "object"): "her",
    ("feminine", "possessive"): "her",
    ("feminine", "independent"): "hers",
    ("feminine", "reflexive"): "herself",
    ("masculine", "subject"): "he",
    ("masculine", "object"): "him",
    ("masculine", "possessive"): "his",
    ("masculine", "independent"): "his",
    ("masculine", "reflexive"): "himself",
}
_OTHER = {"feminine": "masculine", "masculine": "feminine"}


@dataclass(frozen=True)
class GenderFlip:
    """Every ``he`` becomes ``she``, every ``she`` ``he``, in the case that the grammar asks for.

    Sound: all gendered pronouns of the sentence have one gender (so they are taken to corefer), no
    word tells the sex of the one they mean (:mod:`manipulations.probes.pronouns`), and flipping
    the result gives the sentence back, which holds only where the case of ``her`` and ``his`` is
    certain. First names do not count: whose they are is not for grammar to say.
    """

    name: str = "gender_flip"

    def __call__(self, sentence: Sentence) -> tuple[Replacement, ...]:
        """One replacement for each pronoun."""
        pronouns = personal_pronouns(sentence)
        if not pronouns or len({pronoun.gender for pronoun in pronouns}) > 1:
            return ()
        replacements = self._flip(sentence, pronouns)
        return replacements if self._comes_back(sentence, replacements) else ()

    def _flip(self, sentence: Sentence, pronouns: tuple[Pronoun, ...]) -> tuple[Replacement, ...]:
        return tuple(
            replace(pronoun, _FORMS[_OTHER[pronoun.gender], pronoun.case]) for pronoun in pronouns
        )

    def _comes_back(self, sentence: Sentence, replacements: tuple[Replacement, ...]) -> bool:
        flipped = analyse(apply(sentence.text, replacements), sentence.pipeline)
        pronouns = personal_pronouns(flipped)
        return bool(pronouns) and apply(flipped.text, self._flip(flipped, pronouns or ())) == (
            sentence.text
        )

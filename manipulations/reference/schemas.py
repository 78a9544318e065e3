"""Winograd schemas: candidates in the place of the pronoun.

Levesque et al. 2012 ask which of two candidates a pronoun means; Trinh and Le 2018 let a language
model answer by substituting each, and Beyer et al. 2021, section 4.3, compare the two texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.loaders.discourse import Discourse, Edit
from coherencegym.manipulations.editing import last_edit, replace_text, text_around
from coherencegym.manipulations.operator import Context, NotApplicableError, Operator
from coherencegym.manipulations.reference.mention_rules import (
    PLAIN,
    PLURAL,
    POSSESSIVE,
    REFLEXIVE,
    capitalised,
    her_is_possessive,
    mid_sentence,
    possessive,
)

_NAME = "CandidateSubstitution"
_OPENING = "\"'“‘(["


@dataclass(frozen=True)
class CandidateSubstitution(Operator):
    """Replace a pronoun by a candidate, a person or thing that the pronoun may refer to.

    Attributes:
        candidate: ``target`` inserts the right candidate, which the pronoun refers to.
            ``distractor`` (the default) inserts a wrong candidate and gives one result for each
            wrong candidate.

    The corpus must list the candidates of the pronoun, as Winograd schemas do. The result with the
    right candidate is named ``target``. The results with wrong candidates are named ``distractor``,
    ``distractor-2``, .... At the beginning of a sentence, the operator writes the candidate with a
    capital letter. If the candidate replaces a possessive pronoun (``his``), the operator inserts a
    possessive noun (``Victor's``).
    """

    candidate: str = "distractor"

    def __post_init__(self) -> None:
        if self.candidate not in ("target", "distractor"):
            raise ValueError(f"candidate is {self.candidate!r}; expected target or distractor")

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse once for each candidate asked for."""
        with context.counting():
            yield from self._substituted(discourse)

    def _substituted(self, discourse: Discourse) -> Iterator[Discourse]:
        place = next((a for a in discourse.alternatives if len(a.span) == 1), None)
        if place is None:
            raise NotApplicableError("no candidates")
        unit, start, end = place.span[0]
        text = discourse.units[unit].text
        phrases = [in_place(option, text, start, end) for option in place.options]
        target = phrases[place.right]
        chosen = [target]
        if self.candidate == "distractor":
            chosen = [phrase for phrase in dict.fromkeys(phrases) if phrase != target]
        for number, phrase in enumerate(chosen, start=1):
            variant = self.candidate if number == 1 else f"{self.candidate}-{number}"
            yield replace_text(discourse, unit, start, end, phrase, operator=_NAME, variant=variant)


def in_place(option: str, sentence: str, start: int, end: int) -> str:
    """The candidate as it must read in the place of ``sentence[start:end]``."""
    filler = sentence[start:end]
    pronoun = filler.lower()
    if pronoun in REFLEXIVE:
        raise NotApplicableError("reflexive pronoun")
    slot: bool | None = pronoun in POSSESSIVE
    if pronoun == "her":
        slot = her_is_possessive(sentence[:start], sentence[end:])
        if slot is None:
            raise NotApplicableError("'her' may be object or possessive")
    # A pronoun shows by its own capital whether a sentence begins there; "I" and names do not.
    known = pronoun == "her" or pronoun in POSSESSIVE or pronoun in PLAIN - {"i"}
    begins = filler[0].isupper() if known else not sentence[:start].strip(_OPENING)
    phrase = capitalised(option) if begins else mid_sentence(option)
    return possessive(phrase, pronoun in PLURAL) if slot else phrase


def substitution(discourse: Discourse) -> Edit:
    """The edit that put the candidate."""
    edit = last_edit(discourse, _NAME)
    if edit is None:
        raise ValueError(f"{discourse.corpus}/{discourse.id}: no candidate was substituted")
    return edit


def around_candidate(discourse: Discourse) -> tuple[str, str, str]:
    """The text before the candidate, the candidate, and the text after it, without outer spaces."""
    edit = substitution(discourse)
    end = edit.start + len(edit.after)
    before, candidate, after = text_around(discourse, edit.unit, edit.start, end)
    return before.rstrip(), candidate, after.strip()

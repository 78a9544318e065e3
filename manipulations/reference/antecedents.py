"""An antecedent, said again in the place of its pronoun.

Beyer et al. 2021, section 4.4: where a noun phrase of the sentence before is repeated instead of
taken up by a pronoun, a text is the less coherent one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from coherencegym.loaders.discourse import Alternative, Discourse, Mention
from coherencegym.manipulations.editing import cut_excerpt, last_edit, replace_text
from coherencegym.manipulations.operator import Context, NotApplicableError, Operator
from coherencegym.manipulations.reference.english import (
    check_place,
    check_pronoun,
    fault_of_sentence,
    objection,
    phrase_in_place,
)


@dataclass(frozen=True)
class PronounRepetition(Operator):
    """Replace a third-person pronoun by its antecedent, the noun phrase or name that it refers to.

    Each result is an excerpt of the text, from the sentence of the antecedent to the sentence of
    the pronoun.

    Attributes:
        max_words: the largest number of words that the antecedent may have. A longer phrase does
            not replace the pronoun.
        repeat: ``True`` (the default) replaces the pronoun by its antecedent. ``False`` gives the
            excerpt with its original pronoun, for comparison.
        continued: ``True`` replaces a pronoun only if further words follow the pronoun in its
            sentence. ``False`` (the default) also replaces a pronoun at the end of its sentence.
        sentences: the largest distance of the antecedent from the pronoun, in sentences. With 1
            (the default), the antecedent must be in the sentence directly before the sentence of
            the pronoun. With a larger number, every sentence between the antecedent and the pronoun
            must contain a pronoun for the same person or thing.

    ``alternatives`` of the excerpt lists the pronoun and the antecedent. The name of a result says
    where the pronoun begins in the text. For example, ``u3c12`` means character 12 of sentence 3,
    both counted from 0. A pronoun gives no result if its sentence has an earlier mention of the
    same person or thing. A pronoun also gives no result if its antecedent would read badly in the
    place of the pronoun, for instance a noun without its article.
    """

    max_words: int = 15
    repeat: bool = True
    continued: bool = False
    sentences: int = 1

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield one excerpt for each pronoun that can be replaced, and count why others cannot."""
        for mention in discourse.mentions:
            if mention.kind == "pronoun":
                with context.counting():
                    yield self._repeated(discourse, mention)

    def _repeated(self, discourse: Discourse, mention: Mention) -> Discourse:
        check_pronoun(discourse, mention)
        unit, start, _ = mention.span[0]
        if _first_of_chain(discourse, mention) is not mention:
            raise NotApplicableError("not the first mention in its sentence")
        source = repeated_mention(discourse, mention, self.max_words, self.sentences)
        first = source.span[0][0]
        _check_sentences(discourse, first, unit)
        check_place(discourse, mention)
        phrase, end = phrase_in_place(discourse, mention, source)
        if self.continued and not re.search(r"\w", discourse.units[unit].text[end:]):
            raise NotApplicableError("nothing follows the pronoun")
        old = discourse.units[unit].text[start:end]
        last = unit - first
        choice = Alternative(((last, start, end),), (old, phrase), 0)
        excerpt = cut_excerpt(discourse, first, unit, variant=f"u{unit}c{start}")
        excerpt = replace(excerpt, alternatives=(*excerpt.alternatives, choice))
        if not self.repeat:
            return excerpt
        return replace_text(excerpt, last, start, end, phrase, operator="PronounRepetition")


def repeated_mention(
    discourse: Discourse, pronoun: Mention, max_words: int, sentences: int = 1
) -> Mention:
    """The mention that is repeated in the place of a pronoun: the last fit one before it.

    It is of the same chain and stands in the sentence before, or, where that has only pronouns of
    the chain, the one before it, and so on: one of the ``sentences`` before the pronoun's.
    """
    unit = pronoun.span[0][0]
    speakers = {discourse.units[unit].speaker}
    before: list[Mention] = []
    for earlier in range(unit - 1, max(-1, unit - 1 - sentences), -1):
        mentions = [
            mention
            for mention in discourse.mentions
            if mention.chain == pronoun.chain and mention.span[0][0] == earlier
        ]
        speakers.add(discourse.units[earlier].speaker)
        before = [mention for mention in mentions if mention.kind != "pronoun"]
        spoken_to = any(mention.features.person in ("1", "2") for mention in mentions)
        if before or spoken_to or not mentions:
            break
    if not before:
        raise NotApplicableError("no noun phrase or name in the sentence before")
    if len(speakers) > 1:
        raise NotApplicableError("another speaker")
    reasons = []
    while before:
        mention = before.pop()
        reasons.append(objection(discourse, mention, pronoun, before, max_words))
        if not reasons[-1]:
            return mention
    raise NotApplicableError(f"antecedent: {reasons[0]}")


def _first_of_chain(discourse: Discourse, mention: Mention) -> Mention:
    """The first mention of the chain in the unit; of those that begin together the longest."""
    return min(
        (
            other
            for other in discourse.mentions
            if other.chain == mention.chain and other.span[0][0] == mention.span[0][0]
        ),
        key=lambda other: (other.span[0][1], -other.span[-1][2]),
    )


def _check_sentences(discourse: Discourse, first: int, last: int) -> None:
    if any(_is_heading(discourse, unit) for unit in range(first, last)):
        raise NotApplicableError("heading or fragment before")
    for text in discourse.texts[first : last + 1]:
        if fault := fault_of_sentence(text):
            raise NotApplicableError(fault)


def _is_heading(discourse: Discourse, unit: int) -> bool:
    """Tell whether a unit is a heading, or no sentence in a text that nobody speaks."""
    if str(unit) in discourse.meta.get("headings", "").split():
        return True
    types = discourse.meta.get("sentence_types", "").split()
    return discourse.units[unit].speaker is None and types[unit : unit + 1] == ["frag"]


def replaced_pronoun(discourse: Discourse) -> Mention:
    """The pronoun of an excerpt in which it still stands."""
    start, end = replaced_place(discourse)
    place = (len(discourse.units) - 1, start)
    for mention in discourse.mentions:
        # With a contraction (``he's``) the place is longer, in a coordination the mention is.
        first = mention.span[0]
        whole = mention.kind == "pronoun" and len(mention.span) == 1
        if whole and first[:2] == place and first[2] <= end:
            return mention
    raise ValueError(f"{discourse.corpus}/{discourse.id}: no pronoun at its place")


def replaced_place(discourse: Discourse) -> tuple[int, int]:
    """Find the place of the pronoun, or of what replaced it, in the last unit of an excerpt."""
    if (edit := last_edit(discourse, "PronounRepetition")) is not None:
        return edit.start, edit.start + len(edit.after)
    if discourse.alternatives:
        unit, start, end = discourse.alternatives[-1].span[0]
        if unit == len(discourse.units) - 1:
            return start, end
    raise ValueError(f"{discourse.corpus}/{discourse.id}: no place of a pronoun")

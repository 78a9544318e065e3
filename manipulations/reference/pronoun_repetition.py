"""Pronoun repetition: say again what a pronoun stands for.

Beyer et al. 2021, section 4.4: where a noun phrase of the sentence before is repeated instead of
taken up by a pronoun, a text is the less coherent one.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.loaders.discourse import Alternative, Discourse, Mention, span_text
from coherencegym.manipulations.editing import cut_excerpt, last_edit, replace_text
from coherencegym.manipulations.operator import Composable, Context
from coherencegym.manipulations.reference.antecedents import antecedent, bare_text
from coherencegym.manipulations.reference.noun_phrases import NotApplicableError, capitalised
from coherencegym.manipulations.reference.pronoun_places import (
    check_place,
    fault_of_sentence,
    is_possessive,
)
from coherencegym.manipulations.reference.repeated_phrases import (
    after_partitive,
    check_neighbours,
    contracted_verb,
    definite,
    inside_sentence,
    possessive_phrase,
)
from coherencegym.words import word_set

#: The forms that are replaced.
_FORMS = word_set("he him his she her hers it its they them their theirs em 'em ’em")
_PLURAL = word_set("they them their theirs em 'em ’em")
_KINDS = {
    "reflexive": "reflexive pronoun",
    "relative": "relative pronoun or question word",
    "interrogative": "relative pronoun or question word",
    "expletive": "expletive it",
    "reciprocal": "reciprocal pronoun",
    "demonstrative": "demonstrative or indefinite pronoun",
    "indefinite": "demonstrative or indefinite pronoun",
}

_PARTICLE = re.compile(
    r" (?:up|down|out|off|on|over|away|back|around|through|in|along|apart|together|aside)\b"
)


@dataclass(frozen=True)
class PronounRepetition(Composable):
    """Replace a third-person pronoun by its antecedent, a noun phrase or name.

    Each result is an excerpt from the antecedent's sentence to the pronoun's. The variant
    ``u<unit>c<character>`` is the pronoun's position in the discourse. The pronoun is the first
    mention of its referent in its sentence, and the previous sentence has a mention that can be
    repeated (:func:`manipulations.reference.antecedents.antecedent`).

    Attributes:
        max_words: the most words that the repeated phrase may have.
        repeat: replace the pronoun. If off, the same excerpts keep the pronoun, with both forms as
            alternatives at its position.
        continued: replace the pronoun only if words follow it in the sentence.
        sentences: the most sentences before the pronoun's in which the antecedent is looked for;
            those between have pronouns for it.
    """

    max_words: int = 15
    repeat: bool = True
    continued: bool = False
    sentences: int = 1

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield one excerpt for each pronoun that can be replaced, and count why others cannot."""
        for mention in discourse.mentions:
            if mention.kind == "pronoun":
                try:
                    result = self._repeated(discourse, mention)
                except NotApplicableError as reason:
                    context.skipped[str(reason)] += 1
                else:
                    yield result

    def _repeated(self, discourse: Discourse, mention: Mention) -> Discourse:
        check_pronoun(discourse, mention)
        unit, start, _ = mention.span[0]
        if first_of_chain(discourse, mention) is not mention:
            raise NotApplicableError("not the first mention in its sentence")
        source = antecedent(discourse, mention, self.max_words, self.sentences)
        first = source.span[0][0]
        _check_sentences(discourse, first, unit)
        check_place(discourse, mention)
        phrase, end = self._phrase(discourse, mention, source)
        old = discourse.units[unit].text[start:end]
        last = unit - first
        choice = Alternative(((last, start, end),), (old, phrase), 0)
        excerpt = cut_excerpt(discourse, first, unit, variant=f"u{unit}c{start}")
        excerpt = dataclasses.replace(excerpt, alternatives=(*excerpt.alternatives, choice))
        if not self.repeat:
            return excerpt
        return replace_text(excerpt, last, start, end, phrase, operator="PronounRepetition")

    def _phrase(self, discourse: Discourse, mention: Mention, source: Mention) -> tuple[str, int]:
        unit, start, end = mention.span[0]
        text = discourse.units[unit].text
        possessive = is_possessive(discourse, mention)
        if possessive is None:
            raise NotApplicableError("'her' may be object or possessive")
        phrase = definite(inside_sentence(discourse, source))
        phrase = after_partitive(phrase, source, text[:start])
        check_neighbours(phrase, source, text[:start], text[end:], possessive)
        if possessive:
            phrase = possessive_phrase(
                phrase,
                source,
                bare_text(discourse, source),
                plural=text[start:end].lower() in _PLURAL,
                before=re.match(r" [\w\"“‘]", text[end:]) is not None
                and mention.features.function in ("nmod:poss", "det:poss", ""),
            )
        else:
            verb, length = contracted_verb(text[end:])
            if verb:
                phrase, end = f"{phrase} {verb}", end + length
            elif _PARTICLE.match(text[end:]) and len(phrase.split()) > 4:
                raise NotApplicableError("long phrase before a particle")
        if self.continued and not re.search(r"\w", text[end:]):
            raise NotApplicableError("nothing follows the pronoun")
        if phrase.endswith(".") and text[end : end + 1] == ".":
            phrase = phrase[:-1]
        capital = text[start].isupper() and not _is_reverential(text, start)
        return (capitalised(phrase) if capital else phrase), end


def check_pronoun(discourse: Discourse, mention: Mention) -> None:
    """Raise where the mention is no pronoun that can be replaced, wherever it stands."""
    features = mention.features
    if features.person in ("1", "2"):
        raise NotApplicableError("first or second person")
    if features.pronoun in _KINDS:
        raise NotApplicableError(_KINDS[features.pronoun])
    form = span_text(discourse, mention.span)
    if form.lower() not in _FORMS or len(mention.span) != 1:
        raise NotApplicableError("pronoun with modifiers, or of another form")
    if len(form) > 1 and form.isupper():
        raise NotApplicableError("word in capitals")
    if any(m.span == mention.span and m.chain != mention.chain for m in discourse.mentions):
        raise NotApplicableError("pronoun of two chains")


def first_of_chain(discourse: Discourse, mention: Mention) -> Mention:
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
    if any(is_heading(discourse, unit) for unit in range(first, last)):
        raise NotApplicableError("heading or fragment before")
    for text in discourse.texts[first : last + 1]:
        if fault := fault_of_sentence(text):
            raise NotApplicableError(fault)


def is_heading(discourse: Discourse, unit: int) -> bool:
    """Tell whether a unit is a heading, or no sentence in a text that nobody speaks."""
    if str(unit) in discourse.meta.get("headings", "").split():
        return True
    types = discourse.meta.get("sentence_types", "").split()
    return discourse.units[unit].speaker is None and types[unit : unit + 1] == ["frag"]


def _is_reverential(text: str, start: int) -> bool:
    # ``He`` and ``His`` for God: every other pronoun with a capital begins a sentence, or a
    # quotation.
    return (
        re.match(r"(?:He|Him|His)\b", text[start:]) is not None
        and re.search(r"\w $", text[:start]) is not None
    )


def replaced_pronoun(discourse: Discourse) -> Mention:
    """The pronoun of an excerpt in which it still stands.

    Raises:
        ValueError: the discourse is no excerpt of :class:`PronounRepetition` with its pronoun.
    """
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
    """Find the place of the pronoun, or of what replaced it, in the last unit of an excerpt.

    Raises:
        ValueError: the discourse is no excerpt of :class:`PronounRepetition`.
    """
    if (edit := last_edit(discourse, "PronounRepetition")) is not None:
        return edit.start, edit.start + len(edit.after)
    if discourse.alternatives:
        unit, start, end = discourse.alternatives[-1].span[0]
        if unit == len(discourse.units) - 1:
            return start, end
    raise ValueError(f"{discourse.corpus}/{discourse.id}: no place of a pronoun")

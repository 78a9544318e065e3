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
from coherencegym.manipulations.excerpt import excerpt
from coherencegym.manipulations.operator import Composable, Context
from coherencegym.manipulations.reference.antecedents import (
    NoAntecedentError,
    antecedent,
    bare_text,
)
from coherencegym.manipulations.reference.contractions import (
    AmbiguousContractionError,
    contracted_verb,
)
from coherencegym.manipulations.reference.fluency import fault_of_sentence
from coherencegym.manipulations.reference.pronoun_places import (
    UnfitPlaceError,
    check_place,
    is_possessive,
)
from coherencegym.manipulations.reference.repeated_phrases import (
    UnreadableError,
    after_partitive,
    at_place,
    check_neighbours,
    definite,
    inside_sentence,
    possessive_phrase,
)
from coherencegym.manipulations.replacement import replace_text

#: The forms that are replaced.
_FORMS = frozenset(
    re.findall(r"\S+", "he him his she her hers it its they them their theirs em 'em ’em")
)
_PLURAL = frozenset(re.findall(r"\S+", "they them their theirs em 'em ’em"))
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


class NotApplicableError(Exception):
    """The reason why a pronoun is left as it is, in a few words."""


@dataclass(frozen=True)
class Repetition:
    """A place where a pronoun can be replaced: ``text[start:end]`` of the unit by ``phrase``."""

    unit: int
    start: int
    end: int
    phrase: str


@dataclass(frozen=True)
class PronounRepetition(Composable):
    """Replace a pronoun of the third person by the noun phrase or name that it takes up.

    Each result is an excerpt of two units, the sentence before and the pronoun's, with the variant
    ``u<unit>c<character>``: where in the discourse the pronoun stands. The pronoun is the first
    mention of its chain in its sentence, and the chain has a fit mention in the sentence before
    (:func:`manipulations.reference.antecedents.antecedent`).

    Attributes:
        max_words: words that the repeated phrase may have.
        repeat: off, and the excerpts are the same, but the pronoun is left in its place; an
            ``Alternative`` there has the two spellings.
        continued: repeat only where words follow in the sentence.
    """

    max_words: int = 15
    repeat: bool = True
    continued: bool = False

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield one excerpt for each pronoun that can be replaced, and count why others cannot."""
        for mention in discourse.mentions:
            if mention.kind != "pronoun":
                continue
            try:
                place = self._repetition(discourse, mention)
            except NotApplicableError as reason:
                context.skipped[str(reason)] += 1
                continue
            yield self._apply(discourse, mention, place)

    def _apply(self, discourse: Discourse, mention: Mention, place: Repetition) -> Discourse:
        pair = excerpt(discourse, place.unit - 1, place.unit)
        old = pair.units[1].text[place.start : place.end]
        choice = Alternative(((1, place.start, place.end),), (old, place.phrase), 0)
        variant = f"u{place.unit}c{mention.span[0][1]}"
        pair = dataclasses.replace(pair, alternatives=(*pair.alternatives, choice), variant=variant)
        if not self.repeat:
            return pair
        return replace_text(
            pair,
            1,
            place.start,
            place.end,
            place.phrase,
            operator="PronounRepetition",
        )

    def _repetition(self, discourse: Discourse, mention: Mention) -> Repetition:
        """Find the place of a pronoun and the phrase that can replace it.

        Raises:
            NotApplicableError: it cannot.
        """
        _check_kind(discourse, mention)
        unit = mention.span[0][0]
        if min(_same_chain(discourse, mention), key=_place) is not mention:
            raise NotApplicableError("not the first mention in its sentence")
        try:
            source = antecedent(discourse, mention, self.max_words)
            _check_sentences(discourse, unit)
            check_place(discourse, mention)
            return self._rendered(discourse, mention, source)
        except (
            NoAntecedentError,
            UnfitPlaceError,
            UnreadableError,
            AmbiguousContractionError,
        ) as reason:
            raise NotApplicableError(str(reason)) from None

    def _rendered(self, discourse: Discourse, mention: Mention, source: Mention) -> Repetition:
        unit, start, end = mention.span[0]
        text = discourse.units[unit].text
        pronoun = text[start:end].lower()
        possessive = is_possessive(discourse, mention)
        if possessive is None:
            raise UnreadableError("'her' may be object or possessive")
        phrase = definite(inside_sentence(discourse, source))
        phrase = after_partitive(phrase, source, text[:start])
        check_neighbours(phrase, source, text[:start], text[end:], possessive)
        if possessive:
            phrase = possessive_phrase(
                phrase,
                source,
                bare_text(discourse, source),
                plural=pronoun in _PLURAL,
                before=re.match(r" [\w\"“‘]", text[end:]) is not None
                and mention.features.function in ("nmod:poss", "det:poss", ""),
            )
        else:
            verb, length = contracted_verb(text[end:])
            if verb:
                phrase, end = f"{phrase} {verb}", end + length
            elif _PARTICLE.match(text[end:]) and len(phrase.split()) > 4:
                raise UnreadableError("long phrase before a particle")
        if self.continued and not re.search(r"\w", text[end:]):
            raise UnreadableError("nothing follows the pronoun")
        if phrase.endswith(".") and text[end : end + 1] == ".":
            phrase = phrase[:-1]
        capital = text[start].isupper() and not _is_reverential(text, start)
        return Repetition(unit, start, end, at_place(phrase, capital))


def _check_kind(discourse: Discourse, mention: Mention) -> None:
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


def _same_chain(discourse: Discourse, mention: Mention) -> list[Mention]:
    unit = mention.span[0][0]
    return [
        other
        for other in discourse.mentions
        if other.chain == mention.chain and other.span[0][0] == unit
    ]


def _place(mention: Mention) -> tuple[int, int]:
    """The place of a mention in the text's order, longer mentions first."""
    return mention.span[0][1], -mention.span[-1][2]


def _check_sentences(discourse: Discourse, unit: int) -> None:
    """Raise where one of the two sentences is no whole, fluent English."""
    if _is_heading(discourse, unit - 1):
        raise NotApplicableError("heading or fragment before")
    for text in (discourse.units[unit - 1].text, discourse.units[unit].text):
        if fault := fault_of_sentence(text):
            raise NotApplicableError(fault)


def _is_heading(discourse: Discourse, unit: int) -> bool:
    """Tell whether a unit is a heading, or no sentence in a text that nobody speaks."""
    if str(unit) in discourse.meta.get("headings", "").split():
        return True
    types = discourse.meta.get("sentence_types", "").split()
    return discourse.units[unit].speaker is None and types[unit : unit + 1] == ["frag"]


def _is_reverential(text: str, start: int) -> bool:
    """Tell whether a capital inside a sentence is that of ``He`` and ``His`` for God.

    Every other pronoun with a capital begins something: a sentence, or a quotation in one.
    """
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
    unit = len(discourse.units) - 1
    for mention in discourse.mentions:
        # With a contraction (``he's``) the place is longer, in a coordination the mention is.
        (first, *more) = mention.span
        if (
            mention.kind == "pronoun"
            and not more
            and first[:2] == (unit, start)
            and first[2] <= end
        ):
            return mention
    raise ValueError(f"{discourse.corpus}/{discourse.id}: no pronoun at its place")


def replaced_place(discourse: Discourse) -> tuple[int, int]:
    """Find the place of the pronoun, or of what replaced it, in the last unit of an excerpt.

    Raises:
        ValueError: the discourse is no excerpt of :class:`PronounRepetition`.
    """
    for edit in reversed(discourse.edits):
        if edit.operator == "PronounRepetition":
            return edit.start, edit.start + len(edit.after)
    if discourse.alternatives:
        unit, start, end = discourse.alternatives[-1].span[0]
        if unit == len(discourse.units) - 1:
            return start, end
    raise ValueError(f"{discourse.corpus}/{discourse.id}: no place of a pronoun")

"""English: a noun phrase that is said again in the place of a pronoun."""

from __future__ import annotations

import re

from coherencegym.loaders.discourse import Discourse, Mention, span_text
from coherencegym.manipulations.reference.antecedents import bare_text, objection
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
from coherencegym.manipulations.reference.repetition_rules import RepetitionRules
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


def repeated_phrase(discourse: Discourse, mention: Mention, source: Mention) -> tuple[str, int]:
    """The phrase for the pronoun's place, from its antecedent, and the end of that place.

    Raises:
        NotApplicableError: no rule gives it a good form there.
    """
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
    if phrase.endswith(".") and text[end : end + 1] == ".":
        phrase = phrase[:-1]
    capital = text[start].isupper() and not _is_reverential(text, start)
    return (capitalised(phrase) if capital else phrase), end


def _is_reverential(text: str, start: int) -> bool:
    # ``He`` and ``His`` for God: every other pronoun with a capital begins a sentence, or a
    # quotation.
    return (
        re.match(r"(?:He|Him|His)\b", text[start:]) is not None
        and re.search(r"\w $", text[:start]) is not None
    )


ENGLISH_REPETITION = RepetitionRules(
    check_pronoun, objection, fault_of_sentence, check_place, repeated_phrase
)

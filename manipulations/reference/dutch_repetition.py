"""Dutch: a noun phrase that is said again in the place of a pronoun.

``een man`` becomes ``de man``, ``een huis`` becomes ``het huis``: the noun's gender is annotated.
After ``een`` and before a neuter noun an adjective has no ending (``een oud huis``, ``het oude
huis``), so that such phrases are left out. ``zijn hoed`` becomes ``Fogg's hoed``, and is left where
a noun stands for the owner.

Spelling before 1947 inflects the article of masculine nouns that are no subject (``den man``).
Where a text does so, an object is said again as it stands after ``den``, and otherwise left out.

Source: Algemene Nederlandse Spraakkunst, 14.4 (articles), 6.4 (adjectives); de Vries and te Winkel
1866 for ``den`` and ``'s``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from coherencegym.loaders.discourse import Discourse, Mention, span_text
from coherencegym.manipulations.reference.noun_phrases import NotApplicableError, capitalised
from coherencegym.manipulations.reference.pronoun_places import fault_of_marks
from coherencegym.manipulations.reference.repetition_rules import RepetitionRules
from coherencegym.words import word_set

_SUBJECTS = word_set("hij ie -ie zij ze")
_OBJECTS = word_set("hem 'm haar hen hun ze")
_OWNERS = word_set("zijn zijne zijnen zijner z'n haar hare haren harer d'r hun hunne hunnen hunner")
_FORMS = {"personal": _SUBJECTS | _OBJECTS, "possessive": _OWNERS}
_GENITIVES = word_set("der des")
_DETERMINERS = _GENITIVES | word_set(
    "de het 't den een 'n deze die dit dat dezen dien mijn m'n uw ons onze hun zijn z'n zijne haar "
    "hare mijne"
)
_OF_FIRST_OR_SECOND = re.compile(
    r"\b(?:ik|me|mij|mijne?n?|m'n|wij|we|ons|onze|je|jij|jou|jouw|uw?e?n?|gij|jullie)\b",
    re.IGNORECASE,
)
_QUANTIFIED = re.compile(
    r"(?:(?:een )?(?:paar|enkele|eenige|vele?|weinige?|alle|beide|elke?|iedere?n?|geene?|andere)"
    r"|een der|een van|zulk|twee|drie|vier|vijf|zes|zeven|acht|negen|tien|\d)\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r",| (?:die|dat|wie|waar\w*|als|dan)\b")
#: A form of *zijn*, *worden*, *heten* or *blijven* before a phrase that says what somebody is.
_PREDICATED = re.compile(
    r"\b(?:is|was|ben|bent|zijn|waren|geweest|werd|wordt|worden|werden|geworden|bleef|blijft|heet"
    r"|heette|scheen|schijnt|leek|lijkt|als|genoemd|noemde|noemt)(?: [\w'-]+){0,3} $",
    re.IGNORECASE,
)
_AFTER = re.compile(r" (?:zelve?n?|alleen|die|wien?|allen|beiden)\b|zelf\b")
_JOINED = re.compile(r" (?:en|of|noch) (?:[A-Z]|de\b|het\b|den\b|zijn\b|haar\b|een\b)")
_NAME_BESIDE = re.compile(r"[a-z,] [A-Z][\w'-]* $")


def _check_pronoun(discourse: Discourse, mention: Mention) -> None:
    """Raise where the mention is no pronoun of the third person that a phrase can stand for."""
    features = mention.features
    if features.person in ("1", "2"):
        raise NotApplicableError("first or second person")
    if features.pronoun not in ("personal", "possessive"):
        raise NotApplicableError(f"{features.pronoun or 'other'} pronoun")
    form = span_text(discourse, mention.span).lower()
    if form in ("het", "'t"):
        # More often than not it stands for nothing, or for a clause.
        raise NotApplicableError("het, which rarely refers to a noun")
    if form not in _FORMS[features.pronoun]:
        raise NotApplicableError("pronoun of another form")


def _objection(
    discourse: Discourse,
    mention: Mention,
    pronoun: Mention,
    earlier: Sequence[Mention],
    max_words: int,
) -> str:
    """Say what keeps a mention from standing in the place of a pronoun; empty where nothing does.

    ``earlier`` are the mentions of the chain before it in its sentence.
    """
    if len(mention.span) != 1:
        return "discontinuous phrase"
    ((unit, start, end),) = mention.span
    whole, text = discourse.units[unit].text, span_text(discourse, mention.span)
    first = text.split()[0].lower()
    name = mention.kind == "proper"
    before = whole[:start]
    rules = (
        (len(text.split()) > max_words, f"more than {max_words} words"),
        (len(text) > 1 and text.isupper(), "phrase in capitals"),
        (not name and first not in _DETERMINERS - _GENITIVES, "noun without an article"),
        (_QUANTIFIED.match(text), "quantified phrase"),
        (_RELATIVE.search(text) or re.search(r'[()"“”„:;.!?]', text), "phrase with a clause"),
        (_holds_pronoun(discourse, mention, pronoun.chain), "phrase with a pronoun of its chain"),
        (_OF_FIRST_OR_SECOND.search(text), "phrase with a pronoun of the first or second person"),
        (bool(earlier) and not name, "second phrase of its chain in the sentence"),
        (not name and _PREDICATED.search(before), "predicate nominal"),
        (before[-1:] in set("\"“„'") and whole[end : end + 1] in set("\"”'"), "phrase in quotes"),
        (name and _is_genitive(discourse, mention, text), "genitive"),
        (name and re.search(r" van [a-z]+$", text), "predicate nominal"),
        (first in _DETERMINERS and first == text.lower(), "no noun"),
        (_number(mention) != _number(pronoun), "another number"),
    )
    return next((reason for holds, reason in rules if holds), "")


def _holds_pronoun(discourse: Discourse, mention: Mention, chain: str) -> bool:
    ((unit, start, end),) = mention.span
    return any(
        other.kind == "pronoun" and other.chain == chain and start <= s and e <= end and u == unit
        for other in discourse.mentions
        for u, s, e in other.span
    )


def _is_genitive(discourse: Discourse, mention: Mention, text: str) -> bool:
    # ``Lewins`` beside ``Lewin``.
    bare = re.sub(r"'?s$", "", text)
    return bare != text and any(
        span_text(discourse, other.span) == bare
        for other in discourse.mentions
        if other.chain == mention.chain
    )


def _number(mention: Mention) -> str:
    return mention.features.number or "singular"


def _check_place(discourse: Discourse, mention: Mention) -> None:
    """Raise where a noun phrase would not read well in the place of a pronoun in one part."""
    ((unit, start, end),) = mention.span
    text = discourse.units[unit].text
    before, after = text[:start], text[end:]
    possessive = mention.features.pronoun == "possessive"
    named = any(
        other.chain == mention.chain and other.span[0][0] == unit and other.kind != "pronoun"
        for other in discourse.mentions
    )
    rules = (
        (named, "pronoun before its noun phrase"),
        (not possessive and _AFTER.match(after), "pronoun with a modifier after it"),
        (_JOINED.match(after), "pronoun that begins a coordination"),
        (re.search(r"\b(?:en|of) $", before) and not possessive, "pronoun of a coordination"),
        (_NAME_BESIDE.search(before), "name beside a name"),
        (text[start].isupper() and re.search(r"[a-z] $", before), "pronoun for God"),
        (re.match(r" [A-Z]", after), "name beside a name"),
        (possessive and re.search(r"\bvan $", before), "independent possessive"),
        (possessive and not re.match(r" [\w\"]", after), "independent possessive"),
    )
    for holds, reason in rules:
        if holds:
            raise NotApplicableError(reason)


def _fault_of_sentence(text: str) -> str:
    """Say what is wrong with a sentence, in a few words; empty where nothing is seen to be."""
    if text.isupper() or len(text.split()) < 3:
        return "heading or fragment"
    return fault_of_marks(text)


def _phrase(discourse: Discourse, mention: Mention, source: Mention) -> tuple[str, int]:
    """The phrase for the pronoun's place, from its antecedent, and the end of that place.

    Raises:
        NotApplicableError: no rule gives it a good form there.
    """
    ((unit, start, end),) = mention.span
    text = discourse.units[unit].text
    form = text[start:end]
    said = _inside(discourse, source)
    if mention.features.pronoun == "possessive":
        said = _owner(said, source)
    else:
        said = _definite(discourse, said, source, form.lower())
    if form.startswith("-") and re.search(r"\w$", text[:start]):
        return f" {said}", end
    return (capitalised(said) if form.lstrip("-'")[0].isupper() else said), end


def _inside(discourse: Discourse, source: Mention) -> str:
    said = span_text(discourse, source.span)
    named = source.features.first_pos == "PROPN"
    return said if named else said[0].lower() + said[1:]


def _owner(said: str, source: Mention) -> str:
    named = source.kind == "proper" and source.features.first_pos == "PROPN"
    if not named or "'s" in said:
        raise NotApplicableError("possessive of a noun phrase")
    if said[-1] in "sxz":
        raise NotApplicableError("possessive of a name that ends in s, x or z")
    return f"{said}'s"


def _definite(discourse: Discourse, said: str, source: Mention, form: str) -> str:
    first, _, rest = said.partition(" ")
    features = source.features
    head = 0
    if source.head is not None:
        head = len(
            span_text(discourse, source.span)[: source.head[0][1] - source.span[0][1]].split()
        )
    adjectives = said.split()[1:head]
    if source.kind == "proper" and first not in _DETERMINERS:
        return said
    if first in ("een", "'n"):
        if any(not word.endswith("e") for word in adjectives):
            raise NotApplicableError("adjective whose ending would change")
        articles = {"common": "de", "neuter": "het"}
        if features.gender not in articles or features.number == "plural":
            raise NotApplicableError("noun of unknown gender")
        first = articles[features.gender]
    is_object = form in _OBJECTS and form not in _SUBJECTS
    inflected = re.search(r"\b[Dd]en\b", discourse.text) is not None
    masculine = features.number != "plural" and form in ("hem", "'m", "hij", "ie", "-ie")
    if not is_object and first in ("den", "dezen", "dien"):
        if adjectives:
            raise NotApplicableError("adjective whose ending would change")
        first = {"den": "de", "dezen": "deze", "dien": "die"}[first]
    elif is_object and first in ("de", "deze", "die") and masculine and inflected:
        raise NotApplicableError("article whose case is not told")
    return f"{first} {rest}"


DUTCH_REPETITION = RepetitionRules(
    _check_pronoun, _objection, _fault_of_sentence, _check_place, _phrase
)

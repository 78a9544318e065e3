"""The rules of each language for mentions; those of Dutch and German, by their tables.

Dutch: a noun phrase in the place of a pronoun, and sentences that can be read without others.

``een man`` becomes ``de man``, ``een huis`` becomes ``het huis``: the noun's gender is annotated.
After ``een`` and before a neuter noun an adjective has no ending (``een oud huis``, ``het oude
huis``), so that such phrases are left out. ``zijn hoed`` becomes ``Fogg's hoed``, and is left where
a noun stands for the owner.

Spelling before 1947 inflects the article of masculine nouns that are no subject (``den man``).
Where a text does so, an object is said again as it stands after ``den``, and otherwise left out.

A noun has the gender of its article (``de``, ``het``), a pronoun for somebody that of the person,
which the names and pronouns of the entity tell. ``Hij`` and ``zij`` are said of things, too.

Source: Algemene Nederlandse Spraakkunst, 3.3 and 5.2.5 (gender of nouns and of pronouns), 6.4
(adjectives), 8 (adverbs), 10 (conjunctions), 14.4 (articles); de Vries and te Winkel 1866 for
``den`` and ``'s``. Words are also in the spelling before 1947 (``zoo``, ``tusschen``).

German: a noun phrase that is said again in the place of a pronoun.

``ein Mann`` becomes ``der Mann``, and ``dem Mann`` where ``ihm`` stood: the tree of Universal
Dependencies tells gender and number, the pronoun's form the case, or the tree where ``sie`` does
not. Left out is what would change beside the article: endings of adjectives, the nouns of genitive
and dative plural, and masculine nouns such as ``Mensch``, which have an ending in all cases but the
nominative. ``sein Hut`` becomes ``Peters Hut``, and is left where a noun stands for the owner, or
an adjective before what is owned, since its ending would change (``seinem alten``, ``Peters
altem``).

Source: Duden. Die Grammatik (2016), the chapters on the noun, the adjective, the preposition (those
joined with an article) and the order of words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from coherencegym.loaders.discourse import Discourse, Features, Mention, span_text
from coherencegym.loaders.languages.language import DUTCH, GERMAN
from coherencegym.loaders.languages.registry import language_of
from coherencegym.manipulations.reference.english import ENGLISH_RULES
from coherencegym.manipulations.reference.mention_rules import GENDERS, MentionRules, any_of
from coherencegym.manipulations.reference.table_rules import TableRules
from coherencegym.words import word_list, word_set

_NAME_BESIDE = re.compile(r"[a-z,] [A-Z][\w'-]* $")

_DUTCH_ADVERBS = (
    "aan|achter|bij|boven|buiten|door|heen|in|langs|mede|mee|na|naar|naast|om|onder|op|over|tegen"
    "|toe|tusschen|uit|van|voor"
)
#: Words that show something which was said, and are no relative pronouns; and ``iemand``, whom a
#: pronoun can mean, and who is rarely annotated.
_SHOWN = (
    *word_set(
        "deze dezen dezer dit dien dier diens dusdanige zulk zulke zulks zoo'n zo'n dergelijke "
        "dergelijken genoemde genoemden bedoelde bedoelden iemand"
    ),
    rf"(?:er ?|daar|hier)(?:{_DUTCH_ADVERBS})",
)
#: Connectives, answers and words of order that begin a sentence which goes on from another one.
_OPENERS = word_list("dutch_openers")
_OPENING_PHRASES = (
    r"daar\w*", r"hier\w*", "ten slotte", "ten laatste", "op eens", "kort daarop",
    "in een woord", "met andere woorden", "(?:den?|het|een) (?:anderen?|volgenden?)",
)  # fmt: skip
#: Words anywhere in a sentence that point to what was said before it, or where it stood.
_POINTERS = word_list("dutch_pointers")
_POINTING_PHRASES = (
    r"daar\w*", r"hier\w*", rf"(?:er|der) (?:\w+ ){{1,2}}(?:{_DUTCH_ADVERBS})", "reeds gezegd"
)  # fmt: skip
_JOINED = re.compile(r" (?:en|of|noch|&) ")


class _Dutch(TableRules):
    language = DUTCH
    conjunctions = "en of noch"
    quantified = re.compile(
        r"(?:(?:een )?(?:paar|enkele|eenige|vele?|weinige?|alle|beide|elke?|iedere?n?|geene?"
        r"|andere)|een der|een van|zulk|twee|drie|vier|vijf|zes|zeven|acht|negen|tien|\d)\b",
        re.IGNORECASE,
    )
    clause = re.compile(r",| (?:die|dat|wie|waar\w*|als|dan)\b|^[A-Z]\w* van [a-z]+$")
    predicated = re.compile(
        r"\b(?:is|was|ben|bent|zijn|waren|geweest|werd|wordt|worden|werden|geworden|bleef|blijft"
        r"|heet|heette|scheen|schijnt|leek|lijkt|als|genoemd|noemde|noemt)(?: [\w'-]+){0,3} $",
        re.IGNORECASE,
    )
    modified = re.compile(r" (?:zelve?n?|alleen|die|wien?|allen|beiden)\b|zelf\b")
    genitive = "'s"
    no_genitive = "sxz"
    inflected: ClassVar[Mapping[str, str]] = {"den": "de", "dezen": "deze", "dien": "die"}
    openers = re.compile(
        rf"\W*{any_of(*_OPENERS, *_OPENING_PHRASES)}|.*{any_of(*_SHOWN)}", re.IGNORECASE
    )
    pointers = re.compile(any_of(*_POINTERS, *_POINTING_PHRASES), re.IGNORECASE)
    definite = re.compile(
        r"(?:de|den|der|des|het|'t|deze|dezen|dezer|die|dien|dier|diens|dit|dat|zulke?)\b",
        re.IGNORECASE,
    )
    scored = re.compile(
        r"(?:de|den|het|'t|deze|dezen|die|dien|dit|dat)"
        r" (?!zelfden?\b|anderen?\b|volgenden?\b|laatsten?\b)"
    )
    free = word_set("men")

    def fault_of_place(self, discourse: Discourse, mention: Mention) -> str:
        ((unit, start, end),) = mention.span
        before, after = discourse.units[unit].text[:start], discourse.units[unit].text[end:]
        if _NAME_BESIDE.search(before) or re.match(r" [A-Z]", after):
            return "name beside a name"
        possessive = mention.features.pronoun == "possessive"
        return "independent possessive" if possessive and re.search(r"\bvan $", before) else ""

    def fault(self, discourse: Discourse, unit: int) -> str:
        text = discourse.units[unit].text
        if '"' not in text and re.search(r"[?!] [a-z]", text):
            return "two sentences in one"
        return super().fault(discourse, unit)

    def may_mean(
        self, discourse: Discourse, mention: Mention, other: Mention, mentions: Sequence[Mention]
    ) -> bool:
        one, two = mention.features, other.features
        # Several who are mentioned one by one are a plural, too.
        one_by_one = one.number == "plural" and two.entity == "person"
        several = one_by_one or _JOINED.search(span_text(discourse, other.span))
        if one.number and two.number and one.number != two.number and not several:
            return False
        known = {m.features.gender for m in mentions}.intersection(GENDERS)
        if one.gender in GENDERS and known and one.gender not in known:
            return False
        if mention.kind == other.kind == "pronoun":
            return True
        if one.entity == "person":
            return two.entity == "person"
        # Of things by the noun's gender; ``hij`` and ``zij`` of a thing could be somebody.
        return two.entity == "person" or one.number == "plural" or two.gender != "neuter"


#: Masculine nouns that have an ending in all cases but the nominative, or may be such a noun, by
#: their last letters.
_WEAK = re.compile(
    r".*(?:e|ent|ant|ist|ost|dat|krat|mat|kat|et|ot|ut|oge|nom|soph|graph|graf|arch|urg|ad|it"
    r"|[Mm]ensch|[Hh]err|[Bb]är|[Hh]eld|[Pp]rinz|[Ff]ürst|[Bb]auer|[Nn]achbar|[Nn]arr|[Cc]hrist"
    r"|[Hh]irt|[Oo]chs|[Zz]ar|[Aa]rchitekt|[Kk]atholik|[Bb]ayer|[Uu]ngar|[Pp]ommer)"
)
#: Nouns that are adjectives (``die Abgeordnete``, ``ein Abgeordneter``), by the end of their stem.
_NOMINALISED = re.compile(
    r".*(?:geordnet|gestellt|eamt|eutsch|kannt|wandt|sandt|lehrt|end|lich|wachsen|rank|ig|fangen"
    r"|letzt|fremd|[Bb]lind|[Tt]ot|los|dienstet|hindert|liebt|dächtigt|lobt|trunken|[Gg]rün|[Ww]eis"
    r"|iberal)e[nrs]?"
)


class _German(TableRules):
    language = GERMAN
    conjunctions = "und oder sowie noch"
    quantified = re.compile(
        r"(?:(?:ein paar|einige|etliche|mehrere|viele|wenige|alle|beide|jede|manche|keine?|solche)"
        r"\w*|einer? der|eines der|ein Teil|eine? Art|zwei|drei|vier|fünf|sechs|sieben|acht|neun"
        r"|zehn|\d)\b",
        re.IGNORECASE,
    )
    clause = re.compile(r",| (?:als|wie|[-–—]) ")
    predicated = re.compile(
        r"\b(?:ist|war|sind|waren|bin|bist|seid|sei|wäre|gewesen|wird|wurden?|werden|geworden"
        r"|bleib(?:t|en)|blieb(?:en)?|heißt|hieß|scheint|schien|als|genannt|nann?te)"
        r"(?: [\w'-]+){0,3} $",
        re.IGNORECASE,
    )
    modified = re.compile(
        r" (?:selbst|selber|allein|alle|allen|beide|beiden)\b|, d(?:er|ie|as|en|em)\b"
    )
    genitive = "s"
    no_genitive = "sßxz"
    fused: ClassVar[Mapping[str, str]] = {
        **{"an dem": "am", "bei dem": "beim", "in dem": "im", "von dem": "vom", "zu dem": "zum"},
        **{"zu der": "zur", "an das": "ans", "auf das": "aufs", "durch das": "durchs"},
        **{"für das": "fürs", "in das": "ins", "um das": "ums"},
    }
    agrees_in_gender = True
    capital_nouns = True

    def fault_of_place(self, discourse: Discourse, mention: Mention) -> str:
        ((unit, start, end),) = mention.span
        text, words = discourse.units[unit].text, discourse.units[unit].words
        if mention.features.pronoun == "possessive":
            follows = re.match(r" [A-ZÄÖÜ]", text[end:])
            return "" if follows else "adjective whose ending would change"
        own = next((word for word in words if word.start == start), None)
        # A pronoun may stand between the verb and its subject (``sah ihn der Mann``), a noun
        # hardly.
        before_subject = own is None or any(
            word.head == own.head and word.relation.startswith("nsubj") and word.start > start
            for word in words
        )
        if mention.features.case != "nominative" and start > 0 and before_subject:
            return "object before its subject"
        return ""

    def noun_changes(self, noun: str, features: Features, case: str) -> bool:
        cases = {features.case, case}
        nominalised = _NOMINALISED.fullmatch(noun) is not None
        if len(cases) == 1:
            return nominalised and noun.endswith(("r", "s"))
        if features.number == "plural":
            return "dative" in cases and (
                features.case == "dative" or not noun.endswith(("n", "s"))
            )
        if features.gender == "feminine":
            return nominalised
        if "genitive" in cases:
            return True
        if features.gender == "neuter" or "nominative" not in cases:
            return False
        oblique = case == "nominative" and noun.endswith(("en", "rn"))
        return oblique or nominalised or _WEAK.fullmatch(noun) is not None

    def agrees(self, determiner: str, article: str) -> bool:
        # ``diesem`` ends as ``dem``; ``sein`` and its like have no ending where ``der`` or ``das``
        # is a subject, or ``das`` an object.
        bare = determiner in ("mein", "dein", "sein", "ihr", "unser", "euer")
        ending = {"die": "e", "das": "es"}.get(article, article[1:])
        return article in ("der", "das") if bare else determiner.endswith(ending)


#: Rules by ISO 639-1 code.
MENTION_RULES: Mapping[str, MentionRules] = {
    "en": ENGLISH_RULES,
    "nl": _Dutch(),
    "de": _German(),
}


def rules_of(discourse: Discourse) -> MentionRules:
    """The rules of a discourse's language."""
    return MENTION_RULES[language_of(discourse).code]

"""German: a noun phrase that is said again in the place of a pronoun.

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
from collections.abc import Mapping
from typing import ClassVar

from coherencegym.loaders.discourse import Discourse, Features, Mention
from coherencegym.loaders.languages.language import GERMAN
from coherencegym.manipulations.reference.languages.tables import TableRules

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


GERMAN_RULES = _German()

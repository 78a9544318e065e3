"""A noun phrase that is said again in the place of a pronoun, by the tables of a language.

The tables of pronouns and articles (:mod:`loaders.languages.language`) say which pronouns can be
replaced, in which case the phrase stands there, and which article it has: ``een huis`` becomes
``het huis``, ``ein Mann`` becomes ``dem Mann``. Where the tables or the annotation do not tell, or
another word of the phrase would change with the article, the pronoun is left as it is. What the
tables leave open is in a :class:`TableRules`, one for each language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar

from coherencegym.loaders.discourse import Discourse, Features, Mention, span_text
from coherencegym.loaders.languages.language import Language
from coherencegym.manipulations.operator import NotApplicableError, first_reason, refuse
from coherencegym.manipulations.reference.mention_rules import (
    MentionRules,
    capitalised,
    fault_of_marks,
    holds_pronoun,
)


class TableRules(MentionRules):
    """The rules of a language by its tables, and what they leave open.

    Attributes:
        language: has the tables.
        conjunctions: the words that join two phrases, with spaces between them.
        quantified: the beginning of phrases that mean somebody else when they are said again (``een
            paar``).
        clause: the mark or the word of a phrase with a clause or a comparison in it.
        predicated: a verb such as ``is`` with what may stand between it and a phrase that says what
            somebody is.
        modified: the words behind a pronoun that could not stand behind a noun phrase.
        genitive: the ending of a name in the place of a possessive.
        no_genitive: the last letters of names that have no such ending.
        inflected: forms of determiners that another case had in older spelling, and what they are
            without it. A phrase takes the form of its place where the pronoun tells the case.
        fused: a preposition and an article -> the one word in which they are written.
        agrees_in_gender: a pronoun has the grammatical gender of its noun.
        capital_nouns: nouns begin with a capital.
    """

    language: Language
    conjunctions: str
    quantified: re.Pattern[str]
    clause: re.Pattern[str]
    predicated: re.Pattern[str]
    modified: re.Pattern[str]
    genitive: str
    no_genitive: str
    inflected: ClassVar[Mapping[str, str]] = {}
    fused: ClassVar[Mapping[str, str]] = {}
    agrees_in_gender: bool = False
    capital_nouns: bool = False

    def fault_of_place(self, discourse: Discourse, mention: Mention) -> str:
        """Give another reason against the place of a pronoun; empty where there is none."""
        return ""

    def noun_changes(self, noun: str, features: Features, case: str) -> bool:
        """Tell whether a noun has, or may have, another form in the case of another place."""
        return False

    def agrees(self, determiner: str, article: str) -> bool:
        """Tell whether a determiner and the article that could stand for it are of one case."""
        return True

    @cached_property
    def _determiners(self) -> frozenset[str]:
        determining = self.language.forms("possessive") | self.language.forms("demonstrative")
        return determining | self.language.articles.keys() | self.inflected.keys()

    @cached_property
    def _of_first_or_second(self) -> frozenset[str]:
        return self.language.forms("1") | self.language.forms("2")

    @cached_property
    def _has_cases(self) -> bool:
        articles = self.language.articles.values()
        return any(one.cases for article in articles for one in article.agreements)

    @cached_property
    def _joined(self) -> re.Pattern[str]:
        conjunctions = self.conjunctions.replace(" ", "|")
        return re.compile(rf" (?:{conjunctions}) (?:[A-ZÀ-Þ]|(?:{'|'.join(self._determiners)})\b)")

    def check_pronoun(self, discourse: Discourse, mention: Mention) -> None:
        """Raise where it is no pronoun of the third person that a phrase can stand for."""
        features = mention.features
        if features.person in ("1", "2"):
            raise NotApplicableError("first or second person")
        if features.pronoun not in ("personal", "possessive"):
            raise NotApplicableError(f"{features.pronoun or 'other'} pronoun")
        form = span_text(discourse, mention.span).lower()
        if form in self.language.expletives:
            # More often than not it stands for nothing, or for a clause.
            raise NotApplicableError("pronoun that rarely refers to a noun")
        readings = self.language.pronouns.get(form, ())
        if not any(one.person == "3" and one.pronoun == features.pronoun for one in readings):
            raise NotApplicableError("pronoun of another form")

    def objection(
        self,
        discourse: Discourse,
        mention: Mention,
        pronoun: Mention,
        earlier: Sequence[Mention],
        max_words: int,
    ) -> str:
        """Say what keeps a mention from standing in the place of a pronoun."""
        if len(mention.span) != 1:
            return "discontinuous phrase"
        ((unit, start, end),) = mention.span
        whole, text = discourse.units[unit].text, span_text(discourse, mention.span)
        first = text.split()[0].lower()
        features, name = mention.features, mention.kind == "proper"
        before = whole[:start]
        determined = first in self._determiners
        words = {word.lower() for word in re.findall(r"[\w'’]+", text)}
        return first_reason(
            (len(text.split()) > max_words, f"more than {max_words} words"),
            (len(text) > 1 and text.isupper(), "phrase in capitals"),
            (
                not determined and (not _is_name(discourse, mention) or self._is_fused(before)),
                "noun without an article",
            ),
            (self.quantified.match(text), "quantified phrase"),
            (self.clause.search(text) or re.search(r'[()"“”„:;.!?]', text), "phrase with a clause"),
            (
                holds_pronoun(discourse, mention, pronoun.chain),
                "phrase with a pronoun of its chain",
            ),
            (
                words & self._of_first_or_second,
                "phrase with a pronoun of the first or second person",
            ),
            (bool(earlier) and not name, "second phrase of its chain in the sentence"),
            (features.function == "appos", "apposition"),
            (features.predicate, "predicate nominal"),
            (not name and self.predicated.search(before), "predicate nominal"),
            (
                before[-1:] in set("\"“„'") and whole[end : end + 1] in set("\"”“'"),
                "phrase in quotes",
            ),
            (not determined and self._may_be_genitive(features, text, whole[end:]), "genitive"),
            (name and _is_genitive(discourse, mention, text), "genitive"),
            (determined and first == text.lower(), "no noun"),
            (_number(mention) != _number(pronoun), "another number"),
            (determined and self._is_of_other_gender(mention, pronoun), "another gender"),
        )

    def _is_fused(self, before: str) -> bool:
        # ``im`` Schutzbereich Teltow: the article is in the word before.
        return before.lower().split()[-1:] in ([word] for word in self.fused.values())

    def _may_be_genitive(self, features: Features, text: str, after: str) -> bool:
        before_noun = self.capital_nouns and re.match(r" [A-ZÄÖÜ]", after)
        attribute = before_noun or features.function.startswith("nmod")
        return features.case == "genitive" or bool(attribute and text.endswith(self.genitive))

    def _is_of_other_gender(self, mention: Mention, pronoun: Mention) -> bool:
        genders = {mention.features.gender, pronoun.features.gender} - {""}
        return self.agrees_in_gender and _number(pronoun) == "singular" and len(genders) > 1

    def fault_of_sentence(self, text: str) -> str:
        """Say what is wrong with a sentence's length and marks."""
        if text.isupper() or len(text.split()) < 3:
            return "heading or fragment"
        return fault_of_marks(text)

    def check_place(self, discourse: Discourse, mention: Mention) -> None:
        """Raise where a noun phrase would not read well in the place of a pronoun."""
        ((unit, start, end),) = mention.span
        text = discourse.units[unit].text
        before, after = text[:start], text[end:]
        possessive = mention.features.pronoun == "possessive"
        named = any(
            other.chain == mention.chain and other.span[0][0] == unit and other.kind != "pronoun"
            for other in discourse.mentions
        )
        joined_before = rf"\b(?:{self.conjunctions.replace(' ', '|')}) $"
        fault = self.fault_of_place(discourse, mention)
        refuse(
            (named, "pronoun before its noun phrase"),
            (not possessive and self.modified.match(after), "pronoun with a modifier after it"),
            (self._joined.match(after), "pronoun that begins a coordination"),
            (re.search(joined_before, before) and not possessive, "pronoun of a coordination"),
            (text[start].isupper() and re.search(r"[\w,] $", before), "capital in a sentence"),
            (possessive and not re.match(r" [\w\"]", after), "independent possessive"),
            (fault, fault),
        )

    def phrase(self, discourse: Discourse, mention: Mention, source: Mention) -> tuple[str, int]:
        """The phrase for the pronoun's place, and the end of that place."""
        ((unit, start, end),) = mention.span
        text = discourse.units[unit].text
        form = text[start:end]
        said = self._inside(discourse, source)
        if mention.features.pronoun == "possessive":
            said = self._owner(said, source)
        elif said.split()[0] in self._determiners:
            said = self._definite(discourse, said, source, mention)
        elif self._has_cases and source.features.first_pos == "NOUN":
            self._check_title(said.split()[0], source.features, mention.features.case)
        if " ".join((*text[:start].split()[-1:], said.split()[0])).lower() in self.fused:
            raise NotApplicableError("preposition that is one word with the article")
        if form.startswith("-") and re.search(r"\w$", text[:start]):
            return f" {said}", end
        return (capitalised(said) if form.lstrip("-'")[0].isupper() else said), end

    def _inside(self, discourse: Discourse, source: Mention) -> str:
        said, first = span_text(discourse, source.span), source.features.first_pos
        keeps = first == "PROPN" or (self.capital_nouns and first == "NOUN")
        return said if keeps else said[0].lower() + said[1:]

    def _owner(self, said: str, source: Mention) -> str:
        named = source.kind == "proper" and source.features.first_pos == "PROPN"
        if not named or "'s" in said:
            raise NotApplicableError("possessive of a noun phrase")
        if said[-1] in self.no_genitive:
            letters = f"{', '.join(self.no_genitive[:-1])} or {self.no_genitive[-1]}"
            raise NotApplicableError(f"possessive of a name that ends in {letters}")
        return f"{said}{self.genitive}"

    def _check_title(self, title: str, features: Features, case: str) -> None:
        # ``Herr Weber`` is ``Herrn Weber`` elsewhere.
        if features.case != case and (
            not features.case or self.noun_changes(title, features, case)
        ):
            raise NotApplicableError("noun whose form would change")

    def _definite(self, discourse: Discourse, said: str, source: Mention, pronoun: Mention) -> str:
        # The phrase as a definite one, in the case of the pronoun.
        first, _, rest = said.partition(" ")
        features, case = source.features, pronoun.features.case
        article = self.language.articles.get(first)
        indefinite = article is not None and not article.definite
        adjectives, noun = _words_to_head(discourse, source)
        moved = self._has_cases and self._is_other_case(features, case)
        if (indefinite or self._has_cases) and not self._is_agreeing(first, features):
            raise NotApplicableError("determiner that does not agree with its noun")
        if indefinite or (moved and article is not None):
            first, ending = self._agreeing(features, case)
            if not all(word.endswith(ending) for word in adjectives):
                raise NotApplicableError("adjective whose ending would change")
        elif moved:
            raise NotApplicableError("determiner whose form would change")
        if (indefinite or moved) and self.noun_changes(noun, features, case):
            raise NotApplicableError("noun whose form would change")
        if moved and self._joined.search(rest):
            raise NotApplicableError("coordination whose form would change")
        return f"{self._respelled(discourse, first, bool(adjectives), pronoun)} {rest}"

    def _agreeing(self, features: Features, case: str) -> tuple[str, str]:
        # The definite article of a noun in a case, and the ending of adjectives after it.
        number = features.number or "singular"
        if (found := self.language.definite_article(features.gender, number, case)) is None:
            raise NotApplicableError("article whose gender or case is not told")
        return found

    def _is_other_case(self, features: Features, case: str) -> bool:
        # Whether the definite article differs between the case of a phrase and another one.
        return self._agreeing(features, features.case)[0] != self._agreeing(features, case)[0]

    def _is_agreeing(self, first: str, features: Features) -> bool:
        if article := self.language.articles.get(first):
            number = features.number or "singular"
            return article.agreement(features.gender, number, features.case) is not None
        return self.agrees(first, self._agreeing(features, features.case)[0])

    def _respelled(
        self, discourse: Discourse, first: str, has_adjectives: bool, pronoun: Mention
    ) -> str:
        # The determiner in the older spelling of a text that has it.
        is_object = pronoun.features.case not in ("", "nominative")
        if first in self.inflected and not is_object:
            if has_adjectives:
                raise NotApplicableError("adjective whose ending would change")
            return self.inflected[first]
        known = self.language.pronoun(span_text(discourse, pronoun.span), "personal")
        masculine = known is not None and known.gender == "masculine"
        may_inflect = is_object and masculine and first in self.inflected.values()
        if may_inflect and re.search(rf"\b(?:{'|'.join(self.inflected)})\b", discourse.text, re.I):
            raise NotApplicableError("article whose case is not told")
        return first


def _is_name(discourse: Discourse, mention: Mention) -> bool:
    # Where the grammar of words is known, a title may stand before a name.
    ((unit, start, end),) = mention.span
    words = [word for word in discourse.units[unit].words if start <= word.start < end]
    if not words:
        return mention.kind == "proper"
    nouns = ("PROPN", "NOUN")
    inside = all(word.pos in (*nouns, "ADP") for word in words)
    return inside and words[0].pos in nouns and words[-1].pos == "PROPN"


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


def _words_to_head(discourse: Discourse, source: Mention) -> tuple[list[str], str]:
    # What stands between the determiner and the noun, and the noun.
    if source.head is None:
        return [], ""
    to_head = span_text(discourse, source.span)[: source.head[0][1] - source.span[0][1]]
    return to_head.split()[1:], span_text(discourse, source.head)

"""The value that a language is: what turns its words into text, and text into sentences and words.

A new language is one module that declares a :class:`Language`, and a line in
:mod:`loaders.languages.registry`. Nothing else asks which language a text is in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coherencegym.loaders.discourse import Features
from coherencegym.loaders.senses import Connective
from coherencegym.words import word_set

#: The tokens of a sentence -> its text as a reader would see it, and the place of each token in it
#: (start and end, characters). Raises ValueError for a token without characters.
Layout = Callable[[Sequence[str]], tuple[str, list[tuple[int, int]]]]

_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SentenceRules:
    """The places at which a point ends no sentence, for languages whose sentences begin large.

    Attributes:
        never_last: abbreviations that something always follows, in lower case, without their last
            point (``dr``, ``e.g``).
        words_too: those of ``never_last`` that are words as well.
        sometimes_last: abbreviations that can be the last word of a sentence (``inc``).
        starters: capitalised words that begin sentences, and hardly ever follow an abbreviation.
        reporting: verbs that say who spoke: after a quotation that ends in ``!`` or ``?`` the
            sentence goes on. A regular expression.
        ordinal_points: true where a number with a point is an ordinal (German ``am 3. Mai``).
    """

    never_last: frozenset[str] = _NOTHING
    words_too: frozenset[str] = _NOTHING
    sometimes_last: frozenset[str] = _NOTHING
    starters: frozenset[str] = _NOTHING
    reporting: str = ""
    ordinal_points: bool = False


@dataclass(frozen=True)
class Agreement:
    """The nouns that a form of an article stands with, and the adjectives between them.

    Attributes:
        genders: ``masculine``, ``feminine``, ``neuter``, ``common`` (both of the first two); empty
            where the form tells none. So are the others.
        numbers: ``singular``, ``plural``.
        cases: ``nominative``, ``accusative``, ``dative``, ``genitive``.
        ending: the end of adjectives after it; empty where they have no ending, or any.
    """

    genders: frozenset[str] = _NOTHING
    numbers: frozenset[str] = _NOTHING
    cases: frozenset[str] = _NOTHING
    ending: str = ""

    def fits(self, gender: str, number: str, case: str) -> bool:
        """Tell whether a noun of these features agrees; an unknown one fits where any does."""
        told = ((gender, self.genders), (number, self.numbers), (case, self.cases))
        return all(value in allowed for value, allowed in told if allowed)


@dataclass(frozen=True)
class ArticleForm:
    """A form of an article.

    Attributes:
        definite: true of ``the``, false of ``a``.
        agreements: its readings, for German ``der`` three.
    """

    definite: bool
    agreements: tuple[Agreement, ...]

    def agreement(self, gender: str, number: str, case: str) -> Agreement | None:
        """The reading that fits a noun of these features; none where none does."""
        fitting = (one for one in self.agreements if one.fits(gender, number, case))
        return next(fitting, None)


@dataclass(frozen=True)
class Language:
    """A language.

    Attributes:
        code: ISO 639-1 (``nl``).
        name: its English name.
        lay_out: makes natural text of tokens.
        sentences: the points that end none of its sentences.
        pronouns: form -> its readings: type, person, number, gender and case.
        expletives: the pronouns that more often than not stand for no noun (``het``).
        articles: form -> definiteness and agreement; empty where it has none.
        connectives: word -> its meanings and its syntax (:mod:`loaders.senses`), from
            ``connectives/<code>.tsv``, where each has its source.
    """

    code: str
    name: str
    lay_out: Layout
    sentences: SentenceRules = SentenceRules()
    pronouns: Mapping[str, Sequence[Features]] = field(default_factory=dict, repr=False)
    expletives: frozenset[str] = _NOTHING
    articles: Mapping[str, ArticleForm] = field(default_factory=dict, repr=False)
    connectives: Mapping[str, Connective] = field(default_factory=dict, repr=False)

    def pronoun(self, form: str, kind: str = "") -> Features | None:
        """Give the features that a pronoun's form shows; none where it is no pronoun.

        Args:
            form: the form; of several readings it shows what they share.
            kind: the type of pronoun that it is here, if that is known: other readings do not
                count.
        """
        readings = self.pronouns.get(form.lower().replace("’", "'"), ())
        readings = [one for one in readings if one.pronoun == kind] or readings
        return _shared(readings) if readings else None

    def forms(self, value: str) -> frozenset[str]:
        """Give the pronouns that have a reading with a value (``reflexive``, ``1``, ``dative``)."""
        return frozenset(
            form
            for form, readings in self.pronouns.items()
            if any(value == getattr(one, name) for one in readings for name in _VALUES)
        )

    def definite_article(self, gender: str, number: str, case: str) -> tuple[str, str] | None:
        """Give the definite article that agrees with a noun, and the ending of adjectives after it.

        It is the first of the table that agrees; none where none does.

        Args:
            gender, number, case: words of :class:`Agreement`; empty where nobody says.
        """
        for form, article in self.articles.items():
            if article.definite and (agreement := article.agreement(gender, number, case)):
                return form, agreement.ending
        return None


_VALUES = {
    "pronoun": word_set(
        "personal possessive reflexive reciprocal demonstrative relative interrogative indefinite"
    ),
    "person": word_set("1 2 3"),
    "number": word_set("singular plural"),
    "gender": word_set("masculine feminine neuter common"),
    "case": word_set("nominative accusative dative genitive"),
}


def pronoun_table(rows: Mapping[str, str]) -> Mapping[str, tuple[Features, ...]]:
    """The readings of pronouns by form.

    Args:
        rows: values of :class:`~loaders.discourse.Features` with spaces between them (``personal 3
            singular masculine nominative``) -> the forms of which that is a reading.
    """
    table: dict[str, tuple[Features, ...]] = {}
    for values, forms in rows.items():
        told: dict[str, Any] = {name: "".join(found) for name, found in _told(values).items()}
        for form in forms.split():
            table[form] = (*table.get(form, ()), Features(pos="PRON", **told))
    return table


def article_table(
    definite: Mapping[str, str], indefinite: Mapping[str, str]
) -> Mapping[str, ArticleForm]:
    """Articles by form.

    Args:
        definite, indefinite: form -> the nouns that it stands with, with commas between readings:
            genders, numbers and cases, and the ending of adjectives after it (``neuter singular
            -e, plural -e``).
    """
    return {
        form: ArticleForm(is_definite, tuple(map(_agreement, readings.split(","))))
        for is_definite, forms in ((True, definite), (False, indefinite))
        for form, readings in forms.items()
    }


def _agreement(reading: str) -> Agreement:
    words, _, ending = reading.partition("-")
    told = _told(words)
    return Agreement(told["gender"], told["number"], told["case"], ending.strip())


def _told(words: str) -> dict[str, frozenset[str]]:
    values = word_set(words)
    if unknown := values - frozenset().union(*_VALUES.values()):
        raise ValueError(f"{', '.join(sorted(unknown))} in {words!r}: no value of a pronoun")
    return {name: values & known for name, known in _VALUES.items()}


def _shared(readings: Sequence[Features]) -> Features:
    told = {name: {getattr(one, name) for one in readings} for name in _VALUES}
    same: dict[str, Any] = {name: value for name, (value, *others) in told.items() if not others}
    return Features(pos="PRON", **same)


def abbreviations(words: str) -> frozenset[str]:
    """Abbreviations as :class:`SentenceRules` has them: in lower case, without their last point."""
    return frozenset(re.sub(r"\.$", "", word) for word in words.lower().split())

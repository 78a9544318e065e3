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
class ArticleForm:
    """A form of an article.

    Attributes:
        definite: true of ``the``, false of ``a``.
        genders: the genders of nouns that it stands with (``masculine``, ``feminine``,
            ``neuter``); none where it does not tell.
        numbers: ``singular``, ``plural`` or both.
    """

    definite: bool
    genders: frozenset[str] = _NOTHING
    numbers: frozenset[str] = frozenset({"singular", "plural"})


@dataclass(frozen=True)
class Language:
    """A language.

    Attributes:
        code: ISO 639-1 (``nl``).
        name: its English name.
        lay_out: makes natural text of tokens.
        sentences: the points that end none of its sentences.
        pronouns: form -> what the form alone says of type, person, number and gender.
        articles: form -> definiteness and agreement; empty where it has none.
        connectives: word -> its meanings and its syntax (:mod:`loaders.senses`), from
            ``connectives/<code>.tsv``, where each has its source.
    """

    code: str
    name: str
    lay_out: Layout
    sentences: SentenceRules = SentenceRules()
    pronouns: Mapping[str, Features] = field(default_factory=dict, repr=False)
    articles: Mapping[str, ArticleForm] = field(default_factory=dict, repr=False)
    connectives: Mapping[str, Connective] = field(default_factory=dict, repr=False)

    def pronoun(self, form: str) -> Features | None:
        """Give the features that a pronoun's form shows; none where it is no pronoun."""
        return self.pronouns.get(form.lower().replace("’", "'"))


def pronoun_table(
    *,
    types: Mapping[str, str],
    persons: Mapping[str, str],
    singular: str = "",
    plural: str = "",
    genders: Mapping[str, str] | None = None,
) -> Mapping[str, Features]:
    """The pronouns of a language by form.

    Args:
        types, persons, genders: a value of :class:`~loaders.discourse.Features` -> the forms that
            have it, with spaces between them.
        singular, plural: the forms of one number only.
    """
    table: dict[str, dict[str, Any]] = {}
    numbers = {"singular": singular, "plural": plural}
    rows = {"pronoun": types, "gender": genders or {}, "person": persons, "number": numbers}
    for name, values in rows.items():
        for value, forms in values.items():
            for form in forms.split():
                table.setdefault(form, {})[name] = value
    return {form: Features(pos="PRON", **values) for form, values in table.items()}


def article_table(
    definite: Mapping[str, str], indefinite: Mapping[str, str]
) -> Mapping[str, ArticleForm]:
    """Articles by form; a value names genders and numbers, with spaces between them."""
    numbers = word_set("singular plural")
    return {
        form: ArticleForm(
            is_definite,
            genders=word_set(agreement) - numbers,
            numbers=word_set(agreement) & numbers or numbers,
        )
        for is_definite, forms in ((True, definite), (False, indefinite))
        for form, agreement in forms.items()
    }


def abbreviations(words: str) -> frozenset[str]:
    """Abbreviations as :class:`SentenceRules` has them: in lower case, without their last point."""
    return frozenset(re.sub(r"\.$", "", word) for word in words.lower().split())

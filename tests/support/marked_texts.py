"""Texts with annotation, written as a test reads best: ``[Ann|1] fell. / [She|1] wept.``"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from coherencegym.loaders.discourse import (
    Discourse,
    Features,
    Mention,
    ParsedWord,
    Relation,
    Span,
    Unit,
)
from coherencegym.loaders.languages.language import Language
from coherencegym.loaders.languages.registry import language

_TOKEN = re.compile(r"\[|\|(?P<chain>\w+)(?P<fields>(?: \w+=[\w:-]*| \w+)*)\]|[^\[|]+")


def annotated(text: str, **settings: Any) -> Discourse:
    """A discourse from marked text; `` / `` stands between its sentences, ``b: `` names a speaker.

    ``[text|chain field=value ...]`` is a mention. What is a pronoun by its form is one; another
    mention is ``proper`` or ``nominal`` as it says, else proper with a capital inside a sentence
    and nominal elsewhere, and singular. Its head is its last word, or that which ``head=`` names.
    The language is that of ``meta``, English without one.
    """
    units, mentions = [], []
    values = {"id": "d", "corpus": "test", "meta": {"split": "test", "genre": "fiction"}} | settings
    spoken = language(values["meta"].get("language", "en"))
    for number, marked in enumerate(text.split(" / ")):
        speaker = re.match(r"(\w): ", marked)
        plain, found = _sentence(marked[speaker.end() :] if speaker else marked, number, spoken)
        units.append(Unit(plain, speaker[1] if speaker else None))
        mentions += sorted(found, key=lambda m: (m.span[0][1], -m.span[0][2]))
    return Discourse(units=tuple(units), mentions=tuple(mentions), **values)


def _sentence(marked: str, unit: int, spoken: Language) -> tuple[str, list[Mention]]:
    plain, opened, mentions = "", [], []
    for token in _TOKEN.finditer(marked):
        if token[0] == "[":
            opened.append(len(plain))
        elif token["chain"]:
            start = opened.pop()
            fields = token["fields"].split()
            mentions.append(_mention(plain, unit, start, token["chain"], fields, spoken))
        else:
            plain += token[0]
    return plain, mentions


def _mention(
    plain: str, unit: int, start: int, chain: str, fields: list[str], spoken: Language
) -> Mention:
    text, end = plain[start:], len(plain)
    said = dict(field.split("=") for field in fields if "=" in field)
    known = spoken.pronoun(text)
    kind = next((name for name in ("proper", "nominal", "pronoun") if name in fields), "")
    kind = kind or ("pronoun" if known else "proper" if text[0].isupper() and start else "nominal")
    word = said.pop("head", re.sub(r"['’]s?$", "", text).split()[-1])
    at = start + text.index(word)
    features = known if known and kind == "pronoun" else Features(number="singular")
    predicate = bool(said.pop("predicate", ""))
    return Mention(
        ((unit, start, end),),
        chain,
        kind,
        ((unit, at, at + len(word)),),
        replace(features, predicate=predicate, **said),
    )


def related(
    text: str,
    sense: str = "Comparison.Concession.Arg1-as-denier",
    source: str = "pdtb3",
    **settings: Any,
) -> Discourse:
    """A discourse whose connective stands in square brackets; `` / `` between its sentences.

    Its arguments are all that is before the connective and all that is after it; sentences that
    begin with ``~`` belong to neither. Where there are curly braces, what stands in them is the
    first, and the second is what follows the connective in its sentence, up to a brace or a bar.
    """
    units, first, second = [], [], []
    connective: Span = ()
    for number, marked in enumerate(text.split(" / ")):
        plain, marks = _marks(marked.lstrip("~"))
        units.append(Unit(plain))
        places = [place for _, place in marks]
        braces = [place for mark, place in marks if mark in "{}"]
        first += [(number, *pair) for pair in zip(braces[::2], braces[1::2], strict=True)]
        if "[" in marked:
            start, end = (place for mark, place in marks if mark in "[]")
            connective = ((number, start, end),)
            after = [place for place in places if place > end] if "{" in text else []
            second.append((number, end, min(after, default=len(plain))))
            if start and "{" not in text:
                first.append((number, 0, start))
        elif not marked.startswith("~") and "{" not in text:
            (second if connective else first).append((number, 0, len(plain)))
    second = [part for part in second if part[1] < part[2]]
    relation = Relation("Explicit", connective, tuple(first), tuple(second), (sense,))
    values = {"id": "d", "corpus": "test", "meta": {"split": "test", "sense_source": source}}
    return Discourse(units=tuple(units), relations=(relation,), **(values | settings))


def parsed(grammar: str) -> Unit:
    """A unit of words with their grammar: ``He:nsubj:1 ran:root:``, heads counted from 0.

    A fourth part are features: ``ran:root::VerbForm=Fin``.
    """
    words: list[ParsedWord] = []
    text = ""
    for written in grammar.split():
        form, relation, head, features = (*written.split(":"), "")[:4]
        start = len(text) + bool(text)
        text = f"{text} {form}".strip()
        number = int(head) if head else None
        words.append(ParsedWord(start, len(text), form.lower(), "X", features, relation, number))
    return Unit(text, words=tuple(words))


def _marks(text: str) -> tuple[str, list[tuple[str, int]]]:
    """A text without its marks, and each of these with its place in what is left."""
    plain, marks = "", []
    for character in text:
        if character in "[]{}|":
            marks.append((character, len(plain)))
        else:
            plain += character
    return plain, marks

"""Texts with mentions, written as a test reads best: ``[Ann|1] fell. / [She|1] wept.``"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from coherencegym.loaders.discourse import Discourse, Features, Mention, Unit
from coherencegym.loaders.text.pronouns import by_form

_TOKEN = re.compile(r"\[|\|(?P<chain>\w+)(?P<fields>(?: \w+=[\w:-]*| \w+)*)\]|[^\[|]+")


def annotated(text: str, **settings: Any) -> Discourse:
    """A discourse from marked text; `` / `` stands between its sentences, ``b: `` names a speaker.

    ``[text|chain field=value ...]`` is a mention. What is a pronoun by its form is one; another
    mention is ``proper`` or ``nominal`` as it says, else proper with a capital inside a sentence
    and nominal elsewhere, and singular. Its head is its last word, or that which ``head=`` names.
    """
    units, mentions = [], []
    for number, marked in enumerate(text.split(" / ")):
        speaker = re.match(r"(\w): ", marked)
        plain, found = _sentence(marked[speaker.end() :] if speaker else marked, number)
        units.append(Unit(plain, speaker[1] if speaker else None))
        mentions += sorted(found, key=lambda m: (m.span[0][1], -m.span[0][2]))
    values = {"id": "d", "corpus": "test", "meta": {"split": "test", "genre": "fiction"}} | settings
    return Discourse(units=tuple(units), mentions=tuple(mentions), **values)


def _sentence(marked: str, unit: int) -> tuple[str, list[Mention]]:
    plain, opened, mentions = "", [], []
    for token in _TOKEN.finditer(marked):
        if token[0] == "[":
            opened.append(len(plain))
        elif token["chain"]:
            start = opened.pop()
            mentions.append(_mention(plain, unit, start, token["chain"], token["fields"].split()))
        else:
            plain += token[0]
    return plain, mentions


def _mention(plain: str, unit: int, start: int, chain: str, fields: list[str]) -> Mention:
    text, end = plain[start:], len(plain)
    said = dict(field.split("=") for field in fields if "=" in field)
    known = by_form(text)
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

"""The mentions of a CoNLL-2012 sentence: brackets of the last column, heads by part of speech."""

from __future__ import annotations

import re
from collections.abc import Sequence

from coherencegym.loaders.discourse import Features, Mention
from coherencegym.loaders.formats.conll2012_parts import Word
from coherencegym.loaders.formats.lines import LineError, shown
from coherencegym.loaders.text.pronouns import by_form

_BRACKET = re.compile(r"(?P<opens>\()?(?P<entity>\d{1,9})(?P<closes>\))?")
_PRONOUNS = ("PRP", "PRP$", "WP", "WP$")
#: Tags that end the head of a noun phrase, in front of what follows it.
_AFTER_HEAD = ("IN", "WDT", "WP", "WP$", "WRB", ",", ":", "-LRB-", "VBN", "VBG", "TO")


def mentions(
    unit: int, words: Sequence[Word], places: Sequence[tuple[int, int]]
) -> list[tuple[int, Mention]]:
    """The mentions of a sentence with their lines, in order of first words, longer ones first."""
    opened: list[tuple[str, int]] = []
    found: list[tuple[int, int, str]] = []
    for index, word in enumerate(words):
        for bracket in word.coreference.split("|") if word.coreference not in ("-", "_") else ():
            match = _BRACKET.fullmatch(bracket)
            if match is None or not (match["opens"] or match["closes"]):
                problem = f"coreference {shown(word.coreference)}, expected such as (12|(3) or 12)"
                raise LineError(word.line, problem, "malformed coreference")
            if match["opens"]:
                opened.append((match["entity"], index))
            if match["closes"]:
                start = _close(opened, match["entity"], word.line)
                found.append((start, index + 1, match["entity"]))
    for entity, index in opened:
        problem = (
            f"a mention of entity {entity} is opened and not closed in its sentence, "
            "expected a closing bracket"
        )
        raise LineError(words[index].line, problem, "unclosed mention")
    found.sort(key=lambda mention: (mention[0], -mention[1]))
    return [
        (words[start].line, _mention(unit, words[start:end], places[start:end], entity))
        for start, end, entity in found
    ]


def _close(opened: list[tuple[str, int]], entity: str, line: int) -> int:
    """Find the start of the mention that is closed; of one entity the one that was opened last."""
    for position in range(len(opened) - 1, -1, -1):
        if opened[position][0] == entity:
            return opened.pop(position)[1]
    problem = f"'{entity})' closes a mention that is not open, expected it to be opened"
    raise LineError(line, problem, "unopened mention")


def _mention(
    unit: int, words: Sequence[Word], places: Sequence[tuple[int, int]], entity: str
) -> Mention:
    head = _head(words)
    word = words[head]
    pronoun = len(words) == 1 and (
        word.tag in _PRONOUNS or (word.tag == "DT" and by_form(word.form) is not None)
    )
    kind = "pronoun" if pronoun else "proper" if word.tag.startswith("NNP") else "nominal"
    return Mention(
        span=((unit, places[0][0], places[-1][1]),),
        chain=entity,
        kind=kind,
        head=((unit, *places[head]),),
        features=_features(word, words[0], kind),
    )


def _head(words: Sequence[Word]) -> int:
    """The last noun before what may follow a noun; a guess, for there is no tree of words."""
    head = None
    for index, word in enumerate(words):
        if word.tag in _AFTER_HEAD and head is not None:
            break
        if word.tag.startswith("NN") or word.tag in (*_PRONOUNS, "CD", "EX"):
            head = index
    return len(words) - 1 if head is None else head


def _features(head: Word, first: Word, kind: str) -> Features:
    known = (by_form(head.form) if kind == "pronoun" else None) or Features()
    pronoun = known.pronoun
    if head.tag == "PRP$":
        pronoun = "possessive"
    elif head.tag == "PRP" and pronoun in ("", "possessive"):
        pronoun = "personal"
    plural = head.tag in ("NNS", "NNPS")
    singular = head.tag in ("NN", "NNP")
    return Features(
        pos=_pos(head.tag),
        first_pos=_pos(first.tag),
        pronoun=pronoun if kind == "pronoun" else "",
        person=known.person,
        number="plural" if plural else "singular" if singular else known.number,
        gender=known.gender,
    )


def _pos(tag: str) -> str:
    """The Universal Dependencies tag of the words that matter; empty for others."""
    if tag in _PRONOUNS:
        return "PRON"
    for start, pos in (("NNP", "PROPN"), ("NN", "NOUN"), ("VB", "VERB"), ("DT", "DET")):
        if tag.startswith(start):
            return pos
    return ""

"""The brackets of ``Entity=``: which words are in which, and what their fields say.

A mention, or a part of one, is a pair of brackets. Nothing is known here of what the fields mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from coherencegym.loaders.formats.conllu import Sentence
from coherencegym.loaders.formats.lines import LineError, shown

_BRACKET = re.compile(r"\((?P<opens>[^()]+)(?P<closed>\))?|(?P<closes>[^()]+)\)")
_ENTITY = re.compile(r"(?P<entity>[^\[\]]+)(?:\[(?P<part>\d{1,3})/(?P<parts>\d{1,3})\])?")


@dataclass(slots=True)
class Bracket:
    """A mention, or a part of one, while it is read; ``tokens`` are indices in the sentence."""

    entity: str
    part: int
    parts: int
    line: int
    fields: Mapping[str, str]
    tokens: list[int] = field(default_factory=list)


def read_brackets(sentence: Sentence, names: Sequence[str] | None) -> list[Bracket]:
    """The mentions of a sentence, parts of discontinuous ones put together."""
    whole: list[Bracket] = []
    unfinished: list[Bracket] = []
    opened: list[tuple[Bracket, int]] = []
    for index, token in enumerate(sentence.tokens):
        if (entity := token.misc.get("Entity")) is None:
            continue
        if names is None:
            problem = "Entity= without a # global.Entity comment before it, expected one"
            raise LineError(token.line, problem, "no # global.Entity")
        for match in _matches(entity, token.line):
            if match["opens"] is not None:
                bracket = _opened(match["opens"], token.line, names)
                opened.append((bracket, index))
            if match["closes"] is not None or match["closed"] is not None:
                bracket, start = _closed(opened, match["closes"] or match["opens"], token.line)
                bracket.tokens.extend(range(start, index + 1))
                _finish(bracket, whole, unfinished)
    for bracket in [bracket for bracket, _ in opened] + unfinished:
        problem = (
            f"a mention of entity {shown(bracket.entity)} is opened and not closed in its "
            "sentence, expected a closing bracket"
        )
        raise LineError(bracket.line, problem, "unclosed mention")
    return whole


def _matches(entity: str, line: int) -> Iterator[re.Match[str]]:
    position = 0
    while position < len(entity):
        match = _BRACKET.match(entity, position)
        if match is None:
            problem = (
                f"Entity={shown(entity)}, expected brackets such as (1-person) or (1-person and 1)"
            )
            raise LineError(line, problem, "malformed Entity=")
        yield match
        position = match.end()


def _identify(text: str, line: int) -> tuple[str, int, int]:
    """The entity of a bracket, and which part it is of how many."""
    match = _ENTITY.fullmatch(text)
    part, parts = (int(match["part"] or 1), int(match["parts"] or 1)) if match else (0, 0)
    if match is None or not 1 <= part <= parts:
        problem = f"entity {shown(text)}, expected an id such as 1 or 1[1/2]"
        raise LineError(line, problem, "malformed Entity=")
    return match["entity"], part, parts


def _opened(text: str, line: int, names: Sequence[str]) -> Bracket:
    values = text.split("-")
    if len(values) > len(names):
        problem = (
            f"{len(values)} fields in Entity=({shown(text)}, expected at most {len(names)}: "
            "those of # global.Entity"
        )
        raise LineError(line, problem, "malformed Entity=")
    entity, part, parts = _identify(values[0], line)
    fields = dict(zip(names[1:], values[1:], strict=False))
    return Bracket(entity, part, parts, line, fields)


def _closed(opened: list[tuple[Bracket, int]], text: str, line: int) -> tuple[Bracket, int]:
    """Take the bracket that is closed from those that are open."""
    entity = _identify(text.split("-")[0], line)
    for position in range(len(opened) - 1, -1, -1):
        bracket = opened[position][0]
        if (bracket.entity, bracket.part, bracket.parts) == entity:
            return opened.pop(position)
    problem = f"{shown(text + ')')} closes a mention that is not open, expected it to be opened"
    raise LineError(line, problem, "unopened mention")


def _finish(bracket: Bracket, whole: list[Bracket], unfinished: list[Bracket]) -> None:
    """Put a bracket that was closed where it belongs: with the part before it, or by itself."""
    if bracket.part > 1:
        for position, before in enumerate(unfinished):
            if (before.entity, before.part, before.parts) == (
                bracket.entity,
                bracket.part - 1,
                bracket.parts,
            ):
                del unfinished[position]
                bracket.tokens = before.tokens + bracket.tokens
                bracket.fields = {**bracket.fields, **before.fields}
                break
        else:
            problem = (
                f"part {bracket.part} of a mention of entity {shown(bracket.entity)}, "
                f"expected part {bracket.part - 1} before it"
            )
            raise LineError(bracket.line, problem, "parts of a mention out of order")
    (whole if bracket.part == bracket.parts else unfinished).append(bracket)

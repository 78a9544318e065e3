"""A raw text whose characters are counted, and the units that are read out of it.

Standoff annotation counts characters of a file; a discourse counts them within the text of a unit,
in which runs of white space are one space. A :class:`Placed` text knows where each character went.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.discourse import Relation, Span
from coherencegym.loaders.formats.lines import LineError, shown
from coherencegym.loaders.formats.pdtb_pipe import Offsets, RawRelation
from coherencegym.loaders.senses import UnknownSenseError, meaning_of

#: Characters that a raw text may have.
LONGEST_TEXT = 5_000_000


def read_raw(path: Path) -> str:
    """A raw text, line ends and byte order mark included: annotations count them.

    Raises:
        CorpusError: it is not UTF-8, has a NUL byte, or is too long.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        data = file.read(4 * LONGEST_TEXT + 1)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise CorpusError(f"{path}:{line}: byte {error.start} is no UTF-8, expected text") from None
    if len(text) > LONGEST_TEXT:
        raise CorpusError(f"{path}:1: over {LONGEST_TEXT:,} characters, expected one document")
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise CorpusError(f"{path}:{line}: a NUL byte, expected text")
    return text


@dataclass
class Placed:
    """The places of a raw text's characters in the units made of it.

    Attributes:
        raw: the raw text.
        texts: the texts of the units.
        places: raw offset -> (unit, character); offsets that stand nowhere are missing.
    """

    raw: str
    texts: list[str] = field(default_factory=list)
    places: dict[int, tuple[int, int]] = field(default_factory=dict)

    def add(self, pieces: Sequence[tuple[int, int]]) -> None:
        """Add a unit: these stretches of the raw text, each run of white space one space."""
        letters: list[str] = []
        space = False
        for start, end in pieces:
            for offset in range(start, end):
                letter = self.raw[offset]
                if letter.isspace():
                    space = bool(letters)
                    continue
                if space:
                    letters.append(" ")
                    space = False
                self.places[offset] = (len(self.texts), len(letters))
                letters.append(letter)
        if letters:
            self.texts.append("".join(letters))

    def span(self, offsets: Offsets) -> Span:
        """Offsets as parts of units; a part over several units becomes one for each.

        Raises:
            LookupError: a part lies outside the text, or holds nothing of any unit.
        """
        parts: list[tuple[int, int, int]] = []
        for start, end in offsets:
            found: dict[int, tuple[int, int]] = {}
            for offset in range(start, min(end, len(self.raw))):
                if offset in self.places:
                    unit, character = self.places[offset]
                    first = found.get(unit, (character, 0))[0]
                    found[unit] = (first, character + 1)
            if end > len(self.raw) or not found:
                raise LookupError(f"{start}..{end}")
            parts += [(unit, first, last) for unit, (first, last) in sorted(found.items())]
        return tuple(parts)


def placed_relation(relation: RawRelation, text: Placed) -> Relation:
    """A relation with spans in units.

    Raises:
        LineError: a span lies outside the text, the connective is not what the line says, or a
            sense of an explicit relation is unknown.
    """
    try:
        connective = text.span(relation.connective)
        arg1, arg2 = text.span(relation.arg1), text.span(relation.arg2)
    except LookupError as error:
        raise LineError(
            relation.line,
            f"the span {error.args[0]} lies outside the text, which has {len(text.raw):,} "
            "characters",
            "span outside the text",
        ) from None
    if relation.type == "Explicit":
        found = " ".join(text.texts[unit][start:end] for unit, start, end in connective)
        if relation.word and _letters(found) != _letters(relation.word):
            raise LineError(
                relation.line,
                f"the connective is {shown(relation.word)}, but {shown(found)} stands at its span",
                "connective elsewhere",
            )
        for sense in relation.senses:
            try:
                meaning_of(relation.scheme, sense)
            except UnknownSenseError as error:
                raise LineError(relation.line, str(error), "unknown sense") from None
        if not relation.senses:
            raise LineError(relation.line, "an explicit relation without a sense", "no sense")
    return Relation(relation.type, connective or None, arg1, arg2, relation.senses)


def _letters(text: str) -> str:
    """Letters alone: annotations differ in dots and in how they join parts."""
    return "".join(filter(str.isalnum, text.lower()))

"""The files of an MMAX2 document: its words, the markables over them, and their spans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.formats.lines import shown, tidy
from coherencegym.loaders.formats.xml_elements import Element, elements

WORDS = "_words.xml"
LEVELS = ("coref", "sentence")
_FOLDERS = ("Markables", "markables", "")


def document_files(path: Path) -> tuple[Path, ...]:
    """The files of a document: its words, and the two levels over them where they are found."""
    name = path.name.removesuffix(WORDS)
    found = [path]
    for level in LEVELS:
        for folder in _FOLDERS:
            base = path.parent.parent / folder if folder else path.parent
            candidate = base / f"{name}_{level}_level.xml"
            if candidate.is_file():
                found.append(candidate)
                break
    return tuple(found)


def read_words(path: Path) -> tuple[dict[str, str], list[int]]:
    """The words by id, in their order, and their lines.

    Raises:
        CorpusError: there is none, or one without text or with the id of another.
    """
    words: dict[str, str] = {}
    lines: list[int] = []
    for element in elements(path):
        if element.name != "word":
            continue
        identifier, text = tidy(element.attributes.get("id", "")), tidy(element.text)
        if not identifier or identifier in words:
            raise CorpusError(
                f"{path}:{element.line}: word id {shown(identifier)}, expected each once"
            )
        if not text:
            raise CorpusError(
                f"{path}:{element.line}: word {shown(identifier)} is empty, expected a word"
            )
        words[identifier] = text
        lines.append(element.line)
    if not words:
        raise CorpusError(f"{path}:1: no word, expected <word id=...> elements")
    return words, lines


def markables(path: Path) -> Iterator[Element]:
    """The markables of a level, each id once.

    Raises:
        CorpusError: an id is missing or stands twice.
    """
    seen: set[str] = set()
    for element in elements(path):
        if element.name != "markable":
            continue
        identifier = tidy(element.attributes.get("id", ""))
        if not identifier or identifier in seen:
            raise CorpusError(
                f"{path}:{element.line}: markable id {shown(identifier)}, expected each once"
            )
        seen.add(identifier)
        yield element


def word_ranges(
    path: Path, element: Element, name: str, positions: Mapping[str, int]
) -> list[tuple[int, int]]:
    """The words of an attribute such as ``word_1..word_3,word_7``: first, and after the last.

    Raises:
        CorpusError: it is no such span, or names words that are not there.
    """
    where = f"{path}:{element.line}: {name} of {shown(element.attributes['id'])}"
    ranges: list[tuple[int, int]] = []
    for part in element.attributes.get(name, "").split(","):
        first, dots, last = part.strip().partition("..")
        ends = (first, last if dots else first)
        for identifier in ends:
            if identifier not in positions:
                raise CorpusError(
                    f"{where} has {shown(identifier)}, expected words of the document, "
                    "such as word_1..word_3,word_7"
                )
        start, end = positions[ends[0]], positions[ends[1]] + 1
        if start >= end or (ranges and start < ranges[-1][1]):
            span = shown(element.attributes[name])
            raise CorpusError(f"{where} is {span}, expected words in their order")
        ranges.append((start, end))
    return ranges


def read_sentences(
    path: Path, positions: Mapping[str, int], count: int
) -> list[tuple[int, int, str | None]]:
    """First word, after the last word, and speaker of each unit, which together are all words.

    Raises:
        CorpusError: sentences overlap, or a span is none.
    """
    found = []
    for element in markables(path):
        ranges = word_ranges(path, element, "span", positions)
        speaker = tidy(element.attributes.get("speaker", "")) or None
        found.append((ranges[0][0], ranges[-1][1], speaker, element.line))
    units: list[tuple[int, int, str | None]] = []
    at = 0
    for start, end, speaker, line in sorted(found, key=lambda sentence: sentence[:2]):
        if start < at:
            raise CorpusError(f"{path}:{line}: overlaps another sentence, expected them apart")
        if start > at:
            units.append((at, start, None))
        units.append((start, end, speaker))
        at = end
    if at < count:
        units.append((at, count, None))
    return units

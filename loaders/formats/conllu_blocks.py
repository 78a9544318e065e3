"""CoNLL-U before it is parsed: the lines of sentences, and which sentences are a document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.loaders.corpus import CorpusFile
from coherencegym.loaders.formats.lines import Line, numbered_lines


@dataclass(frozen=True, slots=True)
class Block:
    """The lines of one sentence, as they are, without the empty line at their end."""

    lines: tuple[Line, ...]

    @property
    def comments(self) -> dict[str, str]:
        """Its comments, the first of each key."""
        comments: dict[str, str] = {}
        for _, line in self.lines:
            if line.startswith("#"):
                key, _, value = line[1:].partition("=")
                comments.setdefault(key.strip(), value.strip())
        return comments

    @property
    def rows(self) -> Iterator[Line]:
        """The lines that are no comments."""
        return ((number, line) for number, line in self.lines if not line.startswith("#"))


def blocks(file: CorpusFile) -> Iterator[Block]:
    """Split a file at its empty lines; nothing is checked.

    Raises:
        CorpusError: the file is empty, or no UTF-8 text at all.
    """
    lines: list[Line] = []
    for number, line in numbered_lines(file):
        if line.strip():
            lines.append((number, line))
        elif lines:
            yield Block(tuple(lines))
            lines = []
    if lines:
        yield Block(tuple(lines))


def documents(file: CorpusFile) -> Iterator[tuple[Block, ...]]:
    """The blocks of a file by document: each begins with one that has a ``# newdoc`` comment.

    Raises:
        CorpusError: as :func:`blocks`.
    """
    document: list[Block] = []
    for block in blocks(file):
        if document and _begins_document(block):
            yield tuple(document)
            document = []
        document.append(block)
    if document:
        yield tuple(document)


def _begins_document(block: Block) -> bool:
    return any(
        line.startswith("#") and line[1:].split()[:1] == ["newdoc"] for _, line in block.lines
    )

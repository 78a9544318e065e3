"""Disco-Annotation as it might be distributed: one file a connective, kept apart and unproven.

The layout of the distribution could not be seen. Read is what its description suggests, and nothing
else is guessed: files named after the connective (``although.txt``, ``en_since.tsv``), each line a
sense and a segment with a tab between, in which the connective stands once. Any other line is
refused. A table with offsets (:mod:`loaders.corpora.disco`) is the safe way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from coherencegym.loaders.corpora.disco import CORPUS as TABLE
from coherencegym.loaders.corpora.disco import SENSES, segment
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.formats.lines import LineError, numbered_lines, shown, text_problem


def read_connective(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read the file of one connective.

    Raises:
        CorpusError: its name has no connective or several, it has no line, or a bad line, unless
            bad rows are skipped.
    """
    named = [c for c in SENSES if c in re.split(r"[^a-z]+", file.path.stem.lower())]
    if len(named) != 1:
        raise CorpusError(
            f"{file.path}: its name has {' and '.join(named) or 'no connective'}, expected one of "
            f"{', '.join(SENSES)}"
        )
    any_line = False
    for number, line in numbered_lines(file):
        if not line.strip():
            continue
        any_line = True
        try:
            if (problem := text_problem(line)) is not None:
                raise LineError(number, *problem)
            yield _segment(corpus, file, number, named[0], line)
        except LineError as error:
            error.report(file, options)
    if not any_line:
        raise CorpusError(
            f"{file.path}:1: no line, expected a sense and a segment with a tab between"
        )


def _segment(
    corpus: Corpus, file: CorpusFile, number: int, connective: str, line: str
) -> Discourse:
    cells = [cell.strip() for cell in line.split("\t")]
    if len(cells) != 2:
        raise LineError(
            number,
            f"{shown(line)}: {len(cells)} columns parted by tabs, expected a sense and a segment; "
            "this reader has not met the real files: make a table disco.tsv of them instead",
            "unknown layout",
        )
    sense, text = cells
    places = [match.start() for match in re.finditer(rf"\b{connective}\b", text, re.IGNORECASE)]
    if len(places) != 1:
        raise LineError(
            number,
            f"{connective!r} stands {len(places)} times in the segment, expected once",
            "connective not found once",
        )
    return segment(corpus, file, number, connective, sense.lower(), places[0], text)


CORPUS = replace(
    TABLE,
    name="disco_release",
    title="Disco-Annotation, as distributed",
    obtain="get https://www.idiap.ch/dataset/Disco-Annotation; its layout is a guess",
    patterns=tuple(
        FilePattern(f"{before}{connective}.{ending}", "unsplit", f"{connective}.txt")
        for connective in SENSES
        for before in ("", "*[-_]")
        for ending in ("txt", "tsv")
    ),
    reader=read_connective,
    sample_patterns=("*",),
)

"""PersonaChat in ParlAI's text format: small talk between two people, with given personas.

A line is ``<number> <utterance of the partner><TAB><utterance of self>[<TAB><TAB>candidates]``, or
``<number> your persona: ...``, or ``<number> partner's persona: ...``; a number that restarts at 1
begins a dialogue. Personas and candidates are left out, so that the files ``self``, ``both``,
``none`` and ``other``, ``original`` and ``revised``, with and without candidates all hold the same
dialogues: of each split one file is read, the first in the order of :data:`VARIANTS`.

Units are the utterances, speakers ``partner`` and ``self`` by turns; where one of them is
``__SILENCE__`` there is no unit (so ``self`` may begin). Text is detokenised and stays lower-case.

A discourse's id is ``<split>-<number of the dialogue in the file, four digits>``, such as
``test-0001``. A file without a split in its name (``self_original.txt``) has the split ``unsplit``.
Numbers count dialogues that are skipped as bad, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, SourceSpan, Unit
from coherencegym.loaders.formats.lines import (
    Line,
    LineError,
    check_text,
    numbered_lines,
    reporting,
    shown,
    tidy,
)
from coherencegym.loaders.text.detokenize import detokenize

#: Versions of one split in the order of preference: short files first.
VARIANTS = tuple(
    f"{whose}_{wording}{candidates}"
    for candidates in ("_no_cands", "")
    for whose in ("none", "self", "other", "both")
    for wording in ("original", "revised")
)

#: ParlAI's mark where a speaker says nothing.
_SILENCE = "__SILENCE__"

_NUMBERED = re.compile(r"(\d{1,6}) (.*)")
_PERSONA = re.compile(r"(?:your|partner's) persona:")
#: Beginnings of ParlAI's file names, each with the split as the Hub calls it.
_SPLITS = (("train_", "train"), ("valid_", "validation"), ("test_", "test"), ("", "unsplit"))
#: All the variants, for messages.
_ANY_VARIANT = "(none|self|other|both)_(original|revised)[_no_cands]"
#: A line as it should be, for messages.
_EXAMPLE = "'1 hello !<TAB>hi there .'"


def read_dialogues(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of dialogues. A bad line makes its whole dialogue a bad one."""
    number = 0
    for number, lines in _dialogues(file):
        units: list[Unit] = []
        line = 0
        with reporting(file, options):
            for expected, (line, content) in enumerate(lines, start=1):
                units += _utterances(file, expected, line, content)
            if not units:
                problem = "the dialogue ends without an utterance, expected some"
                raise LineError(line, problem, "empty dialogue")
            identifier = f"{file.split}-{number:04d}"
            yield Discourse(identifier, corpus.name, tuple(units), meta={"split": file.split})
    if not number:
        raise CorpusError(f"{file.path}:1: no dialogue, expected lines such as {_EXAMPLE}")


def _dialogues(file: CorpusFile) -> Iterator[tuple[int, Iterator[Line]]]:
    # A dialogue begins where the lines' numbers restart.
    count = 0

    def dialogue(line: Line) -> int:
        nonlocal count
        numbered = _NUMBERED.fullmatch(line[1])
        if count == 0 or (numbered and int(numbered[1]) == 1):
            count += 1
        return count

    return groupby((line for line in numbered_lines(file) if line[1].strip()), dialogue)


def _utterances(file: CorpusFile, expected: int, line: int, content: str) -> Iterator[Unit]:
    check_text(content, line)
    if (numbered := _NUMBERED.fullmatch(content)) is None:
        problem = f"no number at the start of {shown(content.strip())}, expected {_EXAMPLE}"
        raise LineError(line, problem, "line without number")
    if int(numbered[1]) != expected:
        allowed = f"{expected} or 1" if expected > 1 else "1"
        problem = f"number {int(numbered[1])}, expected {allowed}"
        raise LineError(line, problem, "number out of order")
    if _PERSONA.match(numbered[2]):
        return
    fields = numbered[2].split("\t")
    if len(fields) < 2:
        problem = f"one utterance in {shown(fields[0])}, expected two with a tab between them"
        raise LineError(line, problem, "truncated line")
    for speaker, raw in zip(("partner", "self"), fields, strict=False):
        if raw.strip() == _SILENCE:
            continue
        if not (text := tidy(detokenize(raw))):
            problem = f"the utterance of {speaker} is empty, expected text"
            raise LineError(line, problem, "empty utterance")
        yield Unit(text, speaker, SourceSpan(file.path.name, line, line))


CORPUS = Corpus(
    name="personachat",
    title="PersonaChat",
    homepage="https://github.com/facebookresearch/ParlAI/tree/main/projects/personachat",
    citation="zhang-etal-2018-personalizing",
    licence="CC-BY-4.0",
    text_licence_name="written for the corpus",
    obtain=(
        "let ParlAI download it (`parlai display_data --task personachat`) "
        "and take the .txt files from its folder data/Persona-Chat/personachat"
    ),
    proven=(
        "2026-11-29: 67 of the 10,907 dialogues, from one of the sixteen files of each split; "
        "67 documents, 1,048 units"
    ),
    patterns=tuple(
        FilePattern(f"{prefix}{variant}.txt", split, f"{prefix}{_ANY_VARIANT}.txt")
        for prefix, split in _SPLITS
        for variant in VARIANTS
    ),
    reader=read_dialogues,
    public_since=2018,
    public_source="Zhang et al. (2018)",
    producers=(
        "Crowd workers on Amazon Mechanical Turk, in pairs, each given a persona to play "
        "(Zhang et al. 2018)."
    ),
    source_datasets=("extended|other-personachat",),
    one_file_per_split=True,
)

"""INSteD's linguistic edits: sentences without and with a probe, for comparison with our own.

The files have both versions of a document's own sentence (``original_X``), but of an intruder
(``injected_X``) the changed one only. What it was before is in the contexts of the two files of the
probe ``singular_determiner_flip``, and for all documents in ``official_wikipedia.jsonl``: an edit
is yielded where one of them is there and is about the same sentence of the same document.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coherencegym.loaders.corpora.insted import CORPUS, PROBE_SPLIT, contents_of
from coherencegym.loaders.corpora.insted_record import (
    COHERENT,
    InstedRecord,
    Placed,
    place,
    read_records,
)
from coherencegym.loaders.corpus import CorpusFile, CorpusNotFoundError, ReadOptions
from coherencegym.loaders.find import find
from coherencegym.loaders.formats.lines import tidy

#: Why an edit of an intruder cannot be given.
UNKNOWN = "the intruder without the probe is in no file"
UNCHANGED = "the probe changes nothing"


@dataclass(frozen=True, slots=True)
class ProbeEdit:
    """A sentence without and with a probe.

    Attributes:
        file_id: the document.
        probe: the probe, as its files are called (``gender_pronoun_flip``).
        where: ``injected``, an intruder, or ``original``, the document's own sentence.
        before, after: the sentence without and with the probe.
    """

    file_id: str
    probe: str
    where: str
    before: str
    after: str


def edits(folder: Path | str, options: ReadOptions | None = None) -> Iterator[ProbeEdit]:
    """The edits of all files of probes that are in a folder, file by file.

    Args:
        folder: as ``data_dir`` of :func:`loaders.read.read`.
        options: what to do about bad rows; counts what is left out, by reason.

    Raises:
        CorpusNotFoundError: no file of probes is there.
        CorpusError: a bad record.
    """
    options = options or ReadOptions()
    files = find(CORPUS, Path(folder), (PROBE_SPLIT,)).files
    known = _intruders(Path(folder), files)
    for file in files:
        contents = contents_of(file.path)
        for record in read_records(file, options):
            own, after = tidy(record.own), tidy(record.replacement)
            before = own if contents.where == "original" else known.get(_key(record), "")
            if not before or not _is_edit(before, after):
                options.skipped[UNKNOWN] += 1
            elif before == after:
                options.skipped[UNCHANGED] += 1
            else:
                yield ProbeEdit(record.file_id, contents.probe, contents.where, before, after)


def _intruders(folder: Path, probes: tuple[CorpusFile, ...]) -> dict[tuple[str, str, str], str]:
    """The intruders without a probe, by document and the sentence that they replace."""
    known: dict[tuple[str, str, str], str] = {}
    try:
        official = find(CORPUS, folder, ("test",)).files
    except CorpusNotFoundError:
        official = ()
    for file in (*probes, *official):
        contents = contents_of(file.path)
        if contents.domain == "wikipedia" and (contents.corrupted or not contents.probe):
            for record in read_records(file, ReadOptions(skip_bad_rows=True)):
                placed = place(record, contents.corrupted)
                if isinstance(placed, Placed) and placed.unit != COHERENT:
                    known[_key(record)] = placed.intruder or tidy(record.replacement)
    return known


def _is_edit(before: str, after: str) -> bool:
    """Whether one sentence is the other with a few words changed.

    Eight records of ``injected_singular_determiner_flip`` hold the document's own sentence instead.
    """
    matcher = difflib.SequenceMatcher(None, before.split(), after.split(), autojunk=False)
    return matcher.ratio() > 0.5


def _key(record: InstedRecord) -> tuple[str, str, str]:
    return record.split, record.file_id, tidy(record.own)

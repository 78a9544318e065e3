"""The declaration of a corpus, and the few types that readers share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from coherencegym.licence import BY_DOCUMENT, CLOSED, NO, OTHER, may_publish
from coherencegym.loaders.discourse import Discourse


@cache
def _entries() -> dict[str, str]:
    text = (Path(__file__).with_name("corpora") / "citations.bib").read_text(encoding="utf-8")
    entries = (entry.strip() for entry in text.split("\n\n"))
    return {entry.partition("{")[2].partition(",")[0]: entry for entry in entries}


def cited(key: str) -> str:
    """The BibTeX entry of this key."""
    return _entries()[key]


#: The beginning of a reason that counts what a reader repaired, so that nothing is left out for it.
REPAIRED = "repaired: "


class CorpusError(Exception):
    """A user-facing problem with a corpus: one line that says where, what and what to do."""


class CorpusNotFoundError(CorpusError):
    """No file of the corpus was found in any of the places where files are looked for."""


class BadRowError(CorpusError):
    """A row, or a document, that is wrong; the others can be read without it."""


@dataclass(frozen=True, slots=True)
class FilePattern:
    """File names and the split that they hold.

    Attributes:
        glob: a glob, matched case-insensitively; it may name folders (``gold/*.txt``).
        split: name of the split, as the Hub has it (``train``, ``validation``, ``test``).
        example: a file name of the real distribution, for messages; the glob where it is empty.
        by_default: false where the split is read only if somebody asks for it by name.
    """

    glob: str
    split: str
    example: str = ""
    by_default: bool = True


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of a file, or of several, that can be read by itself.

    Attributes:
        address: a parquet file: its path, or ``hf://...`` on the Hub.
        groups: the row groups of it.
        first: the number that the first row has among all rows of the split, from 1.
    """

    address: str
    groups: tuple[int, ...]
    first: int


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A file that was found, and the split it holds.

    Attributes:
        path: the file; or, where ``parts`` or ``revision`` say so, a folder or a Hub repository.
        split: name of the split.
        parts: the files that are read where ``path`` is not the only one; they are what is hashed.
        revision: the commit, where ``path`` is a repository on the Hugging Face Hub
            (``org/name``), which is streamed and not hashed; empty elsewhere.
        shard: the part of it that is read; none: all.
    """

    path: Path
    split: str
    parts: tuple[Path, ...] = ()
    revision: str = ""
    shard: Shard | None = None


@dataclass
class ReadOptions:
    """The treatment of bad rows, what a reader left out or repaired, and its memory.

    ``skipped`` counts that by reason: what a public release is known to have wrong needs no flag.
    The memory is for what a reader keeps from one file to the next while a corpus is read once.
    """

    skip_bad_rows: bool = False
    skipped: Counter[str] = field(default_factory=Counter)
    memory: dict[str, Any] = field(default_factory=dict)

    def bad(self, message: str, reason: str) -> None:
        """Report a bad row: raise ``message`` (``file:line: ...``), or count ``reason``.

        Raises:
            BadRowError: unless ``skip_bad_rows``.
        """
        if not self.skip_bad_rows:
            raise BadRowError(message)
        self.skipped[reason] += 1

    def put_right(self, fault: str, times: int = 1) -> None:
        """Count a known fault of a public release that the reader repaired."""
        if times:
            self.skipped[f"{REPAIRED}{fault}"] += times


#: Reads one file; discourses carry the corpus's name and ``meta["split"]``. Raises
#: :class:`CorpusError` where the file is none of the corpus, and where a row is bad
#: (:meth:`ReadOptions.bad`).
Reader = Callable[["Corpus", CorpusFile, ReadOptions], Iterator[Discourse]]


#: What is said of a reader that saw no file of its corpus's release.
NEVER_RUN = "never run on the real files"


@dataclass(frozen=True)
class Corpus:
    """The declaration of a corpus.

    Attributes:
        name: short lower-case name, a valid part of a config name.
        citation: BibTeX, or the key of an entry of ``corpora/citations.bib``, which it becomes.
        licence: SPDX identifier of the licence of the annotation, or of all there is, or ``other``.
        licence_name, licence_url: words of its source, and its address, beside the identifier;
            of a published corpus without an identifier the address is the homepage, unless said.
        text_licence, text_licence_name, text_licence_url: the same of the texts; without it they
            are under ``licence``. It may be :data:`coherencegym.licence.BY_DOCUMENT`, and a
            document may have its own.
        language: ISO 639-1; ``mul`` where each document says its own.
        obtain: the way to get its files, one sentence.
        proven: the day of the reader's last run on the real files, which part of the release they
            were, and what it read of them (``2026-11-29: all schemas; 285 documents, 389 units, 285
            annotations``: mentions, relations, alternatives, judgements and trees); or
            :data:`NEVER_RUN`; empty where there is no release (one's own texts).
        patterns: file names and splits, in the order in which files are read.
        producers: the people who wrote the texts, one sentence for the card.
        public_since: the year since which anybody could read the texts, the earliest that is known
            of some; 0: not known. A model may have been trained on what was public before.
        public_source: the publication that says so, or what was public then.
        limitations: properties of its texts and their annotation, which move scores in whatever is
            made from them, in sentences: a suite speaks of what it does to a text alone.
        source_datasets: ``original``, or ``extended|<id>``, for the card's YAML.
        one_file_per_split: true where the files of a split are versions of one text, so that only
            the file of the first pattern that matches is read.
        native: name of the corpus whose format the files have; empty where it is its own.
        folder: the only place where its files are looked for (package data); none: the usual ones.
        files: files known beforehand; nothing is looked for where there are any.
        sample_patterns: globs of the project's own files in this format, inside their folder.
        parts: the files that are read with one that was found, that one included, so that all of
            them are hashed; none where each file is read by itself.
        shards: divides a file into parts that can be read by themselves, in their order; the empty
            tuple where one of them cannot.
        shard_reader: reads such a part, in any process.
        collected: true for plain texts that somebody collected: of near-duplicates the first one in
            reading order stays, whatever the splits.
        own_folder: true where files are only looked for in folders that are called after the
            corpus, as their names alone do not tell whose they are.
    """

    name: str
    title: str
    homepage: str
    citation: str
    obtain: str
    patterns: tuple[FilePattern, ...]
    reader: Reader
    licence: str = OTHER
    proven: str = NEVER_RUN
    licence_name: str = ""
    licence_url: str = ""
    text_licence: str = ""
    text_licence_name: str = ""
    text_licence_url: str = ""
    language: str = "en"
    producers: str = ""
    public_since: int = 0
    public_source: str = ""
    limitations: tuple[str, ...] = ()
    source_datasets: tuple[str, ...] = ()
    one_file_per_split: bool = False
    native: str = ""
    folder: Path | None = None
    files: tuple[CorpusFile, ...] = ()
    parts: Callable[[Path], tuple[Path, ...]] | None = None
    sample_patterns: tuple[str, ...] = ("*",)
    collected: bool = False
    own_folder: bool = False
    shards: Callable[[CorpusFile], tuple[CorpusFile, ...]] | None = None
    shard_reader: Reader | None = None

    def __post_init__(self) -> None:
        """Fill in what is not said of the licences, and the citation."""
        told = {"citation": _entries().get(self.citation, self.citation)}
        if self.licence == OTHER and not (self.licence_url or self.collected):
            told["licence_url"] = self.homepage
        if not self.text_licence:
            told["text_licence"] = self.licence
            if not self.text_licence_name:
                told["text_licence_name"] = self.licence_name
                told["text_licence_url"] = told.get("licence_url", self.licence_url)
        for name, value in told.items():
            object.__setattr__(self, name, value)

    @property
    def licence_of_texts(self) -> str:
        """The licence of a document that states none of its own."""
        return OTHER if self.text_licence == BY_DOCUMENT else self.text_licence

    @property
    def may_be_published(self) -> str:
        """The answer of :func:`coherencegym.licence.may_publish` on text derived from it."""
        return may_publish(self.licence, [self.text_licence], self.name in CLOSED)

    @property
    def republishable(self) -> bool:
        """True where text derived from it, or from some of its documents, may be published."""
        return self.may_be_published != NO

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits that it can have, in reading order."""
        names = [pattern.split for pattern in self.patterns] + [file.split for file in self.files]
        return tuple(dict.fromkeys(names))

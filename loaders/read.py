"""Read a corpus: find its files, yield its discourses, know what was read."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path

from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.find import Found, find


@dataclass(frozen=True, slots=True)
class FileRead:
    """Provenance of one file.

    Attributes:
        name: file name without its folder, or ``org/name`` on the Hub.
        split: the split that it holds.
        sha256, size: hexadecimal digest and bytes; empty and 0 where there is a ``revision``.
        revision: commit of a repository on the Hub.
    """

    name: str
    split: str
    sha256: str
    size: int
    revision: str = ""


@dataclass
class Reading:
    """The discourses of a corpus, read anew, file by file, each time one iterates.

    ``skipped`` counts what the last iteration left out, by reason, as far as it went.
    """

    corpus: Corpus
    found: Found
    skip_bad_rows: bool = False
    limit: int | None = None
    skipped: Counter[str] = field(default_factory=Counter)

    @cached_property
    def files(self) -> tuple[FileRead, ...]:
        """The files with their digests (each is read once more, whole, for that)."""
        return tuple(read for file in self.found.files for read in _provenance(file))

    def __iter__(self) -> Iterator[Discourse]:
        """Yield discourses in the order of the files.

        Raises:
            CorpusError: a bad row (unless ``skip_bad_rows``), an unreadable file, or two discourses
                with one id.
        """
        self.skipped.clear()
        options = ReadOptions(self.skip_bad_rows, self.skipped)
        seen: dict[str, str] = {}
        left = dict.fromkeys((file.split for file in self.found.files), self.limit)
        for file in self.found.files:
            fresh = self._fresh(file, options, seen)
            for discourse in islice(fresh, left[file.split]):
                yield discourse
                if (most := left[file.split]) is not None:
                    left[file.split] = most - 1

    def _fresh(
        self, file: CorpusFile, options: ReadOptions, seen: dict[str, str]
    ) -> Iterator[Discourse]:
        """The discourses of a file whose ids were not seen."""
        for discourse in self._read(file, options):
            source = discourse.units[0].source
            place = f"{file.path}:{source.start}" if source is not None else str(file.path)
            if discourse.id in seen:
                message = f"{place}: id {discourse.id!r} stands at {seen[discourse.id]} already, "
                options.bad(message + "expected every id once", "duplicate id")
                continue
            seen[discourse.id] = place
            yield discourse

    def _read(self, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
        try:
            yield from self.corpus.reader(self.corpus, file, options)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            path = error.filename or file.path  # of several that make one document
            raise CorpusError(f"{path}: cannot be read ({reason})") from error


def read(
    corpus: Corpus,
    *,
    data_dir: Path | str | None = None,
    splits: Sequence[str] | None = None,
    skip_bad_rows: bool = False,
    limit: int | None = None,
    found: Found | None = None,
) -> Reading:
    """Find the files of a corpus; what comes back yields its discourses lazily.

    Args:
        corpus: one of :func:`loaders.registry.corpus` or
            :func:`loaders.corpora.hub.texts.hub_corpus`.
        data_dir: looked in before the usual places (:mod:`loaders.find`).
        splits: read only these; none: all that are there and read by default.
        skip_bad_rows: count bad rows in ``skipped`` and go on.
        limit: the most discourses to read of each split.
        found: its files, if they were looked for already.

    Raises:
        CorpusNotFoundError: no file is there.
        CorpusError: no such split or data folder.
    """
    if found is None:
        found = find(corpus, Path(data_dir) if data_dir is not None else None, splits)
    return Reading(corpus, found, skip_bad_rows, limit)


def _provenance(file: CorpusFile) -> Iterator[FileRead]:
    if file.revision:
        yield FileRead(file.path.as_posix(), file.split, "", 0, file.revision)
        return
    for path in file.parts or (file.path,):
        try:
            with path.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
                yield FileRead(path.name, file.split, digest, stream.tell())
        except OSError as error:
            raise CorpusError(f"{path}: cannot be read ({error.strerror})") from error

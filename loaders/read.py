"""Read a corpus: find its files, yield its discourses, know what was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from coherencegym.engines import ALONE_IN_PROCESS, Engine
from coherencegym.files.checksums import sha256_of
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.find import Found, find
from coherencegym.loaders.languages.english import ENGLISH
from coherencegym.loaders.languages.registry import SEVERAL

#: The reason under which near-duplicates are counted.
NEAR_DUPLICATE = "near-duplicate of an earlier document"


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

    @property
    def named(self) -> dict[str, str]:
        """The file as a manifest names it: its name, and its digest or commit."""
        digest = {"revision": self.revision} if self.revision else {"sha256": self.sha256}
        return {"name": self.name, **digest}


def every_discourse(discourse: Discourse) -> bool:
    """Select all discourses."""
    return True


#: Tells the discourses that somebody has a use for.
Select = Callable[[Discourse], bool]


class Quota:
    """The discourses of a split that are left to read: for each use so many; none: all."""

    def __init__(self, most: int | None, uses: Sequence[Select] = (every_discourse,)) -> None:
        self._left: list[tuple[Select, int | None]] = [(use, most) for use in uses]

    @property
    def is_full(self) -> bool:
        """True where no use is left for any discourse."""
        return all(left == 0 for _, left in self._left)

    def takes(self, discourse: Discourse) -> bool:
        """Count a discourse for those that have a use for it; false where nobody has."""
        wanted = [left != 0 and use(discourse) for use, left in self._left]
        self._left = [
            (use, left - 1 if is_wanted and left is not None else left)
            for (use, left), is_wanted in zip(self._left, wanted, strict=True)
        ]
        return any(wanted)


@dataclass
class ReadingCache:
    """Corpora that were read whole, for whoever reads the same files again in one command.

    Attributes:
        most: bytes of files, of all corpora together, whose discourses are held.
    """

    most: int = 64_000_000
    _read: list[tuple[Any, int, list[Discourse], Counter[str]]] = field(default_factory=list)

    def read(self, reading: Reading) -> Iterator[Discourse]:
        """The discourses of a reading, and what it left out, from its files or as they were."""
        key = (reading.corpus, reading.files, reading.skip_bad_rows)
        size = sum(file.size for file in reading.files)
        # A few discourses are sooner read than all of the corpus.
        is_part = reading.limit is not None
        if is_part or size > self.most or any(file.revision for file in reading.files):
            yield from reading.read_files()
            return
        found = next((kept for kept in self._read if kept[0] == key), None)
        if found is None:
            discourses = list(reading.read_files())
            found = (key, size, discourses, Counter(reading.skipped))
        else:
            self._read.remove(found)
        self._read.append(found)
        while sum(size for _, size, _, _ in self._read) > self.most:
            del self._read[0]
        reading.skipped.clear()
        reading.skipped.update(found[3])
        yield from found[2]


@dataclass
class Reading:
    """The discourses of a corpus, read anew, file by file, each time one iterates.

    ``skipped`` counts what the last iteration left out or repaired, by reason, as far as it went.

    Attributes:
        limit: the most discourses of each split for each of ``uses``, and the most that are looked
            at in a file.
        uses: tell which discourses ``limit`` is about. Files of a corpus may be of several kinds:
            the first discourses of all of them would be of one.
        engine: reads the shards of a corpus that has any, several at a time.
        progress: told how many shards are read, and how many there are.
        cache: has the corpus, if it was read before; none: it is read anew.
    """

    corpus: Corpus
    found: Found
    skip_bad_rows: bool = False
    limit: int | None = None
    uses: Sequence[Select] = (every_discourse,)
    skipped: Counter[str] = field(default_factory=Counter)
    engine: Engine = ALONE_IN_PROCESS
    progress: Callable[[int, int], None] = lambda done, shards: None
    cache: ReadingCache | None = None

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
        return self.read_files() if self.cache is None else self.cache.read(self)

    def read_files(self) -> Iterator[Discourse]:
        """Yield discourses from the files, whatever was read before; errors as in iterating."""
        self.skipped.clear()
        options = ReadOptions(self.skip_bad_rows, self.skipped)
        seen: dict[str, str] = {}
        earlier = None
        if self.corpus.collected:
            from coherencegym.loaders.text.near_duplicates import NearDuplicates  # numpy

            earlier = NearDuplicates()
        if shards := self._shards():
            yield from self._fresh_of(self._read_shards(shards, earlier), options, seen)
            return
        quotas = {file.split: Quota(self.limit, self.uses) for file in self.found.files}
        for file in self.found.files:
            quota = quotas[file.split]
            if quota.is_full:
                continue
            each = ((file, discourse) for discourse in self._read(file, options, earlier))
            for discourse in islice(self._fresh_of(each, options, seen), self.limit):
                if self.limit is None or quota.takes(discourse):
                    yield discourse
                if quota.is_full:
                    break

    def _shards(self) -> list[CorpusFile]:
        # A few rows one worker reads sooner.
        alone = self.engine.workers == 1
        if alone or self.limit is not None or self.corpus.shards is None:
            return []
        parts = [self.corpus.shards(file) for file in self.found.files]
        return [part for own in parts for part in own] if all(parts) else []

    def _read_shards(
        self, shards: list[CorpusFile], earlier: Any
    ) -> Iterator[tuple[CorpusFile, Discourse]]:
        corpus, reader = self.corpus, self.corpus.shard_reader
        assert reader is not None
        sent = replace(corpus, reader=reader, shards=None, shard_reader=None)
        blocks = [(sent, shard, self.skip_bad_rows) for shard in shards]
        for number, read_one in enumerate(self.engine.run(read_shard, blocks)):
            discourses, keys, skipped = read_one
            self.progress(number + 1, len(shards))
            self.skipped.update(skipped)
            for discourse, own in zip(discourses, keys, strict=True):
                if earlier is not None and earlier.add_keys(own):
                    self.skipped[NEAR_DUPLICATE] += 1
                else:
                    yield shards[number], discourse

    def _fresh_of(
        self,
        found: Iterator[tuple[CorpusFile, Discourse]],
        options: ReadOptions,
        seen: dict[str, str],
    ) -> Iterator[Discourse]:
        for file, discourse in found:
            source = discourse.units[0].source
            place = f"{file.path}:{source.start}" if source is not None else str(file.path)
            if discourse.id in seen:
                message = f"{place}: id {discourse.id!r} stands at {seen[discourse.id]} already, "
                options.bad(message + "expected every id once", "duplicate id")
                continue
            seen[discourse.id] = place
            yield _in_language(discourse, self.corpus.language)

    def _read(self, file: CorpusFile, options: ReadOptions, earlier: Any) -> Iterator[Discourse]:
        try:
            for discourse in self.corpus.reader(self.corpus, file, options):
                if earlier is not None and earlier.add(_whole_text(discourse)):
                    options.skipped[NEAR_DUPLICATE] += 1
                else:
                    yield discourse
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
    uses: Sequence[Select] = (every_discourse,),
    found: Found | None = None,
    engine: Engine = ALONE_IN_PROCESS,
    progress: Callable[[int, int], None] = lambda done, shards: None,
    cache: ReadingCache | None = None,
) -> Reading:
    """Find the files of a corpus; what comes back yields its discourses lazily.

    Args:
        corpus: one of :func:`loaders.registry.corpus` or
            :func:`loaders.corpora.hub.hub_corpus`.
        data_dir: looked in before the usual places (:mod:`loaders.find`).
        splits: read only these; none: all that are there and read by default.
        skip_bad_rows: count bad rows in ``skipped`` and go on.
        limit: the most discourses to read of each split, for each of ``uses``.
        uses: see :class:`Reading`.
        found: its files, if they were looked for already.
        engine, progress, cache: see :class:`Reading`.

    Raises:
        CorpusNotFoundError: no file is there.
        CorpusError: no such split or data folder.
    """
    if found is None:
        found = find(corpus, Path(data_dir) if data_dir is not None else None, splits)
    how: dict[str, Any] = {"engine": engine, "progress": progress, "cache": cache}
    return Reading(corpus, found, skip_bad_rows, limit, uses, **how)


def _whole_text(discourse: Discourse) -> str:
    return " ".join(discourse.texts)


def _in_language(discourse: Discourse, code: str) -> Discourse:
    # Of English nothing is said, and what a document says of itself stays.
    if code in (ENGLISH.code, SEVERAL) or "language" in discourse.meta:
        return discourse
    return replace(discourse, meta={**discourse.meta, "language": code})


def read_shard(
    corpus: Corpus, file: CorpusFile, skip_bad_rows: bool
) -> tuple[list[Discourse], list[Any], dict[str, int]]:
    """A shard: its discourses, the keys by which near-duplicates are told, and what was left out.

    The keys are none where near-duplicates of the corpus stay.
    """
    from coherencegym.loaders.text.near_duplicates import band_keys

    options = ReadOptions(skip_bad_rows)
    found = list(corpus.reader(corpus, file, options))
    keys = [band_keys(_whole_text(one)) if corpus.collected else None for one in found]
    return found, keys, dict(options.skipped)


def _provenance(file: CorpusFile) -> Iterator[FileRead]:
    if file.revision:
        yield FileRead(file.path.as_posix(), file.split, "", 0, file.revision)
        return
    for path in file.parts or (file.path,):
        try:
            yield FileRead(path.name, file.split, sha256_of(path), path.stat().st_size)
        except OSError as error:
            raise CorpusError(f"{path}: cannot be read ({error.strerror})") from error

"""Read a corpus: find its files, yield its discourses, know what was read.

The places, in order: ``DIR/<corpus>/`` and ``DIR`` of ``--data-dir DIR``, then
``$COHERENCEGYM_DATA/<corpus>``, then ``coherencegym/<corpus>`` in the platform's folder for caches.
The first place that holds any file of the corpus is used, and the others are not looked at: files
of two places are never mixed. A place in which ``coherencegym corpora fetch`` was cut off is
refused until it is run again: half a corpus is no corpus.
"""

from __future__ import annotations

import fnmatch
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from coherencegym.engines import ALONE_IN_PROCESS, Engine
from coherencegym.files.folders import sha256_of
from coherencegym.loaders.corpus import (
    Corpus,
    CorpusError,
    CorpusFile,
    CorpusNotFoundError,
    FilePattern,
    ReadOptions,
)
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.fetch import UNFINISHED, source_names
from coherencegym.loaders.languages.language import ENGLISH
from coherencegym.loaders.languages.registry import SEVERAL

#: Environment variable that names a folder with one folder a corpus.
DATA_VARIABLE = "COHERENCEGYM_DATA"
#: The words that say that a corpus is nowhere on this machine.
NO_FILES = "no files found"

_Match = tuple[FilePattern, Path]


@dataclass(frozen=True, slots=True)
class Found:
    """The files of a corpus in one place.

    Attributes:
        place: the folder; none where the corpus brings its own list of files.
        files: the files to read, in the order of the corpus's patterns, then by name.
    """

    place: Path | None
    files: tuple[CorpusFile, ...]


def places(corpus: Corpus, data_dir: Path | None = None) -> tuple[Path, ...]:
    """The folders in which files of the corpus are looked for, in order."""
    if corpus.folder is not None:
        return (corpus.folder,)
    sought: list[Path] = []
    if data_dir is not None:
        try:
            is_folder = data_dir.is_dir()
        except OSError as error:  # in a folder that may not be searched
            raise _unreadable(data_dir, error) from error
        if not is_folder:
            raise CorpusError(
                f"{data_dir}: no such folder; expected the folder with the files of corpora"
            )
        sought.append(data_dir / corpus.name)
        if not corpus.own_folder or data_dir.resolve().name == corpus.name:
            sought.append(data_dir)
    roots = dict.fromkeys((data_root(), _cache()))
    return (*sought, *(root / corpus.name for root in roots))


def data_root(data_dir: Path | None = None) -> Path:
    """The folder under which a fetched corpus gets a folder of its own name: the first place."""
    if data_dir is not None:
        return data_dir
    variable = os.environ.get(DATA_VARIABLE)
    return Path(variable).expanduser() if variable else _cache()


def _cache() -> Path:
    import platformdirs  # here: the help does not need it

    return platformdirs.user_cache_path("coherencegym", appauthor=False)


def how_to_obtain(corpus: Corpus) -> str:
    """Explain how to get the files, in one sentence; begins with the command where there is one."""
    if corpus.name in source_names():
        return f"`coherencegym corpora fetch {corpus.name}`, or {corpus.obtain}"
    return corpus.obtain


def check_splits(corpus: Corpus, splits: Sequence[str]) -> None:
    """Refuse with ``CorpusError`` a split that a corpus cannot have."""
    for split in splits:
        if split not in corpus.splits:
            known = ", ".join(corpus.splits)
            raise CorpusError(f"{corpus.name}: has no split {split!r}; its splits are {known}")


def find(
    corpus: Corpus, data_dir: Path | None = None, splits: Sequence[str] | None = None
) -> Found:
    """Look for the files of a corpus.

    Without ``splits`` those are read that are by default, or, where only others are there, those.
    """
    check_splits(corpus, splits or ())
    if corpus.files:
        files = tuple(file for file in corpus.files if splits is None or file.split in splits)
        return Found(None, files)
    sought = places(corpus, data_dir)
    for place in sought:
        if matches := _matches(corpus, place):
            return _choose(corpus, place, _wanted(corpus, place, matches, splits))
    raise CorpusNotFoundError(
        f"{corpus.name}: {NO_FILES}; expected {_expected(corpus, splits)} in one of: "
        f"{', '.join(map(str, sought))}; to get the files: {how_to_obtain(corpus)}"
    )


def _wanted(
    corpus: Corpus, place: Path, matches: list[_Match], splits: Sequence[str] | None
) -> list[_Match]:
    if (place / UNFINISHED).exists():
        raise CorpusNotFoundError(
            f"{corpus.name}: {place} has a part of the files only, fetching them was cut off; "
            f"run `coherencegym corpora fetch {corpus.name}` again, or delete {UNFINISHED} there "
            "to use what there is"
        )
    if splits is None:
        return [match for match in matches if match[0].by_default] or matches
    if wanted := [match for match in matches if match[0].split in splits]:
        return wanted
    there = ", ".join(dict.fromkeys(pattern.split for pattern, _ in matches))
    raise CorpusNotFoundError(
        f"{corpus.name}: {place} has files of split {there} only, "
        f"expected {_expected(corpus, splits)}; to get the files: {how_to_obtain(corpus)}"
    )


def _expected(corpus: Corpus, splits: Sequence[str] | None) -> str:
    patterns = [p for p in corpus.patterns if splits is None or p.split in splits]
    return " or ".join(dict.fromkeys(f"'{p.example or p.glob}'" for p in patterns))


def _choose(corpus: Corpus, place: Path, matches: list[_Match]) -> Found:
    files: list[CorpusFile] = []
    for pattern, path in matches:
        if corpus.one_file_per_split and any(file.split == pattern.split for file in files):
            continue
        try:
            parts = corpus.parts(path) if corpus.parts else ()
        except OSError as error:
            raise _unreadable(Path(error.filename or path), error) from error
        files.append(CorpusFile(path, pattern.split, parts))
    return Found(place, tuple(files))


def _matches(corpus: Corpus, place: Path) -> list[_Match]:
    depth = max((pattern.glob.count("/") for pattern in corpus.patterns), default=0)
    left = {path: path.relative_to(place) for path in _regular_files(place, max(1, depth))}
    fitting: dict[str, list[Path]] = {}
    matches: list[_Match] = []
    for pattern in corpus.patterns:
        # A glob that is declared for two splits finds its file for both: one file can hold them.
        if pattern.glob not in fitting:
            fitting[pattern.glob] = [path for path in left if _fits(left[path], pattern.glob)]
            for path in fitting[pattern.glob]:
                del left[path]
        matches += [(pattern, path) for path in fitting[pattern.glob]]
    return matches


def _fits(path: Path, glob: str) -> bool:
    parts, globs = path.as_posix().lower().split("/"), glob.lower().split("/")
    return len(parts) == len(globs) and all(map(fnmatch.fnmatchcase, parts, globs))


def _regular_files(place: Path, depth: int) -> Iterator[Path]:
    # No pipes and devices: reading one would hang. No hidden files: what an archive made on a Mac
    # leaves beside each file (``._name``) matches the same globs.
    try:
        for path in sorted(place.iterdir()) if place.is_dir() else ():
            if path.name.startswith("."):
                continue
            if path.is_file():
                yield path
            elif path.is_dir() and depth:
                yield from _regular_files(path, depth - 1)
    except OSError as error:
        raise _unreadable(place, error) from error


def _unreadable(place: Path, error: OSError) -> CorpusError:
    return CorpusError(f"{place}: cannot look for files there ({error.strerror})")


#: The reason under which near-duplicates are counted.
NEAR_DUPLICATE = "near-duplicate of an earlier document"


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
        size = sum(0 if file.revision else _size(file) for file in reading.found.files)
        # A few discourses are sooner read than all of the corpus.
        is_part = reading.limit is not None
        if is_part or size > self.most or any(file.revision for file in reading.found.files):
            yield from reading.read_files()
            return
        key = (reading.corpus, reading.found, reading.files, reading.skip_bad_rows)
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
    def files(self) -> tuple[dict[str, str], ...]:
        """The files as a manifest names them: by digests, for which each is read, or by commits."""
        return tuple(named for file in self.found.files for named in _named(file))

    def __iter__(self) -> Iterator[Discourse]:
        """Yield discourses in the order of the files."""
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
        data_dir: looked in before the usual places (:mod:`loaders.read`).
        splits: read only these; none: all that are there and read by default.
        skip_bad_rows: count bad rows in ``skipped`` and go on.
        limit: the most discourses to read of each split, for each of ``uses``.
        uses: see :class:`Reading`.
        found: its files, if they were looked for already.
        engine, progress, cache: see :class:`Reading`.
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


def _size(file: CorpusFile) -> int:
    return sum(path.stat().st_size for path in file.parts or (file.path,))


def _named(file: CorpusFile) -> Iterator[dict[str, str]]:
    if file.revision:
        yield {"name": file.path.as_posix(), "revision": file.revision}
        return
    for path in file.parts or (file.path,):
        try:
            yield {"name": path.name, "sha256": sha256_of(path)}
        except OSError as error:
            raise CorpusError(f"{path}: cannot be read ({error.strerror})") from error

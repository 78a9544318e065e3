"""The search for the files of a corpus.

The places, in order: ``DIR/<corpus>/`` and ``DIR`` of ``--data-dir DIR``, then
``$COHERENCEGYM_DATA/<corpus>``, then ``coherencegym/<corpus>`` in the platform's folder for caches.
The first place that holds any file of the corpus is used, and the others are not looked at: files
of two places are never mixed. A place in which ``coherencegym corpora fetch`` was cut off is
refused until it is run again: half a corpus is no corpus.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from coherencegym.loaders.corpus import (
    Corpus,
    CorpusError,
    CorpusFile,
    CorpusNotFoundError,
    FilePattern,
)
from coherencegym.loaders.fetching.fetch import UNFINISHED, source_names

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
        ignored: files that hold the same text as one of ``files`` (``one_file_per_split``).
    """

    place: Path | None
    files: tuple[CorpusFile, ...]
    ignored: tuple[CorpusFile, ...] = ()


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
    ignored: list[CorpusFile] = []
    for pattern, path in matches:
        try:
            parts = corpus.parts(path) if corpus.parts else ()
        except OSError as error:
            raise _unreadable(Path(error.filename or path), error) from error
        file = CorpusFile(path, pattern.split, parts)
        again = corpus.one_file_per_split and any(file.split == other.split for other in files)
        (ignored if again else files).append(file)
    return Found(place, tuple(files), tuple(ignored))


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

"""Where openly readable corpora come from: repository, commit, and size and sha256 of each file.

``origins/<name>.json`` is one corpus: an object with the fields of :class:`Origin` but ``name``,
its ``files`` an object of path to ``[bytes, sha256]``. Commits and digests are pinned, so what is
fetched is the same for everybody, whichever server hands it out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any
from urllib.parse import quote

from coherencegym.loaders.corpus import CorpusError

#: The data files of this project.
FOLDER = Path(__file__).parent / "origins"
#: The public origin; answers ``<repository>/<commit>/<path>``.
PUBLIC = "https://raw.githubusercontent.com"

_REPOSITORY = re.compile(r"[A-Za-z0-9-]+/[A-Za-z0-9._-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_TEXTS = ("title", "repository", "commit", "licence", "licence_note", "terms", "selection", "use")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of an origin.

    Attributes:
        path: in the repository, and under the folder that it is fetched into.
        size: bytes.
        sha256: hexadecimal digest.
    """

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Origin:
    """What can be fetched of a corpus.

    Attributes:
        name: of the corpus; where a loader reads it, the loader's name for it.
        title: its full name.
        repository: ``owner/name`` on GitHub.
        commit: 40 hexadecimal digits.
        licence: short, for a table; ``none stated`` where the source states none.
        licence_note: who says so, and what it covers.
        terms: what a user has to accept before anything is fetched; empty where the licence is open
            for all of the files.
        selection: which files of the repository these are.
        use: what to do with them, with ``{folder}``, where no loader reads them; empty elsewhere.
        without_digest: how many files the selection would have, had they been small enough to be
            digested when the origin was pinned; they are not fetched.
        files: sorted by path.
    """

    name: str
    title: str
    repository: str
    commit: str
    licence: str
    licence_note: str
    terms: str
    selection: str
    use: str
    without_digest: int
    files: tuple[RemoteFile, ...]

    @property
    def homepage(self) -> str:
        """The repository at the commit, for people."""
        return f"https://github.com/{self.repository}/tree/{self.commit}"

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    def url(self, file: RemoteFile, base: str = PUBLIC) -> str:
        """Where a file is, below the public origin or a mirror of it."""
        return f"{base}/{self.repository}/{self.commit}/{quote(file.path)}"


def origin_names() -> tuple[str, ...]:
    """The names of all origins, sorted."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


def origin(name: str) -> Origin:
    """The origin of this name.

    Raises:
        CorpusError: there is none (names the nearest), or its data file is wrong.
    """
    if name in (names := origin_names()):
        return read_origin(FOLDER / f"{name}.json")
    import difflib

    near = difflib.get_close_matches(name.lower(), names, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise CorpusError(f"nothing called {name!r} can be fetched; {hint}there are {', '.join(names)}")


@cache
def read_origin(path: Path) -> Origin:
    """Read and check a data file.

    Raises:
        CorpusError: a field is missing or wrong, or a path would leave the folder.
    """
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise CorpusError(f"{path}: cannot be read as JSON ({type(error).__name__})") from error
    expected = {*_TEXTS, "without_digest", "files"}
    if not isinstance(fields, dict) or set(fields) != expected:
        raise CorpusError(f"{path}: expected an object with {', '.join(sorted(expected))}")
    for key in _TEXTS:
        if not isinstance(fields[key], str):
            raise CorpusError(f"{path}: {key}: expected a text")
    for key, shape in (("repository", _REPOSITORY), ("commit", _COMMIT)):
        if not shape.fullmatch(fields[key]) or ".." in fields[key]:
            raise CorpusError(f"{path}: {key}: {fields[key]!r} is none")
    if not _is_count(fields["without_digest"]):
        raise CorpusError(f"{path}: without_digest: expected a number, none below 0")
    texts: Mapping[str, str] = {key: fields[key] for key in _TEXTS}
    files = _files(path, fields["files"])
    return Origin(path.stem, **texts, without_digest=fields["without_digest"], files=files)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _files(path: Path, listed: Any) -> tuple[RemoteFile, ...]:
    if not isinstance(listed, dict) or not listed:
        raise CorpusError(f"{path}: files: expected an object of path to [bytes, sha256]")
    files: list[RemoteFile] = []
    for name, entry in sorted(listed.items()):
        if not _stays_inside(name):
            raise CorpusError(f"{path}: files: {name!r} is no plain path below a folder")
        match entry:
            case [size, str(digest)] if _is_count(size) and _SHA256.fullmatch(digest):
                files.append(RemoteFile(name, size, digest))
            case _:
                raise CorpusError(f"{path}: files: {name}: expected [bytes, sha256]")
    return tuple(files)


def _stays_inside(path: str) -> bool:
    """Whether a path names a file below whatever folder it is put after, on any system.

    No part may begin with a dot: what is hidden is no loader's, and is where fetching keeps notes.
    """
    parts = PurePosixPath(path).parts
    return (
        path.isprintable()
        and "/".join(parts) == path
        and "\\" not in path
        and not path.startswith("/")
        and not PureWindowsPath(path).drive
        and not any(part.startswith(".") for part in parts)
        and bool(parts)
    )

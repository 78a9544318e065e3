"""Sources of openly readable corpora: repository, commit, and size and sha256 of each file.

``sources/<name>.json`` is one corpus: an object with the fields of :class:`DownloadSource` but
``name``, its ``files`` an object of path to ``[bytes, sha256]``. Commits and digests are pinned, so
what is fetched is the same for everybody, whichever server hands it out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Annotated, Any, ClassVar
from urllib.parse import quote

from pydantic import AfterValidator, ConfigDict, Field

from coherencegym.command_line import did_you_mean
from coherencegym.errors import EvaluationError
from coherencegym.files import strict_json
from coherencegym.loaders.corpus import CorpusError

#: The data files of this project.
SOURCES = Path(__file__).parent / "sources"
#: The public server; answers ``<repository>/<commit>/<path>``.
PUBLIC = "https://raw.githubusercontent.com"


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of a source: its path in the repository and below a folder, its bytes, its digest."""

    path: str
    size: int
    sha256: str


def _stays_inside(path: str) -> bool:
    # What is hidden is no loader's, and is where fetching keeps notes.
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


def _checked(is_right: Callable[[str], object], expected: str) -> AfterValidator:
    def check(text: str) -> str:
        if not is_right(text):
            raise ValueError(expected)
        return text

    return AfterValidator(check)


_Count = Annotated[int, Field(ge=0)]
_Commit = Annotated[str, _checked(re.compile("[0-9a-f]{40}").fullmatch, "a commit of 40 digits")]
_Sha256 = Annotated[str, _checked(re.compile("[0-9a-f]{64}").fullmatch, "a sha256 of 64 digits")]
_Path = Annotated[str, _checked(_stays_inside, "a plain path below a folder")]
_REPOSITORY = re.compile(r"[A-Za-z0-9-]+/(?!.*\.\.)[A-Za-z0-9._-]+")


@dataclass(frozen=True, kw_only=True)
class _Stated:
    title: str
    repository: Annotated[str, _checked(_REPOSITORY.fullmatch, "owner/name")]
    commit: _Commit
    licence: str
    licence_note: str
    terms: str
    selection: str
    use: str
    without_digest: _Count


@dataclass(frozen=True, kw_only=True)
class _Declared(_Stated):
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    files: Annotated[dict[_Path, tuple[_Count, _Sha256]], Field(min_length=1)]


@dataclass(frozen=True, kw_only=True)
class DownloadSource(_Stated):
    """The part of a corpus that can be fetched.

    Attributes:
        name: the corpus's name; where a loader reads it, the loader's name for it.
        title: its full name.
        repository: ``owner/name`` on GitHub.
        commit: 40 hexadecimal digits.
        licence: short, for a table; ``none stated`` where the source states none.
        licence_note: the place that states the licence, and what it covers.
        terms: the terms that a user has to accept before anything is fetched; empty where the
            licence is open for all of the files.
        selection: the choice of files of the repository, in words.
        use: advice on what to do with them, with ``{folder}``, where no loader reads them; empty
            elsewhere.
        without_digest: the number of files that the selection would have, had they been small
            enough to be digested when the source was pinned; they are not fetched.
        files: sorted by path.
    """

    name: str
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
        """Give the address of a file, below the public server or a mirror of it."""
        return f"{base}/{self.repository}/{self.commit}/{quote(file.path)}"


def source_names() -> tuple[str, ...]:
    """The names of all download sources, sorted."""
    return tuple(sorted(path.stem for path in SOURCES.glob("*.json")))


def download_source(name: str) -> DownloadSource:
    """The download source of this name; ``CorpusError`` names the nearest where there is none."""
    if name in (names := source_names()):
        return read_download_source(SOURCES / f"{name}.json")
    raise CorpusError(
        f"nothing called {name!r} can be fetched; there are {', '.join(names)}"
        f"{did_you_mean(name, names)}"
    )


@cache
def read_download_source(path: Path) -> DownloadSource:
    """Read a data file; ``CorpusError`` for a wrong field, or a path that leaves the folder."""
    try:
        fields: dict[str, Any] = {**vars(strict_json.read_json(path, _Declared))}
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror})") from error
    except EvaluationError as error:
        raise CorpusError(str(error)) from None
    listed = sorted(fields.pop("files").items())
    files = tuple(RemoteFile(name, size, digest) for name, (size, digest) in listed)
    return DownloadSource(name=path.stem, files=files, **fields)

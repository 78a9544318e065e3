"""Sources of openly readable corpora: repository, commit, and size and sha256 of each file.

``sources/<name>.json`` is one corpus: an object with the fields of :class:`DownloadSource` but
``name``, its ``files`` an object of path to ``[bytes, sha256]``. Commits and digests are pinned, so
what is fetched is the same for everybody, whichever server hands it out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from coherencegym.command_line import did_you_mean
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


@dataclass(frozen=True, kw_only=True)
class DownloadSource:
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
        """Give the address of a file, below the public server or a mirror of it."""
        return f"{base}/{self.repository}/{self.commit}/{quote(file.path)}"


def source_names() -> tuple[str, ...]:
    """The names of all download sources, sorted."""
    return tuple(sorted(path.stem for path in SOURCES.glob("*.json")))


def download_source(name: str) -> DownloadSource:
    """The download source of this name; ``CorpusError`` names the nearest where there is none."""
    if name not in (names := source_names()):
        raise CorpusError(
            f"nothing called {name!r} can be fetched; there are {', '.join(names)}"
            f"{did_you_mean(name, names)}"
        )
    fields = json.loads((SOURCES / f"{name}.json").read_text(encoding="utf-8"))
    files = sorted(fields.pop("files").items())
    return DownloadSource(
        name=name, files=tuple(RemoteFile(path, *stated) for path, stated in files), **fields
    )

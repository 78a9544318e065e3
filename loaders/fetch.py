"""Openly readable corpora, fetched into the place where loaders look.

``sources/<name>.json`` is one corpus: an object with the fields of :class:`DownloadSource` but
``name``, its ``files`` an object of path to ``[bytes, sha256]``. Commits and digests are pinned, so
what is fetched is the same for everybody, whichever server hands it out.

While files are missing the folder holds a hidden note (:data:`UNFINISHED`), so that no
loader takes half a corpus for a whole one, and a lock, so that two runs do not write the same file.

A file comes by HTTP: it is tried a few times, checked by its digest, then renamed from
``<name>.part`` beside it, which is gone afterwards. Nothing that identifies the user is sent: no
token, and no password from ``.netrc`` or from a URL; no redirect is followed. (pooch, which does
this too, follows redirects to any server, sends what ``.netrc`` has for it, and takes all that
comes.)
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from coherencegym.command_line import did_you_mean
from coherencegym.files.folders import sha256_of
from coherencegym.loaders.corpus import CorpusError

if TYPE_CHECKING:
    import httpx2

#: The data files of this project.
SOURCES = Path(__file__).parent / "sources"
#: The public server; answers ``<repository>/<commit>/<path>``.
PUBLIC = "https://raw.githubusercontent.com"
#: Hidden file in a folder into which a corpus is being fetched, until all of it is there.
UNFINISHED = ".fetch-unfinished"
#: Files that come at a time.
_JOBS = 4
#: Seconds before the second, third, ... try for a file; after the last one it is given up.
PAUSES = (1.0, 2.0, 4.0, 8.0)
#: Answers after which it is worth to ask again.
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_THROWN_AWAY = (
    "they were thrown away: run the command again, and if this comes again, the server, or a proxy "
    "on the way, has changed the file"
)

#: A function from the number of bytes to come to a context, in which a function is told how many
#: came (below 0: so many will come again).
Progress = Callable[[int], AbstractContextManager[Callable[[int], object]]]


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


def missing_files(source: DownloadSource, folder: Path) -> tuple[RemoteFile, ...]:
    """The files of a download source that a folder has not.

    ``CorpusError`` names one that is there with other content, by its size or its digest.
    """
    missing = []
    for file in source.files:
        path = folder / file.path
        try:
            if not path.exists() and not path.is_symlink():
                missing.append(file)
                continue
            digest = f"sha256 {sha256_of(path)}" if path.is_file() else "no regular file"
        except OSError as error:
            raise CorpusError(f"{path}: cannot be read ({error.strerror})") from error
        if digest != f"sha256 {file.sha256}":
            raise CorpusError(
                f"{path}: is there with other content than at commit {source.commit[:12]}: "
                f"{digest}, expected {file.sha256}; move it away"
            )
    return tuple(missing)


def check_base(url: str) -> str:
    """A server's URL for :func:`fetch_source`, without a slash at its end."""
    import httpx2

    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        parsed = httpx2.URL("")
    if parsed.userinfo:
        raise CorpusError("the mirror's URL holds a user name or a password, expected one without")
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.query or parsed.fragment:
        raise CorpusError(
            f"{url!r} is no mirror; expected a URL such as https://example.org/mirror"
        )
    return url.rstrip("/")


def fetch_source(
    source: DownloadSource,
    folder: Path,
    *,
    base: str = PUBLIC,
    progress: Progress = lambda total: nullcontext(lambda count: None),
    sleep: Callable[[float], object] | None = None,
    timeout: float = 30.0,
) -> tuple[RemoteFile, ...]:
    """Fetch what a folder has not got of a download source; what that was.

    Args:
        source: the source to fetch from.
        folder: the folder that it goes into, under the paths of the repository; made if need be.
        base: the public server or a mirror of it.
        progress: shows what came.
        sleep: waits so many seconds before a file is tried again; none: really.
        timeout: seconds without an answer before trying again.
    """
    from filelock import FileLock, Timeout

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".fetch.lock", timeout=0):
            missing, note = missing_files(source, folder), folder / UNFINISHED
            if missing:
                note.write_text(f"coherencegym corpora fetch {source.name}\n", encoding="utf-8")
                with (
                    progress(sum(file.size for file in missing)) as advance,
                    _client(timeout) as client,
                ):
                    stop = threading.Event()
                    link = _Link(client, source, base, advance, sleep or stop.wait, stop)
                    link.fetch_all(missing, folder)
            note.unlink(missing_ok=True)
            return missing
    except Timeout as error:
        raise CorpusError(
            f"{folder}: another run is fetching into this folder; wait for it to end"
        ) from error
    except OSError as error:
        raise CorpusError(f"{folder}: cannot be written ({error.strerror or error})") from error


def _client(timeout: float) -> httpx2.Client:
    # By the proxies of the environment (``HTTPS_PROXY``, ...). Sizes are those of the files.
    import httpx2

    headers = {"Accept-Encoding": "identity", "User-Agent": "coherencegym"}
    try:
        return httpx2.Client(headers=headers, timeout=timeout, follow_redirects=False)
    except (ValueError, ImportError, httpx2.InvalidURL) as error:
        # Not what the error says: a proxy's URL can hold a password.
        raise CorpusError(
            f"no connection can be made ({type(error).__name__}): expected the URL of an HTTP "
            "proxy, or nothing, in HTTPS_PROXY, HTTP_PROXY and ALL_PROXY"
        ) from None


class _TryAgainError(Exception):
    pass


@dataclass(frozen=True)
class _Link:
    # The way to a server, shared by all downloads of a run. Once ``stop`` is set, downloads end at
    # the next chunk.
    client: httpx2.Client
    source: DownloadSource
    base: str
    advance: Callable[[int], object]
    sleep: Callable[[float], object]
    stop: threading.Event

    def fetch_all(self, todo: Sequence[RemoteFile], folder: Path) -> None:
        from multiprocessing.pool import ThreadPool

        # Its threads are daemons: Ctrl-C does not wait for a server that is silent.
        pool = ThreadPool(min(_JOBS, len(todo)))
        try:
            for _ in pool.imap_unordered(lambda file: self.fetch(file, folder / file.path), todo):
                pass
        except CorpusError:
            self.stop.set()
            pool.close()
            pool.join()  # what the others have begun ends at its next chunk
            raise
        finally:
            self.stop.set()
            pool.terminate()

    def fetch(self, file: RemoteFile, target: Path) -> None:
        part, url = target.with_name(target.name + ".part"), self.source.url(file, self.base)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                for pause in (*PAUSES, None):
                    try:
                        if self.receive(url, file, part):
                            part.replace(target)
                        return
                    except _TryAgainError as problem:
                        if pause is None:
                            raise CorpusError(
                                f"{url}: not fetched: {problem}; the files that came are kept: run "
                                "the same command again later, and it goes on from there"
                            ) from problem
                        self.sleep(pause)
            finally:
                part.unlink(missing_ok=True)
        except OSError as error:
            raise CorpusError(f"{target}: cannot be written ({error.strerror or error})") from error

    def receive(self, url: str, file: RemoteFile, part: Path) -> bool:
        # False where it was stopped.
        import httpx2

        had = 0
        try:
            if self.stop.is_set():
                return False
            with self.client.stream("GET", url) as answer, part.open("wb") as out:
                if answer.status_code in _PASSING:
                    raise _TryAgainError(f"the server answered {answer.status_code}")
                if answer.status_code != 200:
                    hint = "; is the repository gone?" * (answer.status_code == 404)
                    raise CorpusError(
                        f"{url}: the server answered {answer.status_code}, expected 200{hint}; "
                        "name a copy of the source with --mirror"
                    )
                for chunk in answer.iter_bytes():
                    if self.stop.is_set():
                        return False
                    if had + len(chunk) > file.size:
                        raise CorpusError(
                            f"{url}: more bytes than expected: over {file.size}, which should have "
                            f"sha256 {file.sha256}; {_THROWN_AWAY}"
                        )
                    out.write(chunk)
                    had += len(chunk)
                    self.advance(len(chunk))
            if had < file.size:
                raise _TryAgainError(f"the answer ended after {had} of {file.size} bytes")
        except _TryAgainError:
            self.advance(-had)
            raise
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            self.advance(-had)
            # The kind of error alone: its text can hold a proxy's address.
            raise _TryAgainError(f"the connection broke ({type(error).__name__})") from error
        if (digest := sha256_of(part)) != file.sha256:
            raise CorpusError(
                f"{url}: other bytes than expected: sha256 {digest}, expected {file.sha256}; "
                f"{_THROWN_AWAY}"
            )
        return True

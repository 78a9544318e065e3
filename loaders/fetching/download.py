"""One file by HTTP: resumed where it was cut off, checked by its digest, then renamed.

The bytes go to ``<name>.part`` beside the file. What is there of an earlier try is not asked for
again where the server can send a range (206); where it cannot (200), the file starts again.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.fetching.link import Link, ask, seconds
from coherencegym.loaders.fetching.origin import RemoteFile

if TYPE_CHECKING:
    import httpx2

#: Seconds before the second, third, ... try for a file; after the last one it is given up.
PAUSES = (1.0, 2.0, 4.0, 8.0)
#: The longest ``Retry-After`` that is waited for, in seconds.
LONGEST_WAIT = 120.0
#: Answers after which it is worth to ask again.
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
PART = ".part"
_THROWN_AWAY = (
    "they were thrown away: run the command again, and if this comes again, the server, or a proxy "
    "on the way, has changed the file"
)


class StoppedError(Exception):
    """The download was told to stop."""


class _TryAgainError(Exception):
    """No whole answer; ``after`` is how many seconds the server asks to wait."""

    def __init__(self, what: str, after: float = 0.0) -> None:
        super().__init__(what)
        self.after = after


def digest(path: Path) -> str:
    """The sha256 of a file, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def part_of(target: Path) -> Path:
    """Where the bytes of a file are until they are all there."""
    return target.with_name(target.name + PART)


def download(link: Link, url: str, file: RemoteFile, target: Path) -> None:
    """Get a file, and put it at ``target`` when all of it is there and right.

    Raises:
        CorpusError: the server has not got it, has something else in its place, or gives no whole
            answer however often it is asked; or it cannot be written.
        StoppedError: ``link.stop`` is set.
    """
    part = part_of(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        left = _size(part)
        link.advance(left)
        _fill(link, url, file, part)
        if left and digest(part) != file.sha256:
            # What an earlier run left may be at fault: once more from the start.
            _throw_away(link, part)
            _fill(link, url, file, part)
        found = digest(part)
        if found != file.sha256:
            _throw_away(link, part)
            raise CorpusError(
                f"{url}: other bytes than expected: sha256 {found}, expected {file.sha256}; "
                f"{_THROWN_AWAY}"
            )
        part.replace(target)
    except OSError as error:
        raise CorpusError(f"{target}: cannot be written ({error.strerror or error})") from error


def _fill(link: Link, url: str, file: RemoteFile, part: Path) -> None:
    """Ask until the part has the size of the file, or more."""
    for pause in (*PAUSES, None):
        if link.stop.is_set():
            raise StoppedError
        try:
            if not part.is_file() or _size(part) < file.size:
                _receive(link, url, file, part)
            return
        except _TryAgainError as error:
            problem = error
        if pause is None or problem.after > LONGEST_WAIT:
            break
        link.sleep(max(pause, problem.after))
    raise CorpusError(
        f"{url}: not fetched: {problem}; what came is kept: run the same command again later, "
        "and it goes on from there"
    )


def _receive(link: Link, url: str, file: RemoteFile, part: Path) -> None:
    """Ask once, for what is not there yet, and append it.

    Raises:
        _TryAgainError: something is missing, and may come when asked again.
    """
    import httpx2

    had = _size(part)
    headers = {"Range": f"bytes={had}-"} if had else {}
    try:
        with ask(link, url, headers) as answer:
            _check_status(url, answer)
            if not _continues(answer, had):
                _throw_away(link, part)
                had = 0
                if answer.status_code != 200:
                    raise _TryAgainError("the server sent another part of the file than asked for")
            with part.open("ab") as out:
                for chunk in answer.iter_bytes():
                    if link.stop.is_set():
                        raise StoppedError
                    had += len(chunk)
                    if had > file.size:
                        break
                    out.write(chunk)
                    out.flush()  # whatever ends this program, what came is there to go on from
                    link.advance(len(chunk))
    except (httpx2.TransportError, httpx2.DecodingError) as error:
        # The kind of error alone: its text can hold a proxy's address.
        raise _TryAgainError(f"the connection broke ({type(error).__name__})") from error
    if had < file.size:
        raise _TryAgainError(f"the answer ended after {had} of {file.size} bytes")
    if had > file.size:
        _throw_away(link, part)
        raise CorpusError(
            f"{url}: more bytes than expected: over {file.size}, which should have sha256 "
            f"{file.sha256}; {_THROWN_AWAY}"
        )


def _continues(answer: httpx2.Response, had: int) -> bool:
    """Whether the answer goes on where the part ends."""
    return (
        answer.status_code == 206
        and had > 0
        and answer.headers.get("Content-Range", "").startswith(f"bytes {had}-")
        and answer.headers.get("Content-Encoding", "identity") == "identity"
    )


def _check_status(url: str, answer: httpx2.Response) -> None:
    status = answer.status_code
    if status in _PASSING:
        after = seconds(answer.headers.get("Retry-After", ""))
        asks = f" and asks to wait for {after:.0f} seconds" if after else ""
        raise _TryAgainError(f"the server answered {status}{asks}", after)
    if status == 404:
        raise CorpusError(
            f"{url}: the server has no such file (404); if the repository is gone, name a copy of "
            "the origin with --mirror"
        )
    if status not in (200, 206, 416):
        raise CorpusError(
            f"{url}: the server answered {status}, expected 200; "
            "name a copy of the origin with --mirror"
        )


def _throw_away(link: Link, part: Path) -> None:
    link.advance(-_size(part))
    part.unlink(missing_ok=True)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0

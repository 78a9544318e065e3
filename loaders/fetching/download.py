"""One file by HTTP: tried a few times, checked by its digest, then renamed.

The bytes go to ``<name>.part`` beside the file, which is gone afterwards. (pooch, which does this
too, follows redirects to any server, sends what ``.netrc`` has for it, and takes all that comes.)
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


def download(link: Link, url: str, file: RemoteFile, target: Path) -> None:
    """Get a file, and put it at ``target`` when all of it is there and right.

    Raises:
        CorpusError: the server has not got it, has something else in its place, or gives no whole
            answer however often it is asked; or it cannot be written.
        StoppedError: ``link.stop`` is set.
    """
    part = target.with_name(target.name + PART)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            _fill(link, url, file, part)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise CorpusError(f"{target}: cannot be written ({error.strerror or error})") from error


def _fill(link: Link, url: str, file: RemoteFile, part: Path) -> None:
    """Ask until the whole file is there."""
    for pause in (*PAUSES, None):
        if link.stop.is_set():
            raise StoppedError
        try:
            _receive(link, url, file, part)
            return
        except _TryAgainError as error:
            problem = error
        if pause is None or problem.after > LONGEST_WAIT:
            break
        link.sleep(max(pause, problem.after))
    raise CorpusError(
        f"{url}: not fetched: {problem}; the files that came are kept: run the same command again "
        "later, and it goes on from there"
    )


def _receive(link: Link, url: str, file: RemoteFile, part: Path) -> None:
    """Ask once.

    Raises:
        CorpusError: other bytes came.
        _TryAgainError: something is missing, and may come when asked again.
    """
    import httpx2

    had = 0
    try:
        with ask(link, url) as answer, part.open("wb") as out:
            _check_status(url, answer)
            for chunk in answer.iter_bytes():
                if link.stop.is_set():
                    raise StoppedError
                if had + len(chunk) > file.size:
                    raise CorpusError(
                        f"{url}: more bytes than expected: over {file.size}, which should have "
                        f"sha256 {file.sha256}; {_THROWN_AWAY}"
                    )
                out.write(chunk)
                had += len(chunk)
                link.advance(len(chunk))
        if had < file.size:
            raise _TryAgainError(f"the answer ended after {had} of {file.size} bytes")
    except (httpx2.TransportError, httpx2.DecodingError) as error:
        link.advance(-had)
        # The kind of error alone: its text can hold a proxy's address.
        raise _TryAgainError(f"the connection broke ({type(error).__name__})") from error
    except _TryAgainError:
        link.advance(-had)
        raise
    if (found := digest(part)) != file.sha256:
        raise CorpusError(
            f"{url}: other bytes than expected: sha256 {found}, expected {file.sha256}; "
            f"{_THROWN_AWAY}"
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
    if status != 200:
        raise CorpusError(
            f"{url}: the server answered {status}, expected 200; "
            "name a copy of the origin with --mirror"
        )

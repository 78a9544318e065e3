"""One file by HTTP: tried a few times, checked by its digest, then renamed.

The bytes go to ``<name>.part`` beside the file, which is gone afterwards. Nothing that identifies
the user is sent: no token, and no password from ``.netrc`` or from a URL. (pooch, which does this
too, follows redirects to any server, sends what ``.netrc`` has for it, and takes all that comes.)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING

from coherencegym.files.checksums import sha256_of
from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.fetching.download_source import RemoteFile

if TYPE_CHECKING:
    import httpx2

#: Seconds before the second, third, ... try for a file; after the last one it is given up.
PAUSES = (1.0, 2.0, 4.0, 8.0)
#: The longest ``Retry-After`` that is waited for, in seconds.
LONGEST_WAIT = 120.0
#: Answers after which it is worth to ask again.
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_REDIRECTS = 5
_ELSEWHERE = "name a copy of the source with --mirror"
_THROWN_AWAY = (
    "they were thrown away: run the command again, and if this comes again, the server, or a proxy "
    "on the way, has changed the file"
)


class StoppedError(Exception):
    """The download was told to stop."""


class _TryAgainError(Exception):
    # ``after``: the seconds that the server asks to wait.
    def __init__(self, what: str, after: float = 0.0) -> None:
        super().__init__(what)
        self.after = after


@dataclass(frozen=True)
class Link:
    """The way to a server, shared by all downloads of a run.

    Attributes:
        client: asks; made by :func:`open_link`.
        base: all files are below this URL; redirects may stay on its server or go to https.
        advance: takes the number of bytes that came (below 0: so many will come again).
        sleep: waits so many seconds.
        stop: once set, downloads end at the next chunk.
    """

    client: httpx2.Client
    base: str
    advance: Callable[[int], object]
    sleep: Callable[[float], object]
    stop: threading.Event

    @contextmanager
    def ask(self, url: str) -> Iterator[httpx2.Response]:
        """The answer to a request, redirects followed where they may go."""
        import httpx2

        allowed = httpx2.URL(self.base)
        request = self.client.build_request("GET", url)
        for _ in range(_REDIRECTS + 1):
            answer = self.client.send(request, stream=True)
            try:
                if answer.next_request is None:
                    yield answer
                    return
                request = answer.next_request
            finally:
                answer.close()
            to = request.url
            same = (to.scheme, to.host, to.port) == (allowed.scheme, allowed.host, allowed.port)
            if to.userinfo or not (same or to.scheme == "https"):
                raise CorpusError(
                    f"{url}: the server sends on to {to.scheme}://{to.host}, expected https; "
                    f"{_ELSEWHERE}"
                )
        raise CorpusError(f"{url}: the server sends on more than {_REDIRECTS} times; {_ELSEWHERE}")


@contextmanager
def open_link(
    base: str,
    advance: Callable[[int], object],
    sleep: Callable[[float], object] | None = None,
    timeout: float = 30.0,
) -> Iterator[Link]:
    """A link that is closed after use, by the proxies of the environment (``HTTPS_PROXY``, ...).

    Without ``sleep`` it really waits, and stops waiting when told to. ``timeout`` is in seconds
    without an answer, or between two parts of it.

    Raises:
        CorpusError: a proxy of the environment is no URL.
    """
    import httpx2

    stop = threading.Event()
    # Sizes are those of the files.
    headers = {"Accept-Encoding": "identity", "User-Agent": "coherencegym"}
    try:
        client = httpx2.Client(headers=headers, timeout=timeout, follow_redirects=False)
    except (ValueError, ImportError, httpx2.InvalidURL) as error:
        # Not what the error says: a proxy's URL can hold a password.
        raise CorpusError(
            f"no connection can be made ({type(error).__name__}): expected the URL of an HTTP "
            "proxy, or nothing, in HTTPS_PROXY, HTTP_PROXY and ALL_PROXY"
        ) from None
    with client:
        yield Link(client, base, advance, sleep or stop.wait, stop)


def check_base(url: str) -> str:
    """A base URL for :func:`open_link`, without a slash at its end.

    Raises:
        CorpusError: it is none: no http, no server, a query, or a password in it (never shown).
    """
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


def download(link: Link, url: str, file: RemoteFile, target: Path) -> None:
    """Get a file, and put it at ``target`` when all of it is there and right.

    Raises:
        CorpusError: the server has not got it, has something else in its place, or gives no whole
            answer however often it is asked; or it cannot be written.
        StoppedError: ``link.stop`` is set.
    """
    part = target.with_name(target.name + ".part")
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
    import httpx2

    had = 0
    try:
        with link.ask(url) as answer, part.open("wb") as out:
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
    except (httpx2.TransportError, httpx2.DecodingError, _TryAgainError) as error:
        link.advance(-had)
        if isinstance(error, _TryAgainError):
            raise
        # The kind of error alone: its text can hold a proxy's address.
        raise _TryAgainError(f"the connection broke ({type(error).__name__})") from error
    if (found := sha256_of(part)) != file.sha256:
        raise CorpusError(
            f"{url}: other bytes than expected: sha256 {found}, expected {file.sha256}; "
            f"{_THROWN_AWAY}"
        )


def _check_status(url: str, answer: httpx2.Response) -> None:
    status = answer.status_code
    if status in _PASSING:
        after = _seconds(answer.headers.get("Retry-After", ""))
        asks = f" and asks to wait for {after:.0f} seconds" if after else ""
        raise _TryAgainError(f"the server answered {status}{asks}", after)
    if status == 404:
        raise CorpusError(
            f"{url}: the server has no such file (404); if the repository is gone, {_ELSEWHERE}"
        )
    if status != 200:
        raise CorpusError(f"{url}: the server answered {status}, expected 200; {_ELSEWHERE}")


def _seconds(retry_after: str) -> float:
    # A number, or a date (RFC 9110, section 10.2.3).
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        date = parsedate_to_datetime(retry_after)
    except ValueError:
        return 0.0
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())

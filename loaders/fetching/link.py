"""The way to a server of files: one connection pool, its proxies, where it may send on to.

Nothing that identifies the user is sent: no token, and no password from ``.netrc`` or from a URL.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.fetching.origin import PUBLIC

if TYPE_CHECKING:
    import httpx2

_REDIRECTS = 5


@dataclass(frozen=True)
class Link:
    """The way to a server, shared by all downloads of a run.

    Attributes:
        client: asks; made by :func:`open_link`.
        base: all files are below this URL; redirects may stay on its server or go to https.
        advance: a function that is told how many bytes came (fewer than 0: so many will come
            again).
        stop: once set, downloads end at the next chunk.
        sleep: waits so many seconds.
    """

    client: httpx2.Client
    base: str
    advance: Callable[[int], object]
    sleep: Callable[[float], object]
    stop: threading.Event


@contextmanager
def open_link(
    base: str = PUBLIC,
    advance: Callable[[int], object] = lambda count: None,
    sleep: Callable[[float], object] | None = None,
    timeout: float = 30.0,
) -> Iterator[Link]:
    """A link that is closed after use.

    Proxies are those of the environment (``HTTPS_PROXY``, ``NO_PROXY``, ...).

    Args:
        base: see :class:`Link`.
        advance: see :class:`Link`.
        sleep: see :class:`Link`; none: wait, and stop waiting when told to.
        timeout: seconds without an answer, or between two parts of it, before trying again.

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


@contextmanager
def ask(link: Link, url: str) -> Iterator[httpx2.Response]:
    """The answer to a request, redirects followed where they may go."""
    import httpx2

    allowed = httpx2.URL(link.base)
    request = link.client.build_request("GET", url)
    for _ in range(_REDIRECTS + 1):
        answer = link.client.send(request, stream=True)
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
                "name a copy of the origin with --mirror"
            )
    raise CorpusError(
        f"{url}: the server sends on more than {_REDIRECTS} times; "
        "name a copy of the origin with --mirror"
    )


def seconds(retry_after: str) -> float:
    """Read ``Retry-After``: a number of seconds, or a date (RFC 9110, section 10.2.3).

    0 where it says nothing that can be understood.
    """
    if retry_after.strip().isdecimal():
        return float(retry_after)
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    try:
        date = parsedate_to_datetime(retry_after)
    except ValueError:
        return 0.0
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())

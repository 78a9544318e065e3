"""A network's portal, and what it or a proxy answers in the place of a Hub."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from support.hub.wire import Answer, Call, Origin, json_answer

PAGE = Answer(200, b"<html>Log in</html>", {"Content-Type": "text/html; charset=utf-8"})

#: In a portal's address, and to be shown by nobody.
SECRET = "session-of-somebody"


class Portal:
    """Another host, which answers everything with a page; ``calls`` are what came to it."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._origin = Origin(self._respond)

    @property
    def host(self) -> str:
        return self._url.removeprefix("http://")

    @property
    def login(self) -> str:
        return f"{self._url}/login?back={SECRET}"

    @property
    def _url(self) -> str:
        # Another host than the Hub's, as it would be: older clients do not look at the port.
        return self._origin.url.replace("127.0.0.1", "localhost")

    def _respond(self, call: Call) -> Answer:
        self.calls.append(call)
        return PAGE

    @contextmanager
    def running(self) -> Iterator[Portal]:
        self._origin.start()
        try:
            yield self
        finally:
            self._origin.stop()


#: What comes in the place of the Hub's answer, with status 200 or as a redirect to a portal.
INSTEAD: dict[str, Callable[[Portal], Answer]] = {
    "page": lambda _: PAGE,
    "empty": lambda _: Answer(200),
    "object": lambda _: json_answer({"error": "log in"}),
    "id alone": lambda _: json_answer({"id": "somebody/something"}),
    "list": lambda _: json_answer([]),
    "302": lambda portal: Answer(302, b"", {"Location": portal.login}),
    "307": lambda portal: Answer(307, b"", {"Location": portal.login}),
}

#: Every request of a push that writes: method and a part of the path.
WRITES = (
    ("POST", "/repos/create"),
    ("POST", "/validate-yaml"),
    ("POST", "/preupload/"),
    ("POST", "/objects/batch"),
    ("PUT", ""),
    ("POST", "/verify"),
    ("POST", "/commit/"),
)
#: What the client does not read out of an answer, or not all of it, does no harm: an object that is
#: not there is found missing by the commit, and metadata are looked at by it once more.
UNREAD = {
    *(("/verify", name) for name in ("empty", "object", "id alone", "list")),
    *(("/validate-yaml", name) for name in ("object", "id alone")),
}


def check_line(line: str, hidden: str) -> None:
    """Check a message to a user whom somebody else than the Hub answered."""
    assert "\n" not in line
    assert "Traceback" not in line
    assert re.search(r"(127\.0\.0\.1|localhost):\d", line)  # who answered: the Hub or its storage
    assert hidden not in line
    assert SECRET not in line
    assert len(line) <= 500


def check_portal(portal: Portal) -> None:
    """Check that nothing was carried to the portal: no content, no token."""
    for call in portal.calls:
        assert call.method in ("GET", "HEAD")
        assert not call.body
        assert "authorization" not in call.headers

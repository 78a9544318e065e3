"""HTTP: one listening origin that turns requests into calls, and answers into bytes."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import socketserver
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass(frozen=True)
class Call:
    """One request as a client sent it."""

    method: str
    target: str  # the path, still quoted: a revision or folder is one segment, however many slashes
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]  # names in lower case
    body: bytes

    @property
    def path(self) -> str:
        return unquote(self.target)

    def flag(self, name: str) -> bool:
        return self.query.get(name, [""])[-1].lower() in ("1", "true")

    def json(self) -> dict[str, Any]:
        value = json.loads(self.body)
        assert isinstance(value, dict), "the clients send objects"
        return value


@dataclass(frozen=True)
class Answer:
    """One response. Status 0 stands for none at all: the connection is closed."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


CUT = Answer(status=0)


def json_answer(
    value: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Answer:
    kind = {"Content-Type": "application/json; charset=utf-8"}
    return Answer(status, json.dumps(value).encode(), {**kind, **(headers or {})})


def content_answer(data: bytes, headers: Mapping[str, str], asked: str | None) -> Answer:
    """The content of a file, or the part of it that a Range header asks for."""
    headers = {"Accept-Ranges": "bytes", "Content-Type": "application/octet-stream", **headers}
    match = re.fullmatch(r"bytes=(\d*)-(\d*)", asked or "")
    if match is None or not any(match.groups()):
        return Answer(200, data, headers)
    first, last = match.groups()
    if first:
        start, stop = int(first), min(int(last) + 1 if last else len(data), len(data))
    else:  # the last n bytes
        start, stop = max(len(data) - int(last), 0), len(data)
    if start >= stop:
        return Answer(416, b"", {"Content-Range": f"bytes */{len(data)}"})
    span = f"bytes {start}-{stop - 1}/{len(data)}"
    return Answer(206, data[start:stop], {**headers, "Content-Range": span})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body in one packet: unbuffered, each answer waits for the client's delayed
    # acknowledgement (40 ms).
    wbufsize = -1
    disable_nagle_algorithm = True
    server: _Listener

    def _serve(self) -> None:
        # The body is read even if the request is refused: closing a socket that holds unread data
        # resets it, and the client would see another error than "closed without an answer".
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if "Transfer-Encoding" in self.headers:  # the clients announce a length, and S3 insists
            self.close_connection = True
            self.send_error(411)
            return
        url = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.respond(
            Call(self.command, url.path, parse_qs(url.query), headers, body)
        )
        if answer.status == 0:
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 (the base class's names)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on stderr: tests read `HubServer.requests`."""


class _Listener(ThreadingHTTPServer):
    request_queue_size = 64

    def __init__(self, port: int, respond: Callable[[Call], Answer]) -> None:
        self.respond = respond
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        super().__init__(("127.0.0.1", port), _Handler)

    def server_bind(self) -> None:
        # HTTPServer's own asks the name service for this host's name, which can take seconds.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        with self._open_lock:
            self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        assert isinstance(request, socket.socket)
        with self._open_lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        # A client that went away in the middle of an answer is no error of the server's.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    def hang_up(self) -> None:
        """Close kept-alive connections too: a stopped server must not go on answering on them."""
        with self._open_lock:
            for connection in self._open:
                with contextlib.suppress(OSError):  # the client was faster
                    connection.shutdown(socket.SHUT_RDWR)


class Origin:
    """An address that answers calls; after `stop`, `start` takes the same port again."""

    def __init__(self, respond: Callable[[Call], Answer]) -> None:
        self._respond = respond
        self._port = 0
        self._listener: _Listener | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        self._listener = _Listener(self._port, self._respond)
        self._port = self._listener.server_port
        # `shutdown` waits for the next poll, so the interval is what every test pays at its end.
        self._thread = threading.Thread(
            target=self._listener.serve_forever, args=(0.003,), daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        if self._listener is None or self._thread is None:
            return
        self._listener.shutdown()
        self._thread.join()
        self._listener.server_close()
        self._listener.hang_up()
        self._listener = None
